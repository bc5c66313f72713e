/* SPDX-License-Identifier: MIT */
/*
 * worth.h: linking color-queues on a core, and what each is worth to a thief. The last part of
 * core.h; fifo/ready.h stands in for it when that is compiled for libmely-libasync.
 *
 * NOTE(worth)
 *   A. A waiting color is worth the weight of its events (weight.h) and what it used when it last
 *      ran: a color that posts to itself has never more than one event pending, and may keep its
 *      core busy all the same. What it used is divided by the penalty of its first event, but only
 *      where the undivided worth would be enough (melyint_core_weigh_slow).
 *   B. A linked color that is worth more than a steal costs (core->hint.worth_min; paper, section
 *      3.2) is in the core's stealing-queue. It is weighed when it is linked, posted to or
 *      cancelled from, and once more by the thief that would take it.
 *   C. Pinned colors can't be stolen and released ones have no room for a worth (union in color.h):
 *      neither is ever in the stealing-queue.
 */
#ifndef MELYINT_SCHED_WORTH_H
#define MELYINT_SCHED_WORTH_H

#include "core/weight.h"

#define MELYINT_COLOR_NO_WORTH (MELYINT_COLOR_PINNED | MELYINT_COLOR_RELEASED)

/* Into the stealing-queue, to another place in it, or out of it. Under core->lock; linked. True: it
 * has got in, or to a higher interval. */
bool melyint_core_weigh_slow(struct melyint_core *core, struct mely_color *color);

/* A of NOTE(worth): what it is worth at most. Under the owner's lock; not of a released color. */
MELY_INLINE uint64_t
melyint_color_worth_most(const struct mely_color *color)
{
	return color->_u._worth._time_left +
	    ((uint64_t)color->_u._worth._recent << MELYINT_WEIGHT_SHIFT);
}

/* Take a linked color out of the stealing-queue, where it may be. Under core->lock. */
MELY_INLINE void
melyint_core_unworthy(struct melyint_core *core, struct mely_color *color)
{
	/* relaxed: under the lock */
	if (MELY_UNLIKELY(melyint_stealq_length(&core->stealq) != 0) &&
	    !(MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_NO_WORTH) &&
	    color->_u._worth._steal_slot != 0)
		melyint_stealq_remove(&core->stealq, color);
}

/* The weight of a linked color has changed. Under core->lock. True: to thieves' advantage. */
MELY_INLINE bool
melyint_core_weigh(struct melyint_core *core, struct mely_color *color, unsigned flags)
{
	uint64_t worth = melyint_color_worth_most(color);

	/* relaxed: a hint */
	if (MELY_UNLIKELY(worth > MELY_LOAD(&core->hint.worth_min, relaxed) ||
	    melyint_stealq_length(&core->stealq) != 0) && !(flags & MELYINT_COLOR_NO_WORTH))
		return melyint_core_weigh_slow(core, color);
	return false;
}

/* Link a color with events, whose greatest worth is at hand, into core's queue. Under core->lock,
 * which must own it. */
MELY_INLINE void
melyint_core_link_worth(struct melyint_core *core, struct mely_color *color, uint64_t worth)
{
	/* relaxed, all of these: written under the lock; others read them as hints */
	unsigned flags = MELY_LOAD(&color->_flags, relaxed);

	MELY_STORE(&color->_state, MELYINT_COLOR_QUEUED, relaxed);
	melyint_coreq_link(&core->ready, color);
	MELY_COUNT(&core->hint.waiting, 1);
	if (MELY_LIKELY(!(flags & MELYINT_COLOR_PINNED)))
		MELY_COUNT(&core->hint.stealable, 1);
	if (MELY_UNLIKELY(worth > MELY_LOAD(&core->hint.worth_min, relaxed)) &&
	    !(flags & MELYINT_COLOR_NO_WORTH))
		(void)melyint_core_weigh_slow(core, color);
}

MELY_INLINE void
melyint_core_link(struct melyint_core *core, struct mely_color *color)
{
	melyint_core_link_worth(core, color, melyint_color_worth_most(color));
}

/* Take a linked color out of core's queue. Under core->lock. The state is the caller's to set. */
MELY_INLINE void
melyint_core_unlink(struct melyint_core *core, struct mely_color *color)
{
	/* relaxed, all of these: written under the lock; others read them as hints */
	melyint_coreq_unlink(&core->ready, color);
	melyint_core_unworthy(core, color);
	MELY_COUNT(&core->hint.waiting, -1u);
	if (MELY_LIKELY(!(MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_PINNED)))
		MELY_COUNT(&core->hint.stealable, -1u);
}

/* All events of a color are gone, whatever they weighed. Under the owner's lock; not linked. */
MELY_INLINE void
melyint_color_worthless(struct mely_color *color)
{
	if (!(MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_RELEASED)) /* under the lock */
		color->_u._worth._time_left = 0;
}

/* After a fork, when the stealing-queue may be torn: what its colors know of it goes with them. */
MELY_INLINE void
melyint_core_forget_worthy(struct melyint_core *core)
{
	melyint_stealq_forget(&core->stealq);
}

MELY_INLINE void
melyint_core_free_worthy(struct melyint_core *core)
{
	melyint_stealq_fini(&core->stealq);
}

/* An event of the running batch has been cancelled: C of NOTE(weight). Owner. */
MELY_INLINE void
melyint_batch_lose(struct melyint_batch *batch, const struct mely_event *ev)
{
	batch->gone += melyint_weight_of(ev);
}

/* Under the lock of the color's owner: are its events out of reach, for a few instructions? */
MELY_INLINE bool
melyint_color_away(const struct mely_color *color)
{
	(void)color;
	return false;
}

#endif
