/* SPDX-License-Identifier: MIT */
/*
 * fair.c: invariant 5 exactly, on one core: with n ready colors and a batch threshold b no ready
 * color waits for more than (n-1) * b handlers of others; higher priorities run first, but a color
 * that they pass over ages and runs; and the two rules for the priority of a color.
 */
#include "test.h"

enum { COLORS_MAX = 64 };

static struct mely_runtime *rt;

/* What all colors record. There is one core, but that does not order two colors. */
static pthread_mutex_t books = PTHREAD_MUTEX_INITIALIZER;

static struct {
	struct mely_color *color[COLORS_MAX];
	uint64_t last[COLORS_MAX]; /* the step at which the color last ran */
	uint64_t ran[COLORS_MAX];
	uint64_t step;
	uint64_t steps_max;
	uint64_t wait_max;
	uint64_t row;              /* events of the last color in a row */
	uint64_t row_max;
	int previous;
} fair;

static void
fair_begin(const struct mely_config *config, int colors, uint64_t steps)
{
	int i;

	memset(&fair, 0, sizeof fair);
	fair.previous = -1;
	fair.steps_max = steps;
	rt = test_runtime_with(config);
	for (i = 0; i < colors; i++)
		fair.color[i] = test_color(rt);
}

static void
fair_end(int colors)
{
	int i;

	TEST_OK(mely_runtime_free(rt));
	for (i = 0; i < colors; i++)
		free(fair.color[i]);
}

/* The number of this step. */
static uint64_t
account(int i)
{
	uint64_t step;

	pthread_mutex_lock(&books);
	step = ++fair.step;
	if (i == fair.previous) {
		fair.row++;
	} else {
		/* Handlers of other colors since this color last ran; it was ready all the time. */
		uint64_t waited = step - fair.last[i] - 1;

		if (waited > fair.wait_max)
			fair.wait_max = waited;
		fair.row = 1;
	}
	if (fair.row > fair.row_max)
		fair.row_max = fair.row;
	fair.previous = i;
	fair.last[i] = step;
	fair.ran[i]++;
	pthread_mutex_unlock(&books);
	return step;
}

static void on_chain(void *arg);
static struct mely_handler chain = MELY_HANDLER(on_chain);

static void
on_chain(void *arg)
{
	int i = (int)(intptr_t)arg;

	if (account(i) == fair.steps_max)
		TEST_OK(mely_stop(rt, MELY_STOP_DISCARD));
	TEST_OK(mely_post(fair.color[i], &chain, arg));
}

static void
bounded_wait(uint32_t batch, int colors, unsigned chains)
{
	struct mely_config config;
	uint64_t bound = (uint64_t)(colors - 1) * batch;
	unsigned k;
	int i;

	test_config(&config, 1);
	config.batch_events = batch;
	fair_begin(&config, colors, test_scale(100000));
	for (k = 0; k < chains; k++)
		for (i = 0; i < colors; i++)
			TEST_OK(mely_post(fair.color[i], &chain, (void *)(intptr_t)i));
	TEST_OK(mely_run(rt));
	if (fair.wait_max > bound)
		test_fail(__FILE__, __LINE__, "%d colors, batch %u, %u chains: waited for %llu "
		    "handlers, more than %llu", colors, batch, chains,
		    (unsigned long long)fair.wait_max, (unsigned long long)bound);
	if (colors > 1)
		TEST_CHECK(fair.row_max <= batch);
	fair_end(colors);
}

static void
wait_is_bounded(void)
{
	static const int colors[] = {1, 2, 3, 63, 64};
	static const uint32_t batches[] = {1, 2, 10};
	size_t i, k;

	for (i = 0; i < sizeof colors / sizeof colors[0]; i++)
		for (k = 0; k < sizeof batches / sizeof batches[0]; k++) {
			bounded_wait(batches[k], colors[i], 1);
			bounded_wait(batches[k], colors[i], 3);
			bounded_wait(batches[k], colors[i], 25);
		}
}

/* A color that always has more work uses up the default threshold. */
static void
batches_are_used(void)
{
	struct mely_config config;
	int i;

	test_config(&config, 1);
	TEST_EQ(config.batch_events, 10);
	fair_begin(&config, 2, 10000);
	for (i = 0; i < 2; i++)
		TEST_OK(mely_post(fair.color[i], &chain, (void *)(intptr_t)i));
	TEST_OK(mely_run(rt));
	TEST_EQ(fair.row_max, 10);
	fair_end(2);
}

/* A batch threshold in time ends a batch of long handlers before its count does. */
static void
on_long(void *arg)
{
	test_spin_ns(200000);
	on_chain(arg);
}

