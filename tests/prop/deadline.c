/* SPDX-License-Identifier: MIT */
/*
 * deadline.c: the deadline of a drain while a handler occupies a core: the other cores end.
 */
#include "test.h"

#include <dirent.h>
#include <string.h>

static struct mely_runtime *rt;
static bool ended;

/* Is a thread of core 1 there? */
static bool
core_1_lives(void)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;
	bool lives = false;

	TEST_CHECK(tasks != NULL);
	while (tasks != NULL && (task = readdir(tasks)) != NULL) {
		char path[300], name[16] = "";
		FILE *comm;

		snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
		comm = fopen(path, "r");
		if (comm == NULL)
			continue;
		lives |= fgets(name, sizeof name, comm) != NULL && strcmp(name, "mely/1\n") == 0;
		fclose(comm);
	}
	if (tasks != NULL)
		closedir(tasks);
	return lives;
}

static void
on_stop_and_stay(void *arg)
{
	(void)arg;
	while (!core_1_lives())
		test_nap_us(1000);
	TEST_OK(mely_stop(rt, MELY_STOP_DRAIN));
	while (core_1_lives())
		test_nap_us(1000);
	ended = true;
}

/* The core that sleeps and watches sees the deadline, while a handler occupies the other one. */
static void
deadline_passes_in_a_handler(void)
{
	static struct mely_handler stay = MELY_HANDLER(on_stop_and_stay);
	struct mely_config config;
	struct mely_color *color;

	ended = false;
	test_config(&config, 2);
	config.drain_deadline_ns = 50000000;
	rt = test_runtime_with(&config);
	color = test_color(rt);
	TEST_OK(mely_color_pin(color, 0));
	TEST_OK(mely_post(color, &stay, NULL));
	TEST_OK(mely_run(rt));
	TEST_CHECK(ended);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 60);
	TEST_CASE(deadline_passes_in_a_handler);
	return test_done();
}
