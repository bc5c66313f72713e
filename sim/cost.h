/* SPDX-License-Identifier: MIT */
/*
 * cost.h: the cost of memory accesses on the simulated machine. Every touched cache line has a
 * state: the caches that hold it, and the cpu that modified it. An access finds the line at some
 * level, brings it nearer, invalidates other copies if it writes, and evicts the least recently
 * used line.
 *
 * Lines have numbers in the order of their first use. The costs depend only on these numbers, not
 * on addresses, which differ from run to run. One thread.
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

/* The totals of one cpu. */
struct sim_cost_count {
	uint64_t accesses;
	uint64_t misses;    /* not found in any cache of this cpu */
	uint64_t transfers; /* of these, brought from another cpu's cache */
	uint64_t waits_ps;  /* for lines on their way to others, and for the bus */
};

struct sim_cost;

/* 0 or -ENOMEM. The shape is copied. */
int sim_cost_new(struct sim_cost **cost, const struct sim_machine *machine,
    const struct sim_shape *shape);
void sim_cost_free(struct sim_cost *cost);

/* The picoseconds of an access by cpu at the current time of its clock. */
uint64_t sim_cost_access(struct sim_cost *cost, int cpu, uint64_t now_ps, const void *addr,
    enum sim_cost_kind kind);
/* The picoseconds of a range of bytes, one access a line: the cost of a handler's data. */
uint64_t sim_cost_range(struct sim_cost *cost, int cpu, uint64_t now_ps, const void *addr,
    size_t bytes, enum sim_cost_kind kind);
/* Prefetch the line: it arrives while the cpu goes on. */
void sim_cost_prefetch(struct sim_cost *cost, int cpu, uint64_t now_ps, const void *addr);

/* The picoseconds of a number of cycles of the machine. */
uint64_t sim_cost_cycles(const struct sim_cost *cost, uint64_t cycles);
/* An access that needs no line: a stack, a register's spill. */
uint64_t sim_cost_step(const struct sim_cost *cost);
void sim_cost_count(const struct sim_cost *cost, int cpu, struct sim_cost_count *count);
const struct sim_machine *sim_cost_machine(const struct sim_cost *cost);

#endif
