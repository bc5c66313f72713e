/* SPDX-License-Identifier: MIT */
/*
 * lend.h: cores with little to do give their colors away: NOTE(lend) in lend.c.
 */
#ifndef MELYINT_SCHED_LEND_H
#define MELYINT_SCHED_LEND_H

#include "core/core.h"

enum { MELYINT_LEND_BACKLOG_NS = 500000 }; /* of a borrower; with more, its lenders come back */

/* Owner, between turns: find out how busy this core was lately, and to which core it lends. */
void melyint_lend_look(struct melyint_core *core, uint64_t now_ticks);

/* Owner: may what its poller has found go to its borrower now? A loan that is over ends here. */
bool melyint_lend_holds(struct melyint_core *core);

/* Owner, whose poller has found an event for this color of its own, under its lock. True: the color
 * now belongs to another core. */
bool melyint_lend(struct melyint_core *self, struct mely_color *color);

/* Has a core been in one turn for a millisecond, or does no thread run it? */
MELY_INLINE bool
melyint_lend_deaf(const struct melyint_core *core, uint64_t now_ticks)
{
	/* relaxed, both: hints. The turn may have begun after now_ticks. */
	return MELY_LOAD(&core->locked.sleep, relaxed) == MELYINT_AWAKE &&
	    (int64_t)(now_ticks - MELY_LOAD(&core->pace.turn_ticks, relaxed)) >
	    (int64_t)core->rt->limits.tick_ticks;
}

/* C of NOTE(lend): is the victim the thief's borrower, to which it leaves a short queue? */
MELY_INLINE bool
melyint_lend_leaves(const struct melyint_core *thief, const struct melyint_core *victim,
    uint64_t now_ticks)
{
	return MELY_LOAD(&thief->loan.lends_to, relaxed) == victim && /* ours */
	    !melyint_lend_deaf(victim, now_ticks);
}

#endif
