/* SPDX-License-Identifier: MIT */
/*
 * memory.c: invariant 10, the color table, and back-pressure. The memory of a burst is given back,
 * each of a million ids has its own queue, an idle id costs what DESIGN.md promises, and a
 * high-water mark refuses posts and reports once that its color has drained.
 */
#include <stdio.h>

#include "resident.h"

static struct mely_runtime *rt;
static _Atomic uint64_t ran;

static void
on_count(void *arg)
{
	(void)arg;
	test_add(&ran, 1);
}

static struct mely_handler count = MELY_HANDLER(on_count);

/* ---- bursts --------------------------------------------------------------------------------- */

static void
burst(unsigned events, unsigned colors, uint32_t stride)
{
	struct test_runner runner;
	unsigned i;

	atomic_store(&ran, 0);
	for (i = 0; i < events; i++)
		TEST_OK(mely_post_id(rt, i % colors * stride, &count, NULL));
	test_run_start(&runner, rt);
	test_await(&ran, events);
	test_run_stop(&runner, MELY_STOP_DRAIN);
}

static void
burst_is_given_back_of(unsigned events, unsigned colors, uint32_t stride)
{
	size_t before, peak, after;
	unsigned i;

	rt = test_runtime(2);
	burst(1000, 10, 1);
	(void)mely_trim(rt);
	before = test_resident();
	atomic_store(&ran, 0);
	for (i = 0; i < events; i++)
		TEST_OK(mely_post_id(rt, i % colors * stride, &count, NULL));
	peak = test_resident();
	test_run_dry(rt);
	TEST_EQ(test_get(&ran), events);
	(void)mely_trim(rt);
	after = test_resident();
	printf("%u events, %u colors x %u: %zu KB, then %zu KB more, then %zd KB left\n", events,
	    colors, stride, before >> 10, (peak - before) >> 10,
	    ((ssize_t)after - (ssize_t)before) / 1024);
	/* a sanitizer's allocator keeps what is freed */
	if (TEST_MEASURES_MEMORY) {
		/* The burst must be large enough to be measured. */
		TEST_CHECK(peak - before > (size_t)events * sizeof(struct mely_event));
		TEST_CHECK(after < before + (peak - before) / 10);
	}
	TEST_OK(mely_runtime_free(rt));
}

static void
burst_is_given_back(void)
{
	unsigned n = test_many(400000);

	burst_is_given_back_of(n, 1, 1);
	burst_is_given_back_of(n, 1000, 1);
	burst_is_given_back_of(n, 1000, 0x9e3779b1u);
	burst_is_given_back_of(n, n, 1);
	burst_is_given_back_of(n, n, 0x9e3779b1u);
}

/* Without a trim between bursts, the memory that stays is bounded. */
static void
bursts_do_not_pile_up(void)
{
	size_t first = 0, last;
	unsigned i, n = test_many(200000), bursts = TEST_MEASURES_MEMORY ? 8 : 2;

	rt = test_runtime(2);
	for (i = 0; i < bursts; i++) {
		burst(n, 1000, 0x9e3779b1u);
		last = test_resident();
		if (i == 1)
			first = last;
	}
	printf("resident after two bursts %zu KB, after %u %zu KB\n", first >> 10, bursts,
	    last >> 10);
	if (TEST_MEASURES_MEMORY)
		TEST_CHECK(last < first + first / 2 + (8u << 20));
	TEST_OK(mely_runtime_free(rt));
}

/* ---- a million ids -------------------------------------------------------------------------- */

static uint8_t *id_ran;


/* arg: the index of the id that this color must have. */
static void
on_id(void *arg)
{
	size_t i = (uintptr_t)arg >> 32;
	uint32_t id = (uint32_t)(uintptr_t)arg;

	TEST_EQ(mely_color_id(mely_current_color()), id);
	id_ran[i]++;
	test_add(&ran, 1);
}

static struct mely_handler id_handler = MELY_HANDLER(on_id);

