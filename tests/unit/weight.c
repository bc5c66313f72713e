/* SPDX-License-Identifier: MIT */
/*
 * weight.c: weights and measurements. Annotations win; exactly the weight that an event was counted
 * with is subtracted; averages follow their samples and damp spikes; a penalty is learned, bounded
 * and forgotten.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "unit.h"
#include "core/core.h"
#include "core/weight.h"

enum { ALL = MELY_STEAL_TIME_LEFT | MELY_STEAL_PENALTY | MELY_STEAL_MEASURE | MELY_STEAL_LEARN };
enum { FULL = MELYINT_WEIGH_PENALTY_MEASURED_LEARNED }; /* the weighing with all of ALL */

static struct mely_runtime *rt;
static struct mely_handler handler;

static void
nothing(void *arg)
{
	(void)arg;
}

static int
begin(void **state)
{
	struct mely_config config;

	(void)state;
	assert_int_equal(mely_config_init(&config), 0);
	config.cores = 2;
	assert_int_equal(mely_runtime_new(&rt, &config), 0);
	assert_int_equal(mely_set_stealing(rt, MELY_STEAL_ON | ALL), 0);
	mely_handler_init(&handler, nothing, "nothing");
	return 0;
}

static int
end(void **state)
{
	(void)state;
	return mely_runtime_free(rt);
}

static struct mely_event
pooled(uint32_t time_ns)
{
	struct mely_event ev;

	mely_event_init(&ev, &handler, NULL);
	ev._flags = MELYINT_EV_POOLED | (time_ns != 0 ? MELYINT_EV_TIMED : 0);
	ev._time = time_ns;
	return ev;
}

static void
annotated(void **state)
{
	struct mely_event ev = pooled(0);

	(void)state;
	handler.time_ns = 1000;
	handler.penalty = 10;
	assert_int_equal(melyint_weight_of(&ev), 0);
	assert_int_equal(melyint_weigh(rt, MELYINT_WEIGH_TIME, &ev), 16000);
	assert_int_equal(melyint_weight_of(&ev), 16000);
	ev = pooled(0);
	assert_int_equal(melyint_weigh(rt, MELYINT_WEIGH_PENALTY, &ev), 1600);
	/* Measurements do not change it. */
	melyint_sample_home(&handler, 7);
	melyint_sample_away(&handler, 7000);
	ev = pooled(0);
	assert_int_equal(melyint_weigh(rt, MELYINT_WEIGH_PENALTY, &ev), 1600);
}

/* Later annotations and measurements do not change the weight that is subtracted. */
static void
counted_is_kept(void **state)
{
	struct mely_event ev = pooled(0), timed = pooled(300), embedded;

	(void)state;
	handler.time_ns = 500;
	handler.penalty = 3;
	mely_event_init(&embedded, &handler, NULL);
	mely_event_set_time(&embedded, 100);
	assert_int_equal(melyint_weight_of(&timed), 0);
	assert_int_equal(melyint_weight_of(&embedded), 0);
	(void)melyint_weigh(rt, MELYINT_WEIGH_PENALTY, &ev);
	assert_int_equal(melyint_weigh(rt, MELYINT_WEIGH_PENALTY, &timed), 1600);
	/* The time of an embedded event is divided by a power of two. */
	assert_int_equal(melyint_weigh(rt, MELYINT_WEIGH_PENALTY, &embedded), 400);
	handler.penalty = 100;
	handler.time_ns = 1;
	melyint_sample_home(&handler, 1);
	assert_int_equal(mely_set_stealing(rt, MELY_STEAL_ON), 0);
	assert_int_equal(melyint_weight_of(&ev), 8000 / 3);
	assert_int_equal(melyint_weight_of(&timed), 1600);
	assert_int_equal(melyint_weight_of(&embedded), 400);
	/* The time outlasts the post. */
	assert_int_equal(embedded._time, 100);
}

