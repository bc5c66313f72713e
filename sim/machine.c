/* SPDX-License-Identifier: MIT */
/*
 * machine.c: see machine.h. Any thread may call it.
 */
#include <errno.h>
#include <hwloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

const struct sim_machine sim_machines[] = {
	{
		/* Table 2 of the paper: 4, 15, 110 cycles; two cores share 6 MB of L2. The front
		 * side bus moves 8 bytes 1,333 million times a second: 14 cycles for a line. One
		 * core streams 5 GB/s from it: 30 cycles for a line. */
		.name = "paper",
		.what = "two Xeon E5410, 2.33 GHz, Table 2's latencies",
		.topology = "pack:2 l2:2 core:2 pu:1",
		.mhz = 2330,
		.cache = {{32768, 8}, {6291456, 24}, {0, 0}},
		.hit = {4, 15, 0},
		.stream = {4, 8, 0},
		.memory = 110,
		.memory_stream = 30,
		.near = 110,
		.far = 110,
		.bus = 14,
		.rmw = 20,
		.step_milli = 1300,
		.post = 307,
		.run = 307,
		.steal = 1175,
		.lap = 97300,
		.make_milli = 1722,
		.read_milli = 1722,
		.sort_milli = 2616,
		.syscall = 500,
		.wake = 2500,
		.awake = 7000,
	},
	{
		/* The machine of the measurements. DESIGN.md gives 55 ns for a line from core to
		 * core and 6 ns for an exchange; lscpu shows the caches. */
		.name = "today",
		.what = "AMD EPYC (Zen 4) at 2.6 GHz, a virtual machine",
		.topology = "pack:1 l3:1 core:2 pu:1",
		.mhz = 2600,
		.cache = {{32768, 8}, {1048576, 8}, {33554432, 16}},
		.hit = {4, 14, 50},
		.stream = {4, 6, 12},
		.memory = 260,
		.memory_stream = 20,
		.near = 143,
		.far = 300,
		.bus = 5,
		.rmw = 4,
		.step_milli = 200,
		.post = 0,
		.run = 0,
		.make_milli = 1000,
		.read_milli = 1000,
		.sort_milli = 6000,
		.syscall = 800,
		.wake = 5000,
		.awake = 60000,
	},
	{.name = NULL},
};

const struct sim_machine *
sim_machine_find(const char *name)
{
	const struct sim_machine *m;

	for (m = sim_machines; m->name != NULL; m++) {
		if (strcmp(m->name, name) == 0)
			return m;
	}
	return NULL;
}

/* The times that sim_machine_set can change. */
static const struct {
	const char *name;
	size_t offset;
} times[] = {
#define TIME(name) {#name, offsetof(struct sim_machine, name)}
	TIME(mhz), TIME(memory), TIME(memory_stream), TIME(near), TIME(far), TIME(bus), TIME(rmw),
	TIME(step_milli), TIME(post), TIME(run), TIME(steal), TIME(lap), TIME(make_milli),
	TIME(read_milli),
	TIME(sort_milli), TIME(syscall), TIME(wake), TIME(awake),
#undef TIME
};

bool
sim_machine_set(struct sim_machine *machine, const char *setting)
{
	const char *equals = strchr(setting, '=');
	unsigned long value;
	char *end;
	size_t i;

	if (equals == NULL || equals[1] < '0' || equals[1] > '9')
		return false;
	value = strtoul(equals + 1, &end, 10);
	if (*end != '\0' || value > 100000000)
		return false;
	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		if (strlen(times[i].name) == (size_t)(equals - setting) &&
		    strncmp(times[i].name, setting, strlen(times[i].name)) == 0) {
			memcpy((char *)machine + times[i].offset, &(uint32_t){(uint32_t)value},
			    sizeof(uint32_t));
			return true;
		}
	}
	return false;
}

/* ---- shapes ------------------------------------------------------------------------------- */

static int
load(const char *text, hwloc_topology_t *topology)
{
	hwloc_topology_t t;

	if (hwloc_topology_init(&t) != 0)
		return -ENOMEM;
	if ((hwloc_topology_set_synthetic(t, text) != 0 && hwloc_topology_set_xml(t, text) != 0) ||
	    hwloc_topology_load(t) != 0) {
		hwloc_topology_destroy(t);
		return -EINVAL;
	}
	*topology = t;
	return 0;
}

/* The object that shares pu's cache of this level: the cache, or the core or package instead. */
static hwloc_obj_t
holder(hwloc_topology_t t, hwloc_obj_t pu, int level)
{
	static const hwloc_obj_type_t caches[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE,
		HWLOC_OBJ_L3CACHE};
	hwloc_obj_t obj = hwloc_get_ancestor_obj_by_type(t, caches[level], pu);

	if (obj == NULL)
		obj = hwloc_get_ancestor_obj_by_type(t, level == SIM_LEVELS - 1 ?
		    HWLOC_OBJ_PACKAGE : HWLOC_OBJ_CORE, pu);
	if (obj == NULL)
		obj = level == SIM_LEVELS - 1 ? hwloc_get_root_obj(t) : pu;
	return obj;
}

/* The number of an object among those already seen, in order of the processing units. */
static int
number_of(hwloc_obj_t obj, hwloc_obj_t *seen, int *count)
{
	int i;

	for (i = 0; i < *count; i++) {
		if (seen[i] == obj)
			return i;
	}
	seen[*count] = obj;
	return (*count)++;
}

static void
describe(struct sim_shape *shape, const struct sim_machine *machine, hwloc_topology_t t)
{
	hwloc_obj_t seen[SIM_CPUS_MAX];
	int level, cpu, count, before = 0;

	for (level = 0; level < SIM_LEVELS; level++) {
		count = 0;
		for (cpu = 0; cpu < shape->cpus; cpu++) {
			hwloc_obj_t pu = hwloc_get_obj_by_type(t, HWLOC_OBJ_PU, (unsigned)cpu);
			int which;

			shape->path[cpu][level] = -1;
			if (machine->cache[level].bytes == 0)
				continue;
			which = before + number_of(holder(t, pu, level), seen, &count);
			if (which == before + count - 1)
				shape->member[which] = (int16_t)cpu;
			shape->path[cpu][level] = (int16_t)which;
			shape->level[which] = (uint8_t)level;
		}
		before += count;
	}
	shape->caches = before;
	count = 0;
	for (cpu = 0; cpu < shape->cpus; cpu++) {
		hwloc_obj_t pu = hwloc_get_obj_by_type(t, HWLOC_OBJ_PU, (unsigned)cpu);
		hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_PACKAGE, pu);

		shape->package[cpu] = (int16_t)number_of(package, seen, &count);
	}
	shape->packages = count;
}

int
sim_shape_load(struct sim_shape *shape, const struct sim_machine *machine, const char *topology,
    int cpus)
{
	hwloc_topology_t t;
	int error = load(topology, &t);

	if (error != 0)
		return error;
	if (cpus < 1 || cpus > SIM_CPUS_MAX ||
	    hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU) < cpus) {
		error = -EINVAL;
	} else {
		memset(shape, 0, sizeof *shape);
		shape->cpus = cpus;
		describe(shape, machine, t);
	}
	hwloc_topology_destroy(t);
	return error;
}

int
sim_topology_cpus(const char *topology)
{
	hwloc_topology_t t;
	int count;

	if (load(topology, &t) != 0)
		return 0;
	count = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU);
	hwloc_topology_destroy(t);
	return count < SIM_CPUS_MAX ? count : SIM_CPUS_MAX;
}
