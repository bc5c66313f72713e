/* SPDX-License-Identifier: MIT */
/*
 * predict.h: one prediction: a workload in one configuration on a simulated machine. The engine
 * (engine.h) runs the library's code on virtual cores; this file adds the costs.
 *
 * NOTE(prices)
 *   A. Atomics call the engine's hooks: the least advanced core runs next, so atomics happen in the
 *      order of virtual time.
 *   B. The compiler instruments plain accesses of the library as for data races, and its calls end
 *      in plain.c. They take time on their core and do not let other cores run.
 *   C. A step (sim_machine.step_milli) is the price of an access that finds its line in the first
 *      cache, and of the instructions around it. Stacks and thread-local variables are steps.
 *   D. The workload declares the work of handlers: sim_touch, sim_compute.
 *   E. Between rounds, while the workload checks and moves colors home, its core's work costs next
 *      to nothing and moves no line: the next round finds all data where this one left it.
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
	uint64_t seed;          /* of the jitter of misses and pauses */
	struct sim_params params;
};

/* The result of the measured rounds. */
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
	uint64_t trace;         /* a hash of all events and times */
};

/* Once per process: its allocations must lie as in every other process. 0, or -EINVAL for an
 * invalid or too small topology. */
int sim_predict_run(const struct sim_predict *predict, struct sim_prediction *out);

/* The library prefetches a line. */
void sim_prefetch(const void *p);
/* The calling thread is this core (predict_steal.c). */
void sim_on_core(int core);
/* A thief, named by its lock, begins and ends its search (predict_steal.c). */
void sim_steal_begin(const void *own_lock);
void sim_steal_end(void);
/* A color has been stolen, and the victim's lock is still held. */
void sim_stolen(void);
/* The clock is read. */
void sim_clock_read(void);

#endif
