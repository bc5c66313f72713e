/* SPDX-License-Identifier: MIT */
/* The cost table of the simulation: caches, lines, and transfers between caches. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "../../sim/cost.h"

enum { CPUS = 8 };

/* Addresses are only names; no test reads memory there. */
#define BASE UINT64_C(0x7f0000000000)

static const struct sim_machine *machine;
static struct sim_cost *cost;
static uint64_t base;

static int
setup(void **state)
{
	struct sim_shape shape;

	(void)state;
	machine = sim_machine_find("paper");
	assert_non_null(machine);
	assert_int_equal(sim_shape_load(&shape, machine, machine->topology, CPUS), 0);
	assert_int_equal(sim_cost_new(&cost, machine, &shape), 0);
	base = BASE;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	sim_cost_free(cost);
	return 0;
}

/* Each access is long after the last one, so no cpu waits. */
static uint64_t
cycles(int cpu, uint64_t line, enum sim_cost_kind kind)
{
	static uint64_t now;
	uint64_t ps;

	now += 1000000;
	ps = sim_cost_access(cost, cpu, now, (void *)(uintptr_t)(base + line * 64), kind);
	return (ps - sim_cost_step(cost) + 215) * machine->mhz / 1000000 -
	    (kind == SIM_COST_RMW ? machine->rmw : 0);
}

static void
shape_of_the_paper(void **state)
{
	struct sim_shape shape;

	(void)state;
	assert_int_equal(sim_shape_load(&shape, machine, machine->topology, CPUS), 0);
	assert_int_equal(shape.packages, 2);
	assert_int_equal(shape.caches, 8 + 4);
	assert_int_equal(shape.path[0][1], shape.path[1][1]);
	assert_int_not_equal(shape.path[1][1], shape.path[2][1]);
	assert_int_equal(shape.package[3], shape.package[0]);
	assert_int_not_equal(shape.package[4], shape.package[0]);
	assert_int_equal(shape.path[0][2], -1);
	assert_int_equal(sim_shape_load(&shape, machine, "no topology", CPUS), -EINVAL);
	assert_int_equal(sim_shape_load(&shape, machine, "core:2 pu:1", CPUS), -EINVAL);
}

static void
levels(void **state)
{
	(void)state;
	assert_int_equal(cycles(0, 10, SIM_COST_READ), machine->memory);
	assert_int_equal(cycles(0, 10, SIM_COST_READ), 0);             /* in the step */
	assert_int_equal(cycles(1, 10, SIM_COST_READ), machine->hit[1]); /* they share it */
	assert_int_equal(cycles(2, 10, SIM_COST_READ), machine->memory);
	assert_int_equal(cycles(2, 10, SIM_COST_RMW), machine->memory); /* taken away */
	assert_int_equal(cycles(2, 10, SIM_COST_RMW), 0);
	assert_int_equal(cycles(0, 10, SIM_COST_READ), machine->near);
	assert_int_equal(cycles(7, 10, SIM_COST_RMW), machine->far);
	assert_int_equal(cycles(2, 10, SIM_COST_READ), machine->far);
}

static void
neighbors_write(void **state)
{
	(void)state;
	(void)cycles(0, 5, SIM_COST_WRITE);
	assert_int_equal(cycles(1, 5, SIM_COST_RMW), machine->hit[1]);
	assert_int_equal(cycles(0, 5, SIM_COST_RMW), machine->hit[1]);
}

/* A store does not stop its cpu; an atomic operation waits for the stores before it. */
static void
stores(void **state)
{
	const void *at = (const void *)(uintptr_t)BASE, *other = (const char *)at + 640;
	uint64_t now = 1000000, whole = sim_cost_cycles(cost, machine->memory);

	(void)state;
	(void)sim_cost_access(cost, 0, 0, other, SIM_COST_RMW);
	assert_int_equal(sim_cost_access(cost, 0, now, at, SIM_COST_WRITE), sim_cost_step(cost));
	assert_in_range(sim_cost_access(cost, 0, now, other, SIM_COST_RMW), whole,
	    whole + sim_cost_cycles(cost, machine->rmw) + sim_cost_step(cost));
}

static void
capacity(void **state)
{
	uint32_t lines = machine->cache[0].bytes / 64, i, again = 0;
	struct sim_cost_count count;

	(void)state;
	for (i = 0; i < lines / 2; i++)
		(void)cycles(0, i, SIM_COST_READ);
	for (i = 0; i < lines / 2; i++)
		again += cycles(0, i, SIM_COST_READ) != 0;
	/* Sets are hashed: a few may get more lines than they have ways. */
	assert_true(again < lines / 10);
	for (i = 0; i < lines * 4; i++)
		(void)cycles(0, 1000 + i, SIM_COST_READ);
	for (i = 0, again = 0; i < lines / 2; i++)
		again += cycles(0, i, SIM_COST_READ) != 0;
	assert_true(again > lines / 2 * 9 / 10);
	sim_cost_count(cost, 0, &count);
	assert_int_equal(count.misses, lines / 2 + lines * 4); /* the second cache is large */
}

