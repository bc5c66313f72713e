/* SPDX-License-Identifier: MIT */
/*
 * monitor.c: the background thread: it runs its steps in time, rests while all cores sleep, and
 * starts and ends with the runtime. Only the alarm limits a wait.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"
#include "base/clock.h"
#include "look/watchdog/monitor.h"

enum { CORES = 2, HANG_S = 60 };

static struct mely_runtime *rt;
static pthread_t runner;

/* A step that counts its calls. */
struct probe {
	struct melyint_step step;
	_Atomic uint64_t looks, bytes;
	uint64_t every_ns;     /* its period, or MELYINT_STEP_NEVER */
	uint64_t looks_left;   /* calls until it ends */
	struct probe *adds;    /* at its first call */
};

static uint64_t
on_look(struct melyint_step *step, uint64_t now_ns)
{
	struct probe *probe = MELY_CONTAINER_OF(step, struct probe, step);
	char byte;

	if (step->revents != 0 && read(step->fd, &byte, 1) == 1)
		atomic_fetch_add(&probe->bytes, 1);
	if (probe->adds != NULL)
		assert_int_equal(melyint_monitor_add(rt, &probe->adds->step), 0);
	probe->adds = NULL;
	atomic_fetch_add(&probe->looks, 1);
	if (--probe->looks_left == 0)
		return MELYINT_STEP_OVER;
	return probe->every_ns == MELYINT_STEP_NEVER ? MELYINT_STEP_NEVER :
	    now_ns + probe->every_ns;
}

static struct probe
probe_of(uint64_t every_ns)
{
	struct probe probe;

	memset(&probe, 0, sizeof probe);
	probe.step = (struct melyint_step){.look = on_look, .fd = -1, .events = POLLIN};
	probe.every_ns = every_ns;
	probe.looks_left = UINT64_MAX;
	return probe;
}

static void
nap(void)
{
	const struct timespec ms = {0, 1000000};

	nanosleep(&ms, NULL);
}

static void
await_looks(struct probe *probe, uint64_t looks)
{
	while (atomic_load(&probe->looks) < looks)
		nap();
}

static void *
run(void *arg)
{
	(void)arg;
	assert_int_equal(mely_run(rt), 0);
	return NULL;
}

static void
start(void)
{
	assert_int_equal(pthread_create(&runner, NULL, run, NULL), 0);
	/* acquire: pairs with the release stores of the life cycle */
	while (MELY_LOAD(&rt->phase, acquire) != MELYINT_RUNNING)
		nap();
}

static void
stop(void)
{
	assert_int_equal(mely_stop(rt, MELY_STOP_DRAIN), 0);
	assert_int_equal(pthread_join(runner, NULL), 0);
}

static int
make(void **state)
{
	struct mely_config config;

	(void)state;
	alarm(HANG_S);
	assert_int_equal(mely_config_init(&config), 0);
	config.cores = CORES;
	return mely_runtime_new(&rt, &config);
}

static int
unmake(void **state)
{
	(void)state;
	return mely_runtime_free(rt);
}

/* How many threads of this process are called "mely/mon"? */
static int
monitors(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	int n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		char path[300], name[32] = "";
		FILE *comm;

		snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
		comm = fopen(path, "r");
		if (comm == NULL)
			continue; /* it has ended */
		if (fgets(name, sizeof name, comm) != NULL && strcmp(name, "mely/mon\n") == 0)
			n++;
		fclose(comm);
	}
	closedir(dir);
	return n;
}

/* ---- looks ----------------------------------------------------------------------------------- */

static void
not_without_steps(void **state)
{
	(void)state;
	/* Remove the runtime's own steps, too. */
	rt->look.monitor->steps = NULL;
	if (MELY_LOAD(&rt->look.monitor->wakefd, relaxed) >= 0) /* it runs for another reason */
		skip();
	start();
	assert_int_equal(monitors(), 0);
	melyint_monitor_wake(rt);
	stop();
}

static void
descriptors_times_and_calls(void **state)
{
	struct probe reads = probe_of(MELYINT_STEP_NEVER), ticks = probe_of(1000000), ends_soon;
	uint64_t looks;
	int ends[2], i;

	(void)state;
	ends_soon = ticks;
	ends_soon.looks_left = 3;
	assert_int_equal(pipe(ends), 0);
	reads.step.fd = ends[0];
	/* Add one step before the run, one during it, and one from a step. */
	assert_int_equal(melyint_monitor_add(rt, &reads.step), 0);
	start();
	await_looks(&reads, 1);
	assert_int_equal(monitors(), 1);
	ticks.adds = &ends_soon;
	assert_int_equal(melyint_monitor_add(rt, &ticks.step), 0);
	for (i = 1; i <= 10; i++) {
		assert_int_equal(write(ends[1], "x", 1), 1);
		while (atomic_load(&reads.bytes) < (uint64_t)i)
			nap();
	}
	await_looks(&ticks, 20);
	await_looks(&ends_soon, 3);
	looks = atomic_load(&reads.looks);
	melyint_monitor_wake(rt);
	await_looks(&reads, looks + 1);
	await_looks(&ticks, atomic_load(&ticks.looks) + 20);
	assert_int_equal(atomic_load(&ends_soon.looks), 3);
	stop();
	assert_int_equal(monitors(), 0);
	/* They run in the next run, too. */
	looks = atomic_load(&ticks.looks);
	start();
	await_looks(&ticks, looks + 2);
	stop();
	close(ends[0]);
	close(ends[1]);
}

/* ---- rest ------------------------------------------------------------------------------------ */

static _Atomic bool held, let_go;

static void
on_hold(void *arg)
{
	(void)arg;
	atomic_store(&held, true);
	while (!atomic_load(&let_go))
		nap();
}

