/* SPDX-License-Identifier: MIT */
/*
 * end.h: what both schedulers share of a turn: how an event leaves its batch, what a batch leaves
 * to be done, and the frame of the turn. Owner's thread only.
 */
#ifndef MELYINT_SCHED_END_H
#define MELYINT_SCHED_END_H

#include "base/assert.h"
#include "color/misuse.h"
#include "color/names_marks.h"
#include "core/core.h"
#include "core/worth.h"
#include "queue/outbox.h"

/* ---- rows of posts --------------------------------------------------------------------------- */

/* B of NOTE(outbox): a batch, or what follows a turn, has ended. In the child of a fork this thread
 * is no longer the core. */
MELY_INLINE void
melyint_outbox_end_row(struct melyint_core *core)
{
	core->outbox.remote = 0;
	MELY_STORE(&core->outbox.open, false, relaxed); /* ours */
	if (!melyint_outbox_empty(&core->outbox) && melyint_self == core)
		melyint_outbox_deliver(core, core);
	MELY_DEBUG_ASSERT(melyint_self != core || melyint_outbox_length(&core->outbox) == 0);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Give an event of the batch that was cancelled back to the caller. Its mark is taken off after the
 * turn: that may post, which no thread may do under a core's lock. */
MELY_INLINE void
melyint_event_drop(struct melyint_core *core, struct mely_event *ev)
{
	MELY_DEBUG_ASSERT(core->batch.color != NULL);
	melyint_examine_taken(ev);
	if (ev->_flags & MELYINT_EV_COUNTED) {
		/* One batch, one color, one mark. */
		MELY_DEBUG_ASSERT(core->due.unmarked == 0 ||
		    core->due.unmarked_color == core->batch.color);
		core->due.unmarked_color = core->batch.color;
		core->due.unmarked++;
	}
	/* release: pairs with the acquire of the post that claims it next */
	MELY_STORE(&ev->_state, MELYINT_EV_IDLE, release);
}

/* The handler of an embedded or counted event is about to run: the event is the caller's from here
 * on. False: it was cancelled. */
MELY_INLINE bool
melyint_event_enter(struct melyint_core *core, struct mely_event *ev, unsigned flags)
{
	MELY_DEBUG_ASSERT(melyint_self == core && core->batch.color != NULL);
	if (!(flags & MELYINT_EV_POOLED)) {
		/* relaxed: a cancel on another core that this load misses has returned
		 * -EINPROGRESS */
		if (MELY_UNLIKELY(MELY_LOAD(&ev->_state, relaxed) != MELYINT_EV_PRIVATE)) {
			melyint_event_drop(core, ev);
			return false;
		}
		MELY_DEBUG_ASSERT(melyint_ev_color(MELY_PEEK(&ev->_color)) == core->batch.color);
		/* release: pairs with the acquire in cancel.c: the handler before has ended */
		MELY_STORE(&core->shown.current, ev, release);
		/* release: pairs with the acquire of the post that claims the event next, and of a
		 * cancel, which then compares it with the current one */
		MELY_STORE(&ev->_state, MELYINT_EV_IDLE, release);
	}
	if (MELY_UNLIKELY(flags & MELYINT_EV_COUNTED))
		melyint_mark_ran(core->batch.color);
	return true;
}

/* ---- the frame of a turn --------------------------------------------------------------------- */

/* Do what the ended batch left to be done without the lock. Called and returns with the lock held;
 * drops it meanwhile. No batch runs then, but has_batch tells a drain that the core is not done. */
void melyint_turn_afterwards(struct melyint_core *core);

/*
 * One turn, under one hold of the lock: put_back gives the color of the last batch back,
 * take_next makes the next color the running batch (false: none waits). The scheduler passes
 * functions that the compiler can inline; both run under the lock.
 */
MELY_INLINE bool
melyint_turn_frame(struct melyint_core *core, bool take_one,
    void (*put_back)(struct melyint_core *core), bool (*take_next)(struct melyint_core *core))
{
	bool taken;

	MELY_DEBUG_ASSERT(melyint_self == core);
	melyint_lock_take(&core->lock);
	core->locked.turns++;
	if (MELY_LIKELY(core->batch.color != NULL))
		put_back(core);
	MELY_DEBUG_ASSERT(core->batch.color == NULL && core->batch.heads == NULL &&
	    core->batch.tails == NULL && core->batch.own == NULL);
	if (MELY_UNLIKELY(((uintptr_t)core->locked.waiters | (uintptr_t)core->due.leaving |
	    (uintptr_t)core->due.released | core->due.unmarked) != 0))
		melyint_turn_afterwards(core);
	taken = take_one && take_next(core);
	core->locked.has_batch = taken;
	MELY_DEBUG_ASSERT(melyint_core_counts_agree(core));
	melyint_lock_drop(&core->lock);
	MELY_DEBUG_ASSERT(taken == (core->batch.color != NULL));
	return taken;
}

#endif