static void
ids_on(int cores, unsigned n, uint32_t stride, unsigned idle_max)
{
	size_t before, after;
	unsigned i;

	id_ran = calloc(n, 1);
	TEST_CHECK(id_ran != NULL);
	atomic_store(&ran, 0);
	rt = test_runtime(cores);
	before = test_resident();
	for (i = 0; i < n; i++) {
		struct mely_color *color;

		TEST_OK(mely_color_of_id(rt, i * stride, &color));
	}
	after = test_resident();
	printf("%u ids x %u: %zu bytes an idle color\n", n, stride, (after - before) / n);
	if (TEST_MEASURES_MEMORY)
		TEST_CHECK((after - before) / n <= idle_max);
	for (i = 0; i < n; i++)
		TEST_OK(mely_post_id(rt, i * stride, &id_handler,
		    (void *)((uintptr_t)i << 32 | (uint32_t)(i * stride))));
	test_run_dry(rt);
	TEST_EQ(test_get(&ran), n);
	for (i = 0; i < n; i++)
		TEST_EQ(id_ran[i], 1);
	TEST_OK(mely_runtime_free(rt));
	free(id_ran);
}

static void
million_ids(void)
{
	unsigned n = test_many(1000000);

	/* Multiples of an odd stride: all different modulo 2^32. A page or a growth step is added.
	 * */
	ids_on(2, n, 1, 64 + 4);
	ids_on(2, n, 0x9e3779b1u, 160);
	ids_on(8, n, 0xffffffffu, 160);
	ids_on(1, n, 4096 + 1, 160);
}

/* After a trim, ids that are used again still have their own queues. */
static void
trim_and_use_again(void)
{
	struct mely_color *kept;
	unsigned n = test_scale(20000), i;
	int round;

	rt = test_runtime(2);
	atomic_store(&ran, 0);
	TEST_OK(mely_color_of_id(rt, 12345u * 0x9e3779b1u, &kept));
	for (round = 1; round <= 3; round++) {
		struct test_runner runner;

		test_run_start(&runner, rt);
		for (i = 0; i < n; i++) {
			TEST_OK(mely_post_id(rt, i * 0x9e3779b1u, &count, NULL));
			if (i % (n / 4) == 0)
				(void)mely_trim(rt);
		}
		TEST_OK(mely_post(kept, &count, NULL));
		test_await(&ran, ((uint64_t)n + 1) * (uint64_t)round);
		test_run_stop(&runner, MELY_STOP_DRAIN);
		(void)mely_trim(rt);
		TEST_EQ(mely_color_id(kept), 12345u * 0x9e3779b1u);
	}
	TEST_OK(mely_runtime_free(rt));
}

/* Rows of posts to ids that another thread gives back all the time: each runs, in the order of its
 * producer. Rows to busy cores go through outboxes. */
enum { PRODUCERS = 3, TARGETS = 40, ROW = 24 };

struct target {
	uint64_t posted, ran; /* by the producer's color; by the color of the id */
};

struct producer {
	struct mely_color *color;
	struct target targets[TARGETS];
	uint32_t first_id;
	unsigned rows;
	uint64_t seed;
};

static struct producer producers[PRODUCERS];
static _Atomic uint64_t rows_over, trims_over;

static void
on_target(void *arg)
{
	struct target *target = (void *)((uintptr_t)arg & ~(uintptr_t)3);

	/* The low bits of the number of the post. */
	TEST_EQ((uintptr_t)arg & 3, target->ran & 3);
	target->ran++;
	test_add(&ran, 1);
	test_spin_ns(300);
}

static struct mely_handler target_handler = MELY_HANDLER(on_target);

static void
on_producer(void *arg)
{
	static struct mely_handler again = MELY_HANDLER(on_producer);
	struct producer *p = arg;
	unsigned i;

	for (i = 0; i < ROW; i++) {
		uint32_t n = (uint32_t)(test_random(&p->seed) >> 32) % TARGETS;
		struct target *target = &p->targets[n];

		TEST_OK(mely_post_id(rt, (p->first_id + n) * 0x9e3779b1u, &target_handler,
		    (char *)target + (target->posted++ & 3)));
	}
	if (--p->rows > 0)
		TEST_OK(mely_post(p->color, &again, p));
	else
		test_add(&rows_over, 1);
}

