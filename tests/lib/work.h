/* SPDX-License-Identifier: MIT */
/*
 * work.h: a workload that carries its own oracle, for the property tests and the stress.
 *
 * Colors post to colors. Each event knows its producer, its target color, its sequence number in
 * that pair, and how many descendants it must post. The oracle verifies
 *   exclusion   a flag of the color is set while a handler of the color runs
 *   order       the events of one producer to one color run in the order posted, tails among
 *               tails, heads among heads
 *   visibility  all books are plain data, written by handlers of one color: a race detector or a
 *               wrong sum shows a fault
 *   once        at the end, each pair has run exactly what it posted
 */
#ifndef MELY_TEST_WORK_H
#define MELY_TEST_WORK_H

#include "test.h"

enum work_ids { WORK_DENSE, WORK_SCATTERED, WORK_OBJECTS };
enum { WORK_OUTSIDE = 2, WORK_COLORS_MAX = 1000 };

struct work_config {
	int cores;
	int colors;
	enum work_ids ids;
	bool skewed;          /* all colors begin on core 0 */
	unsigned roots;       /* events posted from outside, in all */
	unsigned generations; /* descendants of each, one after another: at most 31 */
	unsigned spin_ns;     /* of each handler */
	unsigned heads_percent;
	uint64_t seed;
};

struct work_color {
	struct mely_color *color;
	_Atomic int inside;   /* the flag of the exclusion oracle */
	uint64_t seed;        /* plain: of the color's own handlers */
	uint64_t ran;         /* plain */
	uint64_t sum;         /* plain */
	uint32_t *sent[2];    /* by this color to each color: tails, heads; plain */
	uint32_t *seen[2];    /* by this color from each producer; plain */
};

struct work {
	struct work_config config;
	struct mely_runtime *rt;
	struct work_color *colors;
	uint32_t *outside_sent[WORK_OUTSIDE][2]; /* plain: of each outside thread */
	_Atomic uint64_t ran;                    /* relaxed: it must not order anything */
	uint64_t expected;
	bool stop_at_end;
};

void work_init(struct work *work, const struct work_config *config,
    const struct mely_config *runtime);
/* Post the roots from WORK_OUTSIDE threads, run all of it on this thread, compare the books. */
void work_run(struct work *work);
void work_fini(struct work *work);
/* One line about a configuration. */
void work_describe(const struct work_config *config, char *buf, size_t size);

/* The exclusion oracle alone; leave follows enter. Enter returns whether the flag was clear. */
bool work_enter(_Atomic int *inside);
void work_leave(_Atomic int *inside);

#endif
