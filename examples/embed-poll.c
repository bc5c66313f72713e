/* SPDX-License-Identifier: MIT */
/*
 * embed-poll.c: a program with its own poll(2) loop, and a runtime in it. The loop polls the
 * runtime's backend descriptor beside its own and makes a pass when it is readable. In the runtime
 * a timer ticks and a pipe is read; a thread writes to the pipe, and posts.
 *
 *     embed-poll             says what ran, and how often
 *     embed-poll --measure   says how late 500 timers and 500 posts ran, in microseconds
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <mely/mely.h>

#define MILLISECONDS UINT64_C(1000000)

enum { TICKS = 3, LINES = 5, POSTS = 10, MEASURED = 500 };

static struct mely_runtime *rt;
static struct mely_color *color;
static int to_runtime[2];
static mely_watch tick_timer, reading;
static int ticks, lines, posts; /* of the color */

static void
stop_when_done(void)
{
	if (ticks == TICKS && lines == LINES && posts == POSTS)
		mely_stop(rt, MELY_STOP_DRAIN);
}

static void
on_tick(void *arg)
{
	(void)arg;
	if (++ticks == TICKS)
		mely_watch_stop(rt, tick_timer, NULL, NULL);
	stop_when_done();
}

static void
on_readable(void *arg)
{
	char line[6];

	(void)arg;
	if (read(to_runtime[0], line, sizeof line) == sizeof line)
		lines++;
	stop_when_done();
}

static void
on_post(void *arg)
{
	(void)arg;
	posts++;
	stop_when_done();
}

static struct mely_handler tick = MELY_HANDLER(on_tick);
static struct mely_handler readable = MELY_HANDLER(on_readable);
static struct mely_handler post = MELY_HANDLER(on_post);

static void *
write_and_post(void *arg)
{
	int i;

	for (i = 0; i < LINES; i++) {
		if (write(to_runtime[1], "line\n", 6) != 6)
			exit(1);
	}
	for (i = 0; i < POSTS; i++)
		mely_post(color, &post, NULL);
	return arg;
}

/* ---- measuring ------------------------------------------------------------------------------- */

static uint64_t due_ns, late_ns[MEASURED];
static int measured;
static _Atomic int left;

static int
by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void
say(const char *what)
{
	qsort(late_ns, MEASURED, sizeof late_ns[0], by_size);
	printf("%s: late by %llu us in the middle, 99 %% by less than %llu us\n", what,
	    (unsigned long long)late_ns[MEASURED / 2] / 1000,
	    (unsigned long long)late_ns[MEASURED * 99 / 100] / 1000);
	measured = 0;
}

static void
on_measured_post(void *arg)
{
	(void)arg;
	late_ns[measured++] = mely_now_ns() - due_ns;
	left = MEASURED - measured;
	if (measured == MEASURED) {
		say("posts");
		mely_stop(rt, MELY_STOP_DRAIN);
	}
}

static struct mely_handler measured_post = MELY_HANDLER(on_measured_post);

/* Each post finds the loop in its poll. */
static void *
post_in_turn(void *arg)
{
	const struct timespec nap = {0, 500000};
	int i;

	for (i = 0; i < MEASURED; i++) {
		nanosleep(&nap, NULL);
		due_ns = mely_now_ns();
		mely_post(color, &measured_post, NULL);
		while (left != MEASURED - i - 1)
			nanosleep(&nap, NULL);
	}
	return arg;
}

static pthread_t thread;

static void on_measured_timer(void *arg);
static struct mely_handler measured_timer = MELY_HANDLER(on_measured_timer);

static void
start_timer(void)
{
	uint64_t after_ns = 1 * MILLISECONDS;

	due_ns = mely_now_ns() + after_ns;
	if (mely_timer_start(color, after_ns, 0, 0, &measured_timer, NULL, &tick_timer) != 0)
		exit(1);
}

static void
on_measured_timer(void *arg)
{
	(void)arg;
	late_ns[measured++] = mely_now_ns() - due_ns;
	if (measured < MEASURED) {
		start_timer();
		return;
	}
	say("timers");
	left = MEASURED;
	if (pthread_create(&thread, NULL, post_in_turn, NULL) != 0)
		exit(1);
}

/* ---- the program's loop ---------------------------------------------------------------------- */

static int
loop(void)
{
	struct pollfd polled[1] = {{.fd = mely_backend_fd(rt), .events = POLLIN}};
	int ran = 0;

	if (polled[0].fd < 0)
		return polled[0].fd;
	/* A real program also has its own descriptors in polled. Timers need no timeout here:
	 * the backend descriptor becomes readable when one is due. */
	do {
		if (poll(polled, 1, -1) < 0)
			continue; /* a signal */
		ran = mely_run_once_for(rt, 0);
	} while (ran >= 0);
	return ran; /* -ESHUTDOWN: mely_stop has ended the run */
}

int
main(int argc, char **argv)
{
	if (pipe(to_runtime) != 0 || mely_runtime_new(&rt, NULL) != 0 ||
	    mely_color_of_id(rt, 1, &color) != 0)
		return 1;
	if (argc > 1 && strcmp(argv[1], "--measure") == 0) {
		start_timer();
	} else if (mely_timer_start(color, 0, 1 * MILLISECONDS, 0, &tick, NULL, &tick_timer) != 0 ||
	    mely_fd_watch(color, to_runtime[0], MELY_FD_READ, &readable, NULL, &reading) != 0 ||
	    pthread_create(&thread, NULL, write_and_post, NULL) != 0) {
		return 1;
	}
	loop();
	pthread_join(thread, NULL);
	if (ticks > 0)
		printf("%d ticks, %d lines, %d posts\n", ticks, lines, posts);
	return mely_runtime_free(rt);
}
