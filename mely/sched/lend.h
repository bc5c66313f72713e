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

/* The owner, in whose poller an event was found for an idle color of its own, under its lock. True:
 * the color now belongs to another core. */
bool melyint_lend(struct melyint_core *self, struct mely_color *color);

/* Does the core lend, and its poller post for another core? Owner. */
MELY_INLINE bool
melyint_lends(const struct melyint_core *core)
{
	return MELY_LOAD(&core->hint.lends_to, relaxed) != NULL && /* ours */
	    core->batch.color == NULL && core->others.relieved == NULL;
}

#endif
