/* SPDX-License-Identifier: MIT */
/*
 * cost.h: what an access to memory costs on the simulated machine. Every cache line that is
 * touched has a state: which caches hold it, and who has modified it. An access finds the line at
 * some level, brings it nearer, takes it away from others when it writes, and throws out what has
 * not been used for longest.
 *
 * Lines are numbered in the order of their first use and everything is decided by these numbers,
 * nothing by addresses, which differ from run to run. One thread.
 */
#ifndef SIM_COST_H
#define SIM_COST_H

#include <stddef.h>
#include <stdint.h>

#include "machine.h"

enum sim_cost_kind {
	SIM_COST_READ = 0,
	SIM_COST_WRITE,
	SIM_COST_RMW /* atomic read-modify-write */
};

/* What has happened so far on one cpu. */
struct sim_cost_count {
	uint64_t accesses;
	uint64_t misses;    /* not found in the last cache of this cpu's own */
	uint64_t transfers; /* of these, brought from another cpu's cache */
	uint64_t waits_ps;  /* for lines on their way to others, and for the bus */
};

struct sim_cost;

/* 0 or -ENOMEM. The shape is copied. */
int sim_cost_new(struct sim_cost **cost, const struct sim_machine *machine,
    const struct sim_shape *shape);
void sim_cost_free(struct sim_cost *cost);

/* The picoseconds that cpu takes for an access at this moment of its clock. */
uint64_t sim_cost_access(struct sim_cost *cost, int cpu, uint64_t now_ps, const void *addr,
    enum sim_cost_kind kind);
/* The same for bytes in a row, one access a line: what a handler's data costs. */
uint64_t sim_cost_range(struct sim_cost *cost, int cpu, uint64_t now_ps, const void *addr,
    size_t bytes, enum sim_cost_kind kind);
/* The line has been asked for ahead of its use: it comes while the cpu goes on. */
void sim_cost_prefetch(struct sim_cost *cost, int cpu, uint64_t now_ps, const void *addr);

/* Picoseconds of so many cycles of the machine. */
uint64_t sim_cost_cycles(const struct sim_cost *cost, uint64_t cycles);
/* An access that needs no line: a stack, a register's spill. */
uint64_t sim_cost_step(const struct sim_cost *cost);
void sim_cost_count(const struct sim_cost *cost, int cpu, struct sim_cost_count *count);
const struct sim_machine *sim_cost_machine(const struct sim_cost *cost);

#endif
