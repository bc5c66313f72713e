/* SPDX-License-Identifier: MIT */
/*
 * stats_colors.c: a snapshot finds all colors that wait, in order; it needs no core to return from
 * its handler, and disturbs nothing.
 */
#include "stats.h"

static struct mely_runtime *rt;
static _Atomic uint64_t go, spinning, ran;

static void
on_block(void *arg)
{
	(void)arg;
	test_add(&spinning, 1);
	test_await(&go, 1);
}

static struct mely_handler block = MELY_HANDLER(on_block);

/* ---- colors -------------------------------------------------------------------------------- */

static void
on_nothing(void *arg)
{
	(void)arg;
	test_add(&ran, 1);
}

static struct mely_handler nothing = MELY_HANDLER(on_nothing);

/* Held posts wait in their colors: the counts and ids are right, and the first posted is oldest. */
static void
waiting_colors_are_found_on(int cores)
{
	enum { MANY = 3000, LISTED = 100 };
	struct mely_color *object, *by_id;
	struct mely_stats *stats;
	const struct mely_stats_color *c;
	uint64_t events = 0;
	uint32_t i, k;

	rt = test_runtime(cores);
	object = test_color_on(rt, cores - 1);
	TEST_OK(mely_color_set_name(object, "an \"object\""));
	for (k = 0; k < 500; k++)
		TEST_OK(mely_post(object, &nothing, NULL));
	for (i = 0; i < MANY; i++)
		for (k = 0; k <= i % 200; k++)
			TEST_OK(mely_post_id(rt, i * 31, &nothing, NULL));
	TEST_OK(mely_color_of_id(rt, 31 * 199, &by_id));
	TEST_OK(mely_color_pin(by_id, 0));
	stats = test_stats(rt, 0, LISTED);
	TEST_EQ(stats->colors_found, MANY + 1);
	TEST_EQ(stats->colors_count, LISTED);
	TEST_CHECK(mely_stats_color_row(stats, LISTED) == NULL);
	c = mely_stats_color_row(stats, 0);
	TEST_EQ(c->kind, MELY_STATS_COLOR_OBJECT);
	TEST_CHECK(c->object == (uint64_t)(uintptr_t)object);
	TEST_EQ(strcmp(mely_stats_name(stats, c->name_at), "an \"object\""), 0);
	TEST_EQ(c->owner, (unsigned)cores - 1);
	TEST_CHECK(c->length >= MELY_STATS_LENGTH_MAX);
	TEST_CHECK(c->length == 500 || (c->flags & (MELY_STATS_LENGTH_ESTIMATED |
	    MELY_STATS_LENGTH_AT_LEAST)) != 0);
	for (i = 1; i < LISTED; i++) {
		c = mely_stats_color_row(stats, i);
		TEST_EQ(c->kind, MELY_STATS_COLOR_ID);
		TEST_EQ(c->id % 31, 0);
		TEST_EQ(c->length, c->id / 31 % 200 + 1);
		TEST_EQ(c->flags, c->id == 31 * 199 ? MELY_STATS_COLOR_PINNED : 0);
		TEST_CHECK(c->length <= mely_stats_color_row(stats, i - 1)->length);
	}
	/* 15 colors have 200, 15 have 199 ... */
	TEST_EQ(mely_stats_color_row(stats, LISTED - 1)->length, 200 - (LISTED - 2) / 15);
	for (i = 0; i < stats->cores_count; i++)
		events += mely_stats_core_row(stats, i)->events_waiting;
	TEST_CHECK(events >= MANY / 200 * (200 * 201 / 2) + MELY_STATS_LENGTH_MAX);
	mely_stats_free(stats);

	stats = test_stats(rt, MELY_STATS_BY_AGE, MELY_STATS_COLORS_MAX);
	TEST_EQ(stats->colors_count, MANY + 1);
	for (i = 0; i <= MANY; i++) {
		c = mely_stats_color_row(stats, i);
		/* The object was first, then came the ids. */
		TEST_EQ(c->kind == MELY_STATS_COLOR_ID ? c->id / 31 + 1 : 0, i);
	}
	mely_stats_free(stats);
	test_run_dry(rt);
	TEST_OK(mely_runtime_free(rt));
	free(object);
}

