/* SPDX-License-Identifier: MIT */
/*
 * stop.c: run, stop, run again: posts held before a run, drain and discard, hand-back of each
 * left-over event once, -ESHUTDOWN for outside threads, the deadline, and the conservation law
 * posted = run + handed back (+ still held) under random stops.
 */
#include "test.h"

static struct mely_runtime *rt;
static _Atomic uint64_t ran, handed, handed_events;

static void
on_count(void *arg)
{
	(void)arg;
	test_add(&ran, 1);
}

static struct mely_handler count = MELY_HANDLER(on_count);

static void
reset(void)
{
	atomic_store(&ran, 0);
	atomic_store(&handed, 0);
	atomic_store(&handed_events, 0);
}

/* ---- held before run ------------------------------------------------------------------------ */

static void
held_until_run(void)
{
	struct mely_event ev = MELY_EVENT(&count, NULL);
	int round;

	reset();
	rt = test_runtime(2);
	for (round = 1; round <= 3; round++) {
		TEST_OK(mely_post_id(rt, 1, &count, NULL));
		TEST_OK(mely_post_head_id(rt, 0xfffffff0u, &count, NULL));
		TEST_OK(mely_event_post_id(rt, 70000, &ev));
		test_nap_us(1000);
		TEST_EQ(test_get(&ran), 3 * (uint64_t)(round - 1));
		test_run_dry(rt);
		TEST_EQ(test_get(&ran), 3 * (uint64_t)round);
		TEST_EQ(mely_stop(rt, MELY_STOP_DRAIN), -EALREADY);
	}
	TEST_OK(mely_runtime_free(rt));
	TEST_OK(mely_runtime_free(NULL));
}

/* ---- hand-back ------------------------------------------------------------------------------ */

enum { LEFT = 100 };

static struct mely_event left[LEFT];
static uint64_t handed_of[LEFT]; /* not atomic: one thread hands back */
static int handback_ctx;
static pthread_t run_thread;

static void
on_handback(void *ctx, const struct mely_handback *given)
{
	struct mely_event *ev = given->event;

	TEST_CHECK(ctx == &handback_ctx);
	TEST_EQ(given->left, MELY_LEFT_EVENT);
	TEST_CHECK(given->color != NULL && mely_color_runtime(given->color) == rt);
	TEST_CHECK(given->handler == &count);
	TEST_CHECK(pthread_equal(run_thread, pthread_self()));
	test_add(&handed, 1);
	if (ev != NULL) {
		TEST_CHECK(ev >= left && ev < left + LEFT && given->arg == ev);
		TEST_CHECK(!mely_event_pending(ev));
		handed_of[ev - left]++;
		test_add(&handed_events, 1);
	}
}

static void
post_left(struct mely_color *color)
{
	int i;

	for (i = 0; i < LEFT; i++) {
		mely_event_init(&left[i], &count, &left[i]);
		if (i % 3 == 0)
			TEST_OK(mely_event_post(color, &left[i]));
		else if (i % 3 == 1)
			TEST_OK(mely_event_post_head(color, &left[i]));
		else
			TEST_OK(mely_event_post_id(rt, (uint32_t)i * 1000003u, &left[i]));
		TEST_OK(mely_post(color, &count, NULL));
		TEST_OK(mely_post_id(rt, (uint32_t)i, &count, NULL));
	}
}

/* A handler that holds the only core discards: everything else is handed back. */
static void
discard_hands_back(void)
{
	struct mely_config config;
	struct mely_color *first, *color;
	int i;

	reset();
	memset(handed_of, 0, sizeof handed_of);
	test_config(&config, 1);
	config.handback = on_handback;
	config.handback_ctx = &handback_ctx;
	rt = test_runtime_with(&config);
	run_thread = pthread_self();
	first = test_color(rt);
	color = test_color(rt);
	TEST_OK(mely_post(first, &test_discard_handler, NULL));
	post_left(color);
	TEST_OK(mely_run(rt));
	TEST_EQ(test_get(&ran), 0);
	TEST_EQ(test_get(&handed), 3 * LEFT);
	TEST_EQ(test_get(&handed_events), LEFT);
	for (i = 0; i < LEFT; i++)
		TEST_EQ(handed_of[i], 1);
	/* The events can be posted again, and mely_runtime_free hands them back, too. */
	post_left(color);
	TEST_OK(mely_runtime_free(rt));
	TEST_EQ(test_get(&handed), 6 * LEFT);
	for (i = 0; i < LEFT; i++)
		TEST_EQ(handed_of[i], 2);
	free(first);
	free(color);
}

