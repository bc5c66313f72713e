/* SPDX-License-Identifier: MIT */
/*
 * strategy.h: who goes on, when hunting. Each seed has a strategy of its own: some let anybody go
 * on after every few accesses, some after long spells, some by priorities that change at a few
 * points (which finds what needs one thread to stay away for long).
 */
#ifndef SIM_STRATEGY_H
#define SIM_STRATEGY_H

#include "engine.h"

struct sim_strategy {
	struct sim_rng rng;
	bool priorities;
	uint32_t mean;          /* accesses between two choices */
	uint32_t lowest;        /* priorities go down from here */
	uint32_t jumps;         /* of 65,536 choices so many let time pass to the next deadline */
	uint32_t looks;         /* of 65,536 choices so many look at all */
	uint64_t step_ps, relax_ps, call_ps;
};

void sim_strategy_begin(struct sim_strategy *s, uint64_t seed, uint64_t *slice);
/* A new thread. */
void sim_strategy_join(struct sim_strategy *s, struct sim_thread *thread);
/* One of those who can run, and for how many accesses at most. */
struct sim_thread *sim_strategy_pick(struct sim_strategy *s, struct sim_thread *found[], int n,
    uint64_t *slice);
bool sim_strategy_jumps(struct sim_strategy *s);
bool sim_strategy_looks(struct sim_strategy *s);

#endif
