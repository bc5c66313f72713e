/* SPDX-License-Identifier: MIT */
/*
 * spare.c: invariant 10 without a call: after a burst of events, of ids or of timers, the resident
 * set falls by itself to what it was, within a fifth, while the cores sleep or others go on. What
 * time that takes decides nothing here; docs/internals/monitor.md has it.
 */
#include <stdio.h>

#include "resident.h"

static struct mely_runtime *rt;
static struct test_runner runner;
static _Atomic uint64_t ran;

/* The memory falls to a fifth above before, and a twentieth of the burst: what libev and the
 * program's malloc keep. */
static void
await_fall(const char *what, size_t before, size_t peak)
{
	size_t limit = before + before / 5 + (peak - before) / 20;

	while (TEST_MEASURES_MEMORY && test_resident() > limit)
		test_nap_us(10000);
	printf("%s: %zu KB before, %zu KB in the burst, %zu KB soon after\n", what, before >> 10,
	    peak >> 10, test_resident() >> 10);
	if (TEST_MEASURES_MEMORY)
		TEST_CHECK(peak - before > 8u << 20);
}

static void
on_count(void *arg)
{
	(void)arg;
	test_add(&ran, 1);
}

static struct mely_handler count = MELY_HANDLER(on_count);

/* A runtime that runs, and has run some events. */
static size_t
begin_with(const struct mely_config *config)
{
	unsigned i;

	rt = test_runtime_with(config);
	atomic_store(&ran, 0);
	test_run_start(&runner, rt);
	for (i = 0; i < 1000; i++)
		TEST_OK(mely_post_id(rt, i % 10, &count, NULL));
	test_await(&ran, 1000);
	return test_resident();
}

static size_t
begin(int cores)
{
	struct mely_config config;

	test_config(&config, cores);
	return begin_with(&config);
}

static void
end(void)
{
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
}

/* Post an event to each of the ids while nothing runs, and then run them. Returns the memory before
 * they run: no color is idle then. */
static size_t
burst(unsigned n, unsigned ids, uint32_t stride)
{
	size_t peak;
	unsigned i;

	test_run_stop(&runner, MELY_STOP_DRAIN);
	atomic_store(&ran, 0);
	for (i = 0; i < n; i++)
		TEST_OK(mely_post_id(rt, i % ids * stride, &count, NULL));
	peak = test_resident();
	test_run_start(&runner, rt);
	test_await(&ran, n);
	return peak;
}

static void
events(void)
{
	size_t before = begin(2);

	await_fall("events", before, burst(test_many(1000000), 1000, 1));
	end();
}

/* ---- ids ------------------------------------------------------------------------------------ */

/* A color that goes on meanwhile, by a timer, so that the cores wake up. */
static void
on_tick(void *arg)
{
	(void)arg;
	TEST_EQ(mely_color_id(mely_current_color()), 77);
}

static struct mely_handler tick = MELY_HANDLER(on_tick);

static void
ids_of(const char *what, uint32_t stride, bool ticks)
{
	unsigned n = test_many(300000);
	struct mely_color *ticking;
	mely_watch timer;
	size_t before, peak;

	before = begin(2);
	TEST_OK(mely_color_of_id(rt, 77, &ticking));
	peak = burst(n, n, stride);
	if (ticks)
		TEST_OK(mely_timer_start(ticking, 1000000, 1000000, 0, &tick, NULL, &timer));
	await_fall(what, before, peak);
	(void)burst(1000, 1000, stride); /* they are there again */
	end();
}

static void
ids(void)
{
	ids_of("dense ids", 1, false);
	ids_of("scattered ids", 0x9e3779b1u, false);
	ids_of("dense ids beside a timer", 1, true);
	ids_of("scattered ids beside a timer", 0x9e3779b1u, true);
}

/* A core that never sleeps, and a limit for stalls that would have the monitor look once in a
 * quarter of an hour. */
static _Atomic bool busy;
static void on_busy(void *arg);
static struct mely_handler busy_handler = MELY_HANDLER(on_busy);

