/* SPDX-License-Identifier: MIT */
/*
 * weight.h: what an event weighs for those who think of stealing its color: its running time
 * divided by its stealing penalty (paper, sections 3.2 and 3.3), in sixteenths of a nanosecond.
 *
 * NOTE(weight)
 *   A. An event is weighed when it enters a color-queue, under the lock of the color's owner, and
 *      knows from then on what it was counted with: so exactly that is taken off again, however
 *      much the averages and the switches have moved meanwhile. It keeps the weight in ev->_time,
 *      which is 0 until then; but an embedded one that has a time of its own, which must outlast
 *      the post, keeps that there, and in its flags a shift by which it was divided.
 *   B. What a handler posts to its own color is weighed only when it outlasts the batch, in the
 *      turn that puts it into the color-queue.
 *   C. The weights of heads and tails that a batch has run or dropped are summed in the batch, and
 *      taken off the color in the turn that puts the batch back (sched/turn.c).
 *   D. What an ordinary event of a handler weighs is kept in the handler, apart for each meaning
 *      that rt->weighing can have. So a switch that is turned leaves nothing to be thrown away, and
 *      runtimes with other switches may share the handler.
 *   E. The sum of a color that is idle is 0; builds for developers check it.
 */
#ifndef MELYINT_CORE_WEIGHT_H
#define MELYINT_CORE_WEIGHT_H

#include <stdbool.h>
#include <mely/event.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "queue/evq.h"

struct mely_runtime;

enum {
	MELYINT_WEIGHT_SHIFT = 4,      /* of a nanosecond */
	MELYINT_WEIGHT_UNKNOWN = 1,    /* next to nothing */
	MELYINT_OWN_HANDLER_NS = 1000, /* what the library's own handlers say of themselves */
	MELYINT_DIVIDED_SHIFT = 12,    /* the place of a shift in ev->_flags */
	MELYINT_DIVIDED_MAX = 15
};

/* rt->weighing: what counts. One less is the place in handler->_weight. */
enum {
	MELYINT_WEIGH_NOT = 0,
	MELYINT_WEIGH_TIME,           /* times alone */
	MELYINT_WEIGH_TIME_MEASURED,  /* ... also those that the library has measured */
	MELYINT_WEIGH_PENALTY,        /* times and penalties; with this and all that follow */
	MELYINT_WEIGH_PENALTY_MEASURED,
	MELYINT_WEIGH_PENALTY_LEARNED,
	MELYINT_WEIGH_PENALTY_MEASURED_LEARNED,
	MELYINT_WEIGHINGS = MELYINT_WEIGH_PENALTY_MEASURED_LEARNED
};

/* Do penalties count? */
MELY_INLINE bool
melyint_weighs_penalties(unsigned weighing)
{
	return weighing >= MELYINT_WEIGH_PENALTY;
}

/* Do times count that were measured, penalties that were learned? */
MELY_INLINE bool
melyint_weighs_measured(unsigned weighing)
{
	return weighing != MELYINT_WEIGH_NOT && (weighing - MELYINT_WEIGH_TIME) % 2 != 0;
}

MELY_INLINE bool
melyint_weighs_learned(unsigned weighing)
{
	return weighing >= MELYINT_WEIGH_PENALTY_LEARNED;
}

/* The same times without penalties. */
MELY_INLINE unsigned
melyint_weighing_plain(unsigned weighing)
{
	return melyint_weighs_measured(weighing) ? MELYINT_WEIGH_TIME_MEASURED : MELYINT_WEIGH_TIME;
}

/* The weight of an event that has a time of its own, or whose handler's is not known. Any thread;
 * the event is not yet in its color-queue, so its handler is there. */
uint32_t melyint_weigh_slow(struct mely_runtime *rt, unsigned weighing, struct mely_event *ev);

/* What an event that has a time of its own was counted with. */
uint32_t melyint_weight_of_timed(const struct mely_event *ev);

/* Weigh an event that enters a color-queue: A of NOTE(weight). */
MELY_INLINE uint32_t
melyint_weigh(struct mely_runtime *rt, unsigned weighing, struct mely_event *ev)
{
	uint32_t weight;

	/* relaxed: a measurement */
	weight = MELY_LOAD(&ev->_handler->_weight[weighing - 1], relaxed);
	if (MELY_UNLIKELY((ev->_flags & MELYINT_EV_TIMED) || weight == 0))
		return melyint_weigh_slow(rt, weighing, ev);
	ev->_time = weight;
	return weight;
}

/* What an event was counted with: 0 when it was not. */
MELY_INLINE uint32_t
melyint_weight_of(const struct mely_event *ev)
{
	if (MELY_UNLIKELY(ev->_flags & MELYINT_EV_TIMED))
		return melyint_weight_of_timed(ev);
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
