/* SPDX-License-Identifier: MIT */
/*
 * stats.c: what a look shows is what has happened: counts are exact, histograms hold what was put
 * in, colors that wait are all found, in order, and a look needs no core to come back from its
 * handler.
 */
#include "test.h"

enum { COLORS = 24, KINDS = 3 };

static struct mely_runtime *rt;
static _Atomic uint64_t go, spinning, ran;

static struct mely_stats *
take(unsigned flags, uint32_t colors_max)
{
	struct mely_stats *stats;

	TEST_OK(mely_stats_take(rt, flags, colors_max, &stats));
	TEST_OK(mely_stats_check(stats, (size_t)stats->size));
	return stats;
}

/* The only row with this name, or NULL. */
static const struct mely_stats_handler *
find(const struct mely_stats *stats, const char *name)
{
	const struct mely_stats_handler *h, *found = NULL;
	uint32_t i;

	for (i = 0; (h = mely_stats_handler(stats, i)) != NULL; i++) {
		TEST_CHECK(mely_stats_handler_numbered(stats, h->number) == h);
		if (strcmp(mely_stats_name(stats, h->name_at), name) == 0) {
			TEST_CHECK(found == NULL);
			found = h;
		}
	}
	return found;
}

static void
check_hist(const struct mely_stats *stats, const struct mely_stats_hist *hist)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < MELY_STATS_BUCKETS; i++)
		sum += mely_stats_bucket(stats, hist, i);
	TEST_EQ(sum, hist->count);
	TEST_CHECK(mely_stats_quantile(stats, hist, 1.) <= hist->max_ns);
	TEST_CHECK(mely_stats_quantile(stats, hist, .1) <= mely_stats_quantile(stats, hist, .9));
}

/* What holds of every look at a runtime that does not run any more. */
static void
check_sums(const struct mely_stats *stats)
{
	const struct mely_stats_handler *h;
	const struct mely_stats_core *c;
	uint64_t by_handler = 0, by_core = 0, tried, won;
	uint32_t i, d;

	for (i = 0; (h = mely_stats_handler(stats, i)) != NULL; i++) {
		by_handler += h->count;
		check_hist(stats, &h->time);
		check_hist(stats, &h->delay);
		TEST_CHECK(h->time.count <= h->count && h->delay.count <= h->count);
	}
	for (i = 0; (c = mely_stats_core(stats, i)) != NULL; i++) {
		by_core += c->events;
		for (d = 0, tried = won = 0; d < MELY_DISTANCES; d++) {
			tried += c->steals_tried_at[d];
			won += c->steals_at[d];
		}
		TEST_EQ(tried, c->steals_tried);
		TEST_EQ(won, c->steals);
		TEST_EQ(c->doing, MELY_STATS_AWAY);
		TEST_EQ(c->color_kind, MELY_STATS_NO_COLOR);
	}
	TEST_EQ(by_handler, by_core);
	TEST_EQ(by_core, test_counters(rt).events);
}

/* ---- counts ----------------------------------------------------------------------------------- */

