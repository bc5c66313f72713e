/* SPDX-License-Identifier: MIT */
/*
 * lend.c: load that concentrates: NOTE(lend). Which core lends to which, what its poller finds for
 * its colors, and when it comes back. One thread plays the cores; their loads are set by hand.
 */
#include <pthread.h>

#include "cores.h"
#include "base/clock.h"
#include "core/upcalls.h"
#include "sched/lend.h"
#include "sched/park.h"

static struct mely_handler slow = MELY_HANDLER_WITH(count, 1000000, 1, 0);

/* relaxed, all: one thread */
static struct melyint_core *
borrower_of(const struct melyint_core *core)
{
	return MELY_LOAD(&core->loan.lends_to, relaxed);
}

static void
set_load(struct melyint_core *core, uint32_t load)
{
	MELY_STORE(&core->loan.load, load, relaxed);
}

/* Look as a core that has been asleep or, busy, at work for a second. */
static void
look(struct melyint_core *core, bool busy)
{
	uint64_t now = melyint_ticks(), second = melyint_ns_to_ticks(1000000000);

	play(core);
	(void)melyint_doing(&core->tallies,
	    busy ? MELY_STATS_POLLING : MELY_STATS_SLEEPING, now - second);
	core->others.load_ticks = now - second;
	core->others.idle_ticks = 0;
	MELY_STORE(&core->tallies.spent[MELY_STATS_SLEEPING], 0, relaxed);
	MELY_STORE(&core->tallies.spent[MELY_STATS_AWAY], 0, relaxed);
	melyint_lend_look(core, now);
}

static void
the_higher_number_lends(void **state)
{
	(void)state;
	set_load(one, 100);
	set_load(two, 100);
	look(one, false); /* smoothed: 88 */
	assert_null(borrower_of(one));
	look(two, false);
	assert_ptr_equal(borrower_of(two), one);
	assert_true(MELY_LOAD(&one->loan.borrows, relaxed));
	assert_in_range(MELY_LOAD(&one->loan.load, relaxed), 170, 180); /* with two's */
	look(two, false); /* once */
	assert_in_range(MELY_LOAD(&one->loan.load, relaxed), 170, 180);
}

/* What it was lent would move on. */
static void
a_borrower_does_not_lend(void **state)
{
	(void)state;
	set_load(one, 20);
	set_load(two, 20);
	look(two, false);
	assert_ptr_equal(borrower_of(two), one);
	set_load(&rt->cores[2], 400);
	look(one, false);
	assert_null(borrower_of(one));
	look(two, false);
	MELY_STORE(&two->loan.lends_to, NULL, relaxed);
	look(one, false); /* nothing is lent to it any more */
	assert_ptr_equal(borrower_of(one), &rt->cores[2]);
}

static void
a_much_lower_load_lends(void **state)
{
	(void)state;
	set_load(one, 16);
	set_load(two, 300);
	look(one, false);
	assert_ptr_equal(borrower_of(one), two);
	set_load(two, 60);
	set_load(one, 16);
	look(one, false);
	assert_null(borrower_of(one));
}

static void
no_room_no_loan(void **state)
{
	(void)state;
	set_load(one, 580);
	set_load(two, 100);
	look(two, false);
	assert_null(borrower_of(two)); /* 580 and 88 */
	set_load(one, 100);
	set_load(&rt->cores[2], 100);
	look(two, true); /* a load of its own rises by half of the difference: 544 */
	assert_null(borrower_of(two));
	assert_in_range(MELY_LOAD(&two->loan.load, relaxed), 530, 550);
}

/* Switches that keep colors where they are. */
static void
without_stealing_no_loan(void **state)
{
	(void)state;
	assert_int_equal(mely_set_stealing(rt, 0), 0);
	set_load(one, 100);
	set_load(two, 100);
	look(two, false);
	assert_null(borrower_of(two));
	/* ... and where a thief takes whatever waits */
	assert_int_equal(mely_set_stealing(rt, MELY_STEAL_ON), 0);
	look(two, false);
	assert_null(borrower_of(two));
	assert_int_equal(mely_set_stealing(rt, MELY_STEAL_ON | MELY_STEAL_TIME_LEFT), 0);
	look(two, false);
	assert_ptr_equal(borrower_of(two), one);
	/* When the borrower has enough to do, the loan ends. It learns that from the lenders. */
	set_load(one, 590);
	look(two, false);
	assert_null(borrower_of(two));
	assert_true(MELY_LOAD(&one->loan.borrows, relaxed));
	look(one, true);
	assert_false(MELY_LOAD(&one->loan.borrows, relaxed));
}

