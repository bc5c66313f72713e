/* SPDX-License-Identifier: MIT */
/*
 * timer.c: timers are never early, one-shot ones come once, repeating ones do not pile up and
 * count what they missed, wall-clock timers, stops that are exact, new times. The test reports
 * lateness and never judges it.
 */
#include <time.h>

#include "test.h"

static struct mely_runtime *rt;

/* ---- ten thousand at once ------------------------------------------------------------------- */

struct timer {
	mely_watch id;
	struct mely_color *color;
	uint64_t due_ns, late_ns; /* used in the color only */
	_Atomic uint64_t runs;
};

static _Atomic uint64_t fired;

static void
on_timer(void *arg)
{
	struct timer *timer = arg;
	uint64_t now = mely_now_ns();

	if (now < timer->due_ns)
		test_fail(__FILE__, __LINE__, "a timer is %llu ns early",
		    (unsigned long long)(timer->due_ns - now));
	timer->late_ns = now - timer->due_ns;
	test_add(&timer->runs, 1);
	test_add(&fired, 1);
}

static struct mely_handler timer_handler = MELY_HANDLER(on_timer);

static int
compare(const void *a, const void *b)
{
	uint64_t x = ((const struct timer *)a)->late_ns, y = ((const struct timer *)b)->late_ns;

	return x < y ? -1 : x > y;
}

static void
never_early_on(int cores)
{
	enum { TIMERS = 10000, COLORS = 16 };
	struct timer *timers = calloc(TIMERS, sizeof *timers);
	struct mely_color *colors[COLORS];
	struct test_runner runner;
	uint64_t seed = test_seed;
	int i;

	TEST_CHECK(timers != NULL);
	atomic_store(&fired, 0);
	rt = test_runtime(cores);
	for (i = 0; i < COLORS; i++)
		colors[i] = test_color(rt);
	test_run_start(&runner, rt);
	for (i = 0; i < TIMERS; i++) {
		uint64_t when = test_random(&seed) % 300000000;

		timers[i].color = colors[i % COLORS];
		timers[i].due_ns = mely_now_ns() + when;
		TEST_OK(mely_timer_start(timers[i].color, when, 0, 0, &timer_handler, &timers[i],
		    &timers[i].id));
	}
	test_await(&fired, TIMERS);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	for (i = 0; i < TIMERS; i++) {
		TEST_EQ(test_get(&timers[i].runs), 1);
		TEST_EQ(mely_watch_stop(rt, timers[i].id, NULL, NULL), -ENOENT);
	}
	qsort(timers, TIMERS, sizeof *timers, compare);
	printf("%d cores: late by %llu us in the median, %llu at 99 %%, %llu at most\n", cores,
	    (unsigned long long)timers[TIMERS / 2].late_ns / 1000,
	    (unsigned long long)timers[TIMERS * 99 / 100].late_ns / 1000,
	    (unsigned long long)timers[TIMERS - 1].late_ns / 1000);
	TEST_OK(mely_runtime_free(rt));
	for (i = 0; i < COLORS; i++)
		free(colors[i]);
	free(timers);
}

static void
never_early(void)
{
	never_early_on(1);
	never_early_on(2);
	never_early_on(8);
}

