/* SPDX-License-Identifier: MIT */
/*
 * park.c: sleep and wake: NOTE(park). The states of a sleeper and the counts of them, which sleeper
 * a waker chooses, the search, the sentry. One thread plays the cores; a second one wakes the
 * sentry.
 */
#include <pthread.h>

#include "cores.h"
#include "sched/park.h"
#include "sched/stuck.h"
#include "sched/wait.h"
#include "sched/wake.h"

/* relaxed, all: one thread, or hints */
static uint8_t
sleep_of(const struct melyint_core *core)
{
	return MELY_LOAD(&core->locked.sleep, relaxed);
}

static int
sleepers(void)
{
	int count = 0, i;

	for (i = 0; i < rt->domains_count; i++)
		count += MELY_LOAD(&rt->domains[i].sleepers, relaxed);
	return count;
}

static int
sentries(void)
{
	return MELY_LOAD(&rt->idle.sentries, relaxed);
}

static int
searching(void)
{
	return MELY_LOAD(&rt->domains[0].searching, relaxed);
}

static bool
wake(struct melyint_core *core)
{
	bool woken;

	melyint_lock_take(&core->lock);
	woken = melyint_wake_locked(core);
	melyint_lock_drop(&core->lock);
	return woken;
}

static void
each_state_is_left_once(void **state)
{
	(void)state;
	assert_false(wake(one)); /* it is awake */
	put_to_sleep(one, MELYINT_ASLEEP);
	put_to_sleep(two, MELYINT_SENTRY);
	assert_int_equal(sleepers(), 2);
	assert_true(wake(one));
	assert_false(wake(one)); /* the second poster owes nothing */
	assert_int_equal(sleep_of(one), MELYINT_AWAKE);
	assert_int_equal(sentries(), 1);
	assert_true(wake(two));
	assert_int_equal(sentries(), 0);
	assert_int_equal(sleepers(), 0);
	/* Outside, the waker marks it busy: D of NOTE(outside). */
	put_to_sleep(one, MELYINT_OUTSIDE);
	assert_true(wake(one));
	assert_int_equal(MELY_LOAD(&one->hint.busy, relaxed), 1);
	MELY_STORE(&one->hint.busy, 0, relaxed);
}

static void
one_searcher_at_a_time(void **state)
{
	struct melyint_core *three = &rt->cores[2];

	(void)state;
	put_to_sleep(one, MELYINT_ASLEEP);
	put_to_sleep(three, MELYINT_ASLEEP);
	play(two);
	melyint_offer(two, two); /* nothing waits */
	assert_int_equal(sleepers(), 2);
	post(0, 1);
	/* The post has woken a searcher, since there is no sentry. */
	assert_int_equal(sleepers(), 1);
	assert_true(one->locked.searching != three->locked.searching);
	assert_int_equal(searching(), MELYINT_SEARCH_ONE);
	assert_int_equal(counted(&rt->outside.wakeups), 1);
	melyint_offer(two, two);
	assert_int_equal(sleepers(), 1); /* left to the searcher: D of NOTE(park) */
	assert_int_equal(searching(), MELYINT_SEARCH_MORE);
	one->locked.searching = three->locked.searching = false;
	MELY_STORE(&rt->domains[0].searching, MELYINT_SEARCH_NONE, relaxed);
	melyint_wake_all(rt);
	assert_int_equal(sleepers(), 0);
}

static void
a_sentry_saves_wake_ups_that_do_not_pay(void **state)
{
	struct melyint_core *three = &rt->cores[2];

	(void)state;
	post(0, 1);
	post(1, 1);
	put_to_sleep(one, MELYINT_SENTRY);
	put_to_sleep(three, MELYINT_ASLEEP);
	MELY_STORE(&two->hint.batch_ns, 100, relaxed);
	play(two);
	melyint_offer(two, two);
	assert_int_equal(sleepers(), 2);
	MELY_STORE(&two->hint.batch_ns, 100 * MELYINT_WAKEUP_NS, relaxed);
	assert_int_equal(mely_set_stealing(rt, 0), 0);
	melyint_offer(two, two);
	assert_int_equal(sleepers(), 2);
	assert_int_equal(mely_set_stealing(rt, MELY_STEAL_ON), 0);
	melyint_offer_behind(two, two);
	assert_int_equal(sleepers(), 1);
	assert_int_equal(counted(&two->counters.wakeups_sent), 1);
	one->locked.searching = three->locked.searching = false;
	MELY_STORE(&rt->domains[0].searching, MELYINT_SEARCH_NONE, relaxed);
	melyint_wake_all(rt);
}

