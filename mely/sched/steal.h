/* SPDX-License-Identifier: MIT */
/*
 * steal.h: one core takes whole color-queues from another. Mechanism in steal.c; which victim and
 * which color is policy, in victim.h.
 */
#ifndef MELYINT_SCHED_STEAL_H
#define MELYINT_SCHED_STEAL_H

#include "core/core.h"

/* Owner: is there a victim worth a try? By glances alone. */
bool melyint_steal_glance(struct melyint_core *thief);

/* Owner, idle, after a glance that said yes: steal as below from one of those it looked at. */
bool melyint_steal_glanced(struct melyint_core *thief);

/* Owner, idle: take one color from the nearest victim that has one worth it; it becomes the
 * running batch. False: nobody had any. */
bool melyint_steal(struct melyint_core *thief);

/* Owner, busy, once a millisecond: pull colors from a core that has more waiting. */
void melyint_balance(struct melyint_core *core, uint64_t now_ticks);

/* Owner, in no handler: pull the colors that wait on a core that is stuck. */
void melyint_steal_relieve(struct melyint_core *core, struct melyint_core *stuck);

#ifdef MELYINT_LIBASYNC
/* What the environment says of stealing, when a runtime is made. */
void melyint_steal_settle(struct mely_runtime *rt);
#endif

#endif