static void
extremes(void **state)
{
	struct mely_event ev = pooled(0);

	(void)state;
	handler.time_ns = UINT32_MAX;
	assert_int_equal(melyint_weigh(rt, MELYINT_WEIGH_TIME, &ev), UINT32_MAX);
	mely_handler_init(&handler, nothing, "nothing");
	handler.time_ns = 1;
	handler.penalty = UINT32_MAX;
	ev = pooled(0);
	/* Never 0, which means that the weight is unknown. */
	assert_int_equal(melyint_weigh(rt, MELYINT_WEIGH_PENALTY, &ev), 1);
}

/* An event is sampled when its handler's time is unknown. */
static void
unknown_is_sampled(void **state)
{
	struct mely_event ev = pooled(0);

	(void)state;
	assert_int_equal(melyint_weigh(rt, MELYINT_WEIGH_TIME_MEASURED, &ev),
	    MELYINT_WEIGHT_UNKNOWN);
	assert_true(ev._flags & MELYINT_EV_SAMPLE);
	melyint_sample_home(&handler, 250);
	ev = pooled(0);
	assert_int_equal(melyint_weigh(rt, MELYINT_WEIGH_TIME_MEASURED, &ev), 4000);
	assert_false(ev._flags & MELYINT_EV_SAMPLE);
	/* With measuring switched off nothing is sampled. */
	mely_handler_init(&handler, nothing, "nothing");
	ev = pooled(0);
	assert_int_equal(melyint_weigh(rt, MELYINT_WEIGH_TIME, &ev), 1);
	assert_false(ev._flags & MELYINT_EV_SAMPLE);
}

/* A sample stays in the runtime, and the handler unchanged, until the next event begins. */
static void
sample_waits(void **state)
{
	struct melyint_core *core = &rt->cores[0];

	(void)state;
	melyint_sample_begin(core, &handler, NULL);
	melyint_sample_run(core);
	assert_int_equal(melyint_weight_time(FULL, &handler), 0);
	assert_false(melyint_weight_unknown(rt, FULL, &handler));
	assert_true(melyint_weight_time(FULL, &handler) > 0);
	/* An annotated handler needs no sample. */
	handler.time_ns = handler.penalty = 1;
	melyint_sample_begin(core, &handler, NULL);
	assert_int_equal(core->sampling.call.key, 0);
}

/* Where there are many cores, each leaves one sample in several, except for the first of a handler:
 * B of NOTE(measure). */
static void
many_cores_share_less(void **state)
{
	struct melyint_core *core = &rt->cores[0];
	int calls, shared = 0;

	(void)state;
	assert_int_equal(rt->limits.share_every, 1);
	rt->limits.share_every = 3;
	melyint_sample_begin(core, &handler, NULL);
	assert_int_not_equal(core->sampling.call.key, 0); /* its time is unknown */
	melyint_sample_home(&handler, 1000);
	for (calls = 0; calls < 9; calls++) {
		melyint_sample_begin(core, &handler, NULL);
		shared += core->sampling.call.key != 0;
	}
	assert_int_equal(shared, 3);
}

static void
averages(void **state)
{
	int i;

	(void)state;
	melyint_sample_home(&handler, 1000);
	assert_int_equal(melyint_weight_time(FULL, &handler), 1000);
	for (i = 0; i < 100; i++)
		melyint_sample_home(&handler, 3000);
	assert_in_range(melyint_weight_time(FULL, &handler), 2900, 3000);
	/* One sample was preempted for four seconds. */
	melyint_sample_home(&handler, UINT32_MAX);
	assert_in_range(melyint_weight_time(FULL, &handler), 2900, 11000);
	for (i = 0; i < 100; i++)
		melyint_sample_home(&handler, 20);
	assert_in_range(melyint_weight_time(FULL, &handler), 1, 30);
}