static void
waiting_colors_are_found(void)
{
	waiting_colors_are_found_on(1);
	waiting_colors_are_found_on(5);
}

/* All cores are in a handler; a snapshot shows which one, and what waits behind them. */
static void
spinning_cores_are_seen(void)
{
	enum { CORES = 4 };
	struct mely_color *colors[CORES], *behind;
	struct test_runner runner;
	struct mely_stats *stats, *later;
	uint32_t i;

	rt = test_runtime(CORES);
	atomic_store(&go, 0);
	atomic_store(&ran, 0);
	atomic_store(&spinning, 0);
	behind = test_color_on(rt, 1);
	TEST_OK(mely_color_pin(behind, 1));
	test_run_start(&runner, rt);
	for (i = 0; i < CORES; i++) {
		colors[i] = test_color_on(rt, (int)i);
		TEST_OK(mely_color_pin(colors[i], (int)i));
		TEST_OK(mely_color_set_name(colors[i], "spins"));
		TEST_OK(mely_post(colors[i], &block, NULL));
	}
	test_await(&spinning, CORES);
	for (i = 0; i < 7; i++)
		TEST_OK(mely_post(behind, &nothing, NULL));
	test_nap_us(2000);
	stats = test_stats(rt, 0, 10);
	test_nap_us(2000);
	later = test_stats(rt, 0, 10);
	for (i = 0; i < CORES; i++) {
		const struct mely_stats_core *c = mely_stats_core_row(stats, i);
		const struct mely_stats_core *d = mely_stats_core_row(later, i);

		TEST_EQ(c->doing, MELY_STATS_BUSY);
		TEST_EQ(c->color_kind, MELY_STATS_COLOR_OBJECT);
		TEST_CHECK(c->color_object == (uint64_t)(uintptr_t)colors[i]);
		TEST_EQ(strcmp(mely_stats_name(stats, c->color_name_at), "spins"), 0);
		TEST_EQ(c->handler, test_stats_handler(stats, "on_block")->number);
		TEST_EQ(c->events_in_batch, 1);
		TEST_CHECK(c->running_ns >= 1900000);
		TEST_CHECK(d->running_ns >= c->running_ns + 1900000);
		TEST_CHECK(d->busy_ns >= c->busy_ns + 1900000);
		TEST_EQ(d->sleep_ns, c->sleep_ns);
		TEST_EQ(c->colors_waiting, i == 1);
	}
	TEST_EQ(stats->colors_found, CORES + 1);
	TEST_EQ(mely_stats_color_row(stats, 0)->length, 7);
	TEST_CHECK(mely_stats_color_row(stats, 0)->object == (uint64_t)(uintptr_t)behind);
	TEST_CHECK(mely_stats_color_row(stats, 0)->oldest_ns >= 1900000);
	for (i = 1; i <= CORES; i++) {
		TEST_CHECK(mely_stats_color_row(stats, i)->flags & MELY_STATS_COLOR_RUNNING);
		TEST_EQ(mely_stats_color_row(stats, i)->length, 0);
	}
	mely_stats_free(stats);
	mely_stats_free(later);
	test_add(&go, 1);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(test_get(&ran), 7);
	TEST_OK(mely_runtime_free(rt));
	for (i = 0; i < CORES; i++)
		free(colors[i]);
	free(behind);
}

/* One color keeps a core busy, and its batch contains all events that wait there: the core counts
 * them for the snapshot. */
static void
on_short(void *arg)
{
	(void)arg;
	test_spin_ns(20000);
	test_add(&ran, 1);
}