static struct mely_handler long_handler = MELY_HANDLER(on_long);

static void
batch_ends_in_time(void)
{
	struct mely_config config;
	int i, k;

	test_config(&config, 1);
	config.batch_events = 1000;
	config.batch_us = 100;
	fair_begin(&config, 2, 40);
	for (k = 0; k < 20; k++)
		for (i = 0; i < 2; i++)
			TEST_OK(mely_post(fair.color[i], &long_handler, (void *)(intptr_t)i));
	TEST_OK(mely_run(rt));
	TEST_EQ(fair.row_max, 1);
	fair_end(2);
}

/* ---- priorities ----------------------------------------------------------------------------- */

static int order[8], order_length;

static void
on_order(void *arg)
{
	pthread_mutex_lock(&books);
	TEST_CHECK(order_length < 8);
	order[order_length++] = (int)(intptr_t)arg;
	pthread_mutex_unlock(&books);
}

static struct mely_handler low = MELY_HANDLER_WITH(on_order, 0, 0, -5);
static struct mely_handler middle = MELY_HANDLER(on_order);
static struct mely_handler high = MELY_HANDLER_WITH(on_order, 0, 0, 5);
static struct mely_handler over = MELY_HANDLER_WITH(on_order, 0, 0, 1000);
static struct mely_handler under = MELY_HANDLER_WITH(on_order, 0, 0, -1000);

static void
highest_goes_first(void)
{
	struct mely_config config;
	int i;

	order_length = 0;
	test_config(&config, 1);
	fair_begin(&config, 5, 0);
	TEST_OK(mely_post(fair.color[0], &under, (void *)0));
	TEST_OK(mely_post(fair.color[1], &low, (void *)1));
	TEST_OK(mely_post(fair.color[2], &middle, (void *)2));
	TEST_OK(mely_post(fair.color[3], &high, (void *)3));
	TEST_OK(mely_post(fair.color[4], &over, (void *)4));
	test_run_dry(rt);
	TEST_EQ(order_length, 5);
	for (i = 0; i < 5; i++)
		TEST_EQ(order[i], 4 - i);
	fair_end(5);
}

static void on_stream(void *arg);
static struct mely_handler stream = MELY_HANDLER_WITH(on_stream, 0, 0, 15);

static void
on_stream(void *arg)
{
	int i = (int)(intptr_t)arg;

	if (account(i) >= fair.steps_max)
		TEST_OK(mely_stop(rt, MELY_STOP_DISCARD));
	TEST_OK(mely_post(fair.color[i], &stream, arg));
}

static void on_low_stream(void *arg);
static struct mely_handler low_stream = MELY_HANDLER_WITH(on_low_stream, 0, 0, -16);

static void
on_low_stream(void *arg)
{
	int i = (int)(intptr_t)arg;

	account(i);
	TEST_OK(mely_post(fair.color[i], &low_stream, arg));
}

/* Colors of the highest priority that never end do not keep the lowest from running. */
static void
passed_over_ages_and_runs(void)
{
	struct mely_config config;
	int i;

	test_config(&config, 1);
	fair_begin(&config, 3, 100000);
	for (i = 0; i < 2; i++)
		TEST_OK(mely_post(fair.color[i], &stream, (void *)(intptr_t)i));
	TEST_OK(mely_post(fair.color[2], &low_stream, (void *)2));
	TEST_OK(mely_run(rt));
	/* 31 levels apart, one step per batch of at most 10 events: one turn in about 320 handlers;
	 * allow 1,000. */
	TEST_CHECK(fair.ran[2] >= 100000 / 1000);
	/* Priorities still count: the high ones run most. */
	TEST_CHECK(fair.ran[0] + fair.ran[1] > 4 * fair.ran[2]);
	fair_end(3);
}

/*
 * Color 0 has a high event and then a low one; color 1 has a middle one. By the highest event color
 * 0 is first; by the last post color 1 is.
 */
static void
priority_rule(enum mely_priority_rule rule, int first)
{
	struct mely_config config;

	order_length = 0;
	test_config(&config, 1);
	config.priority_rule = rule;
	fair_begin(&config, 2, 0);
	TEST_OK(mely_post(fair.color[0], &high, (void *)0));
	TEST_OK(mely_post(fair.color[0], &low, (void *)0));
	TEST_OK(mely_post(fair.color[1], &middle, (void *)1));
	test_run_dry(rt);
	TEST_EQ(order_length, 3);
	TEST_EQ(order[0], first);
	fair_end(2);
}

