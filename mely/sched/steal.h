/* SPDX-License-Identifier: MIT */
/*
 * steal.h: one core takes whole color-queues from another. steal.c has the mechanism; victim.h has
 * the policy: which victim and which color. libmely-libasync: fifo/steal.c.
 */
#ifndef MELYINT_SCHED_STEAL_H
#define MELYINT_SCHED_STEAL_H

#include "core/core.h"

/* Owner: is there a victim worth a try? Takes no lock. */
bool melyint_steal_glance(struct melyint_core *thief);

/* Owner, idle, after melyint_steal_glance has returned true: melyint_steal among the victims that
 * it glanced at. */
bool melyint_steal_glanced(struct melyint_core *thief);

/* Owner, idle: take one color from the nearest victim that has one worth it and make it the running
 * batch. False: there was none. */
bool melyint_steal(struct melyint_core *thief);

/* Owner, busy, once a millisecond: pull colors from a core that has more waiting. */
void melyint_balance(struct melyint_core *core, uint64_t now_ticks);

/* Owner, in no handler: pull the colors that wait on a stuck core. */
void melyint_steal_relieve(struct melyint_core *core, struct melyint_core *stuck);

/* A runtime is made: read what the environment says about stealing. */
void melyint_steal_settle(struct mely_runtime *rt);

#endif
