/* SPDX-License-Identifier: MIT */
/*
 * victim.h: the policy of stealing: in which order a thief looks at its victims, whether a victim
 * has anything worth the price, and which of its colors to take. It touches no core-queue: steal.c
 * moves things, this says which. The heuristics of the paper (section 3) have their place here.
 */
#ifndef MELYINT_SCHED_VICTIM_H
#define MELYINT_SCHED_VICTIM_H

#include "core/core.h"

/* Why to steal from a victim. */
enum melyint_reason {
	MELYINT_NOT_WORTHY = 0,
	MELYINT_WORTHY,  /* some color is worth the price */
	MELYINT_WAITED   /* something has waited for long; any color will do */
};

/* Would it pay to lock this victim? By a glance, without its lock. Thief's thread only. */
enum melyint_reason melyint_victim_worthy(struct melyint_core *thief, struct melyint_core *victim,
    uint64_t now_ticks);

/* The color to take from a victim whose lock is held, or NULL. Thief's thread only. */
struct mely_color *melyint_victim_choose(struct melyint_core *thief,
    struct melyint_core *victim, enum melyint_reason reason, uint64_t now_ticks);

/* The same for a thief that has work of its own, and pulls to have equally many (steal.c): the
 * color that has waited longest. */
struct mely_color *melyint_victim_eldest(const struct melyint_core *victim);

/* Find out anew what a color must weigh to be worthy on this core: the price of a steal by its
 * nearest thief. Owner, or whoever has turned a switch. */
void melyint_victim_price(struct melyint_core *core);

/* A steal at some distance has taken so long. Thief's thread. */
void melyint_victim_paid(struct melyint_core *thief, const struct melyint_core *victim,
    uint64_t ns);

/* Is what waits on core worth a sleeper's wake-up? n: waiting color-queues. behind: they wait
 * behind a batch that begins now, else behind one that may be about to end. */
bool melyint_victim_pays_wakeup(const struct melyint_core *core, uint32_t n, bool behind);

#endif
