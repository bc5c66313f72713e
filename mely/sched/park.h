/* SPDX-License-Identifier: MIT */
/*
 * park.h: falling asleep and waking up: NOTE(park) in park.c.
 */
#ifndef MELYINT_SCHED_PARK_H
#define MELYINT_SCHED_PARK_H

#include "core/core.h"

/* Owner, which begins to attend the core or is back from a sleep: it counts as busy from now on. */
void melyint_rise(struct melyint_core *core);

/* Owner, with nothing to run: spin a little, then sleep until there may be work. */
void melyint_park(struct melyint_core *core);

/* Owner, which has ended its watch or its search: wake a successor if it has work itself; else note
 * that it owes the others a sentry (core->others.owes_sentry). */
void melyint_hand_over_sentry(struct melyint_core *core);

/*
 * Owner of core 0, between batches: its thread is about to leave for the program's own loop. True:
 * to posters and other cores it is asleep; *pass_ns is when it has to come back at the latest.
 * False: there is something to run, possibly a batch that it stole. NOTE(outside)
 */
bool melyint_go_outside(struct melyint_core *core, uint64_t *pass_ns);
/* Owner of core 0, when its thread is back. */
void melyint_come_inside(struct melyint_core *core);

#endif