/* Post as two's poller, with these flags, and return the owner of the color. */
static struct melyint_core *
found(int color, unsigned flags)
{
	static struct mely_event events[COLORS];

	play(two);
	mely_event_init(&events[color], &handler, NULL);
	assert_int_equal(melyint_post(&colors[color], &events[color], flags), 0);
	return MELY_LOAD(&colors[color]._owner, relaxed);
}

/* Core one is in a turn that has just begun. */
static void
lend_to_one(void)
{
	MELY_STORE(&two->loan.lends_to, one, relaxed);
	MELY_STORE(&one->pace.turn_ticks, melyint_ticks() + rt->limits.tick_ticks, relaxed);
}

static void
what_the_poller_finds_is_lent(void **state)
{
	(void)state;
	lend_to_one();
	assert_ptr_equal(found(0, MELYINT_POST_READY), one);
	assert_int_equal(counted(&two->counters.lent), 1);
	assert_int_equal(counted(&two->counters.posts_remote), 1);
	/* It stays there: a lender does not adopt it. */
	run_all(one);
	lend_to_one();
	assert_ptr_equal(found(0, MELYINT_POST_READY), one);
	assert_int_equal(counted(&two->counters.adoptions), 0);
	run_all(one);
	lend_to_one();
	/* A timer does not follow its color, so the color stays. */
	assert_ptr_equal(found(3, 0), two);
	run_all(two);
	/* Not a pinned color, nor one with events. */
	assert_int_equal(mely_color_pin(&colors[1], 1), 0);
	assert_ptr_equal(found(1, MELYINT_POST_READY), two);
	post(2, 1); /* from outside */
	assert_ptr_equal(found(2, MELYINT_POST_READY), two);
	/* Nor what is found while a handler runs. */
	play(two);
	assert_true(melyint_turn(two));
	assert_ptr_equal(found(4, MELYINT_POST_READY), two);
	assert_int_equal(counted(&two->counters.lent), 1);
	melyint_batch_run(two);
	run_all(two);
	MELY_STORE(&two->loan.lends_to, NULL, relaxed);
}

/* D of NOTE(lend): a lender may have slept since it chose its borrower. */
static void
a_loan_is_checked_before_use(void **state)
{
	(void)state;
	/* one has been in its turn for a while */
	lend_to_one();
	MELY_STORE(&one->pace.turn_ticks, melyint_ticks() - 3 * rt->limits.tick_ticks, relaxed);
	assert_ptr_equal(found(0, MELYINT_POST_READY), two);
	assert_ptr_equal(borrower_of(two), one); /* it may end soon */
	/* ... or sleeps */
	lend_to_one();
	MELY_STORE(&one->pace.turn_ticks, melyint_ticks() - 3 * rt->limits.tick_ticks, relaxed);
	MELY_STORE(&one->locked.sleep, MELYINT_ASLEEP, relaxed);
	play(two);
	assert_true(melyint_lend_holds(two));
	MELY_STORE(&one->locked.sleep, MELYINT_AWAKE, relaxed);
	/* one has more to do since */
	lend_to_one();
	set_load(one, 601);
	assert_ptr_equal(found(1, MELYINT_POST_READY), two);
	assert_null(borrower_of(two));
	set_load(one, 0);
	/* stealing is off since */
	lend_to_one();
	assert_int_equal(mely_set_stealing(rt, 0), 0);
	assert_ptr_equal(found(2, MELYINT_POST_READY), two);
	assert_null(borrower_of(two));
	run_all(two);
}