static void
streams(void **state)
{
	uint64_t ps, one, now = 1000000000;

	(void)state;
	one = sim_cost_access(cost, 0, now, (void *)(uintptr_t)BASE, SIM_COST_READ);
	ps = sim_cost_range(cost, 1, 2 * now, (void *)(uintptr_t)(BASE + 4096 * 8), 1024,
	    SIM_COST_READ);
	/* 16 lines: the first at the full price, the others prefetched. */
	assert_in_range(ps, one + 15 * sim_cost_cycles(cost, machine->memory_stream) - 10000,
	    one + 15 * sim_cost_cycles(cost, machine->memory_stream) + 10000);
}

static void
waiting(void **state)
{
	const void *at = (const void *)(uintptr_t)BASE;
	uint64_t now = 1000000, first, second, third;

	(void)state;
	(void)sim_cost_access(cost, 6, 0, at, SIM_COST_RMW);
	first = sim_cost_access(cost, 0, now, at, SIM_COST_RMW);
	second = sim_cost_access(cost, 2, now, at, SIM_COST_RMW);
	third = sim_cost_access(cost, 4, now, at, SIM_COST_RMW);
	/* Accesses at the same time are served one after another. */
	assert_true(second > first + first / 2);
	assert_true(third > second + first / 2);
}

static void
prefetched(void **state)
{
	const void *at = (const void *)(uintptr_t)BASE;
	uint64_t whole = sim_cost_cycles(cost, machine->memory), half = whole / 2;

	(void)state;
	sim_cost_prefetch(cost, 0, 1000000, at);
	assert_in_range(sim_cost_access(cost, 0, 1000000 + half, at, SIM_COST_READ),
	    half, half + 2 * sim_cost_step(cost));
	assert_int_equal(sim_cost_access(cost, 0, 1000000 + whole, at, SIM_COST_READ),
	    sim_cost_step(cost));
}

/* The same accesses cost the same wherever the memory happens to be. */
static void
addresses_do_not_count(void **state)
{
	enum { STEPS = 20000 };
	static uint64_t costs[STEPS];
	uint64_t round, seed, x;
	int i;

	for (round = 0; round < 2; round++) {
		seed = 1;
		base = BASE + round * UINT64_C(0x123456789000);
		for (i = 0; i < STEPS; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
			x = cycles((int)(seed >> 60) % CPUS, (seed >> 40) % 2000,
			    (enum sim_cost_kind)((seed >> 33) % 3));
			if (round == 0)
				costs[i] = x;
			else
				assert_int_equal(x, costs[i]);
		}
		assert_int_equal(teardown(state), 0);
		assert_int_equal(setup(state), 0);
	}
}

/* 256 cpus, three levels: a write must invalidate the copies in all other caches. */
static void
large(void **state)
{
	static const char text[] = "pack:2 l3:16 l2:4 core:2 pu:1";
	struct sim_shape shape;
	int cpu;

	(void)teardown(state);
	machine = sim_machine_find("today");
	assert_int_equal(sim_shape_load(&shape, machine, text, SIM_CPUS_MAX), 0);
	assert_int_equal(shape.caches, 256 + 128 + 32);
	assert_int_equal(sim_cost_new(&cost, machine, &shape), 0);
	for (cpu = 0; cpu < SIM_CPUS_MAX; cpu++)
		assert_true(cycles(cpu, 3, SIM_COST_READ) > 0);
	assert_int_equal(cycles(255, 3, SIM_COST_RMW), machine->far);
	for (cpu = 0; cpu < SIM_CPUS_MAX - 1; cpu++)
		assert_true(cycles(cpu, 3, SIM_COST_READ) >= machine->hit[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(shape_of_the_paper, setup, teardown),
		cmocka_unit_test_setup_teardown(levels, setup, teardown),
		cmocka_unit_test_setup_teardown(neighbors_write, setup, teardown),
		cmocka_unit_test_setup_teardown(stores, setup, teardown),
		cmocka_unit_test_setup_teardown(capacity, setup, teardown),
		cmocka_unit_test_setup_teardown(streams, setup, teardown),
		cmocka_unit_test_setup_teardown(waiting, setup, teardown),
		cmocka_unit_test_setup_teardown(prefetched, setup, teardown),
		cmocka_unit_test_setup_teardown(addresses_do_not_count, setup, teardown),
		cmocka_unit_test_setup_teardown(large, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
