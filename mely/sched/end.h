/* SPDX-License-Identifier: MIT */
/*
 * end.h: how an event leaves its queue for good, and what a turn leaves to be done: the same
 * under both schedulers. Owner's thread only.
 */
#ifndef MELYINT_SCHED_END_H
#define MELYINT_SCHED_END_H

#include "color/misuse.h"
#include "color/names_marks.h"
#include "core/core.h"

/* What an ended turn leaves to be done without the lock, which is held: it is dropped meanwhile. No
 * batch runs then, but has_batch tells a drain that the core is not done. */
void melyint_turn_afterwards(struct melyint_core *core);

/* An event that was cancelled after it had been taken is the caller's again. Its mark is taken
 * off after the turn: that may post, which nothing under a core's lock may. */
MELY_INLINE void
melyint_event_drop(struct melyint_core *core, struct mely_event *ev)
{
	if (ev->_flags & MELYINT_EV_COUNTED) {
		core->due.unmarked_color = core->batch.color;
		core->due.unmarked++;
	}
	/* release: pairs with the acquire of the post that claims it next */
	MELY_STORE(&ev->_state, MELYINT_EV_IDLE, release);
}

/* Embedded or counted, its handler about to be entered. False: it has been cancelled. */
MELY_INLINE bool
melyint_event_enter(struct melyint_core *core, struct mely_event *ev, unsigned flags)
{
	if (!(flags & MELYINT_EV_POOLED)) {
		/* relaxed: a cancel from elsewhere that we just miss has said -EINPROGRESS */
		if (MELY_UNLIKELY(MELY_LOAD(&ev->_state, relaxed) != MELYINT_EV_PRIVATE)) {
			melyint_examine_taken(ev);
			melyint_event_drop(core, ev);
			return false;
		}
		/* release: pairs with the acquire in cancel.c: the handler before has ended */
		MELY_STORE(&core->shown.current, ev, release);
		/* release: pairs with the acquire of the post that claims it next, and of a
		 * cancel that then looks whether it is the current one */
		MELY_STORE(&ev->_state, MELYINT_EV_IDLE, release);
	}
	if (MELY_UNLIKELY(flags & MELYINT_EV_COUNTED))
		melyint_mark_ran(core->batch.color);
	return true;
}

#endif