static void
penalty_is_learned(void **state)
{
	struct mely_event ev = pooled(0);
	int i;

	(void)state;
	assert_int_equal(melyint_weight_penalty(FULL, &handler), 1);
	melyint_sample_home(&handler, 100);
	melyint_sample_away(&handler, 120);
	assert_int_equal(melyint_weight_penalty(FULL, &handler), 1); /* too little to count */
	for (i = 0; i < 100; i++)
		melyint_sample_away(&handler, 800);
	assert_in_range(melyint_weight_penalty(FULL, &handler), 7, 8);
	assert_in_range(melyint_weigh(rt, FULL, &ev), 1600 / 8, 1600 / 7);
	/* When the handler is no longer stolen, the penalty decays. */
	melyint_sample_home(&handler, 100);
	assert_in_range(melyint_weight_penalty(FULL, &handler), 7, 8);
	for (i = 0; i < 1000; i++)
		melyint_sample_home(&handler, 100);
	assert_int_equal(melyint_weight_penalty(FULL, &handler), 1);
}

static void
penalty_is_bounded(void **state)
{
	int i;

	(void)state;
	melyint_sample_home(&handler, 1);
	for (i = 0; i < 1000; i++)
		melyint_sample_away(&handler, UINT32_MAX);
	assert_int_equal(melyint_weight_penalty(FULL, &handler), 1000);
	/* The annotation wins, and with learning switched off a penalty is not learned. */
	handler.penalty = 5;
	assert_int_equal(melyint_weight_penalty(FULL, &handler), 5);
	handler.penalty = 0;
	assert_int_equal(melyint_weight_penalty(MELYINT_WEIGH_PENALTY_MEASURED, &handler), 1);
}

/* ---- switches -------------------------------------------------------------------------------- */

static uint32_t
weight_in(struct mely_runtime *runtime)
{
	struct mely_event ev = pooled(0);

	/* relaxed: a switch */
	return melyint_weigh(runtime, MELY_LOAD(&runtime->switches.weighing, relaxed), &ev);
}

static unsigned
weighing_of(unsigned heuristics)
{
	assert_int_equal(mely_set_stealing(rt, MELY_STEAL_ON | heuristics), 0);
	return MELY_LOAD(&rt->switches.weighing, relaxed); /* a switch */
}

static void
switches_mean(void **state)
{
	const unsigned both = MELY_STEAL_TIME_LEFT | MELY_STEAL_PENALTY;

	(void)state;
	assert_int_equal(weighing_of(ALL), FULL);
	assert_int_equal(weighing_of(0), MELYINT_WEIGH_NOT);
	assert_int_equal(weighing_of(MELY_STEAL_MEASURE | MELY_STEAL_LEARN),
	    MELYINT_WEIGH_NOT);
	assert_int_equal(weighing_of(MELY_STEAL_TIME_LEFT), MELYINT_WEIGH_TIME);
	assert_int_equal(weighing_of(MELY_STEAL_TIME_LEFT | MELY_STEAL_LEARN),
	    MELYINT_WEIGH_TIME);
	assert_int_equal(weighing_of(MELY_STEAL_TIME_LEFT | MELY_STEAL_MEASURE),
	    MELYINT_WEIGH_TIME_MEASURED);
	assert_int_equal(weighing_of(both), MELYINT_WEIGH_PENALTY);
	assert_int_equal(weighing_of(both | MELY_STEAL_MEASURE),
	    MELYINT_WEIGH_PENALTY_MEASURED);
	assert_int_equal(weighing_of(both | MELY_STEAL_LEARN),
	    MELYINT_WEIGH_PENALTY_LEARNED);
	assert_int_equal(mely_set_stealing(rt, ALL), 0); /* without MELY_STEAL_ON */
	/* relaxed: a switch */
	assert_int_equal(MELY_LOAD(&rt->switches.weighing, relaxed), MELYINT_WEIGH_NOT);
	assert_int_equal(mely_set_stealing(rt, MELY_STEAL_ON | ALL), 0);
	assert_int_equal(MELY_LOAD(&rt->switches.weighing, relaxed), FULL); /* a switch */
	assert_int_equal(melyint_weighing_plain(FULL), MELYINT_WEIGH_TIME_MEASURED);
	assert_int_equal(melyint_weighing_plain(MELYINT_WEIGH_PENALTY_LEARNED), MELYINT_WEIGH_TIME);
	assert_int_equal(melyint_weighing_plain(MELYINT_WEIGH_TIME), MELYINT_WEIGH_TIME);
}

