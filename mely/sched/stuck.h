/* SPDX-License-Identifier: MIT */
/*
 * stuck.h: a core whose handler does not come back does not hold up the rest of its work:
 * NOTE(stuck) in stuck.c.
 */
#ifndef MELYINT_SCHED_STUCK_H
#define MELYINT_SCHED_STUCK_H

#include "core/core.h"

/* Room io calls these, before it makes the pollers of a runtime and after it ends them. 0 or a
 * negative errno. */
int melyint_stuck_init(struct mely_runtime *rt);
void melyint_stuck_fini(struct mely_runtime *rt);

/* Owner: the core has work after a sleep, or begins to run at all. B of NOTE(stuck) */
void melyint_stuck_begin(struct melyint_core *core);

/* Owner, in no handler, about once a millisecond: relieve stuck cores. idle: the caller is the
 * sentry and checks every core, not only some of a large machine. C of NOTE(stuck) */
void melyint_stuck_look(struct melyint_core *core, uint64_t now_ticks, bool idle);

/* Does the runtime need a sentry even without stealing? */
bool melyint_stuck_needs_sentry(const struct mely_runtime *rt);

#endif