static void
a_sentry_that_ends_owes_or_offers(void **state)
{
	(void)state;
	play(one);
	melyint_hand_over_sentry(one);
	assert_true(one->others.owes_sentry); /* it has no work */
	post(0, 1); /* on two */
	assert_int_equal(mely_color_pin(&colors[1], 0), 0);
	post(1, 1);
	put_to_sleep(&rt->cores[2], MELYINT_ASLEEP);
	play(one);
	melyint_hand_over_sentry(one);
	assert_false(one->others.owes_sentry);
	assert_int_equal(sleepers(), 0); /* woken for what waits on two */
	rt->cores[2].locked.searching = false;
	MELY_STORE(&rt->domains[0].searching, MELYINT_SEARCH_NONE, relaxed);
}

static void
work_keeps_a_core_awake(void **state)
{
	(void)state;
	assert_int_equal(mely_color_pin(&colors[0], 0), 0);
	post(0, 1);
	play(one);
	melyint_park(one);
	assert_int_equal(counted(&one->counters.sleeps), 0);
	assert_int_equal(sleep_of(one), MELYINT_AWAKE);
	assert_int_equal(sleepers(), 0);
}

static void
a_kept_wake_up_ends_the_sleep(void **state)
{
	(void)state;
	play(one);
	melyint_poller_wake(one);
	melyint_park(one); /* all sleep: it would do so for ever */
	assert_int_equal(counted(&one->counters.sleeps), 1);
	assert_int_equal(sleep_of(one), MELYINT_AWAKE);
	assert_int_equal(sleepers(), 0);
	assert_int_equal(sentries(), 0);
}

/* Post to the first core once it keeps watch. */
static void *
wake_the_sentry(void *arg)
{
	(void)arg;
	while (sentries() == 0)
		usleep(100);
	assert_int_equal(mely_post(&colors[0], &handler, NULL), 0);
	return NULL;
}

static void
a_busy_core_needs_a_sentry(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(mely_color_pin(&colors[0], 0), 0);
	MELY_STORE(&two->hint.busy, 1, relaxed);
	assert_int_equal(pthread_create(&thread, NULL, wake_the_sentry, NULL), 0);
	play(one);
	melyint_park(one);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(sentries(), 0);
	assert_int_equal(sleepers(), 0);
	assert_int_equal(waiting_on(one), 1);
	assert_false(one->others.owes_sentry);
	MELY_STORE(&two->hint.busy, 0, relaxed);
}

static void
core_zero_goes_outside(void **state)
{
	uint64_t pass_ns = 0;

	(void)state;
	play(one);
	assert_true(melyint_go_outside(one, &pass_ns));
	assert_int_equal(sleep_of(one), MELYINT_OUTSIDE);
	assert_true(pass_ns == UINT64_MAX); /* no other core is busy */
	assert_int_equal(sleepers(), 1);
	melyint_come_inside(one);
	assert_int_equal(sleep_of(one), MELYINT_AWAKE);
	assert_int_equal(sleepers(), 0);
	assert_int_equal(MELY_LOAD(&one->hint.busy, relaxed), 1);
	/* With work of its own it stays. */
	assert_int_equal(mely_color_pin(&colors[0], 0), 0);
	post(0, 1);
	play(one);
	assert_false(melyint_go_outside(one, &pass_ns));
	assert_int_equal(sleepers(), 0);
	/* What it could steal keeps it, too. */
	run_all(one);
	post(1, 1);
	play(one);
	assert_false(melyint_go_outside(one, &pass_ns));
	assert_ptr_equal(one->batch.color, &colors[1]);
	assert_int_equal(sleepers(), 0);
	melyint_batch_run(one);
	MELY_STORE(&one->hint.busy, 0, relaxed);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, cores_setup, cores_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(each_state_is_left_once),
	    CASE(one_searcher_at_a_time),
	    CASE(a_sentry_saves_wake_ups_that_do_not_pay),
	    CASE(a_sentry_that_ends_owes_or_offers),
	    CASE(work_keeps_a_core_awake),
	    CASE(a_kept_wake_up_ends_the_sleep),
	    CASE(a_busy_core_needs_a_sentry),
	    CASE(core_zero_goes_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