static void
priority_rules(void)
{
	priority_rule(MELY_PRIORITY_HIGHEST, 0);
	priority_rule(MELY_PRIORITY_LAST_POST, 1);
}

/* An event of color 0 posts a high one to its own color, while a middle one of color 1 waits. With
 * a batch threshold of 1 the color has to be put back between the two. */
static void
on_raise(void *arg)
{
	on_order(arg);
	TEST_OK(mely_post(fair.color[0], &high, (void *)1));
}

static void
priority_of_own_post(void)
{
	static struct mely_handler raise = MELY_HANDLER(on_raise);
	struct mely_config config;
	int i;

	order_length = 0;
	test_config(&config, 1);
	config.priority_rule = MELY_PRIORITY_LAST_POST;
	fair_begin(&config, 2, 0);
	TEST_OK(mely_set_batch(rt, 1));
	TEST_OK(mely_post(fair.color[0], &raise, (void *)0));
	TEST_OK(mely_post(fair.color[1], &middle, (void *)2));
	test_run_dry(rt);
	TEST_EQ(order_length, 3);
	for (i = 0; i < 3; i++)
		TEST_EQ(order[i], i);
	fair_end(2);
}

/* Two colors with two events each: one by one with a threshold of 1, else color by color. */
static void
batch_is_set(void)
{
	static const int wanted[2][4] = {{0, 1, 0, 1}, {0, 0, 1, 1}};
	struct mely_config config;
	int turn, i;

	test_config(&config, 1);
	fair_begin(&config, 2, 0);
	TEST_EQ(mely_set_batch(rt, 0), -EINVAL);
	TEST_EQ(mely_set_batch(rt, 1000001), -EINVAL);
	for (turn = 0; turn < 2; turn++) {
		order_length = 0;
		TEST_OK(mely_set_batch(rt, turn == 0 ? 1 : 10));
		for (i = 0; i < 4; i++)
			TEST_OK(mely_post(fair.color[i / 2], &middle,
			    (void *)(intptr_t)(i / 2)));
		test_run_dry(rt);
		TEST_EQ(order_length, 4);
		for (i = 0; i < 4; i++)
			TEST_EQ(order[i], wanted[turn][i]);
	}
	fair_end(2);
}

/* ---- many cores ----------------------------------------------------------------------------- */

static _Atomic uint64_t total[COLORS_MAX];
static _Atomic uint64_t others;

static void
on_other(void *arg)
{
	(void)arg;
	test_add(&others, 1);
}

static struct mely_handler other = MELY_HANDLER(on_other);

static void on_endless(void *arg);
static struct mely_handler endless = MELY_HANDLER(on_endless);

static void
on_endless(void *arg)
{
	int i = (int)(intptr_t)arg;

	test_add(&total[i], 1);
	TEST_OK(mely_post(fair.color[i], &endless, arg));
}

/* However busy all cores are, every color keeps running, and a new one gets its turn. */
static void
nobody_starves_on(int cores, int colors)
{
	struct mely_config config;
	struct test_runner runner;
	struct mely_color *late;
	unsigned i;

	test_config(&config, cores);
	fair_begin(&config, colors, 0);
	late = test_color(rt);
	atomic_store(&others, 0);
	for (i = 0; i < (unsigned)colors; i++) {
		atomic_store(&total[i], 0);
		TEST_OK(mely_post(fair.color[i], &endless, (void *)(intptr_t)i));
	}
	test_run_start(&runner, rt);
	for (i = 0; i < (unsigned)colors; i++)
		test_await(&total[i], test_scale(5000));
	for (i = 1; i <= 20; i++) {
		TEST_OK(mely_post(late, &other, NULL));
		test_await(&others, i);
	}
	test_run_stop(&runner, MELY_STOP_DISCARD);
	fair_end(colors);
	free(late);
}

static void
nobody_starves(void)
{
	nobody_starves_on(1, 1);
	nobody_starves_on(1, 3);
	nobody_starves_on(2, 3);
	nobody_starves_on(2, 63);
	nobody_starves_on(8, 3);
	nobody_starves_on(8, 64);
	nobody_starves_on(32, 63);
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 120);
	TEST_CASE(wait_is_bounded);
	TEST_CASE(batches_are_used);
	TEST_CASE(batch_ends_in_time);
	TEST_CASE(highest_goes_first);
	TEST_CASE(passed_over_ages_and_runs);
	TEST_CASE(priority_rules);
	TEST_CASE(priority_of_own_post);
	TEST_CASE(batch_is_set);
	TEST_CASE(nobody_starves);
	return test_done();
}