static void
a_busy_color_is_counted(void)
{
	static struct mely_handler handler = MELY_HANDLER(on_short);
	enum { WAITING = 200 };
	struct test_runner runner;
	struct mely_stats *stats;
	uint64_t posted = 0;
	bool counted = false;

	rt = test_runtime(1);
	atomic_store(&ran, 0);
	test_run_start(&runner, rt);
	/* A snapshot misses the answer while the core gets no processor: repeat. */
	while (!counted) {
		const struct mely_stats_color *c;

		for (; posted < test_get(&ran) + WAITING; posted++)
			TEST_OK(mely_post_id(rt, 5, &handler, NULL));
		stats = test_stats(rt, 0, 1);
		c = mely_stats_color_row(stats, 0);
		if (c != NULL && c->id == 5 && (c->flags & MELY_STATS_COLOR_RUNNING) != 0) {
			TEST_CHECK(c->length <= WAITING);
			counted = c->length >= WAITING / 4 && c->oldest_ns > 0 &&
			    (c->flags & MELY_STATS_LENGTH_AT_LEAST) == 0;
		}
		mely_stats_free(stats);
	}
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(test_get(&ran), posted);
	TEST_OK(mely_runtime_free(rt));
}

/* ---- while it runs -------------------------------------------------------------------------- */

static _Atomic uint64_t done;

static void on_churn(void *arg);
static struct mely_handler churn = MELY_HANDLER(on_churn);

/* Colors begin and end, with names, while snapshots are taken. */
static void
on_churn(void *arg)
{
	struct mely_color *old = arg, *color;

	test_add(&ran, 1);
	if (test_get(&done)) {
		TEST_OK(mely_color_release(old, free, old));
		return;
	}
	TEST_OK(mely_post_id(rt, (uint32_t)(test_get(&ran) % 97) * 1000003u, &nothing, NULL));
	if (test_get(&ran) % 4 != 0) {
		TEST_OK(mely_post(old, &churn, old));
		return;
	}
	color = test_color(rt);
	if (test_get(&ran) % 8 == 0)
		TEST_OK(mely_color_set_name(color, "comes and goes"));
	TEST_OK(mely_post(color, &churn, color));
	TEST_OK(mely_color_release(old, free, old));
}

static void *
take_snapshots(void *arg)
{
	uint64_t seen = 0;
	int i;

	for (i = 0; i < (int)test_scale(60); i++) {
		struct mely_stats *stats = test_stats(rt, (unsigned)i % 2, arg != NULL ? 50 : 0);
		const struct mely_stats_handler *h = test_stats_handler(stats, "on_churn");

		/* Counts never go back. */
		TEST_CHECK(h == NULL || h->count >= seen);
		seen = h != NULL ? h->count : 0;
		mely_stats_free(stats);
	}
	return NULL;
}

/* 0 for a handler that has not run yet. */
static uint64_t
count_of(const struct mely_stats *stats, const char *name)
{
	const struct mely_stats_handler *handler = test_stats_handler(stats, name);

	return handler != NULL ? handler->count : 0;
}

static void
snapshots_disturb_nothing_on(int cores)
{
	struct test_runner runner;
	struct mely_stats *stats;
	pthread_t threads[3];
	int i;

	rt = test_runtime(cores);
	atomic_store(&done, 0);
	atomic_store(&ran, 0);
	test_run_start(&runner, rt);
	for (i = 0; i < 16; i++) {
		struct mely_color *color = test_color(rt);

		TEST_OK(mely_post(color, &churn, color));
	}
	for (i = 0; i < 3; i++)
		threads[i] = test_thread(take_snapshots, i > 0 ? rt : NULL);
	for (i = 0; i < 3; i++)
		test_thread_join(threads[i]);
	test_add(&done, 1);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	stats = test_stats(rt, 0, 10);
	test_stats_sums(rt, stats);
	TEST_EQ(stats->colors_found, 0);
	TEST_EQ(count_of(stats, "on_churn") + count_of(stats, "on_nothing"), test_get(&ran));
	mely_stats_free(stats);
	TEST_OK(mely_runtime_free(rt));
}

static void
snapshots_disturb_nothing(void)
{
	snapshots_disturb_nothing_on(2);
	snapshots_disturb_nothing_on(8);
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 120);
	TEST_CASE(waiting_colors_are_found);
	TEST_CASE(spinning_cores_are_seen);
	TEST_CASE(a_busy_color_is_counted);
	TEST_CASE(snapshots_disturb_nothing);
	return test_done();
}
