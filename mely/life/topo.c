/* SPDX-License-Identifier: MIT */
/*
 * topo.c: cores, processing units and core sets. hwloc loads only what matters here (packages,
 * caches, cores, PUs), which keeps its start under a few milliseconds. When the configuration names
 * a synthetic description or an XML file, that is used instead of the machine.
 */
#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "base/clock.h"
#include "life/life.h"

enum {
	CPUS_MAX = 8192,
	FAR_NS = 1000, /* for each core */
	SHARERS = 8,   /* up to as many cores share each measurement */
	HWLOC_BYTES = 2 << 20 /* more than hwloc needs for a thousand processors */
};

/* The affinity mask, large enough for any machine: processors are numbered by their OS index. */
static cpu_set_t *
usable_mask(size_t *size, int *count)
{
	cpu_set_t *mask = CPU_ALLOC(CPUS_MAX);

	*size = CPU_ALLOC_SIZE(CPUS_MAX);
	if (mask == NULL)
		return NULL;
	CPU_ZERO_S(*size, mask);
	if (sched_getaffinity(0, *size, mask) != 0) {
		CPU_SET_S(0, *size, mask);
		melyint_say("sched_getaffinity: %s; using one core", strerror(errno));
	}
	*count = CPU_COUNT_S(*size, mask);
	return mask;
}

/* The number of processors, at least 1, or -ENOMEM. */
static int
usable(int *processors, int *quota)
{
	size_t size;
	cpu_set_t *mask = usable_mask(&size, processors);

	if (mask == NULL)
		return -ENOMEM;
	CPU_FREE(mask);
	*quota = melyint_topo_quota("/sys/fs/cgroup", "/proc/self/cgroup");
	return *quota > 0 && *quota < *processors ? *quota : *processors;
}

int
mely_cores_usable(void)
{
	int processors, quota, n = usable(&processors, &quota);

	return n > 0 ? n : 1;
}

/* Decide how many cores there are and whether they may be bound, and record why. */
int
melyint_topo_count(struct mely_runtime *rt)
{
	int processors, quota, n = usable(&processors, &quota);
	const char *why;

	if (n < 0)
		return n;
	why = n < processors ? "cgroup quota" : "usable processors";
	if (rt->config.cores > 0) {
		n = rt->config.cores;
		why = getenv("MELY_CORES") != NULL ? "MELY_CORES or the program" : "the program";
	}
	if (n > MELY_CORES_MAX)
		n = MELY_CORES_MAX;
	rt->cores_count = n;
	rt->limits.far_ticks = melyint_ns_to_ticks((uint64_t)n * FAR_NS);
	rt->limits.share_every = ((uint32_t)n + SHARERS - 1) / SHARERS | 1; /* odd: patterns */
	/* Two programs that share a machine must not both be bound to its first processors, so
	 * threads are bound only when they fill all processors of the process. */
	rt->limits.bound = rt->config.pinning == MELY_PIN_YES ||
	    (rt->config.pinning == MELY_PIN_AUTO && n == processors);
	/* Where threads share a processor, a spinning one takes it from one that has work. */
	rt->limits.spin_ns_max = n <= processors ? rt->config.spin_us_max * 1000u : 0;
	snprintf(rt->life.why_cores, sizeof rt->life.why_cores,
	    "%d usable, quota %s%.0d; by %s", processors,
	    quota > 0 ? "" : "none", quota, why);
	return 0;
}

/* ---- hwloc ----------------------------------------------------------------------------------- */

/*
 * hwloc uses memory before it has checked that it got it, and ends the program when there is none.
 * So there must be enough before it begins; only another thread can take it then.
 */
static bool
room_for_hwloc(void)
{
	void *room = mmap(NULL, HWLOC_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	    -1, 0);

	if (room == MAP_FAILED)
		return false;
	munmap(room, HWLOC_BYTES);
	return true;
}

