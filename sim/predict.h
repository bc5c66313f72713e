/* SPDX-License-Identifier: MIT */
/*
 * predict.h: one prediction: a workload in one configuration on a simulated machine. The engine
 * (engine.h) runs the library's code on virtual cores; here is what that costs.
 *
 * NOTE(prices)
 *   A. Atomics come through the engine's hooks: the core that is least advanced goes on, so that
 *      they happen in the order of virtual time.
 *   B. Plain accesses of the library are seen because it is compiled with the compiler's
 *      instrumentation for data races, whose calls end here (plain.c) instead of in a
 *      race detector. They cost time on their core and no turn of others.
 *   C. A step (sim_machine.step_milli) stands for an access that finds its line in the first
 *      cache, and for the instructions around it. Stacks and thread-local variables are steps.
 *   D. What handlers do is declared by the workload: sim_touch, sim_compute.
 *   E. Between rounds, while the workload checks and takes colors home, what its core does costs
 *      next to nothing and moves no line: the next round finds all data where this one left it.
 */
#ifndef SIM_PREDICT_H
#define SIM_PREDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workload.h"

struct sim_predict {
	const struct sim_workload *workload;
	const char *topology;
	int cores;
	uint64_t seed;          /* of the jitter in what misses and pauses take */
	struct sim_params params;
};

/* What the measured rounds came to. */
struct sim_prediction {
	double seconds;         /* of virtual time, between begin and join of the rounds */
	struct sim_tally tally;
	/* as mely_counters has them */
	uint64_t steals, steals_tried, steals_empty, sleeps, wakeups;
	uint64_t steals_at[MELY_DISTANCES];
	uint64_t lock_ps;       /* taking locks, all cores */
	uint64_t held_ps;       /* thieves holding others' locks */
	uint64_t accesses, misses, transfers;
	uint64_t switches;
	uint64_t trace;         /* a hash of when everything happened */
};

/* Once per process: what it allocates must lie where it does in any other. 0, or -EINVAL for a
 * topology that is none or is too small. */
int sim_predict_run(const struct sim_predict *predict, struct sim_prediction *out);

/* The library asks for a line ahead of its use. */
void sim_prefetch(const void *p);
/* The calling thread is this core (predict_steal.c). */
void sim_on_core(int core);
/* A thief, whose own lock this is, begins and ends its search (predict_steal.c). */
void sim_steal_begin(const void *own_lock);
void sim_steal_end(void);
/* A color has been stolen, and the victim's lock is still held. */
void sim_stolen(void);
/* The clock is read. */
void sim_clock_read(void);

#endif
