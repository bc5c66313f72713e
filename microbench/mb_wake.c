/* SPDX-License-Identifier: MIT */
/*
 * mb_wake.c: the time from a post by an outside thread to its handler in an idle runtime, compared
 * with the wake-up of two bare threads, one in epoll_wait and one in read, both on an eventfd. The
 * poster wakes the three in turn, so that disturbances of the machine affect all of them.
 *
 * Threads: mb_wake_new and mb_wake_free on the thread that starts the runtime, mb_wake_measure
 * on the poster's, mb_wake_hit anywhere.
 */
#include "mb.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
	WARMUP_ROUNDS = 20,
	ROUNDS_MIN = 10
};

/* How long the poster lets all threads sleep after a wake-up. */
#define GAP_S 0.001

struct bare {
	struct mb_wake *wake;
	enum mb_wake_contender kind;
	int eventfd;
	int epoll; /* MB_WAKE_EPOLL only */
	pthread_t thread;
};

struct mb_wake {
	/* Ticks when the handler ran, 0 before. Alone in its cache line: the poster polls it. */
	_Alignas(128) _Atomic uint64_t hit;
	_Alignas(128) atomic_bool ending;
	bool cross;
	double seconds;
	int cpu_poster;
	struct bare bare[MB_WAKE_COUNT]; /* [MB_WAKE_RUNTIME] is not used */
};

/* ---- the bare threads --------------------------------------------------------------------- */

static void
bare_wait(struct bare *b)
{
	struct epoll_event ready;
	uint64_t count;
	int n;

	if (b->kind == MB_WAKE_EPOLL) {
		do
			n = epoll_wait(b->epoll, &ready, 1, -1);
		while (n < 0 && errno == EINTR);
		mb_wake_hit(b->wake);
	}
	while (read(b->eventfd, &count, sizeof(count)) < 0 && errno == EINTR)
		;
	if (b->kind == MB_WAKE_READ)
		mb_wake_hit(b->wake);
}

static void *
bare_run(void *arg)
{
	struct bare *b = arg;

	do
		bare_wait(b);
	while (!atomic_load_explicit(&b->wake->ending, memory_order_relaxed));
	return NULL;
}

static void
bare_post(void *ctx)
{
	struct bare *b = ctx;
	uint64_t one = 1;

	if (write(b->eventfd, &one, sizeof(one)) != (ssize_t)sizeof(one))
		mb_fail("write to an eventfd", errno);
}

static void
bare_start(struct mb_wake *wake, enum mb_wake_contender kind)
{
	struct epoll_event interest = {.events = EPOLLIN};
	struct bare *b = &wake->bare[kind];
	int err;

	b->wake = wake;
	b->kind = kind;
	b->eventfd = eventfd(0, EFD_CLOEXEC);
	b->epoll = kind == MB_WAKE_EPOLL ? epoll_create1(EPOLL_CLOEXEC) : -1;
	if (b->eventfd < 0 || (kind == MB_WAKE_EPOLL &&
	    (b->epoll < 0 || epoll_ctl(b->epoll, EPOLL_CTL_ADD, b->eventfd, &interest) != 0)))
		mb_fail("an eventfd to compare with", errno);
	err = pthread_create(&b->thread, NULL, bare_run, b);
	if (err != 0)
		mb_fail("pthread_create", err);
}

static void
bare_end(struct bare *b)
{
	bare_post(b);
	pthread_join(b->thread, NULL);
	close(b->eventfd);
	if (b->epoll >= 0)
		close(b->epoll);
}

/* ---- one run ------------------------------------------------------------------------------ */

struct mb_wake *
mb_wake_new(bool cross, double seconds)
{
	struct mb_wake *wake;
	int cpu[1024], count;

	wake = aligned_alloc(_Alignof(struct mb_wake), sizeof(*wake));
	if (wake == NULL)
		mb_fail("aligned_alloc", errno);
	atomic_init(&wake->hit, 0);
	atomic_init(&wake->ending, false);
	wake->cross = cross;
	wake->seconds = seconds;
	if (cross) {
		count = mb_processors(cpu, 1024);
		wake->cpu_poster = cpu[0];
		mb_pin_self(cpu[(count < 1024 ? count : 1024) - 1]);
	}
	bare_start(wake, MB_WAKE_EPOLL);
	bare_start(wake, MB_WAKE_READ);
	return wake;
}

void
mb_wake_hit(struct mb_wake *wake)
{
	/* Release: pairs with the acquire in wake_once; nothing but the value matters. */
	atomic_store_explicit(&wake->hit, mb_ticks(), memory_order_release);
}

static uint64_t
hit_at(struct mb_wake *wake)
{
	/* Acquire: pairs with mb_wake_hit. */
	return atomic_load_explicit(&wake->hit, memory_order_acquire);
}

