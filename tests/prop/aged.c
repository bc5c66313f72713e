/* SPDX-License-Identifier: MIT */
/*
 * aged.c: a queue in which events wait for too long is reported, with the handlers that have most
 * events there; also when all of them are of the color that runs. What holds the queue up goes on
 * until the report is there, so how fast the machine is does not matter.
 */
#include "lines.h"

enum { AGE_MS = 20 };

static struct mely_runtime *rt;
static struct test_runner runner;

static void
make(int cores, uint32_t age_ms)
{
	struct mely_config config;

	test_config(&config, cores);
	config.stall_ms = 0;
	config.age_ms = age_ms;
	lines_catch(&config);
	rt = test_runtime_with(&config);
}

/* ---- behind a handler ------------------------------------------------------------------------ */

static _Atomic uint64_t in, let_go, ran;

static void
on_hold(void *arg)
{
	(void)arg;
	test_add(&in, 1);
	while (test_get(&let_go) == 0)
		test_nap_us(100);
}

static void
on_nothing(void *arg)
{
	(void)arg;
	test_add(&ran, 1);
}

static struct mely_handler hold = MELY_HANDLER(on_hold);

/* Handlers with these numbers of events, mixed, in several colors. True: all of them were there
 * when they were counted. */
static bool
behind(void)
{
	static const char *const names[] = {"tiny", "huge", "middle", "small", "large", "none",
	    "few"};
	static const unsigned counts[] = {3, 1100, 200, 70, 600, 0, 20};
	enum { HANDLERS = sizeof names / sizeof names[0] };
	struct mely_handler handlers[HANDLERS];
	unsigned all = 0, left[HANDLERS], i, some;
	bool complete;

	make(1, AGE_MS);
	atomic_store(&in, 0);
	atomic_store(&let_go, 0);
	atomic_store(&ran, 0);
	for (i = 0; i < HANDLERS; i++) {
		mely_handler_init(&handlers[i], on_nothing, names[i]);
		left[i] = counts[i];
		all += counts[i];
	}
	test_run_start(&runner, rt);
	TEST_OK(mely_post_id(rt, 1, &hold, NULL));
	test_await(&in, 1);
	do {
		for (some = i = 0; i < HANDLERS; i++) {
			if (left[i] == 0)
				continue;
			left[i]--;
			some = 1;
			TEST_OK(mely_post_id(rt, 2 + (left[i] + i) % 5, &handlers[i], NULL));
		}
	} while (some != 0);
	test_await(&lines_came, 1);
	TEST_CHECK(lines_said("core 0: an event has waited for ", "; without the color that runs"));
	complete = lines_said(" ms; 1,993 queued: ", "");
	if (complete)
		TEST_CHECK(lines_said(" queued: huge 1,100, large 600, middle 200, small 70, ",
		    "small 70, few 20 (of 6 handlers)"));
	TEST_EQ(test_get(&ran), 0);
	atomic_store(&let_go, 1);
	test_await(&ran, all);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	return complete;
}

static void
behind_a_handler(void)
{
	while (!behind())
		;
}

/* ---- in the color that runs ------------------------------------------------------------------ */

static void
on_slow(void *arg)
{
	test_spin_ns(500000);
	if (test_get(&lines_came) == 0)
		TEST_OK(mely_post(mely_current_color(), arg, arg));
	else
		test_add(&ran, 1);
}

static struct mely_handler steady, second;

/* One color has the core to itself, and more than it can do. */
static void
in_one_color(void)
{
	enum { STEADY = 200, SECOND = 100 };
	unsigned i;

	mely_handler_init(&steady, on_slow, "steady");
	mely_handler_init(&second, on_slow, "second");
	make(1, AGE_MS);
	atomic_store(&ran, 0);
	for (i = 0; i < STEADY; i++)
		TEST_OK(mely_post_id(rt, 1, &steady, &steady));
	for (i = 0; i < SECOND; i++)
		TEST_OK(mely_post_id(rt, 1, &second, &second));
	test_run_start(&runner, rt);
	test_await(&ran, STEADY + SECOND);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_CHECK(lines_said("core 0: an event has waited for ", " ms; "));
	/* Between two batches the core counts all it has. If it gets no processor and the
	 * monitor counts instead, the monitor cannot see what the batch has taken. */
	if (!lines_said("; without the color that runs", ""))
		TEST_CHECK(lines_said(" queued: steady 200, second 100", ""));
	TEST_OK(mely_runtime_free(rt));
}

/* ---- many ------------------------------------------------------------------------------------ */

enum { MANY_HANDLERS = 100, MANY_EACH = 40 };

/* True: all of them were there when they were counted. */
static bool
many(struct mely_handler *handlers)
{
	bool complete;
	unsigned i;

	make(1, AGE_MS);
	atomic_store(&in, 0);
	atomic_store(&let_go, 0);
	atomic_store(&ran, 0);
	test_run_start(&runner, rt);
	TEST_OK(mely_post_id(rt, 1, &hold, NULL));
	test_await(&in, 1);
	for (i = 0; i < MANY_HANDLERS * MANY_EACH; i++)
		TEST_OK(mely_post_id(rt, 2 + i % 7, &handlers[i % MANY_HANDLERS], NULL));
	test_await(&lines_came, 1);
	complete = lines_said(" ms; more than 2,048 queued, of the first 2,048: h", "");
	if (complete)
		TEST_CHECK(lines_said(" (of 64 handlers and more)",
		    "; without the color that runs"));
	atomic_store(&let_go, 1);
	test_await(&ran, MANY_HANDLERS * MANY_EACH);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	return complete;
}

/* More than are counted, and than there are rows for. */
static void
more_than_are_counted(void)
{
	static struct mely_handler handlers[MANY_HANDLERS];
	static char names[MANY_HANDLERS][8];
	unsigned i;

	for (i = 0; i < MANY_HANDLERS; i++) {
		snprintf(names[i], sizeof names[i], "h%u", i);
		mely_handler_init(&handlers[i], on_nothing, names[i]);
	}
	while (!many(handlers))
		;
}

/* ---- no report ------------------------------------------------------------------------------- */

/* No report where reports are off, nor for events held before the run. */
static void
nothing_to_say(void)
{
	unsigned i;

	make(2, 3600000);
	atomic_store(&ran, 0);
	for (i = 0; i < 1000; i++)
		TEST_OK(mely_post_id(rt, i, &steady, &steady));
	mely_handler_init(&steady, on_nothing, "steady");
	test_nap_us(3000);
	test_run_dry(rt);
	TEST_EQ(lines_count(), 0);
	TEST_OK(mely_runtime_free(rt));
	make(1, 0);
	atomic_store(&in, 0);
	atomic_store(&let_go, 0);
	test_run_start(&runner, rt);
	TEST_OK(mely_post_id(rt, 1, &hold, NULL));
	TEST_OK(mely_post_id(rt, 2, &steady, NULL));
	test_await(&in, 1);
	test_nap_us(30000);
	atomic_store(&let_go, 1);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(lines_count(), 0);
	TEST_OK(mely_runtime_free(rt));
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 60);
	TEST_CASE(behind_a_handler);
	TEST_CASE(in_one_color);
	TEST_CASE(more_than_are_counted);
	TEST_CASE(nothing_to_say);
	return test_done();
}