/* Without a hand-back function, left-over events are dropped, and embedded ones can be posted
 * again. */
static void
discard_drops(void)
{
	struct mely_color *first, *color;

	reset();
	rt = test_runtime(1);
	first = test_color(rt);
	color = test_color(rt);
	TEST_OK(mely_post(first, &test_discard_handler, NULL));
	post_left(color);
	TEST_OK(mely_run(rt));
	TEST_EQ(test_get(&ran), 0);
	TEST_CHECK(!mely_event_pending(&left[0]));
	test_run_dry(rt);
	TEST_EQ(test_get(&ran), 0);
	TEST_OK(mely_runtime_free(rt));
	free(first);
	free(color);
}

/* What a hand-back function may do with the color whose events it gets: cancel one of them, release
 * it; but not post to it. */
static struct mely_event first_left, second_left;
static struct mely_color *left_color;
static uint64_t released_after;

static void
on_left_released(void *arg)
{
	(void)arg;
	released_after = test_get(&handed);
}

static void
use_color(void *ctx, const struct mely_handback *given)
{
	(void)ctx;
	test_add(&handed, 1);
	if (given->event != &first_left)
		return;
	TEST_CHECK(given->color == left_color);
	TEST_CHECK(mely_event_pending(&second_left));
	TEST_OK(mely_event_cancel(&second_left, NULL, NULL));
	TEST_EQ(mely_event_cancel(&second_left, NULL, NULL), -ENOENT);
	TEST_EQ(mely_event_post(left_color, &second_left), -ESHUTDOWN);
	TEST_OK(mely_color_release(left_color, on_left_released, NULL));
	TEST_EQ(released_after, 0);
}

static void
handback_uses_the_color_on(int cores)
{
	struct mely_config config;
	struct mely_color *first;

	reset();
	released_after = 0;
	test_config(&config, cores);
	config.handback = use_color;
	rt = test_runtime_with(&config);
	first = test_color(rt);
	left_color = test_color(rt);
	mely_event_init(&first_left, &count, NULL);
	mely_event_init(&second_left, &count, NULL);
	TEST_OK(mely_post(first, &test_discard_handler, NULL));
	TEST_OK(mely_color_pin(left_color, 0)); /* behind the first */
	TEST_OK(mely_color_pin(first, 0));
	TEST_OK(mely_event_post(left_color, &first_left));
	TEST_OK(mely_post(left_color, &count, NULL));
	TEST_OK(mely_event_post(left_color, &second_left));
	TEST_OK(mely_post(left_color, &count, NULL));
	TEST_OK(mely_run(rt));
	TEST_OK(mely_runtime_free(rt));
	TEST_EQ(test_get(&ran), 0);
	TEST_EQ(test_get(&handed), 3);
	TEST_EQ(released_after, 3);
	free(first);
	free(left_color);
}

static void
handback_uses_the_color(void)
{
	handback_uses_the_color_on(1);
	handback_uses_the_color_on(2);
}

/* The runtime is being freed: its hand-back function can begin nothing in it any more. */
static void
use_freed(void *ctx, const struct mely_handback *given)
{
	mely_watch watch;

	(void)ctx;
	test_add(&handed, 1);
	TEST_EQ(mely_post(given->color, &count, NULL), -ESHUTDOWN);
	TEST_EQ(mely_post_id(rt, 7, &count, NULL), -ESHUTDOWN);
	TEST_EQ(mely_timer_start(given->color, 0, 0, 0, &count, NULL, &watch), -ESHUTDOWN);
	TEST_EQ(mely_run(rt), -EBUSY);
	TEST_EQ(mely_run_once_for(rt, 0), -EBUSY);
	TEST_EQ(mely_runtime_free(rt), -EBUSY);
}

