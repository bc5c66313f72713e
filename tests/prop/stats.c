/* SPDX-License-Identifier: MIT */
/*
 * stats.c: a snapshot shows what handlers and cores did: counts are exact, times and delays are no
 * shorter than possible.
 */
#include "stats.h"

enum { COLORS = 24, KINDS = 3 };

static struct mely_runtime *rt;
static _Atomic uint64_t go, spinning, ran;

/* ---- counts -------------------------------------------------------------------------------- */

/* A chain of events of one color with random handlers; the test counts each handler itself. */
struct chain {
	struct mely_color *color;
	struct mely_event event; /* of chains that embed theirs */
	uint32_t id;
	enum { BY_ID, BY_OBJECT, EMBEDDED } kind;
	uint64_t left, seed;
};

static _Atomic uint64_t counted[KINDS];

static void on_first(void *arg);
static void on_second(void *arg);
static void on_third(void *arg);
static struct mely_handler handlers[KINDS] = {
	MELY_HANDLER(on_first), MELY_HANDLER_WITH(on_second, 500, 2, 0), MELY_HANDLER(on_third)};

static void
step(struct chain *chain, int handler)
{
	struct mely_handler *next = &handlers[test_random(&chain->seed) % 8 / 3];

	test_add(&counted[handler], 1);
	if (chain->left-- == 0)
		return;
	if (chain->kind == BY_ID) {
		TEST_OK(mely_post_id(rt, chain->id, next, chain));
	} else if (chain->kind == BY_OBJECT) {
		TEST_OK(mely_post(chain->color, next, chain));
	} else {
		mely_event_init(&chain->event, next, chain);
		TEST_OK(mely_event_post(chain->color, &chain->event));
	}
}

static void
on_first(void *arg)
{
	step(arg, 0);
}

static void
on_second(void *arg)
{
	step(arg, 1);
}

static void
on_third(void *arg)
{
	step(arg, 2);
}

static void
counts_are_exact_on(int cores)
{
	struct chain chains[COLORS];
	struct mely_stats *stats;
	uint64_t seed = test_seed;
	int i;

	rt = test_runtime(cores);
	for (i = 0; i < KINDS; i++)
		atomic_store(&counted[i], 0);
	for (i = 0; i < COLORS; i++) {
		chains[i].kind = (unsigned)i % 3;
		chains[i].id = (uint32_t)i * 77u;
		chains[i].color = test_color_on(rt, i % cores);
		chains[i].left = test_scale(3000) + test_random(&seed) % 100;
		chains[i].seed = test_random(&seed);
		step(&chains[i], 0);
	}
	test_run_dry(rt);
	stats = test_stats(rt, 0, 0);
	test_stats_sums(rt, stats);
	TEST_EQ(stats->cores_count, cores);
	/* The first step of each chain was a plain call, not an event. */
	TEST_EQ(test_stats_handler(stats, "on_first")->count, test_get(&counted[0]) - COLORS);
	TEST_EQ(test_stats_handler(stats, "on_second")->count, test_get(&counted[1]));
	TEST_EQ(test_stats_handler(stats, "on_third")->count, test_get(&counted[2]));
	TEST_EQ(test_stats_handler(stats, "on_second")->time_ns, 500);
	TEST_EQ(test_stats_handler(stats, "on_second")->time_from, MELY_STATS_ANNOTATED);
	TEST_EQ(test_stats_handler(stats, "on_second")->penalty, 2);
	/* Annotated or not, times have been sampled; and what the chains left at batch ends. */
	TEST_CHECK(test_stats_handler(stats, "on_second")->time.count > 0);
	TEST_CHECK(test_stats_handler(stats, "on_first")->delay.count +
	    test_stats_handler(stats, "on_second")->delay.count +
	    test_stats_handler(stats, "on_third")->delay.count > 0);
	mely_stats_free(stats);
	TEST_OK(mely_runtime_free(rt));
	for (i = 0; i < COLORS; i++)
		free(chains[i].color);
}

static void
counts_are_exact(void)
{
	counts_are_exact_on(1);
	counts_are_exact_on(2);
	counts_are_exact_on(8);
}

/* Handlers with the same function and the same name share a row. A handler and its name may be
 * freed once the handler is entered. */
struct shared {
	struct mely_handler handler;
	char name[9];
};

static void
on_shared(void *arg)
{
	free(arg);
}

static void
handlers_are_told_apart(void)
{
	static struct mely_handler unnamed = {.fn = on_shared};
	struct mely_stats *stats;
	const struct mely_stats_handler *h;
	uint32_t i;
	int n;

	rt = test_runtime(2);
	for (n = 0; n < 300; n++) {
		struct shared *shared = malloc(sizeof *shared);

		TEST_CHECK(shared != NULL);
		memcpy(shared->name, "shared 0", sizeof shared->name);
		shared->name[7] = (char)('0' + n % 3);
		mely_handler_init(&shared->handler, on_shared, shared->name);
		TEST_OK(mely_post_id(rt, (uint32_t)n % 5, &shared->handler, shared));
	}
	TEST_OK(mely_post_id(rt, 9, &unnamed, NULL));
	test_run_dry(rt);
	stats = test_stats(rt, 0, 0);
	test_stats_sums(rt, stats);
	TEST_EQ(test_stats_handler(stats, "shared 0")->count, 100);
	TEST_EQ(test_stats_handler(stats, "shared 1")->count, 100);
	TEST_EQ(test_stats_handler(stats, "shared 2")->count, 100);
	for (i = 0; (h = mely_stats_handler_row(stats, i)) != NULL; i++)
		TEST_CHECK(mely_stats_name(stats, h->name_at)[0] != '\0');
	mely_stats_free(stats);
	TEST_OK(mely_runtime_free(rt));
}

