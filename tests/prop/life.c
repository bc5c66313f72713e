/* SPDX-License-Identifier: MIT */
/*
 * life.c: passes of core 0, join counters, several runtimes at once, posts between them, counters,
 * and the description of a runtime.
 */
#include <poll.h>

#include "test.h"

static struct mely_runtime *rt;
static _Atomic uint64_t ran;

static void
on_count(void *arg)
{
	(void)arg;
	test_add(&ran, 1);
}

static struct mely_handler count = MELY_HANDLER(on_count);

/* ---- one pass ------------------------------------------------------------------------------- */

static void
on_again(void *arg)
{
	struct mely_handler *handler = arg;

	TEST_EQ(mely_current_core(), 0);
	TEST_EQ(mely_run_once_for(rt, 0), -EBUSY);
	test_add(&ran, 1);
	TEST_OK(mely_post_id(rt, 3, handler, handler));
}

static struct mely_handler again = MELY_HANDLER(on_again);

static void
one_pass(void)
{
	uint64_t events = 0;
	int i, n;

	atomic_store(&ran, 0);
	rt = test_runtime(1);
	TEST_EQ(mely_run_once_for(rt, 0), 0);
	for (i = 0; i < 5; i++)
		TEST_OK(mely_post_id(rt, (uint32_t)i, &count, NULL));
	for (i = 0; i < 100 && test_get(&ran) < 5; i++) {
		n = mely_run_once_for(rt, 0);
		TEST_CHECK(n >= 0);
		events += (uint64_t)n;
	}
	TEST_EQ(test_get(&ran), 5);
	TEST_CHECK(events >= 5);
	TEST_EQ(mely_run_once_for(rt, 0), 0);
	/* An event that is posted during a pass waits for the next one: the pass returns. */
	atomic_store(&ran, 0);
	TEST_OK(mely_post_id(rt, 3, &again, &again));
	for (i = 1; i <= 50; i++) {
		n = mely_run_once_for(rt, 0);
		TEST_CHECK(n >= 1 && n <= 20);
		TEST_EQ(mely_current_core(), -1);
	}
	TEST_CHECK(test_get(&ran) >= 50);
	TEST_OK(mely_stop(rt, MELY_STOP_DISCARD));
	TEST_OK(mely_runtime_free(rt));
}

/* With other cores, which go on between the passes. */
static void
one_pass_of_many(void)
{
	struct mely_color *here;
	uint64_t n = 0;
	int i;

	atomic_store(&ran, 0);
	rt = test_runtime(3);
	here = test_color_on(rt, 0);
	TEST_OK(mely_color_pin(here, 0));
	TEST_CHECK(mely_run_once_for(rt, 0) >= 0);
	for (i = 0; i < 100; i++)
		TEST_OK(mely_post_id(rt, (uint32_t)i, &count, NULL));
	TEST_OK(mely_post(here, &count, NULL));
	while (test_get(&ran) < 101) {
		int rc = mely_run_once_for(rt, 0);

		TEST_CHECK(rc >= 0);
		n += (uint64_t)rc;
	}
	TEST_CHECK(n >= 1);
	TEST_OK(mely_stop(rt, MELY_STOP_DRAIN));
	TEST_OK(mely_runtime_free(rt));
	free(here);
}

/* ---- passes that wait ------------------------------------------------------------------------ */

static struct mely_color *color;

static void *
post_for_waiter(void *arg)
{
	uint64_t i, n = test_scale(2000);

	for (i = 0; i < n; i++) {
		TEST_OK(mely_post(color, &count, NULL));
		test_await(&ran, i + 1);
	}
	TEST_OK(mely_stop(rt, MELY_STOP_DRAIN));
	return arg;
}