/* The event that reports the end of a color comes only when its work has been handed back. */
static _Atomic uint64_t work_begun, work_may_end;

static void
work(void *arg)
{
	(void)arg;
	test_add(&work_begun, 1);
	test_await(&work_may_end, 1);
}

static void
nothing_is_lost_in_the_end(void)
{
	struct mely_event closed = MELY_EVENT(&count, NULL);
	struct mely_config config;

	reset();
	test_config(&config, 2);
	config.handback = use_freed;
	rt = test_runtime_with(&config);
	left_color = test_color(rt);
	TEST_OK(mely_post(left_color, &count, NULL));
	TEST_OK(mely_work(left_color, MELY_WORK_USER, work, &count, NULL, NULL));
	test_await(&work_begun, 1);
	TEST_OK(mely_color_close(left_color, &closed));
	test_add(&work_may_end, 1);
	TEST_OK(mely_runtime_free(rt));
	TEST_EQ(test_get(&handed), 3);
	TEST_CHECK(!mely_event_pending(&closed));
	free(left_color);
}

/* ---- the conservation law under random stops ------------------------------------------------ */

struct producer {
	uint64_t posted, refused, seed;
	_Atomic uint64_t *go_on;
};

static _Atomic uint64_t children;

static void
on_parent(void *arg)
{
	uint64_t n = (uintptr_t)arg;

	test_add(&ran, 1);
	if (n > 0) {
		/* A handler's posts are accepted even while the runtime stops. */
		TEST_OK(mely_post_id(mely_current_runtime(), (uint32_t)n * 77, &count, NULL));
		test_add(&children, 1);
	}
}

static struct mely_handler parent = MELY_HANDLER(on_parent);

static void *
produce(void *arg)
{
	struct producer *p = arg;

	while (test_get(p->go_on) == 0) {
		uint64_t r = test_random(&p->seed);
		int rc = mely_post_id(rt, (uint32_t)(r % 50) * 0x01000193u, &parent,
		    (void *)(uintptr_t)(r >> 40 & 3));

		TEST_CHECK(rc == 0 || rc == -ESHUTDOWN);
		if (rc == 0)
			p->posted++;
		else
			p->refused++;
		if (r >> 60 == 0)
			test_nap_us(30);
	}
	return NULL;
}

static void
count_handback(void *ctx, const struct mely_handback *given)
{
	(void)ctx, (void)given;
	test_add(&handed, 1);
}

static void
conservation_on(int cores, bool discard)
{
	enum { PRODUCERS = 2 };
	struct producer producers[PRODUCERS];
	pthread_t threads[PRODUCERS];
	struct mely_config config;
	_Atomic uint64_t over;
	uint64_t posted = 0, seed = test_seed;
	unsigned i;

	reset();
	atomic_store(&children, 0);
	atomic_init(&over, 0);
	test_config(&config, cores);
	config.handback = count_handback;
	rt = test_runtime_with(&config);
	for (i = 0; i < PRODUCERS; i++) {
		memset(&producers[i], 0, sizeof producers[i]);
		producers[i].seed = test_random(&seed);
		producers[i].go_on = &over;
		threads[i] = test_thread(produce, &producers[i]);
	}
	for (i = 0; i < (test_long() ? 500 : test_scale(60)); i++) {
		struct test_runner runner;

		test_run_start(&runner, rt);
		test_nap_us((unsigned)(test_random(&seed) % 2000));
		test_run_stop(&runner, test_random(&seed) % 2 && discard ? MELY_STOP_DISCARD
		    : MELY_STOP_DRAIN);
	}
	test_add(&over, 1);
	for (i = 0; i < PRODUCERS; i++) {
		test_thread_join(threads[i]);
		posted += producers[i].posted;
	}
	/* Events posted after the last stop are held; mely_runtime_free hands them back. */
	if (!discard)
		test_run_dry(rt);
	TEST_OK(mely_runtime_free(rt));
	if (posted + test_get(&children) != test_get(&ran) + test_get(&handed))
		test_fail(__FILE__, __LINE__, "%d cores, %s: posted %llu + %llu, ran %llu, handed "
		    "back %llu", cores, discard ? "discard" : "drain", (unsigned long long)posted,
		    (unsigned long long)test_get(&children), (unsigned long long)test_get(&ran),
		    (unsigned long long)test_get(&handed));
}