/* Is this what the machine is said to be? 0, -EINVAL, -ENOMEM. */
static int
set_description(hwloc_topology_t t, const char *description)
{
	errno = 0;
	if (hwloc_topology_set_synthetic(t, description) == 0 ||
	    (errno != ENOMEM && hwloc_topology_set_xml(t, description) == 0))
		return 0;
	if (errno == ENOMEM)
		return -ENOMEM;
	melyint_say("topology: \"%.200s\" is neither a synthetic description nor an XML file",
	    description);
	return -EINVAL;
}

static int
load(const char *description, hwloc_topology_t *topology)
{
	hwloc_topology_t t;
	int error = 0;

	if (!room_for_hwloc() || hwloc_topology_init(&t) != 0)
		return -ENOMEM;
	hwloc_topology_set_all_types_filter(t, HWLOC_TYPE_FILTER_KEEP_NONE);
	hwloc_topology_set_type_filter(t, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
	hwloc_topology_set_type_filter(t, HWLOC_OBJ_L3CACHE, HWLOC_TYPE_FILTER_KEEP_ALL);
	hwloc_topology_set_type_filter(t, HWLOC_OBJ_L2CACHE, HWLOC_TYPE_FILTER_KEEP_ALL);
	hwloc_topology_set_type_filter(t, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
	hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_NO_DISTANCES |
	    HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS | HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS);
	if (description != NULL)
		error = set_description(t, description);
	errno = 0;
	if (error == 0 && hwloc_topology_load(t) != 0)
		error = errno == ENOMEM ? -ENOMEM : -EIO;
	if (error != 0)
		hwloc_topology_destroy(t);
	else
		*topology = t;
	return error;
}

/* How far two PUs are from each other, by what they share. */
static enum mely_distance
distance(hwloc_topology_t t, hwloc_obj_t a, hwloc_obj_t b)
{
	if (t == NULL || a == NULL || b == NULL)
		return MELY_DISTANCE_FAR;
	switch (hwloc_get_common_ancestor_obj(t, a, b)->type) {
	case HWLOC_OBJ_PU: /* two cores on one PU */
	case HWLOC_OBJ_CORE:
		return MELY_DISTANCE_CORE;
	case HWLOC_OBJ_L2CACHE:
		return MELY_DISTANCE_L2;
	case HWLOC_OBJ_L3CACHE:
		return MELY_DISTANCE_L3;
	case HWLOC_OBJ_PACKAGE:
		return MELY_DISTANCE_PACKAGE;
	default:
		return MELY_DISTANCE_FAR;
	}
}

/* Turn a row of victims left, so that it begins with the one at place by. */
static void
rotate(uint16_t *row, int length, int by)
{
	uint16_t turned[MELY_CORES_MAX];
	int i;

	for (i = 0; i < length; i++)
		turned[i] = row[(i + by) % length];
	memcpy(row, turned, (size_t)length * sizeof row[0]);
}

/* The core set of one core: the others, nearest first (paper, section 3.1). Among equally near
 * victims each thief begins with a different one. */
static void
order_victims(struct melyint_core *core, hwloc_topology_t t, const hwloc_obj_t *pus)
{
	int n = core->rt->cores_count, count = 0, begin, i;
	unsigned d;

	for (i = 0; i < n - 1; i++)
		core->fixed.victims_flat[i] = (uint16_t)((core->index + 1 + i) % n);
	for (i = 0; i < n; i++)
		core->fixed.distance[i] = (uint8_t)distance(t, pus[core->index], pus[i]);
	for (d = 0; d < MELY_DISTANCES; d++) {
		begin = count;
		for (i = 0; i < n; i++) {
			if (i != core->index && core->fixed.distance[i] == d)
				core->fixed.victims[count++] = (uint16_t)i;
		}
		if (count > begin)
			rotate(&core->fixed.victims[begin], count - begin, core->index);
	}
}

/* Those processors of the mask that share the last cache with this one; how many they are. Where no
 * cache is known: those of its package, or of the machine. */
static int
cache_domain(hwloc_obj_t pu, const cpu_set_t *mask, size_t size, cpu_set_t *domain)
{
	hwloc_obj_t shared = pu;
	unsigned cpu;

	MELY_ASSERT(pu->type == HWLOC_OBJ_PU);
	while (shared->parent != NULL && shared->type != HWLOC_OBJ_L3CACHE &&
	    shared->type != HWLOC_OBJ_PACKAGE)
		shared = shared->parent;
	CPU_ZERO_S(size, domain);
	hwloc_bitmap_foreach_begin (cpu, shared->cpuset)
		if (cpu < CPUS_MAX && CPU_ISSET_S(cpu, size, mask))
			CPU_SET_S(cpu, size, domain);
	hwloc_bitmap_foreach_end();
	return CPU_COUNT_S(size, domain);
}

/*
 * Decide where the thread of a core is bound, if anywhere. By default it may run wherever it shares
 * the last cache: bound to one processor, it would have to wait while another program runs there
 * and the processor beside it is idle. 0 or -ENOMEM.
 */
static int
bind_core(struct melyint_core *core, int cpu, hwloc_obj_t pu, const cpu_set_t *mask, size_t size)
{
	const struct mely_runtime *rt = core->rt;
	cpu_set_t *set;

	if (!rt->limits.bound)
		return 0;
	set = CPU_ALLOC(CPUS_MAX);
	if (set == NULL)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	if (rt->config.pinning == MELY_PIN_YES) {
		CPU_SET_S((size_t)cpu, size, set);
		core->fixed.pu = cpu;
	} else if (pu == NULL || cache_domain(pu, mask, size, set) == CPU_COUNT_S(size, mask)) {
		CPU_FREE(set);
		set = NULL;
	}
	core->fixed.bound = set;
	return 0;
}

/* Give each core a PU: the usable ones in turn. */
static int
place_on_machine(struct mely_runtime *rt, hwloc_topology_t t, hwloc_obj_t *pus)
{
	size_t size;
	int count, cpu = -1, error = 0, i;
	cpu_set_t *mask = usable_mask(&size, &count);
	bool bound = false;

	if (mask == NULL)
		return -ENOMEM;
	for (i = 0; i < rt->cores_count && error == 0; i++) {
		int steps = 0;

		while (steps++ <= CPUS_MAX) {
			cpu = (cpu + 1) % CPUS_MAX;
			if (CPU_ISSET_S((size_t)cpu, size, mask))
				break;
		}
		pus[i] = t != NULL ? hwloc_get_pu_obj_by_os_index(t, (unsigned)cpu) : NULL;
		error = bind_core(&rt->cores[i], cpu, pus[i], mask, size);
		bound |= rt->cores[i].fixed.bound != NULL;
	}
	rt->limits.bound = bound;
	CPU_FREE(mask);
	return error;
}

/* As many PUs of the described machine as there are cores, in turn. */
static void
place_on_description(struct mely_runtime *rt, hwloc_topology_t t, hwloc_obj_t *pus)
{
	int count = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU), i;

	MELY_ASSERT(count > 0); /* hwloc loads no machine without one */
	rt->limits.bound = false; /* those are the processors of another machine */
	for (i = 0; i < rt->cores_count; i++)
		pus[i] = hwloc_get_obj_by_type(t, HWLOC_OBJ_PU, (unsigned)(i % count));
}

