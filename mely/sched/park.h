/* SPDX-License-Identifier: MIT */
/*
 * park.h: sleep and wake. The protocol is NOTE(park) in park.c.
 */
#ifndef MELYINT_SCHED_PARK_H
#define MELYINT_SCHED_PARK_H

#include "core/core.h"

/* Under core->lock: if core sleeps, it counts as awake from now on, and true says that the
 * caller owes it melyint_wake_finish once it has dropped the lock. */
bool melyint_wake_locked(struct melyint_core *core);
void melyint_wake_finish(struct melyint_core *self, struct melyint_core *core);

/* core has work waiting that it is busy in front of: wake a sleeper for it, if that pays. self
 * is the caller's core or NULL; no lock is held. */
void melyint_offer(struct melyint_core *self, struct melyint_core *core);
/* The same for what waits behind a batch that begins now. */
void melyint_offer_behind(struct melyint_core *self, struct melyint_core *core);

/* Owner, with nothing to run: spin a little, then sleep until there may be something. */
void melyint_park(struct melyint_core *core);

/* Owner, no longer the watcher or the searcher: if it has work, leave the others to a successor;
 * if not, it owes them one (core->others.owes_sentry). */
void melyint_hand_over_watch(struct melyint_core *core);

/*
 * Owner of core 0, between batches: its thread is about to leave for the program's own loop. True:
 * to posters and other cores it is asleep; *pass_ns is when it has to come back at the latest.
 * False: there is something to run, possibly a batch that it stole. NOTE(outside)
 */
bool melyint_go_outside(struct melyint_core *core, uint64_t *pass_ns);
/* The same thread has come back. */
void melyint_come_inside(struct melyint_core *core);

/* Make every core of rt look up from its sleep. Any thread. */
void melyint_wake_all(struct mely_runtime *rt);

#endif
