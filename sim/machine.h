/* SPDX-License-Identifier: MIT */
/*
 * machine.h: the simulated machines: the cost of an access at each level of the memory, the sizes
 * of the caches, the times of the kernel. Constant tables; a figure comes from the source that its
 * comment names, or is calibrated (docs/internals/prediction.md lists these).
 */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	SIM_LEVELS = 3,      /* L1, L2, L3 */
	SIM_CPUS_MAX = 256,
	SIM_LINE_BYTES = 64
};

struct sim_cache_size {
	uint32_t bytes; /* 0: the machine has no such cache */
	uint32_t ways;
};

/* All times in cycles of the machine's clock. */
struct sim_machine {
	const char *name;
	const char *what;          /* for the help text */
	const char *topology;      /* hwloc's synthetic string */
	uint32_t mhz;
	struct sim_cache_size cache[SIM_LEVELS];
	uint32_t hit[SIM_LEVELS];    /* an access found in this cache */
	uint32_t stream[SIM_LEVELS]; /* ... if it follows the last line, and was prefetched */
	uint32_t memory;           /* an access found in no cache of this cpu */
	uint32_t memory_stream;
	uint32_t near;             /* a line modified in a cache of the same package, none shared */
	uint32_t far;              /* a line modified in a cache of another package */
	uint32_t bus;              /* how long a line occupies the bus of a package */
	uint32_t rmw;              /* an atomic read-modify-write, above a plain access */
	uint32_t step_milli;       /* an access that hits L1, and instructions around it, x 1000 */
	uint32_t post;             /* the modelled runtime, above this library, for a post ... */
	uint32_t run;              /* ... and for running an event ... */
	uint32_t steal;            /* ... for a steal, under the victim's lock ... */
	uint32_t lap;              /* ... and before an idle core searches for a victim */
	/* The handlers of the workloads, for a word, undisturbed, x 1000. */
	uint32_t make_milli;       /* penalty: A */
	uint32_t read_milli;       /* penalty: B; the check of a sorted array */
	uint32_t sort_milli;       /* cache-efficient: a step of sorting or merging */
	uint32_t syscall;          /* a system call that finds nothing to do: epoll_wait(0) */
	uint32_t wake;             /* the system call that wakes a sleeping thread */
	uint32_t awake;            /* from then until that thread runs */
};

/* The machine of this name, or NULL. */
const struct sim_machine *sim_machine_find(const char *name);
/* All of them, ended by a NULL name. */
extern const struct sim_machine sim_machines[];

/* Change one of the machine's times (not a cache) by its name here, as in "post=500". False for an
 * unknown name. */
bool sim_machine_set(struct sim_machine *machine, const char *setting);

/* The caches that a cpu reaches, and its package; sim_shape_load reads them from a topology. */
struct sim_shape {
	int cpus;
	int caches;                               /* of all levels */
	int packages;
	int16_t path[SIM_CPUS_MAX][SIM_LEVELS];   /* number of the cache, -1: none */
	int16_t package[SIM_CPUS_MAX];
	uint8_t level[SIM_CPUS_MAX * SIM_LEVELS]; /* of each cache */
	int16_t member[SIM_CPUS_MAX * SIM_LEVELS]; /* a cpu that has it */
};

/*
 * The first cpus processing units of an hwloc synthetic string (or XML file). A level that the
 * machine has and the topology does not name is private to the core (L1, L2) or to the package
 * (L3). 0, -EINVAL if the text is not a topology or has fewer units, -ENOMEM.
 */
int sim_shape_load(struct sim_shape *shape, const struct sim_machine *machine, const char *topology,
    int cpus);

/* The number of processing units of a topology, at most SIM_CPUS_MAX; 0: it is not a topology. */
int sim_topology_cpus(const char *topology);

#endif