/* The core set of each core. 0 or -ENOMEM. */
static int
order_all_victims(struct mely_runtime *rt, hwloc_topology_t t, const hwloc_obj_t *pus)
{
	size_t n = (size_t)rt->cores_count, i;

	for (i = 0; i < n; i++) {
		struct melyint_core *core = &rt->cores[i];

		core->fixed.victims = calloc(n, sizeof core->fixed.victims[0]);
		core->fixed.victims_flat = calloc(n, sizeof core->fixed.victims[0]);
		core->fixed.distance = calloc(n, sizeof core->fixed.distance[0]);
		if (core->fixed.victims == NULL || core->fixed.victims_flat == NULL ||
		    core->fixed.distance == NULL)
			return -ENOMEM;
		order_victims(core, t, pus);
	}
	return 0;
}

/* Put each core into a domain: E of NOTE(park). Where the cores share no caches, all are one. */
static void
form_domains(struct mely_runtime *rt)
{
	int reach = MELY_DISTANCE_FAR, i, j;

	for (i = 0; i < rt->cores_count && reach != MELY_DISTANCE_L3; i++) {
		const struct melyint_fixed *fixed = &rt->cores[i].fixed;

		if (fixed->distance[fixed->victims[0]] <= MELY_DISTANCE_L3)
			reach = MELY_DISTANCE_L3;
	}
	rt->domains_count = 0;
	for (i = 0; i < rt->cores_count; i++) {
		for (j = 0; j < i && rt->cores[i].fixed.distance[j] > reach; j++)
			continue;
		rt->cores[i].fixed.domain = j < i ? rt->cores[j].fixed.domain :
		    &rt->domains[rt->domains_count++];
	}
}

