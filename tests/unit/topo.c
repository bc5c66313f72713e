/* SPDX-License-Identifier: MIT */
/*
 * topo.c: distances and core sets on synthetic machines.
 */
#include <string.h>

#include "unit.h"
#include "core/core.h"

static struct mely_runtime *rt;

static void
machine(const char *topology, int cores)
{
	struct mely_config config;

	assert_int_equal(mely_config_init(&config), 0);
	config.topology = topology;
	config.cores = cores;
	assert_int_equal(mely_runtime_new(&rt, &config), 0);
}

/* A core set has every other core once, never a nearer one after a farther one. */
static void
check_core_sets(void)
{
	int n = rt->cores_count, c, i;

	for (c = 0; c < n; c++) {
		const struct melyint_core *core = &rt->cores[c];
		bool seen[MELY_CORES_MAX] = {false}, seen_flat[MELY_CORES_MAX] = {false};

		for (i = 0; i < n - 1; i++) {
			int victim = core->fixed.victims[i], flat = core->fixed.victims_flat[i];

			assert_true(victim != c && victim < n && !seen[victim]);
			seen[victim] = true;
			assert_true(flat != c && flat < n && !seen_flat[flat]);
			seen_flat[flat] = true;
			if (i > 0)
				assert_true(core->fixed.distance[core->fixed.victims[i - 1]] <=
				    core->fixed.distance[victim]);
			assert_int_equal(core->fixed.distance[victim],
			    rt->cores[victim].fixed.distance[c]);
		}
	}
}

/* The machine of the paper: two packages of two pairs of cores that share an L2 cache. */
static void
paper(void **state)
{
	static const unsigned from_5[] = {MELY_DISTANCE_FAR, MELY_DISTANCE_FAR, MELY_DISTANCE_FAR,
	    MELY_DISTANCE_FAR, MELY_DISTANCE_L2, 0, MELY_DISTANCE_PACKAGE, MELY_DISTANCE_PACKAGE};
	int i;

	(void)state;
	machine("pack:2 l2:2 core:2 pu:1", 8);
	check_core_sets();
	for (i = 0; i < 8; i++) {
		if (i != 5)
			assert_int_equal(rt->cores[5].fixed.distance[i], from_5[i]);
	}
	assert_int_equal(rt->cores[0].fixed.victims[0], 1);
	assert_int_equal(rt->cores[5].fixed.victims[0], 4);
	assert_int_equal(mely_runtime_free(rt), 0);
}

static void
every_distance(void **state)
{
	static const unsigned first[] = {0, MELY_DISTANCE_CORE, MELY_DISTANCE_L2, MELY_DISTANCE_L2,
	    MELY_DISTANCE_L3, MELY_DISTANCE_L3, MELY_DISTANCE_L3, MELY_DISTANCE_L3};
	int i;

	(void)state;
	machine("pack:2 l3:2 l2:2 core:2 pu:2", 32);
	check_core_sets();
	for (i = 1; i < 32; i++)
		assert_int_equal(rt->cores[0].fixed.distance[i], i < 8 ? first[i] :
		    i < 16 ? MELY_DISTANCE_PACKAGE : MELY_DISTANCE_FAR);
	assert_int_equal(mely_runtime_free(rt), 0);
}

/* Two cores on one processing unit have the smallest distance, also with more cores than units. */
static void
shared_units(void **state)
{
	(void)state;
	machine("pack:1 core:2 pu:1", 5);
	check_core_sets();
	assert_int_equal(rt->cores[0].fixed.distance[2], MELY_DISTANCE_CORE);
	assert_int_equal(rt->cores[0].fixed.distance[1], MELY_DISTANCE_PACKAGE);
	assert_int_equal(mely_runtime_free(rt), 0);
}

/* Thieves that are equally far from the same victims begin with different ones. */
static void
equals_begin_apart(void **state)
{
	static const char *const machines[] = {"pack:2 l2:2 core:2 pu:1", "core:8 pu:1",
	    "pack:4 core:2 pu:1"};
	size_t m;

	(void)state;
	for (m = 0; m < sizeof machines / sizeof machines[0]; m++) {
		unsigned begun[MELY_DISTANCES][8], d;
		int c, i;

		memset(begun, 0, sizeof begun);
		machine(machines[m], 8);
		check_core_sets();
		for (c = 0; c < 8; c++) {
			const struct melyint_core *core = &rt->cores[c];

			for (i = 0; i < 7; i++) {
				d = core->fixed.distance[core->fixed.victims[i]];
				if (i == 0 || core->fixed.distance[core->fixed.victims[i - 1]] != d)
					begun[d][core->fixed.victims[i]]++;
			}
		}
		for (d = 0; d < MELY_DISTANCES; d++) {
			for (i = 0; i < 8; i++)
				assert_in_range(begun[d][i], 0, m == 2 ? 2 : 1);
		}
		assert_int_equal(mely_runtime_free(rt), 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(paper),
	    cmocka_unit_test(every_distance),
	    cmocka_unit_test(shared_units),
	    cmocka_unit_test(equals_begin_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
