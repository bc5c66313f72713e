/* SPDX-License-Identifier: MIT */
/*
 * stealq.h: the stealing-queue of a core: its worthy colors, those whose weight exceeds what a
 * steal costs, in three intervals of weight, unordered within (paper, section 4.2). Insert, remove
 * and choice take constant time: each interval is an array, and a color knows its place in it.
 * Under the lock of the core, as the core-queue.
 */
#ifndef MELYINT_STEALQ_H
#define MELYINT_STEALQ_H

#include <stdbool.h>
#include <mely/color.h>

#include "compiler.h"

enum { MELYINT_INTERVALS = 3 };

struct melyint_stealq {
	uint32_t length;       /* colors in all intervals */
	struct {
		struct mely_color **colors;
		uint32_t length, room;
	} interval[MELYINT_INTERVALS];
};

/*
 * Put a color where its weight belongs, when a steal costs cost: in the first interval up to four
 * times that, in the second up to sixteen times. A color that is there already moves. Without
 * memory for it, it stays out: it is stolen by age only.
 */
void melyint_stealq_put(struct melyint_stealq *q, struct mely_color *color, uint64_t weight,
    uint64_t cost);

/* Take a color out that is in. */
void melyint_stealq_remove(struct melyint_stealq *q, struct mely_color *color);

/* One of the highest non-empty interval, or NULL. */
struct mely_color *melyint_stealq_best(const struct melyint_stealq *q);

/* Places and counts agree? For tests. */
bool melyint_stealq_validate(const struct melyint_stealq *q);

/* Empty it without a look at its colors: after a fork, when it may be torn. */
void melyint_stealq_forget(struct melyint_stealq *q);

void melyint_stealq_fini(struct melyint_stealq *q);

#endif
