/* SPDX-License-Identifier: MIT */
/*
 * strategy.h: the next thread of a hunt. Each seed has a strategy: any thread after a few accesses,
 * any thread after many, or priorities that change at a few points (which finds faults that need
 * one thread to pause for long). Some seeds have store buffers, too (buffer.h). With some others,
 * threads dwell at a few places of the source until no other thread can run, which finds faults
 * that need much to happen between two accesses of one thread.
 */
#ifndef SIM_STRATEGY_H
#define SIM_STRATEGY_H

#include "engine.h"

struct sim_strategy {
	struct sim_rng rng;
	struct sim_rng delays;  /* of stores: without them a seed has the same choices */
	bool priorities;
	uint32_t mean;          /* accesses between two choices */
	uint32_t lowest;        /* priorities go down from here */
	uint32_t jumps;         /* of 65,536 choices, those that jump to the next deadline */
	uint32_t looks;         /* of 65,536 choices, those that check everything */
	bool buffered;          /* store buffers: */
	uint32_t drains;        /* of 65,536 buffers, those that drain at a choice */
	uint32_t lingers;       /* of 65,536 accesses, those that come late: F of NOTE(buffers) */
	struct sim_rng dwells;  /* as delays */
	bool dwelling;          /* threads dwell at places: */
	uint64_t places;        /* which ones: */
	uint32_t share;         /* of all places, one in this number, on average */
	uint32_t dwells_left;   /* then no thread dwells any more */
	uint64_t step_ps, relax_ps, call_ps;
};

/* Has the schedule of this seed store buffers? */
bool sim_strategy_buffered(uint64_t seed);
void sim_strategy_begin(struct sim_strategy *s, uint64_t seed, uint64_t *slice);
/* Add a thread. */
void sim_strategy_join(struct sim_strategy *s, struct sim_thread *thread);
/* Choose a runnable thread, and its maximum of accesses. */
struct sim_thread *sim_strategy_pick(struct sim_strategy *s, struct sim_thread *found[], int n,
    uint64_t *slice);
bool sim_strategy_jumps(struct sim_strategy *s);
bool sim_strategy_looks(struct sim_strategy *s);
bool sim_strategy_lingers(struct sim_strategy *s);
/* Does the thread that comes to this place dwell there? Only if s->dwelling. */
bool sim_strategy_dwells(struct sim_strategy *s, size_t place);

#endif
