/* SPDX-License-Identifier: MIT */
/*
 * matrix.c: invariants 1 to 4 (exclusion, order, visibility, exactly once) under posts from
 * handlers and from outside threads, with steals, over cores x colors x ids x placement.
 */
#include "work.h"

static const int colors[] = {1, 2, 3, 63, 64, 1000};

static void
run_one(int cores, int n, enum work_ids ids, bool skewed)
{
	struct mely_config runtime;
	struct work_config config;
	struct work work;
	uint64_t seed = test_seed + (uint64_t)cores * 31 + (uint64_t)n * 7 + ids * 3 + skewed;
	char name[96];

	memset(&config, 0, sizeof config);
	config.cores = cores;
	config.colors = n;
	config.ids = ids;
	config.skewed = skewed;
	config.roots = test_scale(test_long() ? 20000 : 1000);
	config.generations = 9;
	config.spin_ns = n % 2 == 0 ? 0 : 300;
	config.heads_percent = 20;
	config.seed = test_random(&seed);
	work_describe(&config, name, sizeof name);
	test_config(&runtime, cores);
	if (!test_begin(name))
		return;
	work_init(&work, &config, &runtime);
	work_run(&work);
	work_fini(&work);
	test_end();
}

static void
run_cores(int cores)
{
	size_t i;
	int ids;

	for (i = 0; i < sizeof colors / sizeof colors[0]; i++)
		for (ids = WORK_DENSE; ids <= WORK_OBJECTS; ids++) {
			run_one(cores, colors[i], (enum work_ids)ids, false);
			run_one(cores, colors[i], (enum work_ids)ids, true);
		}
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, test_long() ? 3000 : 200);
	run_cores(1);
	run_cores(2);
	run_cores(8);
	run_cores(32);
	return test_done();
}
