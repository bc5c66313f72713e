/* SPDX-License-Identifier: MIT */
/*
 * victim.h: the policy of stealing: in which order a thief looks at its victims, whether a victim
 * has anything worth the price, and which of its colors to take. It touches no queue: steal.c
 * moves things, this says which. The heuristics of the paper (section 3) have their place here.
 */
#ifndef MELYINT_VICTIM_H
#define MELYINT_VICTIM_H

#include "core.h"

/* Would it pay to lock this victim? By a glance, without its lock. Thief's thread only. */
bool melyint_victim_worthy(struct melyint_core *thief, struct melyint_core *victim,
    uint64_t now_ticks);

/* The color to take from a victim whose lock is held, or NULL. */
struct mely_color *melyint_victim_choose(struct melyint_core *victim);

/* What a color must weigh to be worthy on this core: the price of a steal by its nearest thief.
 * Owner, or before the cores run. */
void melyint_victim_price(struct melyint_core *core);

/* A steal at some distance has taken so long. Thief's thread. */
void melyint_victim_paid(struct melyint_core *thief, const struct melyint_core *victim,
    uint64_t ns);

/* Are n waiting color-queues of core worth a sleeper's wake-up? */
bool melyint_victim_pays_wakeup(const struct melyint_core *core, uint32_t n);

#endif
