/* SPDX-License-Identifier: MIT */
/*
 * wake.c: invariants 7 and 8: a post to a sleeping runtime is always run, at whatever moment it
 * arrives; work that waits on a busy core wakes a sleeper; a runtime with nothing to do sleeps and
 * stays asleep.
 */
#include <sched.h>
#include <time.h>

#include "test.h"

enum { LEAST = 200 };                   /* rounds, however long they take */
#define ENOUGH_NS UINT64_C(20000000000) /* no more rounds after this */

static struct mely_runtime *rt;
static _Atomic uint64_t answers;

static void
on_ping(void *arg)
{
	(void)arg;
	test_add(&answers, 1);
}

static struct mely_handler ping = MELY_HANDLER(on_ping);

/* Wait by spinning: the next ping arrives just as the core is about to sleep. */
static void
spin_until(uint64_t n)
{
	unsigned spins = 0;

	while (test_get(&answers) < n)
		if (++spins % 1024 == 0)
			sched_yield();
}

static void
every_ping_is_answered_on(int cores, unsigned rounds)
{
	struct test_runner runner;
	uint64_t seed = test_seed, enough_ns = mely_now_ns() + ENOUGH_NS;
	unsigned i;

	atomic_store(&answers, 0);
	rt = test_runtime(cores);
	test_run_start(&runner, rt);
	/* On a busy machine an answer may take some milliseconds. */
	for (i = 1; i <= rounds && (i <= LEAST || mely_now_ns() < enough_ns); i++) {
		uint64_t r = test_random(&seed);

		TEST_OK(mely_post_id(rt, (uint32_t)(r >> 8) % 97, &ping, NULL));
		spin_until(i);
		/* Mostly at once, often within the spin before a sleep, sometimes long after. */
		if (r % 4 == 1)
			test_spin_ns(r >> 40 & 0x7fff);
		else if (r % 64 == 2)
			test_nap_us((unsigned)(r >> 40 & 0xff));
	}
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(test_get(&answers), i - 1);
	TEST_OK(mely_runtime_free(rt));
}

static void
every_ping_is_answered(void)
{
	unsigned rounds = test_scale(test_long() ? 1000000 : 60000);

	every_ping_is_answered_on(1, rounds / 2);
	every_ping_is_answered_on(2, rounds / 2);
	every_ping_is_answered_on(8, rounds / 10);
	every_ping_is_answered_on(32, rounds / 20);
}

/* ---- ping-pong between colors on different cores -------------------------------------------- */

struct player {
	struct mely_color *color;
	struct mely_event ev;
	struct player *peer;
	uint64_t left;
};

static _Atomic uint64_t games_over;

static void
on_ball(void *arg)
{
	struct player *p = arg;

	if (p->left-- > 0)
		TEST_OK(mely_event_post(p->peer->color, &p->peer->ev));
	else
		test_add(&games_over, 1);
}

static struct mely_handler ball = MELY_HANDLER(on_ball);

static void
balls_never_rest_on(int cores, int pairs, bool pinned)
{
	struct player *players = calloc(2 * (size_t)pairs, sizeof *players);
	struct test_runner runner;
	int i;

	TEST_CHECK(players != NULL);
	atomic_store(&games_over, 0);
	rt = test_runtime(cores);
	for (i = 0; i < 2 * pairs; i++) {
		players[i].color = test_color_on(rt, i % cores);
		if (pinned)
			TEST_OK(mely_color_pin(players[i].color, i % cores));
		players[i].peer = &players[i ^ 1];
		players[i].left = test_scale(10000);
		mely_event_init(&players[i].ev, &ball, &players[i]);
	}
	for (i = 0; i < 2 * pairs; i += 2)
		TEST_OK(mely_event_post(players[i].color, &players[i].ev));
	test_run_start(&runner, rt);
	test_await(&games_over, (uint64_t)pairs);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	for (i = 0; i < 2 * pairs; i++)
		free(players[i].color);
	free(players);
}

static void
balls_never_rest(void)
{
	balls_never_rest_on(2, 1, false);
	balls_never_rest_on(2, 1, true);
	balls_never_rest_on(2, 3, true);
	balls_never_rest_on(8, 5, true);
	balls_never_rest_on(8, 8, false);
}

/* ---- a sleeper is woken for work that waits elsewhere --------------------------------------- */

static _Atomic uint64_t helped;

static void
on_helper(void *arg)
{
	(void)arg;
	test_add(&helped, 1);
}

static struct mely_handler helper = MELY_HANDLER(on_helper);

struct burst {
	struct mely_color *own;
	struct mely_color *other;
};

/* Post to a color on this core and wait inside the handler: only a sleeper can run the event. */
static void
on_burst(void *arg)
{
	struct burst *burst = arg;
	uint64_t before = test_get(&helped);

	TEST_OK(mely_post(burst->other, &helper, NULL));
	while (test_get(&helped) == before)
		sched_yield();
}

static struct mely_handler burst_handler = MELY_HANDLER(on_burst);