static struct mely_handler producer_handler = MELY_HANDLER(on_producer);

static void *
trim_always(void *arg)
{
	(void)arg;
	while (test_get(&trims_over) == 0)
		(void)mely_trim(rt);
	return NULL;
}

static void
trims_keep_the_order_on(int cores)
{
	unsigned rows = test_scale(test_long() ? 60000 : 6000), i, j;
	struct test_runner runner;
	pthread_t thread;

	rt = test_runtime(cores);
	atomic_store(&ran, 0);
	atomic_store(&rows_over, 0);
	atomic_store(&trims_over, 0);
	for (i = 0; i < PRODUCERS; i++) {
		struct producer *p = &producers[i];

		memset(p, 0, sizeof *p);
		p->color = test_color(rt);
		p->first_id = i * TARGETS + 1;
		p->rows = rows;
		p->seed = test_seed + i;
		TEST_OK(mely_post(p->color, &producer_handler, p));
	}
	test_run_start(&runner, rt);
	thread = test_thread(trim_always, NULL);
	test_await(&rows_over, PRODUCERS);
	test_await(&ran, (uint64_t)PRODUCERS * rows * ROW);
	test_add(&trims_over, 1);
	test_thread_join(thread);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	for (i = 0; i < PRODUCERS; i++) {
		for (j = 0; j < TARGETS; j++)
			TEST_EQ(producers[i].targets[j].ran, producers[i].targets[j].posted);
		free(producers[i].color);
	}
	TEST_OK(mely_runtime_free(rt));
}

static void
trims_keep_the_order(void)
{
	trims_keep_the_order_on(2);
	trims_keep_the_order_on(3);
}

/* Four threads look up the same new ids at the same time: each id has one color. */
enum { GETTERS = 4, GET_IDS = 20000 };

static struct mely_color *got[GETTERS][GET_IDS];

static void *
get_ids(void *arg)
{
	int self = (int)(intptr_t)arg;
	uint32_t i;

	for (i = 0; i < GET_IDS; i++)
		TEST_OK(mely_color_of_id(rt, i % 2 ? i : i * 0x9e3779b1u, &got[self][i]));
	return NULL;
}

static void
same_id_same_color(void)
{
	pthread_t threads[GETTERS];
	int i, k;

	rt = test_runtime(2);
	for (i = 0; i < GETTERS; i++)
		threads[i] = test_thread(get_ids, (void *)(intptr_t)i);
	for (i = 0; i < GETTERS; i++)
		test_thread_join(threads[i]);
	for (k = 0; k < GET_IDS; k++)
		for (i = 1; i < GETTERS; i++)
			TEST_CHECK(got[i][k] == got[0][k]);
	TEST_OK(mely_runtime_free(rt));
}

/* ---- high-water mark ------------------------------------------------------------------------ */

enum { MARK = 10 };

static _Atomic uint64_t drained;
static struct mely_color *marked, *watcher;
static uint64_t ran_at_drain;

static void
on_drained(void *arg)
{
	(void)arg;
	ran_at_drain = test_get(&ran);
	test_add(&drained, 1);
}

static struct mely_handler drained_handler = MELY_HANDLER(on_drained);
static struct mely_event drained_event = MELY_EVENT(&drained_handler, NULL);

static void
on_own_posts(void *arg)
{
	int i;

	(void)arg;
	/* Posts of the color to itself are never refused. */
	for (i = 0; i < 3 * MARK; i++)
		TEST_OK(mely_post(marked, &count, NULL));
	test_add(&ran, 1);
}

static struct mely_handler own_posts = MELY_HANDLER(on_own_posts);