/* Microseconds from just before the post to the handler. */
static double
wake_once(struct mb_wake *wake, void (*post)(void *ctx), void *ctx)
{
	uint64_t start;

	/* No other thread writes it now: the last hit has been seen. */
	atomic_store_explicit(&wake->hit, 0, memory_order_relaxed);
	start = mb_ticks();
	post(ctx);
	/* Cross: a busy poster keeps the kernel from running the woken thread in its place. */
	while (wake->cross && hit_at(wake) == 0)
		;
	mb_nap(GAP_S);
	while (hit_at(wake) == 0)
		mb_nap(GAP_S / 5);
	return (double)(hit_at(wake) - start) / mb_ticks_per_s() * 1e6;
}

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void
mb_wake_measure(struct mb_wake *wake, void (*post)(void *ctx), void *ctx,
    struct mb_sample out[MB_WAKE_COUNT])
{
	size_t max = (size_t)(wake->seconds / GAP_S) + ROUNDS_MIN, n = 0;
	double *v[MB_WAKE_COUNT], us, end;
	int i, warmup;

	if (wake->cross)
		mb_pin_self(wake->cpu_poster);
	for (i = 0; i < MB_WAKE_COUNT; i++) {
		v[i] = malloc(max * sizeof(*v[i]));
		if (v[i] == NULL)
			mb_fail("malloc", errno);
	}
	end = 0;
	for (warmup = WARMUP_ROUNDS; n < ROUNDS_MIN || (n < max && mb_now_s() < end); warmup--) {
		if (warmup == 0)
			end = mb_now_s() + wake->seconds;
		for (i = 0; i < MB_WAKE_COUNT; i++) {
			us = i == MB_WAKE_RUNTIME ? wake_once(wake, post, ctx)
			    : wake_once(wake, bare_post, &wake->bare[i]);
			if (warmup <= 0)
				v[i][n] = us;
		}
		n += warmup <= 0;
	}
	for (i = 0; i < MB_WAKE_COUNT; i++) {
		qsort(v[i], n, sizeof(*v[i]), compare_doubles);
		out[i].value = v[i][n / 2];
		out[i].p99 = v[i][n * 99 / 100];
		out[i].events = (double)n;
		free(v[i]);
	}
}

void
mb_wake_free(struct mb_wake *wake)
{
	/* Relaxed: the eventfd that is written next orders it. */
	atomic_store_explicit(&wake->ending, true, memory_order_relaxed);
	bare_end(&wake->bare[MB_WAKE_EPOLL]);
	bare_end(&wake->bare[MB_WAKE_READ]);
	free(wake);
}

/* ---- the benchmark ------------------------------------------------------------------------ */

static void
bench_mode(const struct mb_options *opt, const char *peer, bool bare, bool abandon,
    const char *variant, void (*fn)(void *ctx, struct mb_sample *out), void *ctx)
{
	const char *names[MB_WAKE_COUNT] = {peer, "eventfd-epoll", "eventfd-read"};
	struct mb_series series[MB_WAKE_COUNT];
	struct mb_sample out[MB_WAKE_COUNT];
	double fastest;
	int i, run;

	for (i = 0; i < MB_WAKE_COUNT; i++) {
		mb_series_init(&series[i], "wake", names[i], "us", 1, opt->runs);
		series[i].variant = variant;
	}
	for (run = 0; run < opt->runs; run++) {
		mb_child_run(fn, ctx, opt->seconds * MB_WAKE_COUNT, abandon, out, MB_WAKE_COUNT);
		for (i = 0; i < MB_WAKE_COUNT; i++) {
			out[i].cores = out[MB_WAKE_RUNTIME].cores;
			mb_series_add(&series[i], &out[i]);
		}
	}
	fastest = fmin(mb_series_median(&series[MB_WAKE_EPOLL]),
	    mb_series_median(&series[MB_WAKE_READ]));
	series[MB_WAKE_RUNTIME].ratio = mb_series_median(&series[MB_WAKE_RUNTIME]) / fastest;
	for (i = 0; i < MB_WAKE_COUNT; i++) {
		if (i == MB_WAKE_RUNTIME || bare)
			mb_series_report(&series[i], opt->json);
		else
			free(series[i].samples);
	}
}

void
mb_wake_bench(const struct mb_options *opt, const char *peer, bool bare, bool abandon,
    bool *cross, void (*fn)(void *ctx, struct mb_sample *out), void *ctx)
{
	int cpu;

	*cross = false;
	bench_mode(opt, peer, bare, abandon, "free", fn, ctx);
	if (mb_processors(&cpu, 1) < 2) {
		fprintf(stderr, "wake: one processor only, so nothing across processors\n");
		return;
	}
	*cross = true;
	bench_mode(opt, peer, bare, abandon, "cross", fn, ctx);
}
