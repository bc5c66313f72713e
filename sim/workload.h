/* SPDX-License-Identifier: MIT */
/*
 * workload.h: the paper's microbenchmarks as programs for the simulated machine. Their events are
 * posted through the public interface to the real runtime, as in microbench/; but their handlers,
 * instead of working, declare what they touch (sim_touch) and how long they compute (sim_compute).
 * The frame is that of mb_rounds.c: rounds of fork and join. After each round, outside the measured
 * time, the workload checks the result and moves stolen colors home. Round 0 is the warm-up.
 */
#ifndef SIM_WORKLOAD_H
#define SIM_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <mely/mely.h>

#include "machine.h"

/* The undisturbed times of the handlers, in cycles, come from the machine (machine.c). */
struct sim_params {
	const struct sim_machine *machine;
	int producers;   /* unbalanced: cores that post a round's events, evenly spread */
	int count;       /* events or colors at the start of each; 0: the benchmark's default */
	bool annotated;  /* the handlers say how long they take, and their penalties */
	int rounds;      /* measured, after one to warm up */
};

/* The result of the rounds. */
struct sim_tally {
	uint64_t events;
	uint64_t cycles;      /* declared by them; 0: unknown */
	uint64_t away_events; /* of these, run on another core than the first of their kind */
	uint64_t away_cycles;
};

struct sim_workload {
	const char *name;
	/* Returns how many sim_round_done(producer) calls of each producer end a round. */
	uint32_t (*setup)(struct mely_runtime *rt, const struct sim_params *params);
	void (*begin)(int producer);             /* in a handler on the producer's core */
	void (*end)(struct sim_tally *tally);    /* in a handler on core 0 */
	void (*teardown)(void);
	bool many;                               /* can have several producers */
};

extern const struct sim_workload sim_unbalanced, sim_penalty, sim_cache_efficient;

/* By name, or NULL. */
const struct sim_workload *sim_workload_find(const char *name);

/* Called in a handler on core 0. */
struct sim_rounds_hooks {
	void (*begun)(void *ctx, int round);  /* now */
	void (*joined)(void *ctx, int round); /* all has been reported */
	/* All is back home; false: that was the last round. */
	bool (*ended)(void *ctx, int round, const struct sim_tally *tally);
	void *ctx;
};

/* Prepare all rounds; they begin when the runtime runs, and then it is stopped. */
void sim_rounds_start(struct mely_runtime *rt, const struct sim_workload *workload,
    const struct sim_params *params, const struct sim_rounds_hooks *hooks);
/* After the runtime has been stopped. */
void sim_rounds_free(void);

/* ---- for the workloads ----------------------------------------------------------------------- */

/* The core that a producer lives on. */
int sim_producer_core(int producer);
/* One report of the round; after the last of all producers it ends. */
void sim_round_done(int producer);
/* Post an event, at the modelled runtime's extra price. */
void sim_post(struct mely_color *color, struct mely_event *ev);
/* A handler begins: add the modelled runtime's extra price for running an event. */
void sim_enter(void);
/* An idle color lives on this core again, free to be stolen. */
void sim_home(struct mely_color *color, int core);
/* An annotation in ns from cycles, at least 1. */
uint32_t sim_ns(uint64_t cycles);
/* Memory that the core has used before, as a per-core allocator gives it; one size only. */
void *sim_array_get(size_t bytes);
void sim_array_put(void *array);
/* A zeroed array aligned to cache lines; fatal without memory. */
void *sim_items(size_t count, size_t size);

/* ---- the simulated machine (predict.c) ------------------------------------------------------ */

/* The cpu computes for a number of cycles. */
void sim_compute(uint64_t cycles);
/* The handler reads, or writes, these bytes once. */
void sim_touch(const void *at, size_t bytes, bool write);
/* Print an error and exit with status 1. */
void sim_wrong(const char *what, int error) __attribute__((noreturn, cold));

static inline void
sim_must(int error, const char *what)
{
	if (__builtin_expect(error < 0, 0))
		sim_wrong(what, -error);
}

#endif