/* An event that is cancelled in its batch does not count as run. */
static struct mely_event victims[6];

static void
on_victim(void *arg)
{
	(void)arg;
	test_add(&ran, 1);
}

static void
on_canceller(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 6; i += 2)
		TEST_EQ(mely_event_cancel(&victims[i], NULL, NULL), 0);
}

static void
cancelled_do_not_count(void)
{
	static struct mely_handler victim = MELY_HANDLER(on_victim);
	static struct mely_handler canceller = MELY_HANDLER(on_canceller);
	struct mely_color *color;
	struct mely_stats *stats;
	int i;

	rt = test_runtime(2);
	color = test_color(rt);
	atomic_store(&ran, 0);
	TEST_OK(mely_post(color, &canceller, NULL));
	for (i = 0; i < 6; i++) {
		mely_event_init(&victims[i], &victim, NULL);
		TEST_OK(mely_event_post(color, &victims[i]));
	}
	test_run_dry(rt);
	stats = test_stats(rt, 0, 0);
	test_stats_sums(rt, stats);
	TEST_EQ(test_get(&ran), 3);
	TEST_EQ(test_stats_handler(stats, "on_victim")->count, 3);
	mely_stats_free(stats);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

/* ---- times and delays ---------------------------------------------------------------------- */

static void
on_slow(void *arg)
{
	(void)arg;
	test_spin_ns(200000);
}

/* No time is shorter than possible, and the parts of a core's time do not exceed the whole. */
static void
times_are_no_shorter(void)
{
	static struct mely_handler slow = MELY_HANDLER_WITH(on_slow, 1, 1, 0);
	const struct mely_stats_handler *h;
	const struct mely_stats_core *c;
	struct mely_stats *stats;
	uint64_t began, elapsed, busy = 0;
	uint32_t i;

	rt = test_runtime(2);
	for (i = 0; i < 20; i++)
		TEST_OK(mely_post_id(rt, i % 2, &slow, NULL));
	began = mely_now_ns();
	test_run_dry(rt);
	elapsed = mely_now_ns() - began;
	stats = test_stats(rt, 0, 0);
	test_stats_sums(rt, stats);
	h = test_stats_handler(stats, "on_slow");
	TEST_EQ(h->count, 20);
	TEST_CHECK(h->time.count > 0);
	TEST_CHECK(h->time.first >= mely_stats_bucket_of(199000));
	TEST_CHECK(h->time.max_ns <= elapsed);
	TEST_CHECK(mely_stats_average(&h->time) >= 199000);
	for (i = 0; (c = mely_stats_core_row(stats, i)) != NULL; i++) {
		busy += c->busy_ns;
		/* Ticks and nanoseconds are two clocks. */
		TEST_CHECK(c->busy_ns + c->steal_ns + c->poll_ns + c->sleep_ns <=
		    elapsed + elapsed / 50 + 1000000);
	}
	TEST_CHECK(busy >= 20 * 199000);
	mely_stats_free(stats);
	TEST_OK(mely_runtime_free(rt));
}

static void
on_block(void *arg)
{
	(void)arg;
	test_add(&spinning, 1);
	test_await(&go, 1);
}

static struct mely_handler block = MELY_HANDLER(on_block);

static void
on_waiter(void *arg)
{
	(void)arg;
	test_add(&ran, 1);
}

/* Threads outside post behind a long handler: one post in delay_every has its delay sampled, and
 * all of these posts have waited at least as long as the handler took. */
static void
delays_are_no_shorter(void)
{
	static struct mely_handler waiter = MELY_HANDLER(on_waiter);
	const uint64_t wait_ns = 20000000;
	struct test_runner runner;
	const struct mely_stats_handler *h;
	struct mely_stats *stats;
	uint64_t began, posted, elapsed;
	uint32_t i, posts;

	rt = test_runtime(1);
	atomic_store(&go, 0);
	atomic_store(&ran, 0);
	atomic_store(&spinning, 0);
	test_run_start(&runner, rt);
	TEST_OK(mely_post_id(rt, 1, &block, NULL));
	test_await(&spinning, 1);
	stats = test_stats(rt, 0, 0);
	posts = 2 * stats->delay_every;
	mely_stats_free(stats);
	began = mely_now_ns();
	for (i = 0; i < posts; i++)
		TEST_OK(mely_post_id(rt, 2 + i % 3, &waiter, NULL));
	posted = mely_now_ns();
	while (mely_now_ns() - posted < wait_ns)
		test_nap_us(1000);
	test_add(&go, 1);
	test_await(&ran, posts);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	elapsed = mely_now_ns() - began;
	stats = test_stats(rt, 0, 0);
	test_stats_sums(rt, stats);
	h = test_stats_handler(stats, "on_waiter");
	TEST_EQ(h->count, posts);
	TEST_EQ(h->delay.count, 2);
	/* Ticks and nanoseconds are two clocks. */
	TEST_CHECK(h->delay.max_ns <= elapsed + elapsed / 50);
	TEST_CHECK(h->delay.first >= mely_stats_bucket_of(wait_ns - wait_ns / 50));
	mely_stats_free(stats);
	TEST_OK(mely_runtime_free(rt));
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 120);
	TEST_CASE(counts_are_exact);
	TEST_CASE(handlers_are_told_apart);
	TEST_CASE(cancelled_do_not_count);
	TEST_CASE(times_are_no_shorter);
	TEST_CASE(delays_are_no_shorter);
	return test_done();
}
