/* SPDX-License-Identifier: MIT */
/*
 * machine.h: the machines that can be simulated: what an access costs at each level of the memory,
 * how large the caches are, what the kernel takes. Constant tables; a figure is either taken from
 * where its comment says, or calibrated (docs/internals/prediction.md lists which).
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
	const char *what;          /* for people */
	const char *topology;      /* hwloc's synthetic string */
	uint32_t mhz;
	struct sim_cache_size cache[SIM_LEVELS];
	uint32_t hit[SIM_LEVELS];    /* an access found in this cache */
	uint32_t stream[SIM_LEVELS]; /* the same, the next line after the last: it was prefetched */
	uint32_t memory;           /* an access found in no cache of this cpu */
	uint32_t memory_stream;
	uint32_t near;             /* a line modified in a cache of the same package, none shared */
	uint32_t far;              /* the same of another package */
	uint32_t bus;              /* a package's way to memory and to others is taken so long */
	uint32_t rmw;              /* what an atomic read-modify-write takes over a plain access */
	uint32_t step_milli;       /* an access that hits L1, and instructions around it, x 1000 */
	uint32_t post;             /* what the modelled runtime takes over ours for a post ... */
	uint32_t run;              /* ... and for running an event ... */
	uint32_t steal;            /* ... for a steal, under the victim's lock ... */
	uint32_t lap;              /* ... and before an idle core looks whom to rob */
	/* What the handlers of the workloads take for a word, undisturbed, x 1000. */
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

/* Give one of the machine's times (all that are no caches) another value, by its name here, as
 * "post=500". False when there is no such. */
bool sim_machine_set(struct sim_machine *machine, const char *setting);

/* Which caches a cpu can reach, and its package: found from a topology by sim_shape_load. */
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
 * (L3). 0, -EINVAL when the text is no topology or has fewer units, -ENOMEM.
 */
int sim_shape_load(struct sim_shape *shape, const struct sim_machine *machine, const char *topology,
    int cpus);

/* How many processing units a topology has, at most SIM_CPUS_MAX; 0: it is none. */
int sim_topology_cpus(const char *topology);

#endif