static void
conservation(void)
{
	static const int cores[] = {1, 2, 8, 32};
	size_t i;

	for (i = 0; i < sizeof cores / sizeof cores[0]; i++) {
		conservation_on(cores[i], true);
		conservation_on(cores[i], false);
	}
}

/* ---- stopping ------------------------------------------------------------------------------- */

static _Atomic uint64_t stopping, go;

static void
on_stop_and_wait(void *arg)
{
	(void)arg;
	TEST_OK(mely_stop(mely_current_runtime(), MELY_STOP_DRAIN));
	/* A second request to stop is harmless. */
	(void)mely_stop(mely_current_runtime(), MELY_STOP_DRAIN);
	test_add(&stopping, 1);
	test_await(&go, 1);
	TEST_OK(mely_post_id(rt, 5, &count, NULL));
}

static struct mely_handler stop_and_wait = MELY_HANDLER(on_stop_and_wait);

/* While it stops, posts of outside threads are refused and those of handlers accepted; after that,
 * posts are held again. */
static void
outside_is_refused(void)
{
	struct mely_event ev = MELY_EVENT(&count, NULL);
	struct test_runner runner;
	struct mely_color *color;

	reset();
	atomic_store(&stopping, 0);
	atomic_store(&go, 0);
	rt = test_runtime(2);
	color = test_color(rt);
	test_run_start(&runner, rt);
	TEST_OK(mely_post_id(rt, 1, &stop_and_wait, NULL));
	test_await(&stopping, 1);
	TEST_EQ(mely_post_id(rt, 2, &count, NULL), -ESHUTDOWN);
	TEST_EQ(mely_post_head(color, &count, NULL), -ESHUTDOWN);
	TEST_EQ(mely_event_post(color, &ev), -ESHUTDOWN);
	TEST_CHECK(!mely_event_pending(&ev));
	test_add(&go, 1);
	test_run_join(&runner);
	TEST_EQ(test_get(&ran), 1);
	TEST_OK(mely_event_post(color, &ev));
	test_run_dry(rt);
	TEST_EQ(test_get(&ran), 2);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

static void
on_forever(void *arg)
{
	(void)arg;
	test_add(&ran, 1);
	TEST_OK(mely_post_id(mely_current_runtime(), 6, arg, arg));
}

static struct mely_handler forever = MELY_HANDLER(on_forever);

/* A program that never runs dry: the deadline ends the drain. */
static void
deadline_ends_drain(void)
{
	struct mely_config config;
	struct test_runner runner;

	reset();
	test_config(&config, 2);
	TEST_EQ(config.drain_deadline_ns, UINT64_C(30000000000));
	config.drain_deadline_ns = 20000000;
	config.handback = count_handback;
	rt = test_runtime_with(&config);
	TEST_OK(mely_post_id(rt, 6, &forever, &forever));
	test_run_start(&runner, rt);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(test_get(&handed), 1);
	TEST_OK(mely_runtime_free(rt));
}

/* Blocking work that does not end holds up neither the deadline of a drain nor a discard. What it
 * posts in the end is for the next run. */
static void
deadline_leaves_work(void)
{
	static const enum mely_stop_mode modes[] = {MELY_STOP_DRAIN, MELY_STOP_DISCARD};
	struct mely_config config;
	struct test_runner runner;
	int i;

	for (i = 0; i < 2; i++) {
		reset();
		atomic_store(&work_begun, 0);
		atomic_store(&work_may_end, 0);
		test_config(&config, 2);
		config.drain_deadline_ns = 20000000;
		config.handback = count_handback;
		rt = test_runtime_with(&config);
		left_color = test_color(rt);
		test_run_start(&runner, rt);
		TEST_OK(mely_work(left_color, MELY_WORK_USER, work, &count, NULL, NULL));
		test_await(&work_begun, 1);
		test_run_stop(&runner, modes[i]);
		TEST_EQ(test_get(&ran) + test_get(&handed), 0);
		test_add(&work_may_end, 1);
		/* Not a drain: its deadline could come first. */
		test_run_start(&runner, rt);
		test_await(&ran, 1);
		test_run_stop(&runner, MELY_STOP_DISCARD);
		TEST_EQ(test_get(&ran), 1);
		TEST_OK(mely_runtime_free(rt));
		TEST_EQ(test_get(&handed), 0);
		free(left_color);
	}
}

/* A second call turns a drain that would last into a discard. */
static void
drain_becomes_discard(void)
{
	struct mely_config config;
	struct test_runner runner;

	reset();
	test_config(&config, 2);
	config.drain_deadline_ns = 0;
	config.handback = count_handback;
	rt = test_runtime_with(&config);
	TEST_OK(mely_post_id(rt, 6, &forever, &forever));
	test_run_start(&runner, rt);
	TEST_OK(mely_stop(rt, MELY_STOP_DRAIN));
	test_await(&ran, test_get(&ran) + 100);
	TEST_OK(mely_stop(rt, MELY_STOP_DISCARD));
	test_run_join(&runner);
	TEST_EQ(test_get(&handed), 1);
	TEST_OK(mely_runtime_free(rt));
}

/* One runtime, run and drained many times, on many cores. */
static void
runs_dry_again_and_again(void)
{
	static const int cores[] = {1, 2, 8, 32};
	size_t i;

	for (i = 0; i < sizeof cores / sizeof cores[0]; i++) {
		uint32_t k, round;

		reset();
		rt = test_runtime(cores[i]);
		for (round = 0; round < test_scale(40); round++) {
			for (k = 0; k < 40; k++)
				TEST_OK(mely_post_id(rt, k, &count, NULL));
			test_run_dry(rt);
		}
		TEST_EQ(test_get(&ran), 40 * (uint64_t)round);
		TEST_OK(mely_runtime_free(rt));
	}
}

static void
on_busy(void *arg)
{
	(void)arg;
	TEST_EQ(mely_run(rt), -EBUSY);
	TEST_EQ(mely_runtime_free(rt), -EBUSY);
	test_add(&ran, 1);
}

static struct mely_handler busy = MELY_HANDLER(on_busy);

static void
busy_while_it_runs(void)
{
	struct test_runner runner;

	reset();
	rt = test_runtime(2);
	test_run_start(&runner, rt);
	TEST_EQ(mely_run(rt), -EBUSY);
	TEST_EQ(mely_runtime_free(rt), -EBUSY);
	TEST_OK(mely_post_id(rt, 1, &busy, NULL));
	test_await(&ran, 1);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, test_long() ? 600 : 90);
	TEST_CASE(held_until_run);
	TEST_CASE(discard_hands_back);
	TEST_CASE(discard_drops);
	TEST_CASE(handback_uses_the_color);
	TEST_CASE(nothing_is_lost_in_the_end);
	TEST_CASE(outside_is_refused);
	TEST_CASE(deadline_ends_drain);
	TEST_CASE(deadline_leaves_work);
	TEST_CASE(drain_becomes_discard);
	TEST_CASE(runs_dry_again_and_again);
	TEST_CASE(busy_while_it_runs);
	TEST_CASE(conservation);
	return test_done();
}
