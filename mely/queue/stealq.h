/* SPDX-License-Identifier: MIT */
/*
 * stealq.h: the stealing-queue of a core: its worthy colors, those that are worth more than a steal
 * costs, in three intervals of worth, unordered within (paper, section 4.2). Insert, remove and
 * choice take constant time: each interval is an array, and a color knows its place in it. Arrays
 * grow and shrink by halves, so that no memory stays behind a burst.
 * Under the lock of the core, as the core-queue. What is worth what is not known here.
 */
#ifndef MELYINT_QUEUE_STEALQ_H
#define MELYINT_QUEUE_STEALQ_H

#include <stdbool.h>
#include <mely/color.h>

#include "base/atomic.h"
#include "base/compiler.h"

enum { MELYINT_INTERVALS = 3 };

struct melyint_interval {
	struct mely_color **colors;
	uint32_t room;
};

struct melyint_stealq {
	/* colors in all intervals, and in each; anyone may glance at them without the lock */
	_Atomic uint32_t length, lengths[MELYINT_INTERVALS];
	struct melyint_interval interval[MELYINT_INTERVALS];
};

/* How many colors there are; a hint without the lock. */
MELY_INLINE uint32_t
melyint_stealq_length(const struct melyint_stealq *q)
{
	return MELY_LOAD(&q->length, relaxed); /* a hint, or under the lock */
}

/* How many there are in an interval; a hint without the lock. */
MELY_INLINE uint32_t
melyint_stealq_length_in(const struct melyint_stealq *q, unsigned interval)
{
	return MELY_LOAD(&q->lengths[interval], relaxed); /* a hint, or under the lock */
}

/* Put a color into an interval; one that is in another moves. Without memory for it, it is in none
 * then: only its age makes it stolen. True: it was in none before, or in a lower one. */
bool melyint_stealq_put(struct melyint_stealq *q, struct mely_color *color, unsigned interval);

/* Take out a color that is in. */
void melyint_stealq_remove(struct melyint_stealq *q, struct mely_color *color);

/* One of the highest non-empty interval, or NULL. */
struct mely_color *melyint_stealq_best(const struct melyint_stealq *q);

/* Places and counts agree? For tests. */
bool melyint_stealq_validate(const struct melyint_stealq *q);

/* Empty it without a look at its colors: after a fork, when it may be torn. */
void melyint_stealq_forget(struct melyint_stealq *q);

void melyint_stealq_fini(struct melyint_stealq *q);

#endif
