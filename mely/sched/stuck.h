/* SPDX-License-Identifier: MIT */
/*
 * stuck.h: a core whose handler does not come back does not hold up what else is there. The
 * protocol is NOTE(stuck) in stuck.c.
 */
#ifndef MELYINT_SCHED_STUCK_H
#define MELYINT_SCHED_STUCK_H

#include "core/core.h"

/* With the I/O of a runtime: before its pollers are made, after they end. 0 or a negative errno. */
int melyint_stuck_init(struct mely_runtime *rt);
void melyint_stuck_fini(struct mely_runtime *rt);

/* Owner: it has something to run after a sleep, or begins to run at all. B of NOTE(stuck) */
void melyint_stuck_begin(struct melyint_core *core);

/*
 * Owner, in no handler, about once a millisecond: relieve those that are stuck. idle: the watcher;
 * it looks at every core, not only at some of a large machine. C of NOTE(stuck)
 */
void melyint_stuck_look(struct melyint_core *core, uint64_t now_ticks, bool idle);

/* Is a sleeper to watch busy cores, though there is no stealing? */
bool melyint_stuck_watched(const struct mely_runtime *rt);

#endif