/* The domains in the order of a core's victims. */
static void
order_domains(struct melyint_core *core)
{
	const struct mely_runtime *rt = core->rt;
	int count = 0, i, j;

	for (i = -1; i < rt->cores_count - 1; i++) {
		const struct melyint_core *next = i < 0 ? core :
		    &rt->cores[core->fixed.victims[i]];
		uint16_t number = (uint16_t)(next->fixed.domain - rt->domains);

		for (j = 0; j < count && core->fixed.domains[j] != number; j++)
			continue;
		if (j == count)
			core->fixed.domains[count++] = number;
	}
	MELY_ASSERT(count == rt->domains_count);
}

/* 0 or -ENOMEM. */
static int
make_domains(struct mely_runtime *rt)
{
	size_t n = (size_t)rt->cores_count, i;

	rt->domains = aligned_alloc(MELY_CACHE_LINE, n * sizeof rt->domains[0]);
	if (rt->domains == NULL)
		return -ENOMEM;
	memset(rt->domains, 0, n * sizeof rt->domains[0]);
	form_domains(rt);
	for (i = 0; i < n; i++) {
		struct melyint_core *core = &rt->cores[i];

		core->fixed.domains = calloc((size_t)rt->domains_count,
		    sizeof core->fixed.domains[0]);
		if (core->fixed.domains == NULL)
			return -ENOMEM;
		order_domains(core);
	}
	return 0;
}

int
melyint_topo_place(struct mely_runtime *rt)
{
	const char *description = rt->config.topology;
	hwloc_topology_t t = NULL;
	hwloc_obj_t pus[MELY_CORES_MAX];
	int error = 0;

	if (rt->cores_count > 1 || description != NULL)
		error = load(description, &t);
	if (error == -ENOMEM || (error != 0 && description != NULL))
		return error;
	if (error != 0)
		melyint_say("hwloc could not be loaded; all cores count as equally far");
	error = 0;
	if (description != NULL)
		place_on_description(rt, t, pus);
	else
		error = place_on_machine(rt, t, pus);
	if (error == 0)
		error = order_all_victims(rt, t, pus);
	if (error == 0)
		error = make_domains(rt);
	if (t != NULL)
		hwloc_topology_destroy(t);
	if (sched_getaffinity(0, sizeof rt->unbound, &rt->unbound) != 0)
		CPU_ZERO(&rt->unbound); /* a machine of more processors than it has room for */
	return error;
}

static void
free_one(struct melyint_core *core)
{
	CPU_FREE(core->fixed.bound);
	free(core->fixed.domains);
	free(core->fixed.victims);
	free(core->fixed.victims_flat);
	free(core->fixed.distance);
}

void
melyint_topo_free(struct mely_runtime *rt)
{
	int i;

	for (i = 0; i < rt->cores_count; i++)
		free_one(&rt->cores[i]);
	free(rt->domains);
}

void
melyint_topo_bind(struct melyint_core *core)
{
	const cpu_set_t *bound = core->fixed.bound;

	if (bound != NULL && sched_setaffinity(0, CPU_ALLOC_SIZE(CPUS_MAX), bound) != 0)
		melyint_say("core %d could not be bound to its processors: %s; it runs unpinned",
		    core->index, strerror(errno));
}