static struct mely_handler hold = MELY_HANDLER(on_hold);

static void
await_rest(void)
{
	while (!MELY_LOAD(&rt->look.monitor->resting, seq_cst)) /* as a core does */
		nap();
}

static void
rests_while_all_sleep(void **state)
{
	struct probe awake = probe_of(5000000), asleep = probe_of(MELYINT_STEP_NEVER);
	uint64_t looks, others;
	int round;

	(void)state;
	awake.step.while_awake = true;
	assert_int_equal(melyint_monitor_add(rt, &awake.step), 0);
	assert_int_equal(melyint_monitor_add(rt, &asleep.step), 0);
	start();
	for (round = 0; round < 10; round++) {
		await_rest();
		/* After another wake-up it does not run the steps for awake cores, unless they
		 * became due since it went to rest. */
		others = atomic_load(&asleep.looks);
		melyint_monitor_wake(rt);
		await_looks(&asleep, others + 1);
		looks = atomic_load(&awake.looks);
		/* A core wakes and stays awake: the monitor runs these steps again. */
		atomic_store(&let_go, false);
		atomic_store(&held, false);
		assert_int_equal(mely_post_id(rt, (uint32_t)round, &hold, NULL), 0);
		while (!atomic_load(&held))
			nap();
		await_looks(&awake, looks + 5);
		assert_false(MELY_LOAD(&rt->look.monitor->resting, seq_cst)); /* as a core does */
		atomic_store(&let_go, true);
	}
	await_rest();
	stop();
}

/* A step that wants to is called once more when the last core has fallen asleep, although others
 * let the monitor rest before it is due. */
static void
looks_afterwards(void **state)
{
	struct probe often = probe_of(5000000), seldom = probe_of(300000000);
	uint64_t looks;
	int round;

	(void)state;
	often.step.while_awake = seldom.step.while_awake = seldom.step.afterwards = true;
	assert_int_equal(melyint_monitor_add(rt, &often.step), 0);
	assert_int_equal(melyint_monitor_add(rt, &seldom.step), 0);
	start();
	for (round = 0; round < 5; round++) {
		await_rest();
		atomic_store(&let_go, false);
		atomic_store(&held, false);
		assert_int_equal(mely_post_id(rt, (uint32_t)round, &hold, NULL), 0);
		while (!atomic_load(&held))
			nap();
		await_looks(&seldom, atomic_load(&seldom.looks) + 1);
		looks = atomic_load(&seldom.looks);
		atomic_store(&let_go, true);
		/* Without the call, all sleep and this waits in vain. */
		await_looks(&seldom, looks + 1);
	}
	stop();
}

static _Atomic uint64_t seldom_ns; /* the period of on_seldom */

static uint64_t
on_seldom(struct melyint_step *step, uint64_t now_ns)
{
	struct probe *probe = MELY_CONTAINER_OF(step, struct probe, step);

	atomic_fetch_add(&probe->looks, 1);
	return now_ns + atomic_load(&seldom_ns);
}

/* A step with a period of an hour does not delay another step when a core wakes. */
static void
goes_by_the_shortest_period(void **state)
{
	struct probe often = probe_of(1000000), seldom = probe_of(0);
	uint64_t looks;

	(void)state;
	atomic_store(&seldom_ns, 1000000);
	seldom.step.look = on_seldom;
	often.step.while_awake = seldom.step.while_awake = true;
	assert_int_equal(melyint_monitor_add(rt, &often.step), 0);
	assert_int_equal(melyint_monitor_add(rt, &seldom.step), 0);
	start();
	await_looks(&seldom, 1);
	await_rest();
	/* A millisecond later both are due: the next wake-up runs them, but only once. */
	atomic_store(&seldom_ns, 3600 * UINT64_C(1000000000));
	looks = atomic_load(&seldom.looks);
	nap();
	melyint_monitor_wake(rt);
	await_looks(&seldom, looks + 1);
	await_rest();
	looks = atomic_load(&often.looks);
	atomic_store(&let_go, false);
	assert_int_equal(mely_post_id(rt, 1, &hold, NULL), 0);
	await_looks(&often, looks + 5);
	atomic_store(&let_go, true);
	stop();
}

/* ---- fork ------------------------------------------------------------------------------------ */

static int
in_the_child(void)
{
	struct probe ticks = probe_of(1000000);

	if (mely_runtime_renew(rt) != 0 || monitors() != 0)
		return 1;
	if (melyint_monitor_add(rt, &ticks.step) != 0)
		return 2;
	start();
	await_looks(&ticks, 3);
	stop();
	return monitors() != 0 ? 3 : mely_runtime_free(rt);
}

static void
is_left_behind_by_a_fork(void **state)
{
	struct probe ticks = probe_of(1000000);
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(melyint_monitor_add(rt, &ticks.step), 0);
#ifndef MELYINT_TSAN /* cannot follow a fork of a process with threads */
	start();
	await_looks(&ticks, 1);
#endif
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		alarm(HANG_S);
		_exit(in_the_child());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
#ifndef MELYINT_TSAN
	await_looks(&ticks, atomic_load(&ticks.looks) + 2);
	stop();
#endif
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(not_without_steps, make, unmake),
		cmocka_unit_test_setup_teardown(descriptors_times_and_calls, make, unmake),
		cmocka_unit_test_setup_teardown(rests_while_all_sleep, make, unmake),
		cmocka_unit_test_setup_teardown(looks_afterwards, make, unmake),
		cmocka_unit_test_setup_teardown(goes_by_the_shortest_period, make, unmake),
		cmocka_unit_test_setup_teardown(is_left_behind_by_a_fork, make, unmake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