static void
on_busy(void *arg)
{
	if (atomic_load(&busy))
		TEST_OK(mely_post_id(rt, 5, &busy_handler, arg));
}

static _Atomic uint64_t posted, measured;
static unsigned wanted;

static void
on_burst(void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < wanted; i++)
		TEST_OK(mely_post_id(rt, 10 + i, &count, NULL));
	test_add(&posted, 1);
	test_await(&measured, 1);
}

static void
ids_beside_work(void)
{
	static struct mely_handler handler = MELY_HANDLER(on_burst);
	struct mely_config config;
	size_t before, peak;

	test_config(&config, 1);
	config.stall_ms = 3600000;
	before = begin_with(&config);
	atomic_store(&busy, true);
	TEST_OK(mely_post_id(rt, 5, &busy_handler, NULL));
	test_nap_us(3000000); /* until the monitor has nothing to do: else little is tested */
	atomic_store(&ran, 0);
	wanted = test_many(300000);
	TEST_OK(mely_post_id(rt, 6, &handler, NULL));
	test_await(&posted, 1);
	peak = test_resident();
	test_add(&measured, 1);
	test_await(&ran, wanted);
	await_fall("ids beside work", before, peak);
	atomic_store(&busy, false);
	end();
}

/* ---- timers --------------------------------------------------------------------------------- */

static int
compare(const void *a, const void *b)
{
	const mely_watch *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Timers are started, stopped and moved by a handler of their color on the only core: a thread that
 * is not the core whose loop has them waits for that core, each time. */
static struct mely_color *color;
static mely_watch *watches;
static unsigned watches_count;

static void
on_start(void *arg)
{
	mely_watch *of = arg;
	unsigned i;

	for (i = 0; i < watches_count; i++)
		TEST_OK(mely_timer_start(color, 3600000000000u, 0, 0, &count, NULL, &of[i]));
	test_add(&ran, 1);
}

static void
on_stop(void *arg)
{
	mely_watch *of = arg;
	unsigned i;

	for (i = 0; i < watches_count; i++)
		TEST_OK(mely_watch_stop(rt, of[i], NULL, NULL));
	test_add(&ran, 1);
}

static void
on_stale(void *arg)
{
	mely_watch *of = arg;
	unsigned i;

	for (i = 0; i < watches_count; i++)
		TEST_EQ(i % 2 ? mely_watch_stop(rt, of[i], NULL, NULL) :
		    mely_timer_again(rt, of[i], 0, 0), -ENOENT);
	test_add(&ran, 1);
}

static void
in_color(void (*fn)(void *arg), mely_watch *of)
{
	struct mely_handler handler = MELY_HANDLER(fn);
	uint64_t before = test_get(&ran);

	TEST_OK(mely_post(color, &handler, of));
	test_await(&ran, before + 1);
	test_settle(color);
}

/* Ids stay exact: those of timers that were stopped are stale, and none comes again. */
static void
timers(void)
{
	unsigned i, n = test_many(300000);
	mely_watch *later;
	size_t before, peak;

	watches = calloc(2 * (size_t)n, sizeof *watches);
	TEST_CHECK(watches != NULL);
	memset(watches, 1, 2 * (size_t)n * sizeof *watches); /* the pages count before */
	watches_count = n;
	later = watches + n;
	before = begin(1);
	color = test_color(rt);
	in_color(on_start, watches);
	peak = test_resident();
	in_color(on_stop, watches);
	await_fall("timers", before, peak);
	in_color(on_stale, watches);
	in_color(on_start, later);
	in_color(on_stale, watches);
	in_color(on_stop, later);
	qsort(watches, 2 * (size_t)n, sizeof *watches, compare);
	for (i = 1; i < 2 * n; i++)
		TEST_CHECK(watches[i] != watches[i - 1]);
	end();
	free(color);
	free(watches);
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 120);
	TEST_CASE(events);
	TEST_CASE(ids);
	TEST_CASE(ids_beside_work);
	TEST_CASE(timers);
	return test_done();
}
