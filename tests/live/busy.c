/* SPDX-License-Identifier: MIT */
/*
 * busy.c: a program to watch, for the tests of the live view. Until standard input ends, every core
 * is in a handler that does not return, and colors wait behind the handlers.
 *
 *   busy [--cores N] [--waiting N] [--idle] [--socket PATH] [--runtimes N] [--flow]
 *
 * --waiting: N colors, "waiting 0" and so on, with three events each; --idle: no core has work;
 * --flow: events run all the time and no handler is long. When this state is reached it prints one
 * line, "ready PID PATH"; PATH is "-" if there is no socket.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <mely/mely.h>

enum { CORES_MAX = MELY_CORES_MAX };

static atomic_bool over;
static atomic_int in_handlers;

static void
on_spin(void *arg)
{
	(void)arg;
	atomic_fetch_add(&in_handlers, 1);
	/* A handler that waits is as busy, for the runtime, as one that computes. */
	while (!atomic_load_explicit(&over, memory_order_acquire))
		usleep(1000);
}

static void
on_nothing(void *arg)
{
	(void)arg;
}

static struct mely_handler spin = MELY_HANDLER(on_spin);
static struct mely_handler nothing = MELY_HANDLER(on_nothing);
static struct mely_handler flow;

/* Posts itself again to its color each time and, now and then, to another color. */
static void
on_flow(void *arg)
{
	uintptr_t n = (uintptr_t)arg;

	if (!atomic_load_explicit(&over, memory_order_acquire) &&
	    mely_post_id(mely_current_runtime(), (uint32_t)(n % 64), &flow, (void *)(n + 1)) != 0)
		abort();
}

static struct mely_handler flow = MELY_HANDLER(on_flow);

static void
die(const char *what, int error)
{
	fprintf(stderr, "busy: %s: %s\n", what, strerror(-error));
	exit(1);
}

/* Pin a color to each core, with a handler that does not return. */
static void
occupy(struct mely_runtime *rt)
{
	int cores = mely_cores(rt), i, error;

	for (i = 0; i < cores; i++) {
		struct mely_color *color;
		char name[32];

		error = mely_color_of_id(rt, (uint32_t)(1000 + i), &color);
		if (error == 0)
			error = mely_color_pin(color, i);
		snprintf(name, sizeof name, "occupier %d", i);
		if (error == 0)
			error = mely_color_set_name(color, name);
		if (error == 0)
			error = mely_post(color, &spin, NULL);
		if (error != 0)
			die("occupy", error);
	}
}

static void
await_handlers(int n)
{
	while (atomic_load(&in_handlers) < n)
		usleep(1000);
}

/* Queue colors behind the handlers that do not return. */
static void
queue(struct mely_runtime *rt, int waiting)
{
	int i, k, error;

	for (i = 0; i < waiting; i++) {
		struct mely_color *color;
		char name[32];

		error = mely_color_of_id(rt, (uint32_t)(2000 + i), &color);
		snprintf(name, sizeof name, "waiting %d", i);
		if (error == 0)
			error = mely_color_set_name(color, name);
		for (k = 0; k < 3 && error == 0; k++)
			error = mely_post(color, &nothing, NULL);
		if (error != 0)
			die("queue", error);
	}
}

static void *
run(void *arg)
{
	int error = mely_run(arg);

	if (error != 0)
		die("run", error);
	return NULL;
}

static struct mely_runtime *
start(const struct mely_config *config, const char *socket, pthread_t *thread)
{
	struct mely_runtime *rt;
	int error = mely_runtime_new(&rt, config);

	if (error != 0)
		die("runtime", error);
	if (socket != NULL)
		(void)mely_socket_open(rt, socket); /* the library reports the error */
	error = pthread_create(thread, NULL, run, rt);
	if (error != 0)
		die("thread", -error);
	return rt;
}

struct plan {
	int cores, waiting, runtimes;
	bool idle, flow;
	const char *socket;
};

static struct plan
plan_of(int argc, char **argv)
{
	static const struct option options[] = {
		{"cores", required_argument, NULL, 'c'}, {"waiting", required_argument, NULL, 'w'},
		{"runtimes", required_argument, NULL, 'r'}, {"idle", no_argument, NULL, 'i'},
		{"flow", no_argument, NULL, 'f'}, {"socket", required_argument, NULL, 's'},
		{NULL, 0, NULL, 0}
	};
	struct plan plan = {.cores = 2, .waiting = 5, .runtimes = 1};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'c')
			plan.cores = atoi(optarg);
		else if (c == 'w')
			plan.waiting = atoi(optarg);
		else if (c == 'r')
			plan.runtimes = atoi(optarg);
		else if (c == 's')
			plan.socket = optarg;
		else if (c == 'i')
			plan.idle = true;
		else if (c == 'f')
			plan.flow = true;
		else
			exit(2);
	}
	if (plan.runtimes < 1 || plan.runtimes > 8 || plan.cores < 1 || plan.cores > CORES_MAX)
		exit(2);
	return plan;
}

int
main(int argc, char **argv)
{
	struct plan plan = plan_of(argc, argv);
	struct mely_runtime *rts[8];
	struct mely_config config;
	pthread_t threads[8];
	struct pollfd input = {STDIN_FILENO, POLLIN, 0};
	char path[256], byte;
	int i, k;

	(void)mely_config_init(&config);
	config.cores = plan.cores;
	for (i = 0; i < plan.runtimes; i++)
		rts[i] = start(&config, plan.socket, &threads[i]);
	for (i = 0; i < plan.runtimes && !plan.idle && !plan.flow; i++)
		occupy(rts[i]);
	if (!plan.idle && !plan.flow) {
		await_handlers(plan.cores * plan.runtimes);
		queue(rts[0], plan.waiting);
	}
	for (i = 0; plan.flow && i < plan.runtimes; i++)
		for (k = 0; k < 8; k++)
			if (mely_post_id(rts[i], (uint32_t)k, &flow,
				(void *)(uintptr_t)(k * 8)) != 0)
				exit(1);
	if (mely_socket_path(rts[0], path, sizeof path) == 0)
		snprintf(path, sizeof path, "-");
	printf("ready %d %s\n", (int)getpid(), path);
	fflush(stdout);
	/* ThreadSanitizer lets a signal in while poll waits, but not in read. */
	while (poll(&input, 1, -1) >= 0 || errno == EINTR)
		if (input.revents != 0 && read(STDIN_FILENO, &byte, 1) <= 0)
			break;
	atomic_store_explicit(&over, true, memory_order_release);
	for (i = 0; i < plan.runtimes; i++) {
		while (mely_stop(rts[i], MELY_STOP_DRAIN) == -EALREADY)
			usleep(1000);
		pthread_join(threads[i], NULL);
		if (mely_runtime_free(rts[i]) != 0)
			exit(1);
	}
	return 0;
}