/* Results found under other switches, here or in another runtime, do not count. */
static void
switched_off_is_forgotten(void **state)
{
	struct mely_runtime *other;
	struct mely_config config;

	(void)state;
	handler.time_ns = 1000;
	melyint_sample_home(&handler, 1000);
	melyint_sample_away(&handler, 10000);
	assert_int_equal(weight_in(rt), 1600);
	assert_int_equal(mely_set_stealing(rt, (MELY_STEAL_ON | ALL) & ~MELY_STEAL_LEARN), 0);
	assert_int_equal(weight_in(rt), 16000);
	assert_int_equal(mely_set_stealing(rt, MELY_STEAL_ON | ALL), 0);
	assert_int_equal(weight_in(rt), 1600);
	assert_int_equal(mely_config_init(&config), 0);
	config.cores = 2;
	config.stealing &= ~(unsigned)(MELY_STEAL_MEASURE | MELY_STEAL_LEARN);
	assert_int_equal(mely_runtime_new(&other, &config), 0);
	assert_int_equal(weight_in(other), 16000);
	handler.time_ns = 0;
	melyint_sample_home(&handler, 1000); /* clears the cached weights */
	assert_int_equal(weight_in(other), 1);
	assert_true(weight_in(rt) > 1);
	assert_int_equal(mely_runtime_free(other), 0);
}

static void *
stealing_off(void *arg)
{
	(void)arg;
	assert_int_equal(mely_set_stealing(rt, 0), 0);
	return NULL;
}

/* A thread that changes a switch sees the changes before it: two changes at once could leave a
 * weighing that follows from neither. */
static void
one_switch_at_a_time(void **state)
{
	struct timespec nap = {0, 20000000};
	pthread_t thread;

	(void)state;
	pthread_mutex_lock(&rt->life.lock); /* as another change does */
	assert_int_equal(pthread_create(&thread, NULL, stealing_off, NULL), 0);
	nanosleep(&nap, NULL);
	assert_int_equal(MELY_LOAD(&rt->switches.stealing, relaxed), 1); /* a switch */
	pthread_mutex_unlock(&rt->life.lock);
	assert_int_equal(pthread_join(thread, NULL), 0);
	/* relaxed: a switch */
	assert_int_equal(MELY_LOAD(&rt->switches.weighing, relaxed), MELYINT_WEIGH_NOT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(annotated, begin, end),
	    cmocka_unit_test_setup_teardown(counted_is_kept, begin, end),
	    cmocka_unit_test_setup_teardown(extremes, begin, end),
	    cmocka_unit_test_setup_teardown(unknown_is_sampled, begin, end),
	    cmocka_unit_test_setup_teardown(sample_waits, begin, end),
	    cmocka_unit_test_setup_teardown(many_cores_share_less, begin, end),
	    cmocka_unit_test_setup_teardown(averages, begin, end),
	    cmocka_unit_test_setup_teardown(penalty_is_learned, begin, end),
	    cmocka_unit_test_setup_teardown(penalty_is_bounded, begin, end),
	    cmocka_unit_test_setup_teardown(switches_mean, begin, end),
	    cmocka_unit_test_setup_teardown(switched_off_is_forgotten, begin, end),
	    cmocka_unit_test_setup_teardown(one_switch_at_a_time, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
