/* SPDX-License-Identifier: MIT */
/*
 * stealq.h: the stealing-queue of a core, that is, its worthy colors: those that are worth more
 * than a steal costs. There are three intervals of worth, unordered inside (paper, section 4.2).
 * Insertion, removal and choice take constant time: each interval is an array, and a color knows
 * its place in it. Arrays grow and shrink by halves, so that a burst leaves no memory behind.
 * The caller holds the core's lock, as for the core-queue. worth.h decides what a color is worth.
 */
#ifndef MELYINT_QUEUE_STEALQ_H
#define MELYINT_QUEUE_STEALQ_H

#include <stdbool.h>
#include <mely/color.h>

#include "base/assert.h"
#include "base/atomic.h"
#include "base/compiler.h"

enum { MELYINT_INTERVALS = 3 };

struct melyint_interval {
	struct mely_color **colors;
	uint32_t room;
};

struct melyint_stealq {
	/* colors in all intervals, and in each; any thread may read them without the lock */
	_Atomic uint32_t length, lengths[MELYINT_INTERVALS];
	struct melyint_interval interval[MELYINT_INTERVALS];
};

/* The number of colors; a hint without the lock. */
MELY_INLINE uint32_t
melyint_stealq_length(const struct melyint_stealq *q)
{
	return MELY_LOAD(&q->length, relaxed); /* a hint, or under the lock */
}

/* The number of colors in an interval; a hint without the lock. */
MELY_INLINE uint32_t
melyint_stealq_length_in(const struct melyint_stealq *q, unsigned interval)
{
	MELY_DEBUG_ASSERT(interval < MELYINT_INTERVALS);
	return MELY_LOAD(&q->lengths[interval], relaxed); /* a hint, or under the lock */
}

/* Put a color into an interval, or move it there from another. When there is no memory, the color
 * is in no interval afterwards, and only its age can make a thief take it. True: the color was in
 * no interval before, or in a lower one. */
bool melyint_stealq_put(struct melyint_stealq *q, struct mely_color *color, unsigned interval);

/* Remove a color that is in the queue. */
void melyint_stealq_remove(struct melyint_stealq *q, struct mely_color *color);

/* A color of the highest non-empty interval, or NULL. */
struct mely_color *melyint_stealq_best(const struct melyint_stealq *q);

/* Do all places and counts agree? For tests. */
bool melyint_stealq_validate(const struct melyint_stealq *q);

/* Empty the queue without touching its colors: after a fork, when it may be torn. */
void melyint_stealq_forget(struct melyint_stealq *q);

/* Free the arrays. */
void melyint_stealq_fini(struct melyint_stealq *q);

#endif
