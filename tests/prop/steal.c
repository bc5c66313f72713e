/* SPDX-License-Identifier: MIT */
/*
 * steal.c: invariant 6, and that stealing happens at all: other cores take the colors of a stuck
 * core, but never the running color, never a pinned one, and none when stealing is off.
 */
#include "test.h"

enum { COLORS = 40 };

static struct mely_runtime *rt;
static struct mely_color *colors[COLORS];
static _Atomic uint64_t stuck, go, ran;
static _Atomic int stuck_core;

static void
on_stuck(void *arg)
{
	(void)arg;
	atomic_store(&stuck_core, mely_current_core());
	test_add(&stuck, 1);
	test_await(&go, 1);
	/* The color is still on this core: a running color never moves. */
	TEST_EQ(mely_current_core(), atomic_load(&stuck_core));
}

static struct mely_handler stuck_handler = MELY_HANDLER(on_stuck);

static void
on_elsewhere(void *arg)
{
	(void)arg;
	TEST_CHECK(mely_current_core() != atomic_load(&stuck_core));
	test_add(&ran, 1);
}

static struct mely_handler elsewhere = MELY_HANDLER(on_elsewhere);

static void
on_same_core(void *arg)
{
	TEST_EQ(mely_current_core(), (int)(intptr_t)arg);
	test_add(&ran, 1);
}

static struct mely_handler same_core = MELY_HANDLER(on_same_core);

static void
make_colors_on(int core)
{
	int i;

	for (i = 0; i < COLORS; i++)
		colors[i] = test_color_on(rt, core);
}

static void
free_colors(void)
{
	int i;

	for (i = 0; i < COLORS; i++)
		free(colors[i]);
}

static void
reset(int cores)
{
	atomic_store(&stuck, 0);
	atomic_store(&go, 0);
	atomic_store(&ran, 0);
	rt = test_runtime(cores);
}

/* ---- a stuck core --------------------------------------------------------------------------- */

/*
 * One color blocks its core, with more of its own events waiting. The other colors of that core run
 * elsewhere meanwhile: only a steal can do that.
 */
static void
others_take_over_on(int cores)
{
	struct test_runner runner;
	struct mely_counters counters;
	int i, k;

	reset(cores);
	make_colors_on(cores - 1);
	TEST_OK(mely_post(colors[0], &stuck_handler, NULL));
	test_run_start(&runner, rt);
	test_await(&stuck, 1);
	for (k = 0; k < 3; k++) {
		TEST_OK(mely_post(colors[0], &same_core,
		    (void *)(intptr_t)atomic_load(&stuck_core)));
		for (i = 1; i < COLORS; i++)
			TEST_OK(mely_post(colors[i], &elsewhere, NULL));
	}
	/* All but the color that blocks. */
	test_await(&ran, 3 * (COLORS - 1));
	TEST_EQ(test_get(&ran), 3 * (COLORS - 1));
	test_add(&go, 1);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(test_get(&ran), 3 * COLORS);
	counters = test_counters(rt);
	TEST_CHECK(counters.steals_tried >= counters.steals);
	TEST_OK(mely_runtime_free(rt));
	free_colors();
}

static void
others_take_over(void)
{
	others_take_over_on(2);
	others_take_over_on(8);
	others_take_over_on(32);
}

/* Work posted by a handler to colors that live on its own core is stolen from it while it runs. */
static void
on_fan(void *arg)
{
	int i;

	atomic_store(&stuck_core, mely_current_core());
	for (i = 1; i < COLORS; i++)
		TEST_OK(mely_post(colors[i], &elsewhere, arg));
	test_await(&ran, COLORS - 1);
}

static struct mely_handler fan = MELY_HANDLER(on_fan);

static void
producer_is_helped_on(int cores)
{
	reset(cores);
	make_colors_on(0);
	TEST_OK(mely_post(colors[0], &fan, NULL));
	test_run_dry(rt);
	TEST_EQ(test_get(&ran), COLORS - 1);
	TEST_CHECK(test_counters(rt).steals + test_counters(rt).balance_steals > 0);
	TEST_OK(mely_runtime_free(rt));
	free_colors();
}

static void
producer_is_helped(void)
{
	producer_is_helped_on(2);
	producer_is_helped_on(8);
	producer_is_helped_on(32);
}

/* ---- no stealing ---------------------------------------------------------------------------- */

static void
on_local(void *arg)
{
	(void)arg;
	TEST_EQ(mely_current_core(), 0);
	test_spin_ns(20000);
	test_add(&ran, 1);
}

static struct mely_handler local = MELY_HANDLER(on_local);