static void
a_lender_comes_back_for_a_backlog(void **state)
{
	uint64_t now = melyint_ticks();

	(void)state;
	play(NULL);
	assert_int_equal(mely_post(&colors[0], &slow, NULL), 0);
	assert_int_equal(mely_post(&colors[1], &slow, NULL), 0);
	assert_int_equal(mely_post(&colors[2], &slow, NULL), 0);
	play(one);
	MELY_STORE(&one->loan.lends_to, two, relaxed);
	MELY_STORE(&two->loan.borrows, true, relaxed);
	MELY_STORE(&two->hint.batch_ns, MELYINT_LEND_BACKLOG_NS / 4, relaxed);
	MELY_STORE(&two->pace.turn_ticks, now, relaxed);
	assert_int_equal(melyint_victim_worthy(one, two, now), MELYINT_NOT_WORTHY);
	assert_false(melyint_victim_pays_wakeup(two, 3, true));
	assert_int_equal(melyint_victim_worthy(&rt->cores[2], two, now), MELYINT_WORTHY);
	/* two sits in a long turn */
	MELY_STORE(&two->pace.turn_ticks, now - 2 * rt->limits.tick_ticks, relaxed);
	assert_int_equal(melyint_victim_worthy(one, two, now), MELYINT_WORTHY);
	MELY_STORE(&two->pace.turn_ticks, now, relaxed);
	assert_int_equal(melyint_victim_worthy(one, two, now), MELYINT_NOT_WORTHY);
	MELY_STORE(&two->hint.batch_ns, MELYINT_LEND_BACKLOG_NS / 2, relaxed);
	assert_int_equal(melyint_victim_worthy(one, two, now), MELYINT_WORTHY);
	assert_true(melyint_victim_pays_wakeup(two, 3, true));
	/* What has waited for long is worthy in any case. */
	MELY_STORE(&two->hint.batch_ns, 1, relaxed);
	assert_int_equal(melyint_victim_worthy(one, two, now + rt->limits.aged_ticks),
	    MELYINT_WAITED);
	MELY_STORE(&one->loan.lends_to, NULL, relaxed);
	MELY_STORE(&two->loan.borrows, false, relaxed);
	run_all(two);
}

/* Post to two's colors once one keeps watch. */
static void *
post_behind_two(void *arg)
{
	int i;

	(void)arg;
	while (MELY_LOAD(&rt->idle.sentries, relaxed) == 0)
		usleep(100);
	for (i = 0; i < 3; i++)
		assert_int_equal(mely_post(&colors[i], &slow, NULL), 0);
	return NULL;
}

/* The wake-up does not pay, but the lender finds what waits behind the long turn. Else alarm ends
 * the test. */
static void
a_lender_keeps_watch(void **state)
{
	pthread_t thread;

	(void)state;
	MELY_STORE(&one->loan.lends_to, two, relaxed);
	MELY_STORE(&two->loan.borrows, true, relaxed);
	MELY_STORE(&two->hint.batch_ns, 1, relaxed);
	MELY_STORE(&two->hint.busy, 1, relaxed);
	MELY_STORE(&two->pace.turn_ticks, melyint_ticks(), relaxed);
	assert_int_equal(pthread_create(&thread, NULL, post_behind_two, NULL), 0);
	play(one);
	melyint_park(one);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_non_null(one->batch.color);
	assert_int_equal(counted(&rt->outside.wakeups), 0);
	melyint_batch_run(one);
	MELY_STORE(&one->loan.lends_to, NULL, relaxed);
	MELY_STORE(&two->loan.borrows, false, relaxed);
	MELY_STORE(&two->hint.busy, 0, relaxed);
	run_all(two);
}

static int
setup(void **state)
{
	int error = cores_setup(state);

	return error != 0 ? error : mely_set_stealing(rt, MELY_STEAL_ON | MELY_STEAL_TIME_LEFT);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, cores_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(the_higher_number_lends),
	    CASE(a_much_lower_load_lends),
	    CASE(no_room_no_loan),
	    CASE(without_stealing_no_loan),
	    CASE(a_borrower_does_not_lend),
	    CASE(what_the_poller_finds_is_lent),
	    CASE(a_loan_is_checked_before_use),
	    CASE(a_lender_comes_back_for_a_backlog),
	    CASE(a_lender_keeps_watch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
