/* SPDX-License-Identifier: MIT */
/*
 * victim.h: the policy of stealing: in which order a thief tries its victims, whether a victim has
 * a color worth the price of a steal, and which of its colors to take. The policy touches no
 * core-queue: steal.c moves colors. The heuristics of the paper (section 3) are here.
 */
#ifndef MELYINT_SCHED_VICTIM_H
#define MELYINT_SCHED_VICTIM_H

#include "core/core.h"

/* The reason to steal from a victim. */
enum melyint_reason {
	MELYINT_NOT_WORTHY = 0,
	MELYINT_WORTHY,  /* some color is worth the price */
	MELYINT_WAITED   /* some color has waited for long; any will do */
};

/* Would it pay to lock this victim? Takes no lock. Thief's thread only. */
enum melyint_reason melyint_victim_worthy(struct melyint_core *thief, struct melyint_core *victim,
    uint64_t now_ticks);

/* The color to take from a victim whose lock is held, or NULL. Thief's thread only. */
struct mely_color *melyint_victim_choose(struct melyint_core *thief,
    struct melyint_core *victim, enum melyint_reason reason, uint64_t now_ticks);

/* The color of the victim that has waited longest, or NULL. Under the victim's lock. For a thief
 * that has work of its own and balances (steal.c). */
struct mely_color *melyint_victim_eldest(const struct melyint_core *victim);

/* Update what a color must weigh to be worthy on this core: the price of a steal by its nearest
 * thief. Owner, or the thread that has turned a switch. */
void melyint_victim_price(struct melyint_core *core);

/* Account for a steal that took ns. Thief's thread. */
void melyint_victim_paid(struct melyint_core *thief, const struct melyint_core *victim,
    uint64_t ns);

/* Is what waits on core worth the wake-up of a sleeper? n: waiting color-queues. behind: they wait
 * behind a batch that begins now, else behind one that may end soon. Any thread; by hints. */
bool melyint_victim_pays_wakeup(const struct melyint_core *core, uint32_t n, bool behind);

#endif