static void
none_when_off(void)
{
	struct mely_config config;
	int i, k;

	reset(1);
	TEST_OK(mely_runtime_free(rt));
	test_config(&config, 4);
	config.stealing = 0;
	config.balance = 0;
	rt = test_runtime_with(&config);
	make_colors_on(0);
	for (k = 0; k < 5; k++)
		for (i = 0; i < COLORS; i++)
			TEST_OK(mely_post(colors[i], &local, NULL));
	test_run_dry(rt);
	TEST_EQ(test_get(&ran), 5 * COLORS);
	TEST_EQ(test_counters(rt).steals, 0);
	/* Stealing starts when it is turned on while there is work. */
	TEST_OK(mely_set_stealing(rt, MELY_STEAL_ALL));
	atomic_store(&ran, 0);
	TEST_OK(mely_post(colors[0], &fan, NULL));
	test_run_dry(rt);
	TEST_CHECK(test_counters(rt).steals > 0);
	TEST_OK(mely_runtime_free(rt));
	free_colors();
}

/* ---- pinned colors -------------------------------------------------------------------------- */

static void on_pinned(void *arg);
static struct mely_handler pinned_handler = MELY_HANDLER(on_pinned);

struct pinned {
	struct mely_color *color;
	int core;
	uint64_t left;
};

static void
on_pinned(void *arg)
{
	struct pinned *p = arg;

	TEST_EQ(mely_current_core(), p->core);
	test_add(&ran, 1);
	if (p->left-- > 0)
		TEST_OK(mely_post(p->color, &pinned_handler, p));
}

static void
pinned_stay_on(int cores, bool by_id)
{
	struct pinned pinned[COLORS];
	uint64_t left = test_scale(2000);
	int i;

	reset(cores);
	make_colors_on(0);
	for (i = 0; i < COLORS; i++) {
		pinned[i].color = colors[i];
		if (by_id)
			TEST_OK(mely_color_of_id(rt, (uint32_t)i * 7919u, &pinned[i].color));
		pinned[i].core = i % 3 == 0 ? 0 : i % cores;
		pinned[i].left = left;
		TEST_OK(mely_color_pin(pinned[i].color, pinned[i].core));
		TEST_EQ(mely_color_core(pinned[i].color), pinned[i].core);
		TEST_OK(mely_post(pinned[i].color, &pinned_handler, &pinned[i]));
	}
	test_run_dry(rt);
	TEST_EQ(test_get(&ran), COLORS * (left + 1));
	TEST_OK(mely_runtime_free(rt));
	free_colors();
}

static void
pinned_stay(void)
{
	pinned_stay_on(2, false);
	pinned_stay_on(8, false);
	pinned_stay_on(8, true);
	pinned_stay_on(32, false);
}

/* Pin a busy color from outside: the pin takes effect after its batch; then unpin it. */
static _Atomic uint64_t pin_seen[8];
static _Atomic int moving;

static void on_moving(void *arg);
static struct mely_handler move = MELY_HANDLER(on_moving);

static void
on_moving(void *arg)
{
	test_add(&pin_seen[mely_current_core()], 1);
	if (atomic_load(&moving))
		TEST_OK(mely_post(arg, &move, arg));
}

static uint64_t
seen_anywhere(void)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < 8; i++)
		sum += test_get(&pin_seen[i]);
	return sum;
}

static void
pin_while_busy(void)
{
	struct test_runner runner;
	uint64_t seen;
	int core;

	reset(4);
	make_colors_on(0);
	atomic_store(&moving, 1);
	test_run_start(&runner, rt);
	TEST_OK(mely_post(colors[0], &move, colors[0]));
	for (core = 3; core >= 0; core--) {
		TEST_OK(mely_color_pin(colors[0], core));
		test_await(&pin_seen[core], test_get(&pin_seen[core]) + 50);
		while (mely_color_core(colors[0]) != core)
			test_nap_us(50);
	}
	TEST_OK(mely_color_pin(colors[0], MELY_ANY_CORE));
	/* Any core: another core may steal it at once. */
	seen = seen_anywhere();
	while (seen_anywhere() == seen)
		test_nap_us(50);
	atomic_store(&moving, 0);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	free_colors();
}

/* ---- skewed placement spreads --------------------------------------------------------------- */

static _Atomic uint64_t by_core[8];

static void on_spread(void *arg);
static struct mely_handler spread = MELY_HANDLER(on_spread);

static void
on_spread(void *arg)
{
	test_spin_ns(1000);
	test_add(&by_core[mely_current_core()], 1);
	TEST_OK(mely_post(arg, &spread, arg));
}

/* All colors on core 0, each posting to itself: every core gets some. */
static void
skew_spreads(void)
{
	struct test_runner runner;
	int i;

	reset(4);
	make_colors_on(0);
	for (i = 0; i < COLORS; i++)
		TEST_OK(mely_post(colors[i], &spread, colors[i]));
	test_run_start(&runner, rt);
	for (i = 0; i < 4; i++)
		test_await(&by_core[i], 100);
	test_run_stop(&runner, MELY_STOP_DISCARD);
	TEST_OK(mely_runtime_free(rt));
	free_colors();
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 90);
	TEST_CASE(others_take_over);
	TEST_CASE(producer_is_helped);
	TEST_CASE(none_when_off);
	TEST_CASE(pinned_stay);
	TEST_CASE(pin_while_busy);
	TEST_CASE(skew_spreads);
	return test_done();
}