static void
waits_itself_on(int cores)
{
	pthread_t thread;
	int n;

	atomic_store(&ran, 0);
	rt = test_runtime(cores);
	color = test_color_on(rt, 0);
	TEST_EQ(mely_run_once_for(rt, 1000), 0);
	thread = test_thread(post_for_waiter, NULL);
	while ((n = mely_run_once_for(rt, MELY_FOREVER)) >= 0)
		;
	TEST_EQ(n, -ESHUTDOWN);
	test_thread_join(thread);
	TEST_EQ(test_get(&ran), test_scale(2000));
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

static void
waits_itself(void)
{
	waits_itself_on(1);
	waits_itself_on(2);
	waits_itself_on(4);
}

/* With nothing to do, the descriptor rests; on one core nothing else can happen. */
static void
rests(void)
{
	const uint64_t second = UINT64_C(1000000000);
	struct pollfd polled = {.events = POLLIN};
	mely_watch far;
	int n;

	rt = test_runtime(1);
	color = test_color(rt);
	polled.fd = mely_backend_fd(rt);
	TEST_EQ(poll(&polled, 1, 0), 1); /* for the first pass */
	while (mely_next_timeout(rt) == 0)
		TEST_CHECK(mely_run_once_for(rt, 0) >= 0);
	TEST_CHECK(mely_next_timeout(rt) == MELY_FOREVER);
	TEST_EQ(poll(&polled, 1, 0), 0);
	TEST_OK(mely_timer_start(color, 3600 * second, 0, 0, &count, NULL, &far));
	TEST_CHECK(mely_next_timeout(rt) > 0 && mely_next_timeout(rt) <= 3600 * second);
	TEST_EQ(poll(&polled, 1, 0), 0);
	TEST_OK(mely_post(color, &count, NULL));
	TEST_EQ(mely_next_timeout(rt), 0);
	TEST_EQ(poll(&polled, 1, 0), 1);
	TEST_OK(mely_stop(rt, MELY_STOP_DISCARD));
	while ((n = mely_run_once_for(rt, 0)) >= 0)
		;
	TEST_EQ(n, -ESHUTDOWN);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

/* ---- join counters -------------------------------------------------------------------------- */

enum { PARTS = 100 };

struct sum {
	struct mely_join join;
	struct mely_event joined;
	struct mely_color *color;
	uint64_t parts[PARTS]; /* not atomic: one part writes each */
	uint64_t rounds;
};

static struct sum sum;
static _Atomic uint64_t sums, last_reports;

static void
on_part(void *arg)
{
	uint64_t *part = arg;
	int rc;

	*part = (uint64_t)(part - sum.parts) + sum.rounds;
	rc = mely_join_done(&sum.join);
	TEST_CHECK(rc == 0 || rc == 1);
	test_add(&last_reports, (uint64_t)rc);
}

static struct mely_handler part_handler = MELY_HANDLER(on_part);

static void
fork_parts(void)
{
	uint32_t i;

	TEST_OK(mely_join_init(&sum.join, PARTS / 2, sum.color, &sum.joined));
	mely_join_add(&sum.join, PARTS - PARTS / 2);
	for (i = 0; i < PARTS; i++)
		TEST_OK(mely_post_id(rt, 1000 + i, &part_handler, &sum.parts[i]));
}

static void
on_joined(void *arg)
{
	uint64_t expected = 0, total = 0, i;

	TEST_CHECK(arg == &sum);
	for (i = 0; i < PARTS; i++) {
		total += sum.parts[i];
		expected += i + sum.rounds;
	}
	TEST_EQ(total, expected);
	test_add(&sums, 1);
	if (--sum.rounds > 0)
		fork_parts();
}

static struct mely_handler joined_handler = MELY_HANDLER(on_joined);

static void
join_on(int cores)
{
	unsigned rounds = test_scale(500);

	rt = test_runtime(cores);
	sum.color = test_color(rt);
	sum.rounds = rounds;
	atomic_store(&sums, 0);
	atomic_store(&last_reports, 0);
	mely_event_init(&sum.joined, &joined_handler, &sum);
	fork_parts();
	test_run_dry(rt);
	TEST_EQ(test_get(&sums), rounds);
	TEST_EQ(test_get(&last_reports), rounds);
	TEST_EQ(mely_join_init(&sum.join, 0, sum.color, &sum.joined), -EINVAL);
	TEST_OK(mely_runtime_free(rt));
	free(sum.color);
}

static void
join(void)
{
	join_on(1);
	join_on(2);
	join_on(8);
}

/* ---- several runtimes ----------------------------------------------------------------------- */

enum { RUNTIMES = 4 };

struct island {
	struct mely_runtime *rt;
	struct mely_color *color;
	struct mely_event ev;
	struct test_runner runner;
	uint64_t visits; /* not atomic: of the color */
};

static struct island islands[RUNTIMES];
static _Atomic uint64_t trips_over;
static uint64_t trip_length;

/* One embedded event travels from runtime to runtime. */
static void
on_visit(void *arg)
{
	struct island *here = arg, *next = &islands[(here - islands + 1) % RUNTIMES];

	TEST_CHECK(mely_current_runtime() == here->rt);
	TEST_CHECK(mely_current_color() == here->color);
	if (++here->visits < trip_length)
		TEST_OK(mely_event_post(next->color, &next->ev));
	else
		test_add(&trips_over, 1);
}

static struct mely_handler visit = MELY_HANDLER(on_visit);

static void
between_runtimes(void)
{
	int i;

	trip_length = test_scale(5000);
	atomic_store(&trips_over, 0);
	for (i = 0; i < RUNTIMES; i++) {
		islands[i].rt = test_runtime(i + 1);
		islands[i].color = test_color(islands[i].rt);
		islands[i].visits = 0;
		mely_event_init(&islands[i].ev, &visit, &islands[i]);
	}
	for (i = 0; i < RUNTIMES; i++)
		test_run_start(&islands[i].runner, islands[i].rt);
	TEST_OK(mely_event_post(islands[0].color, &islands[0].ev));
	test_await(&trips_over, 1);
	for (i = 0; i < RUNTIMES; i++)
		test_run_stop(&islands[i].runner, MELY_STOP_DRAIN);
	/* A runtime that does not run holds every post, also one from a handler of another. */
	for (i = 0; i < RUNTIMES; i++) {
		TEST_CHECK(islands[i].visits >= trip_length - 1);
		TEST_OK(mely_runtime_free(islands[i].rt));
		free(islands[i].color);
	}
}

static void
made_and_freed(void)
{
	struct mely_runtime *many[16];
	int i, round;

	atomic_store(&ran, 0);
	for (round = 0; round < 10; round++) {
		for (i = 0; i < 16; i++)
			many[i] = test_runtime(1 + i % 4);
		for (i = 0; i < 16; i += 2) {
			TEST_OK(mely_post_id(many[i], 1, &count, NULL));
			test_run_dry(many[i]);
		}
		for (i = 15; i >= 0; i--)
			TEST_OK(mely_runtime_free(many[i]));
	}
	TEST_EQ(test_get(&ran), 80);
}

/* ---- counters and words --------------------------------------------------------------------- */

static void
counters(void)
{
	struct mely_counters all;
	struct mely_stats *stats;
	uint64_t events = 0;
	char line[256];
	int i;

	atomic_store(&ran, 0);
	rt = test_runtime(4);
	for (i = 0; i < 1000; i++)
		TEST_OK(mely_post_id(rt, (uint32_t)i, &count, NULL));
	test_run_dry(rt);
	all = test_counters(rt);
	TEST_OK(mely_stats_take(rt, MELY_STATS_COUNTERS, 0, &stats));
	TEST_OK(mely_stats_check(stats, (size_t)stats->size));
	for (i = 0; i < 4; i++)
		events += mely_stats_core_row(stats, (uint32_t)i)->counters.events;
	TEST_CHECK(mely_stats_core_row(stats, 4) == NULL);
	TEST_EQ(stats->handlers_count, 0);
	mely_stats_free(stats);
	TEST_EQ(all.events, events);
	TEST_CHECK(all.events >= 1001 && all.batches > 0 && all.batches <= all.events);
	TEST_EQ(mely_stats_take(rt, MELY_STATS_COUNTERS, 1, &stats), -EINVAL);
	i = mely_runtime_describe(rt, line, sizeof line);
	TEST_CHECK(i > 0 && strchr(line, '\n') == NULL && strchr(line, '4') != NULL);
	puts(line);
	TEST_EQ(mely_runtime_describe(rt, line, 5), i);
	TEST_EQ(strlen(line), 4);
	TEST_OK(mely_runtime_free(rt));
}

static void
clock_goes_on(void)
{
	uint64_t before = mely_now_ns(), after;

	test_nap_us(1000);
	after = mely_now_ns();
	TEST_CHECK(after - before >= 1000000);
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 90);
	TEST_CASE(one_pass);
	TEST_CASE(one_pass_of_many);
	TEST_CASE(waits_itself);
	TEST_CASE(rests);
	TEST_CASE(join);
	TEST_CASE(between_runtimes);
	TEST_CASE(made_and_freed);
	TEST_CASE(counters);
	TEST_CASE(clock_goes_on);
	return test_done();
}