/* Before run, in order of their times, and a zero time. */
static void
held_until_run(void)
{
	struct timer timers[3];
	int i;
	struct test_runner runner;
	struct mely_color *color;

	atomic_store(&fired, 0);
	memset(timers, 0, sizeof timers);
	rt = test_runtime(2);
	color = test_color(rt);
	for (i = 0; i < 3; i++) {
		timers[i].due_ns = mely_now_ns() + (uint64_t)i * 1000000;
		TEST_OK(mely_timer_start(color, (uint64_t)i * 1000000, 0, 0, &timer_handler,
		    &timers[i], &timers[i].id));
	}
	test_nap_us(5000);
	TEST_EQ(test_get(&fired), 0);
	test_run_start(&runner, rt);
	test_await(&fired, 3);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

/* ---- repeating ------------------------------------------------------------------------------ */

struct ticker {
	mely_watch id;
	struct mely_color *color;
	uint64_t started_ns, period_ns;
	uint64_t turns;            /* plain: run and missed */
	unsigned sleep_us;         /* time of the first handler */
	_Atomic uint64_t runs, overruns;
	_Atomic uint64_t stopped;  /* the handler has stopped it */
	uint64_t stop_after;
};

static void
on_tick(void *arg)
{
	struct ticker *t = arg;
	uint64_t missed = mely_timer_overruns(), elapsed = mely_now_ns() - t->started_ns;

	t->turns += 1 + missed;
	/* As many turns as periods have passed, never more. */
	TEST_CHECK(t->turns * t->period_ns <= elapsed);
	test_add(&t->overruns, missed);
	if (test_get(&t->runs) == 0 && t->sleep_us > 0)
		test_nap_us(t->sleep_us);
	test_add(&t->runs, 1);
	if (test_get(&t->runs) == t->stop_after) {
		TEST_OK(mely_watch_stop(rt, t->id, NULL, NULL));
		TEST_EQ(mely_watch_stop(rt, t->id, NULL, NULL), -ENOENT);
		test_add(&t->stopped, 1);
	}
}

static struct mely_handler tick = MELY_HANDLER(on_tick);

static void
start_ticker(struct ticker *t, uint64_t period_ns)
{
	t->period_ns = period_ns;
	t->started_ns = mely_now_ns();
	TEST_OK(mely_timer_start(t->color, period_ns, period_ns, 0, &tick, t, &t->id));
}

static void
repeats_and_stops(void)
{
	struct test_runner runner;
	struct ticker t;

	memset(&t, 0, sizeof t);
	rt = test_runtime(2);
	t.color = test_color(rt);
	t.stop_after = 20;
	test_run_start(&runner, rt);
	start_ticker(&t, 2000000);
	test_await(&t.stopped, 1);
	test_nap_us(20000);
	TEST_EQ(test_get(&t.runs), 20);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	free(t.color);
}

/* A handler that sleeps through many turns gets one event, and the number of missed turns. */
static void
overruns_are_counted(void)
{
	struct test_runner runner;
	struct ticker t;

	memset(&t, 0, sizeof t);
	rt = test_runtime(2);
	t.color = test_color(rt);
	t.sleep_us = 50000;
	test_run_start(&runner, rt);
	start_ticker(&t, 1000000);
	test_await(&t.runs, 3);
	/* The sleep of 50 turns of 1 ms left most of them uncounted by runs. */
	TEST_CHECK(test_get(&t.overruns) >= 40);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(mely_timer_overruns(), 0);
	TEST_OK(mely_runtime_free(rt));
	free(t.color);
}

/* ---- wall clock ----------------------------------------------------------------------------- */

static uint64_t
wall_ns(void)
{
	struct timespec ts;

	TEST_EQ(clock_gettime(CLOCK_REALTIME, &ts), 0);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void
on_wall(void *arg)
{
	struct timer *timer = arg;
	uint64_t now = wall_ns();

	TEST_CHECK(now >= timer->due_ns);
	printf("wall-clock timer late by %llu us\n",
	    (unsigned long long)(now - timer->due_ns) / 1000);
	test_add(&fired, 1);
}

static struct mely_handler wall = MELY_HANDLER(on_wall);

static void
wall_clock(void)
{
	struct timer timers[3];
	struct test_runner runner;
	struct mely_color *color;
	int i;

	atomic_store(&fired, 0);
	memset(timers, 0, sizeof timers);
	rt = test_runtime(2);
	color = test_color(rt);
	test_run_start(&runner, rt);
	for (i = 0; i < 3; i++) {
		/* One time is in the past: its timer fires at once. */
		timers[i].due_ns = wall_ns() + (uint64_t)i * 20000000 - 10000000;
		TEST_OK(mely_timer_start(color, timers[i].due_ns, 0, MELY_TIMER_WALL, &wall,
		    &timers[i], &timers[i].id));
	}
	test_await(&fired, 3);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(mely_timer_start(color, 1, 0, 512, &wall, timers, &timers[0].id), -EINVAL);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

/* ---- stopping ------------------------------------------------------------------------------- */

static _Atomic uint64_t over;
static uint64_t races_ran, races_stopped;

struct race {
	struct mely_color *color;
	struct mely_event step;
	mely_watch id;
	bool stopped, ran;
	uint64_t left, seed;
};

static void
on_raced(void *arg)
{
	struct race *race = arg;

	/* Stopped in its color: it must not run. */
	TEST_CHECK(!race->stopped && !race->ran);
	race->ran = true;
}

static struct mely_handler raced = MELY_HANDLER(on_raced);

/* In a handler of the color: start a timer of a few microseconds, wait, stop it. */
static void
on_race(void *arg)
{
	struct race *race = arg;
	int rc;

	if (race->id != 0) {
		rc = mely_watch_stop(rt, race->id, NULL, NULL);
		TEST_EQ(rc, race->ran ? -ENOENT : 0);
		race->stopped = true;
		races_ran += race->ran;
		races_stopped += rc == 0;
	}
	if (race->left-- == 0) {
		test_add(&over, 1);
		return;
	}
	race->stopped = race->ran = false;
	TEST_OK(mely_timer_start(race->color, test_random(&race->seed) % 100000, 0, 0, &raced, race,
	    &race->id));
	if (race->left % 2)
		test_spin_ns(test_random(&race->seed) % 100000);
	TEST_OK(mely_event_post(race->color, &race->step));
}

static struct mely_handler race_handler = MELY_HANDLER(on_race);

static void
stop_is_exact_on(int cores)
{
	struct test_runner runner;
	struct race race;

	memset(&race, 0, sizeof race);
	atomic_store(&over, 0);
	races_ran = races_stopped = 0;
	rt = test_runtime(cores);
	race.color = test_color(rt);
	race.left = test_scale(5000);
	race.seed = test_seed;
	mely_event_init(&race.step, &race_handler, &race);
	test_run_start(&runner, rt);
	TEST_OK(mely_event_post(race.color, &race.step));
	test_await(&over, 1);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(races_ran + races_stopped, test_scale(5000));
	printf("%d cores: %llu ran, %llu stopped\n", cores, (unsigned long long)races_ran,
	    (unsigned long long)races_stopped);
	TEST_OK(mely_runtime_free(rt));
	free(race.color);
}

static void
stop_is_exact(void)
{
	stop_is_exact_on(1);
	stop_is_exact_on(2);
	stop_is_exact_on(8);
}

/* From outside: after 0 it never runs; -ENOENT: it has run; -EINPROGRESS: it runs now. */
static void
stop_from_outside(void)
{
	struct test_runner runner;
	struct mely_color *color;
	uint64_t seed = test_seed;
	unsigned i, n = test_scale(2000);
	struct timer *timers = calloc(n, sizeof *timers);
	int *results = calloc(n, sizeof *results);

	TEST_CHECK(timers != NULL && results != NULL);
	atomic_store(&fired, 0);
	rt = test_runtime(2);
	color = test_color(rt);
	test_run_start(&runner, rt);
	for (i = 0; i < n; i++) {
		uint64_t when = test_random(&seed) % 50000;

		timers[i].due_ns = mely_now_ns() + when;
		TEST_OK(mely_timer_start(color, when, 0, 0, &timer_handler, &timers[i],
		    &timers[i].id));
		test_spin_ns(test_random(&seed) % 50000);
		results[i] = mely_watch_stop(rt, timers[i].id, NULL, NULL);
		if (results[i] == 0)
			TEST_EQ(test_get(&timers[i].runs), 0);
	}
	test_run_stop(&runner, MELY_STOP_DRAIN);
	for (i = 0; i < n; i++) {
		uint64_t runs = test_get(&timers[i].runs);

		if (results[i] == 0)
			TEST_EQ(runs, 0);
		else if (results[i] == -ENOENT)
			TEST_EQ(runs, 1);
		else
			TEST_CHECK(results[i] == -EINPROGRESS && runs <= 1);
	}
	TEST_OK(mely_runtime_free(rt));
	free(color);
	free(timers);
	free(results);
}

/* ---- new times ------------------------------------------------------------------------------ */

static struct timer idle_timeout;
static _Atomic uint64_t pushed;

static void
on_push(void *arg)
{
	uint64_t left = (uintptr_t)arg;
	bool gone = test_get(&idle_timeout.runs) > 0;

	/* A limit of idle time that activity moves later; only a long stall lets it fire meanwhile.
	 */
	if (!gone)
		idle_timeout.due_ns = mely_now_ns() + 50000000;
	TEST_EQ(mely_timer_again(rt, idle_timeout.id, 50000000, 0), gone ? -ENOENT : 0);
	test_add(&pushed, left == 0);
}

static struct mely_handler push = MELY_HANDLER(on_push);

static void
set_anew(void)
{
	struct test_runner runner;
	struct mely_color *color;
	uintptr_t i;

	memset(&idle_timeout, 0, sizeof idle_timeout);
	atomic_store(&fired, 0);
	atomic_store(&pushed, 0);
	rt = test_runtime(2);
	color = test_color(rt);
	idle_timeout.due_ns = mely_now_ns() + UINT64_C(3600000000000);
	TEST_OK(mely_timer_start(color, UINT64_C(3600000000000), 0, 0, &timer_handler,
	    &idle_timeout, &idle_timeout.id));
	for (i = 1000; i-- > 0;)
		TEST_OK(mely_post(color, &push, (void *)i));
	test_run_start(&runner, rt);
	test_await(&pushed, 1);
	test_await(&fired, 1);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(test_get(&idle_timeout.runs), 1);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

/* A drain closes timers: it does not wait for a timer of an hour. */
static void
drain_does_not_wait(void)
{
	struct timer far;
	struct mely_color *color;

	memset(&far, 0, sizeof far);
	atomic_store(&fired, 0);
	rt = test_runtime(2);
	color = test_color(rt);
	TEST_OK(mely_timer_start(color, UINT64_C(3600000000000), 1, 0, &timer_handler, &far,
	    &far.id));
	test_run_dry(rt);
	TEST_EQ(test_get(&fired), 0);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

/* ---- the handler of a timer that runs once --------------------------------------------------- */

static struct mely_handler once_handler;

/* It is the program's when its function is entered: a stop meanwhile does not write it. */
static void
on_once(void *arg)
{
	(void)arg;
	memset(&once_handler, 0xa5, sizeof once_handler);
	TEST_OK(mely_stop(rt, MELY_STOP_DISCARD));
}

static void
once_leaves_its_handler(void)
{
	struct mely_color *color;
	mely_watch watch;
	size_t i;

	rt = test_runtime(1);
	color = test_color(rt);
	mely_handler_init(&once_handler, on_once, "once");
	TEST_OK(mely_timer_start(color, 0, 0, 0, &once_handler, NULL, &watch));
	TEST_OK(mely_run(rt));
	for (i = 0; i < sizeof once_handler; i++)
		TEST_EQ(((unsigned char *)&once_handler)[i], 0xa5);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

/* ---- ids ------------------------------------------------------------------------------------- */

/* An id of a runtime that was freed stops nothing in the next one. */
static void
ids_end_with_their_runtime(void)
{
	struct mely_color *color;
	mely_watch before = 0, watch;
	int i;

	for (i = 0; i < 100; i++) {
		rt = test_runtime(1);
		color = test_color(rt);
		TEST_OK(mely_timer_start(color, 1000000000, 0, 0, &timer_handler, NULL, &watch));
		if (before != 0)
			TEST_EQ(mely_watch_stop(rt, before, NULL, NULL), -ENOENT);
		before = watch;
		TEST_OK(mely_watch_stop(rt, watch, NULL, NULL));
		TEST_OK(mely_runtime_free(rt));
		free(color);
	}
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 90);
	TEST_CASE(never_early);
	TEST_CASE(held_until_run);
	TEST_CASE(repeats_and_stops);
	TEST_CASE(overruns_are_counted);
	TEST_CASE(wall_clock);
	TEST_CASE(stop_is_exact);
	TEST_CASE(stop_from_outside);
	TEST_CASE(set_anew);
	TEST_CASE(drain_does_not_wait);
	TEST_CASE(once_leaves_its_handler);
	TEST_CASE(ids_end_with_their_runtime);
	return test_done();
}