/* A chain of events of one color, whose handlers change at random; each is counted by itself. */
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
		TEST_OK(mely_post(rt, chain->id, next, chain));
	} else if (chain->kind == BY_OBJECT) {
		TEST_OK(mely_color_post(chain->color, next, chain));
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
	stats = take(0, 0);
	check_sums(stats);
	TEST_EQ(stats->cores_count, cores);
	/* The first step of each was none of an event. */
	TEST_EQ(find(stats, "on_first")->count, test_get(&counted[0]) - COLORS);
	TEST_EQ(find(stats, "on_second")->count, test_get(&counted[1]));
	TEST_EQ(find(stats, "on_third")->count, test_get(&counted[2]));
	TEST_EQ(find(stats, "on_second")->time_ns, 500);
	TEST_EQ(find(stats, "on_second")->time_from, MELY_STATS_ANNOTATED);
	TEST_EQ(find(stats, "on_second")->penalty, 2);
	/* Annotated or not, times have been sampled. */
	TEST_CHECK(find(stats, "on_second")->time.count > 0);
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

/* Who has the same function and the same name is one; a handler may go when it is entered. */
static void
on_shared(void *arg)
{
	free(arg);
}

static void
handlers_are_told_apart(void)
{
	static struct mely_handler unnamed = {.fn = on_shared};
	char name[] = "shared 0";
	struct mely_stats *stats;
	const struct mely_stats_handler *h;
	uint32_t i;
	int n;

	rt = test_runtime(2);
	for (n = 0; n < 300; n++) {
		struct mely_handler *handler = malloc(sizeof *handler);

		/* The library keeps a copy of the name. */
		name[7] = (char)('0' + n % 3);
		mely_handler_init(handler, on_shared, strdup(name));
		TEST_OK(mely_post(rt, (uint32_t)n % 5, handler, handler));
	}
	TEST_OK(mely_post(rt, 9, &unnamed, NULL));
	test_run_dry(rt);
	stats = take(0, 0);
	check_sums(stats);
	TEST_EQ(find(stats, "shared 0")->count, 100);
	TEST_EQ(find(stats, "shared 1")->count, 100);
	TEST_EQ(find(stats, "shared 2")->count, 100);
	for (i = 0; (h = mely_stats_handler(stats, i)) != NULL; i++)
		TEST_CHECK(mely_stats_name(stats, h->name_at)[0] != '\0');
	mely_stats_free(stats);
	TEST_OK(mely_runtime_free(rt));
}

/* An event that is cancelled in its batch is none that ran. */
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
	TEST_OK(mely_color_post(color, &canceller, NULL));
	for (i = 0; i < 6; i++) {
		mely_event_init(&victims[i], &victim, NULL);
		TEST_OK(mely_event_post(color, &victims[i]));
	}
	test_run_dry(rt);
	stats = take(0, 0);
	check_sums(stats);
	TEST_EQ(test_get(&ran), 3);
	TEST_EQ(find(stats, "on_victim")->count, 3);
	mely_stats_free(stats);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

/* ---- times and delays ------------------------------------------------------------------------- */

static void
on_slow(void *arg)
{
	(void)arg;
	test_spin_ns(200000);
}

/* Nothing is shorter than it can have been, and the parts of a core's time are not more than all
 * of it. */
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
		TEST_OK(mely_post(rt, i % 2, &slow, NULL));
	began = mely_now_ns();
	test_run_dry(rt);
	elapsed = mely_now_ns() - began;
	stats = take(0, 0);
	check_sums(stats);
	h = find(stats, "on_slow");
	TEST_EQ(h->count, 20);
	TEST_CHECK(h->time.count > 0);
	TEST_CHECK(h->time.first >= mely_stats_bucket_of(199000));
	TEST_CHECK(h->time.max_ns <= elapsed);
	TEST_CHECK(mely_stats_average(&h->time) >= 199000);
	for (i = 0; (c = mely_stats_core(stats, i)) != NULL; i++) {
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

/* Of what is posted from outside behind a handler that takes its time, one in so many has its delay
 * taken; all of them have waited for as long. */
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
	TEST_OK(mely_post(rt, 1, &block, NULL));
	test_await(&spinning, 1);
	stats = take(0, 0);
	posts = 2 * stats->delay_every;
	mely_stats_free(stats);
	began = mely_now_ns();
	for (i = 0; i < posts; i++)
		TEST_OK(mely_post(rt, 2 + i % 3, &waiter, NULL));
	posted = mely_now_ns();
	while (mely_now_ns() - posted < wait_ns)
		test_nap_us(1000);
	test_add(&go, 1);
	test_await(&ran, posts);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	elapsed = mely_now_ns() - began;
	stats = take(0, 0);
	check_sums(stats);
	h = find(stats, "on_waiter");
	TEST_EQ(h->count, posts);
	TEST_EQ(h->delay.count, 2);
	/* Ticks and nanoseconds are two clocks. */
	TEST_CHECK(h->delay.max_ns <= elapsed + elapsed / 50);
	TEST_CHECK(h->delay.first >= mely_stats_bucket_of(wait_ns - wait_ns / 50));
	mely_stats_free(stats);
	TEST_OK(mely_runtime_free(rt));
}

/* ---- colors ----------------------------------------------------------------------------------- */

static void
on_nothing(void *arg)
{
	(void)arg;
	test_add(&ran, 1);
}

static struct mely_handler nothing = MELY_HANDLER(on_nothing);

/* Held posts wait in their colors: so many, and these, and the first posted is the oldest. */
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
		TEST_OK(mely_color_post(object, &nothing, NULL));
	for (i = 0; i < MANY; i++)
		for (k = 0; k <= i % 200; k++)
			TEST_OK(mely_post(rt, i * 31, &nothing, NULL));
	TEST_OK(mely_color_get(rt, 31 * 199, &by_id));
	TEST_OK(mely_color_pin(by_id, 0));
	stats = take(0, LISTED);
	TEST_EQ(stats->colors_found, MANY + 1);
	TEST_EQ(stats->colors_count, LISTED);
	TEST_CHECK(mely_stats_color(stats, LISTED) == NULL);
	c = mely_stats_color(stats, 0);
	TEST_EQ(c->kind, MELY_STATS_COLOR_OBJECT);
	TEST_CHECK(c->object == (uint64_t)(uintptr_t)object);
	TEST_EQ(strcmp(mely_stats_name(stats, c->name_at), "an \"object\""), 0);
	TEST_EQ(c->owner, (unsigned)cores - 1);
	TEST_CHECK(c->length >= MELY_STATS_LENGTH_MAX);
	TEST_CHECK(c->length == 500 || (c->flags & (MELY_STATS_LENGTH_ESTIMATED |
	    MELY_STATS_LENGTH_AT_LEAST)) != 0);
	for (i = 1; i < LISTED; i++) {
		c = mely_stats_color(stats, i);
		TEST_EQ(c->kind, MELY_STATS_COLOR_ID);
		TEST_EQ(c->id % 31, 0);
		TEST_EQ(c->length, c->id / 31 % 200 + 1);
		TEST_EQ(c->flags, c->id == 31 * 199 ? MELY_STATS_COLOR_PINNED : 0);
		TEST_CHECK(c->length <= mely_stats_color(stats, i - 1)->length);
	}
	/* 15 colors have 200, 15 have 199 ... */
	TEST_EQ(mely_stats_color(stats, LISTED - 1)->length, 200 - (LISTED - 2) / 15);
	for (i = 0; i < stats->cores_count; i++)
		events += mely_stats_core(stats, i)->events_waiting;
	TEST_CHECK(events >= MANY / 200 * (200 * 201 / 2) + MELY_STATS_LENGTH_MAX);
	mely_stats_free(stats);

	stats = take(MELY_STATS_BY_AGE, MELY_STATS_COLORS_MAX);
	TEST_EQ(stats->colors_count, MANY + 1);
	for (i = 0; i <= MANY; i++) {
		c = mely_stats_color(stats, i);
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

/* All cores are in a handler; a look shows which, and what waits behind them. */
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
		TEST_OK(mely_color_post(colors[i], &block, NULL));
	}
	test_await(&spinning, CORES);
	for (i = 0; i < 7; i++)
		TEST_OK(mely_color_post(behind, &nothing, NULL));
	test_nap_us(2000);
	stats = take(0, 10);
	test_nap_us(2000);
	later = take(0, 10);
	for (i = 0; i < CORES; i++) {
		const struct mely_stats_core *c = mely_stats_core(stats, i);
		const struct mely_stats_core *d = mely_stats_core(later, i);

		TEST_EQ(c->doing, MELY_STATS_BUSY);
		TEST_EQ(c->color_kind, MELY_STATS_COLOR_OBJECT);
		TEST_CHECK(c->color_object == (uint64_t)(uintptr_t)colors[i]);
		TEST_EQ(strcmp(mely_stats_name(stats, c->color_name_at), "spins"), 0);
		TEST_EQ(c->handler, find(stats, "on_block")->number);
		TEST_EQ(c->events_in_batch, 1);
		TEST_CHECK(c->running_ns >= 1900000);
		TEST_CHECK(d->running_ns >= c->running_ns + 1900000);
		TEST_CHECK(d->busy_ns >= c->busy_ns + 1900000);
		TEST_EQ(d->sleep_ns, c->sleep_ns);
		TEST_EQ(c->colors_waiting, i == 1);
	}
	TEST_EQ(stats->colors_found, CORES + 1);
	TEST_EQ(mely_stats_color(stats, 0)->length, 7);
	TEST_CHECK(mely_stats_color(stats, 0)->object == (uint64_t)(uintptr_t)behind);
	TEST_CHECK(mely_stats_color(stats, 0)->oldest_ns >= 1900000);
	for (i = 1; i <= CORES; i++) {
		TEST_CHECK(mely_stats_color(stats, i)->flags & MELY_STATS_COLOR_RUNNING);
		TEST_EQ(mely_stats_color(stats, i)->length, 0);
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

/* ---- while it runs ---------------------------------------------------------------------------- */

static _Atomic uint64_t done;

static void on_churn(void *arg);
static struct mely_handler churn = MELY_HANDLER(on_churn);

/* Colors come and go, with names, while they are looked at. */
static void
on_churn(void *arg)
{
	struct mely_color *old = arg, *color;

	test_add(&ran, 1);
	if (test_get(&done)) {
		TEST_OK(mely_color_release(old, free, old));
		return;
	}
	TEST_OK(mely_post(rt, (uint32_t)(test_get(&ran) % 97) * 1000003u, &nothing, NULL));
	if (test_get(&ran) % 4 != 0) {
		TEST_OK(mely_color_post(old, &churn, old));
		return;
	}
	color = test_color(rt);
	if (test_get(&ran) % 8 == 0)
		TEST_OK(mely_color_set_name(color, "comes and goes"));
	TEST_OK(mely_color_post(color, &churn, color));
	TEST_OK(mely_color_release(old, free, old));
}

static void *
look_on(void *arg)
{
	uint64_t seen = 0;
	int i;

	for (i = 0; i < (int)test_scale(400); i++) {
		struct mely_stats *stats = take((unsigned)i % 2, arg != NULL ? 50 : 0);
		const struct mely_stats_handler *h = find(stats, "on_churn");

		/* Counts never go back. */
		TEST_CHECK(h == NULL || h->count >= seen);
		seen = h != NULL ? h->count : 0;
		mely_stats_free(stats);
	}
	return NULL;
}

static void
looks_disturb_nothing_on(int cores)
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

		TEST_OK(mely_color_post(color, &churn, color));
	}
	for (i = 0; i < 3; i++)
		threads[i] = test_thread(look_on, i > 0 ? rt : NULL);
	for (i = 0; i < 3; i++)
		test_thread_join(threads[i]);
	test_add(&done, 1);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	stats = take(0, 10);
	check_sums(stats);
	TEST_EQ(stats->colors_found, 0);
	TEST_EQ(find(stats, "on_churn")->count + find(stats, "on_nothing")->count,
	    test_get(&ran));
	mely_stats_free(stats);
	TEST_OK(mely_runtime_free(rt));
}

static void
looks_disturb_nothing(void)
{
	looks_disturb_nothing_on(2);
	looks_disturb_nothing_on(8);
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
	TEST_CASE(waiting_colors_are_found);
	TEST_CASE(spinning_cores_are_seen);
	TEST_CASE(looks_disturb_nothing);
	return test_done();
}
