/* SPDX-License-Identifier: MIT */
/*
 * rules.c: how the libasync-smp scheduler differs. Linked with libmely-libasync: a core runs its
 * events in the order posted, whatever their colors; a thief takes whole colors, but none that has
 * half of the victim's events or more, so that the last one stays; a switch turns stealing off.
 */
#include "test.h"

enum { COLORS = 40 };

static struct mely_runtime *rt;
static struct mely_color *colors[COLORS];
static _Atomic uint64_t stuck, go, ran;

static void
make(int cores)
{
	int i;

	atomic_store(&stuck, 0);
	atomic_store(&go, 0);
	atomic_store(&ran, 0);
	rt = test_runtime(cores);
	for (i = 0; i < COLORS; i++)
		colors[i] = test_color_on(rt, 0);
}

static void
unmake(void)
{
	int i;

	TEST_OK(mely_runtime_free(rt));
	for (i = 0; i < COLORS; i++)
		free(colors[i]);
}

/* ---- one FIFO ------------------------------------------------------------------------------- */

/* Of all colors: there is one core, but that does not order two colors. */
static _Atomic uint64_t expected;

static void
on_numbered(void *arg)
{
	TEST_EQ((uint64_t)(uintptr_t)arg, test_get(&expected));
	test_add(&expected, 1);
}

static struct mely_handler numbered = MELY_HANDLER(on_numbered);

static void
events_in_the_order_posted(void)
{
	uint64_t n = 0;
	int i, k;

	make(1);
	atomic_store(&expected, 1);
	for (k = 0; k < 30; k++)
		for (i = 0; i < COLORS; i++)
			TEST_OK(mely_post(colors[i * 7 % COLORS], &numbered,
			    (void *)(uintptr_t)++n));
	/* A head goes before the tails of its color, wherever they are; here they are the first. */
	TEST_OK(mely_post_head(colors[0], &numbered, (void *)(uintptr_t)0));
	atomic_store(&expected, 0);
	test_run_dry(rt);
	TEST_EQ(test_get(&expected), n + 1);
	unmake();
}

/* ---- figure 2 ------------------------------------------------------------------------------- */

static void
on_stuck(void *arg)
{
	(void)arg;
	test_add(&stuck, 1);
	test_await(&go, 1);
	TEST_EQ(mely_current_core(), 0);
}

static struct mely_handler stuck_handler = MELY_HANDLER(on_stuck);

static void
on_anywhere(void *arg)
{
	(void)arg;
	test_add(&ran, 1);
}

static struct mely_handler anywhere = MELY_HANDLER(on_anywhere);

static void
on_home(void *arg)
{
	(void)arg;
	TEST_EQ(mely_current_core(), 0);
}

static struct mely_handler home = MELY_HANDLER(on_home);

/* Colors of three events each behind a stuck core, and its own pinned color, which has most. */
static void
the_half_stays(int cores)
{
	struct test_runner runner;
	int i, k;

	make(cores);
	TEST_OK(mely_color_pin(colors[0], 0));
	test_run_start(&runner, rt);
	TEST_OK(mely_post(colors[0], &stuck_handler, NULL));
	test_await(&stuck, 1);
	/* Enough events that three are never half of them. */
	for (k = 0; k < 4 * 3 * COLORS; k++)
		TEST_OK(mely_post(colors[0], &home, NULL));
	for (i = 2; i < COLORS; i++)
		for (k = 0; k < 3; k++)
			TEST_OK(mely_post(colors[i], &anywhere, NULL));
	/* The thief takes every color with less than half of the events. */
	test_await(&ran, 3 * (COLORS - 2));
	TEST_CHECK(test_counters(rt).steals >= COLORS - 2);
	TEST_CHECK(test_counters(rt).steals_tried >= test_counters(rt).steals);
	test_add(&go, 1);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	unmake();
}

static void
a_last_color_stays(int cores)
{
	struct test_runner runner;
	int i;

	make(cores);
	TEST_OK(mely_color_pin(colors[0], 0));
	for (i = 1; i < COLORS; i++)
		TEST_OK(mely_post(colors[i], &anywhere, NULL));
	TEST_OK(mely_set_stealing(rt, 0));
	test_run_start(&runner, rt);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(test_get(&ran), COLORS - 1);
	TEST_EQ(test_counters(rt).steals, 0);

	/* Two colors of one event each stay: neither has less than half. */
	atomic_store(&stuck, 0);
	atomic_store(&go, 0);
	atomic_store(&ran, 0);
	TEST_OK(mely_set_stealing(rt, MELY_STEAL_ON));
	test_run_start(&runner, rt);
	TEST_OK(mely_post(colors[0], &stuck_handler, NULL));
	test_await(&stuck, 1);
	for (i = 1; i < COLORS; i++)
		TEST_OK(mely_post(colors[i], &anywhere, NULL));
	test_await(&ran, COLORS - 3);
	test_nap_us(20000);
	TEST_EQ(test_get(&ran), COLORS - 3);
	test_add(&go, 1);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(test_get(&ran), COLORS - 1);
	unmake();
}

static void
figure_2(void)
{
	the_half_stays(2);
	the_half_stays(8);
	a_last_color_stays(2);
	a_last_color_stays(8);
}

static void
figure_2_scanning_to_the_end(void)
{
	setenv("MELY_LIBASYNC_SCAN", "full", 1);
	figure_2();
	unsetenv("MELY_LIBASYNC_SCAN");
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 90);
	TEST_CASE(events_in_the_order_posted);
	TEST_CASE(figure_2);
	TEST_CASE(figure_2_scanning_to_the_end);
	return test_done();
}