static void
fill(void)
{
	struct mely_event ev = MELY_EVENT(&count, NULL);
	int i;

	for (i = 0; i < MARK; i++)
		TEST_OK(i % 2 ? mely_post(marked, &count, NULL)
		    : mely_post_head(marked, &count, NULL));
	TEST_EQ(mely_post(marked, &count, NULL), -EAGAIN);
	TEST_EQ(mely_post_head(marked, &count, NULL), -EAGAIN);
	TEST_EQ(mely_event_post(marked, &ev), -EAGAIN);
	TEST_CHECK(!mely_event_pending(&ev));
}

static void
high_water_on(int cores, bool by_id)
{
	struct test_runner runner;
	int round;

	rt = test_runtime(cores);
	if (by_id)
		TEST_OK(mely_color_of_id(rt, 0xabcdef01u, &marked));
	else
		marked = test_color(rt);
	watcher = test_color(rt);
	atomic_store(&ran, 0);
	atomic_store(&drained, 0);
	TEST_OK(mely_color_set_high_water(marked, MARK, watcher, &drained_event));
	for (round = 1; round <= 3; round++) {
		fill();
		TEST_EQ(test_counters(rt).refused, 3 * (uint64_t)round);
		TEST_EQ(test_get(&drained), (uint64_t)round - 1);
		test_run_dry(rt);
		TEST_EQ(test_get(&ran), MARK * (uint64_t)round);
		TEST_EQ(test_get(&drained), (uint64_t)round);
	}
	/* Below the mark nothing is reported. */
	TEST_OK(mely_post(marked, &own_posts, NULL));
	test_run_dry(rt);
	TEST_EQ(test_get(&drained), 3);
	TEST_EQ(test_get(&ran), 6 * MARK + 1);
	/* While it runs, posts are refused sooner or later, the drain is reported, and posts are
	 * accepted
 * again. */
	test_run_start(&runner, rt);
	for (round = 0; round < 20; round++) {
		uint64_t told = test_get(&drained);

		while (mely_post(marked, &count, NULL) == 0)
			continue;
		test_await(&drained, told + 1);
	}
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_color_set_high_water(marked, 0, NULL, NULL));
	for (round = 0; round < 3 * MARK; round++)
		TEST_OK(mely_post(marked, &count, NULL));
	test_run_dry(rt);
	TEST_OK(mely_runtime_free(rt));
	free(watcher);
	if (!by_id)
		free(marked);
}

static void
high_water(void)
{
	high_water_on(1, false);
	high_water_on(2, false);
	high_water_on(8, true);
}

/* On one core, with another color ready: the drained event comes at half the mark, not later. */
static void
on_hold(void *arg)
{
	(void)arg;
	fill();
}

static struct mely_handler hold = MELY_HANDLER(on_hold);

static void
drained_at_half(void)
{
	struct mely_config config;

	test_config(&config, 1);
	config.batch_events = 1;
	rt = test_runtime_with(&config);
	marked = test_color(rt);
	watcher = test_color(rt);
	atomic_store(&ran, 0);
	atomic_store(&drained, 0);
	TEST_OK(mely_color_set_high_water(marked, MARK, watcher, &drained_event));
	TEST_OK(mely_post(watcher, &hold, NULL));
	test_run_dry(rt);
	TEST_EQ(test_get(&drained), 1);
	/* Half of the events have run, and at most a batch more. */
	TEST_CHECK(ran_at_drain >= MARK / 2 && ran_at_drain <= MARK / 2 + 2);
	TEST_OK(mely_runtime_free(rt));
	free(marked);
	free(watcher);
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 120);
	TEST_CASE(burst_is_given_back);
	TEST_CASE(bursts_do_not_pile_up);
	TEST_CASE(million_ids);
	TEST_CASE(trim_and_use_again);
	TEST_CASE(trims_keep_the_order);
	TEST_CASE(same_id_same_color);
	TEST_CASE(high_water);
	TEST_CASE(drained_at_half);
	return test_done();
}
