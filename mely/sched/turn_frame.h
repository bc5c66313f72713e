/* SPDX-License-Identifier: MIT */
/*
 * turn_frame.h: what a turn is for both schedulers: give the color of the last batch back, see to
 * what has been put off, take the next. A part of sched/turn.c and of fifo/run.c, which define
 * before it what giving back (put_back) and taking (take_next) are for them, under the core's lock.
 */
#ifndef MELYINT_SCHED_TURN_FRAME_H
#define MELYINT_SCHED_TURN_FRAME_H

#include "core/core.h"
#include "sched/run.h"

MELY_INLINE bool
turn(struct melyint_core *core, bool take_one)
{
	bool taken;

	melyint_lock_take(&core->lock);
	core->locked.turns++;
	if (MELY_LIKELY(core->batch.color != NULL))
		put_back(core);
	if (MELY_UNLIKELY(((uintptr_t)core->locked.waiters | (uintptr_t)core->due.leaving |
	    (uintptr_t)core->due.released | core->due.unmarked) != 0))
		melyint_turn_afterwards(core);
	taken = take_one && take_next(core);
	core->locked.has_batch = taken;
	melyint_lock_drop(&core->lock);
	return taken;
}

bool
melyint_turn(struct melyint_core *core)
{
	return turn(core, true);
}

void
melyint_turn_end(struct melyint_core *core)
{
	turn(core, false);
}

#endif
