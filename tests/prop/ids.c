/* SPDX-License-Identifier: MIT */
/*
 * ids.c: invariant 10 for colors by id: an idle one is given back, unless something keeps it.
 */
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

enum { ASKED = 20000 };

/* One id after the other, so that next to no memory is that of events. */
static void
on_ask(void *arg)
{
	static struct mely_handler ask = MELY_HANDLER(on_ask);
	struct mely_color *color = mely_current_color();
	uint32_t n = (uint32_t)(uintptr_t)arg, next = n + 1;

	TEST_EQ(mely_color_id(color), n * 0x9e3779b1u);
	TEST_OK(mely_post(color, &count, NULL));
	if (next < ASKED)
		TEST_OK(mely_post_id(rt, next * 0x9e3779b1u, &ask, (void *)(uintptr_t)next));
}

static struct mely_handler first_ask = MELY_HANDLER(on_ask);

/* A handler that asks for its color does not keep the color. */
static void
asking_keeps_nothing(void)
{
	struct test_runner runner;
	struct mely_config config;
	size_t bytes;

	test_config(&config, 2);
	config.stall_ms = 0; /* no monitor, which would give some back before the trim */
	rt = test_runtime_with(&config);
	atomic_store(&ran, 0);
	test_run_start(&runner, rt);
	TEST_OK(mely_post_id(rt, 0, &first_ask, NULL));
	test_await(&ran, ASKED);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	bytes = mely_trim(rt);
	printf("%d ids: %zu bytes given back\n", ASKED, bytes);
	TEST_CHECK(bytes >= ASKED * sizeof(struct mely_color));
	TEST_OK(mely_runtime_free(rt));
}

static void
on_timer(void *arg)
{
	TEST_EQ(mely_color_id(mely_current_color()), (uintptr_t)arg);
	test_add(&ran, 1);
}

static void
on_start_timer(void *arg)
{
	static struct mely_handler timer_handler = MELY_HANDLER(on_timer);
	mely_watch timer;

	TEST_OK(mely_timer_start(mely_current_color(), 2000000, 0, 0, &timer_handler, arg, &timer));
}

/* A timer does, as long as it has not run. */
static void
timers_keep_theirs(void)
{
	static struct mely_handler start_timer = MELY_HANDLER(on_start_timer);
	struct test_runner runner;
	unsigned n = 500, i;

	rt = test_runtime(2);
	atomic_store(&ran, 0);
	test_run_start(&runner, rt);
	for (i = 1; i <= n; i++)
		TEST_OK(mely_post_id(rt, i * 0x9e3779b1u, &start_timer,
		    (void *)(uintptr_t)(i * 0x9e3779b1u)));
	while (test_get(&ran) < n)
		(void)mely_trim(rt);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 60);
	TEST_CASE(asking_keeps_nothing);
	TEST_CASE(timers_keep_theirs);
	return test_done();
}
