/* SPDX-License-Identifier: MIT */
/*
 * worth.h: linking color-queues on a core, and what each is worth to a thief. The libasync-smp
 * scheduler has its own header of this name, fifo/core/worth.h, with the same functions.
 *
 * NOTE(worth)
 *   A. A waiting color is worth the weight of its events (weight.h) plus the time that it used when
 *      it last ran: a color that posts to itself never has more than one event pending, but may
 *      keep its core busy all the same. The used time is divided by the penalty of the color's
 *      first event, but only where the undivided worth is high enough (melyint_core_weigh_slow).
 *   B. A linked color that is worth more than a steal costs (core->hint.worth_min; paper, section
 *      3.2) is in the core's stealing-queue. The color is weighed when it is linked, posted to or
 *      cancelled from, and once more by the thief that would take it.
 *   C. A pinned color cannot be stolen and a released one has no room for a worth (the union in
 *      color.h): neither is ever in the stealing-queue.
 */
#ifndef MELYINT_CORE_WORTH_H
#define MELYINT_CORE_WORTH_H

#include "core/core.h"
#include "core/weight.h"

#define MELYINT_COLOR_NO_WORTH (MELYINT_COLOR_PINNED | MELYINT_COLOR_RELEASED)

enum {
	/* Three times what a sleeping thread needs to come back to work, as microbench/wake
	 * measures it on a virtual machine: less work is done before help arrives. */
	MELYINT_WAKEUP_NS = 100000,
	MELYINT_STEAL_NS_MIN = 100 /* the least price of a steal */
};

/* A of NOTE(worth). Under core->lock; the color is in core's core-queue. */
uint64_t melyint_color_worth(const struct melyint_core *core, const struct mely_color *color);

/* A lower bound, in ns, for the worth of all worthy colors of core. A hint, for any thread. */
uint64_t melyint_core_worthy_ns(const struct melyint_core *core);

/* Put a linked color into the stealing-queue, move it there, or take it out. Under core->lock.
 * True: it has entered the queue, or a higher interval. */
bool melyint_core_weigh_slow(struct melyint_core *core, struct mely_color *color);

/* A of NOTE(worth): an upper bound of the worth. Under the owner's lock; not of a released color.
 * */
MELY_INLINE uint64_t
melyint_color_worth_most(const struct mely_color *color)
{
	return color->_u._worth._time_left +
	    ((uint64_t)color->_u._worth._recent << MELYINT_WEIGHT_SHIFT);
}

/* What other threads read of the core's queues agrees with them: C of NOTE(worth) puts only colors
 * into the stealing-queue that can be stolen. Under core->lock. */
MELY_INLINE void
melyint_assert_waiting(const struct melyint_core *core)
{
	MELY_DEBUG_ASSERT(melyint_lock_held(&core->lock));
	MELY_DEBUG_ASSERT(MELY_PEEK(&core->hint.waiting) == core->ready.length);
	MELY_DEBUG_ASSERT(MELY_PEEK(&core->hint.stealable) <= core->ready.length);
	MELY_DEBUG_ASSERT(MELY_PEEK(&core->stealq.length) <= MELY_PEEK(&core->hint.stealable));
}

/* Take a linked color out of the stealing-queue if it is there. Under core->lock. */
MELY_INLINE void
melyint_core_unworthy(struct melyint_core *core, struct mely_color *color)
{
	/* relaxed: under the lock */
	if (MELY_UNLIKELY(melyint_stealq_length(&core->stealq) != 0) &&
	    !(MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_NO_WORTH) &&
	    color->_u._worth._steal_slot != 0)
		melyint_stealq_remove(&core->stealq, color);
}

/* The weight of a linked color has changed. Under core->lock. True: thieves gain by it. */
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

/* Link a color with events into core's queue; worth: its melyint_color_worth_most. Under
 * core->lock; core owns the color. */
MELY_INLINE void
melyint_core_link_worth(struct melyint_core *core, struct mely_color *color, uint64_t worth)
{
	/* relaxed, all of these: written under the lock; other threads read them as hints */
	unsigned flags = MELY_LOAD(&color->_flags, relaxed);

	melyint_assert_waiting(core);
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_owner) == core);
	melyint_color_become(color, MELYINT_COLOR_QUEUED);
	melyint_coreq_link(&core->ready, color);
	MELY_COUNT(&core->hint.waiting, 1);
	if (MELY_LIKELY(!(flags & MELYINT_COLOR_PINNED)))
		MELY_COUNT(&core->hint.stealable, 1);
	if (MELY_UNLIKELY(worth > MELY_LOAD(&core->hint.worth_min, relaxed)) &&
	    !(flags & MELYINT_COLOR_NO_WORTH))
		(void)melyint_core_weigh_slow(core, color);
	melyint_assert_waiting(core);
}

MELY_INLINE void
melyint_core_link(struct melyint_core *core, struct mely_color *color)
{
	melyint_core_link_worth(core, color, melyint_color_worth_most(color));
}

/* A RUNNING color that no core runs waits again, or rests. Under core->lock. True: it waits. */
MELY_INLINE bool
melyint_core_settle(struct melyint_core *core, struct mely_color *color)
{
	if (MELY_LOAD(&color->_heads, relaxed) == NULL && color->_tails == NULL) { /* the lock */
		melyint_color_become(color, MELYINT_COLOR_IDLE);
		return false;
	}
	melyint_core_link(core, color);
	return true;
}

/* Take a linked color out of core's queue. Under core->lock. The caller sets the color's state. */
MELY_INLINE void
melyint_core_unlink(struct melyint_core *core, struct mely_color *color)
{
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_state) == MELYINT_COLOR_QUEUED);
	melyint_assert_waiting(core);
	/* relaxed, all of these: written under the lock; other threads read them as hints */
	melyint_coreq_unlink(&core->ready, color);
	melyint_core_unworthy(core, color);
	MELY_COUNT(&core->hint.waiting, -1u);
	if (MELY_LIKELY(!(MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_PINNED)))
		MELY_COUNT(&core->hint.stealable, -1u);
	melyint_assert_waiting(core);
}

/* Do the counts of the colors that wait on core agree? Under core->lock. For assertions. */
MELY_INLINE bool
melyint_core_counts_agree(const struct melyint_core *core)
{
	return MELY_PEEK(&core->hint.waiting) == core->ready.length &&
	    MELY_PEEK(&core->hint.stealable) <= core->ready.length &&
	    MELY_PEEK(&core->stealq.length) <= MELY_PEEK(&core->hint.stealable);
}

/* Forget what the events of a color weighed: it has lost all of them. Under the owner's lock; not
 * linked. */
MELY_INLINE void
melyint_color_worthless(struct mely_color *color)
{
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_state) != MELYINT_COLOR_RUNNING);
	if (!(MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_RELEASED)) /* under the lock */
		color->_u._worth._time_left = 0;
}

/* After a fork the stealing-queue may be torn: empty it without touching its colors. */
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

/* An event of the running batch was cancelled: C of NOTE(weight). Owner. */
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
