/* SPDX-License-Identifier: MIT */
/*
 * weight.h: what an event weighs for those who think of stealing its color: its running time
 * divided by its stealing penalty (paper, sections 3.2 and 3.3), in sixteenths of a nanosecond.
 *
 * A weight is found when the event enters a color-queue and kept in the event, so that the same is
 * taken off again however much the average of its handler has moved meanwhile. The sum per color
 * is kept under the lock of the color's owner (color->_u._worth._time_left); events that a handler
 * posts to its own color are weighed only when they outlast the batch.
 */
#ifndef MELYINT_WEIGHT_H
#define MELYINT_WEIGHT_H

#include "core.h"

enum { MELYINT_WEIGHT_SHIFT = 4 };

/* The weight of a handler whose cached one is not known. Any thread. */
uint32_t melyint_weight_find(struct mely_runtime *rt, struct mely_handler *handler);

/* The weight of an event with a time of its own. */
uint32_t melyint_weight_timed(const struct mely_runtime *rt, const struct mely_event *ev);

/* A handler of this runtime has been seen to run for ns. The core that ran it. */
void melyint_weight_measured(struct mely_handler *handler, uint64_t ns);

/* Which of a handler's two weights counts: with its penalty or without. */
MELY_INLINE unsigned
melyint_weight_kind(const struct mely_runtime *rt)
{
	/* relaxed: a switch */
	return (MELY_LOAD(&rt->heuristics, relaxed) & MELY_STEAL_PENALTY) != 0;
}

/* Weigh an event that enters a color-queue. */
MELY_INLINE uint32_t
melyint_weigh(struct mely_runtime *rt, struct mely_event *ev)
{
	uint32_t weight;

	if (MELY_UNLIKELY(ev->_flags & MELYINT_EV_TIMED))
		return melyint_weight_timed(rt, ev);
	/* relaxed: a measurement */
	weight = MELY_LOAD(&ev->_handler->_weight[melyint_weight_kind(rt)], relaxed);
	if (MELY_UNLIKELY(weight == 0))
		weight = melyint_weight_find(rt, ev->_handler);
	ev->_time = weight;
	return weight;
}

/* What an event that has been weighed was counted with. */
MELY_INLINE uint32_t
melyint_weight_of(const struct mely_runtime *rt, const struct mely_event *ev)
{
	if (MELY_UNLIKELY(ev->_flags & MELYINT_EV_TIMED))
		return melyint_weight_timed(rt, ev);
	return ev->_time;
}

/* A time in ns as a weight that fits a word of 32 bits. */
MELY_INLINE uint32_t
melyint_weight_from_ns(uint64_t ns)
{
	return ns < UINT32_MAX >> MELYINT_WEIGHT_SHIFT ? (uint32_t)ns << MELYINT_WEIGHT_SHIFT :
	    UINT32_MAX;
}

#endif