static void
sleepers_are_woken_on(int cores)
{
	struct test_runner runner;
	struct burst burst;
	unsigned i;

	atomic_store(&helped, 0);
	rt = test_runtime(cores);
	burst.own = test_color_on(rt, 0);
	burst.other = test_color_on(rt, 0);
	test_run_start(&runner, rt);
	for (i = 1; i <= test_scale(1000); i++) {
		TEST_OK(mely_post(burst.own, &burst_handler, &burst));
		test_await(&helped, i);
		if (i % 4 == 0)
			test_nap_us(300);
	}
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	free(burst.own);
	free(burst.other);
}

static void
sleepers_are_woken(void)
{
	sleepers_are_woken_on(2);
	sleepers_are_woken_on(8);
}

/* ---- idle ----------------------------------------------------------------------------------- */

static uint64_t
cpu_ns(void)
{
	struct timespec ts;

	TEST_EQ(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts), 0);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void
idle_sleeps_on(int cores)
{
	unsigned seconds = test_long() ? 10 : 1;
	struct mely_counters before, after;
	struct test_runner runner;
	uint64_t cpu;

	rt = test_runtime(cores);
	test_run_start(&runner, rt);
	/* Return when all cores are asleep. */
	do {
		before = test_counters(rt);
		test_nap_us(50000);
		after = test_counters(rt);
	} while (after.sleeps < (uint64_t)cores || after.sleeps != before.sleeps ||
	    after.polls != before.polls);
	/*
	 * Fewer than five system calls a second; each turn makes at least two. On a loaded machine
	 * a core may make its last turns long after its last event. It must come to rest then;
	 * otherwise the watchdog of the test ends this.
	 */
	do {
		before = after;
		cpu = cpu_ns();
		test_nap_us(seconds * 1000000);
		cpu = cpu_ns() - cpu;
		after = test_counters(rt);
		printf("%d cores idle for %u s: %llu us of CPU, %llu sleeps, %llu polls\n", cores,
		    seconds, (unsigned long long)cpu / 1000,
		    (unsigned long long)(after.sleeps - before.sleeps),
		    (unsigned long long)(after.polls - before.polls));
	} while (after.sleeps - before.sleeps >= 5 * seconds ||
	    after.polls - before.polls >= 5 * seconds);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
}

static void
idle_sleeps(void)
{
	idle_sleeps_on(1);
	idle_sleeps_on(2);
	idle_sleeps_on(8);
}

/* Only sleepers are woken: a runtime that never sleeps makes hardly any wake-up calls. */
static void
busy_needs_no_wakeups(void)
{
	struct mely_counters counters;
	unsigned i, n = test_scale(100000);

	atomic_store(&answers, 0);
	rt = test_runtime(1);
	for (i = 0; i < n; i++)
		TEST_OK(mely_post_id(rt, i % 64, &ping, NULL));
	test_run_dry(rt);
	counters = test_counters(rt);
	TEST_EQ(test_get(&answers), n);
	TEST_CHECK(counters.wakeups_sent < 10);
	TEST_OK(mely_runtime_free(rt));
}

/* ---- posts that a busy core holds back in its outbox ----------------------------------------- */

enum { BUSY = 8, ROUNDS = 20, POSTS = 150 };

static struct mely_color *busy[BUSY];

static void
on_slow_ping(void *arg)
{
	(void)arg;
	test_spin_ns(20000);
	test_add(&answers, 1);
}

static struct mely_handler slow_ping = MELY_HANDLER(on_slow_ping);

/* The posts of each round end at another place of the outbox. The last of them are in it when the
 * other core has run all that was delivered. */
static void
on_rounds(void *arg)
{
	uint64_t posted = 0;
	unsigned i, j;

	(void)arg;
	for (i = 0; i < ROUNDS; i++) {
		for (j = 0; j < POSTS + i; j++)
			TEST_OK(mely_post(busy[j % BUSY], &slow_ping, NULL));
		posted += j;
		while (test_get(&answers) < posted)
			sched_yield();
	}
}

static struct mely_handler rounds = MELY_HANDLER(on_rounds);

/* Without a steal and without stuck cores there is no sentry: an idle core must look itself. */
static void
idle_core_empties_outboxes(void)
{
	struct mely_config config;
	struct mely_color *color;
	int i;

	test_config(&config, 2);
	config.stealing = 0;
	config.stuck_ms = 0;
	atomic_store(&answers, 0);
	rt = test_runtime_with(&config);
	color = test_color_on(rt, 0);
	for (i = 0; i < BUSY; i++)
		busy[i] = test_color_on(rt, 1);
	TEST_OK(mely_post(color, &rounds, NULL));
	test_run_dry(rt);
	TEST_EQ(test_get(&answers), ROUNDS * POSTS + ROUNDS * (ROUNDS - 1) / 2);
	TEST_OK(mely_runtime_free(rt));
	free(color);
	for (i = 0; i < BUSY; i++)
		free(busy[i]);
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, test_long() ? 600 : 120);
	TEST_CASE(every_ping_is_answered);
	TEST_CASE(balls_never_rest);
	TEST_CASE(sleepers_are_woken);
	TEST_CASE(idle_core_empties_outboxes);
	TEST_CASE(idle_sleeps);
	TEST_CASE(busy_needs_no_wakeups);
	return test_done();
}
