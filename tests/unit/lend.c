/* SPDX-License-Identifier: MIT */
/*
 * lend.c: load that concentrates: NOTE(lend). Which core lends to which, what its poller finds for
 * its colors, and when it comes back. One thread plays the cores; their loads are set by hand.
 */
#include "cores.h"
#include "sched/lend.h"

static struct mely_handler slow = MELY_HANDLER_WITH(count, 1000000, 1, 0);

/* relaxed, all: one thread */
static struct melyint_core *
borrower_of(const struct melyint_core *core)
{
	return MELY_LOAD(&core->hint.lends_to, relaxed);
}

static void
set_load(struct melyint_core *core, uint32_t load)
{
	MELY_STORE(&core->hint.load, load, relaxed);
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
	assert_true(MELY_LOAD(&one->hint.borrows, relaxed));
	assert_in_range(MELY_LOAD(&one->hint.load, relaxed), 170, 180); /* with two's */
	look(two, false); /* once */
	assert_in_range(MELY_LOAD(&one->hint.load, relaxed), 170, 180);
	/* A core that borrows does not lend in turn, or what it was lent would move on. */
	look(one, false);
	assert_null(borrower_of(one));
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
	assert_in_range(MELY_LOAD(&two->hint.load, relaxed), 530, 550);
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
	assert_true(MELY_LOAD(&one->hint.borrows, relaxed));
	look(one, true);
	assert_false(MELY_LOAD(&one->hint.borrows, relaxed));
}

static void
what_the_poller_finds_is_lent(void **state)
{
	(void)state;
	MELY_STORE(&two->hint.lends_to, one, relaxed);
	play(two);
	assert_int_equal(mely_post(&colors[0], &handler, NULL), 0);
	assert_ptr_equal(MELY_LOAD(&colors[0]._owner, relaxed), one);
	assert_int_equal(counted(&two->counters.lent), 1);
	/* It stays there: a lender adopts nothing. */
	run_all(one);
	play(two);
	assert_int_equal(mely_post(&colors[0], &handler, NULL), 0);
	assert_ptr_equal(MELY_LOAD(&colors[0]._owner, relaxed), one);
	assert_int_equal(counted(&two->counters.adoptions), 0);
	run_all(one);
	/* Not a pinned color, nor one with events. */
	assert_int_equal(mely_color_pin(&colors[1], 1), 0);
	play(two);
	assert_int_equal(mely_post(&colors[1], &handler, NULL), 0);
	assert_ptr_equal(MELY_LOAD(&colors[1]._owner, relaxed), two);
	post(2, 1); /* from outside */
	play(two);
	assert_int_equal(mely_post(&colors[2], &handler, NULL), 0);
	assert_ptr_equal(MELY_LOAD(&colors[2]._owner, relaxed), two);
	assert_int_equal(counted(&two->counters.lent), 1);
	/* Nor what a handler posts. */
	assert_true(melyint_turn(two));
	assert_int_equal(mely_post(&colors[3], &handler, NULL), 0);
	assert_ptr_equal(MELY_LOAD(&colors[3]._owner, relaxed), two);
	melyint_batch_run(two);
	run_all(two);
	MELY_STORE(&two->hint.lends_to, NULL, relaxed);
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
	MELY_STORE(&one->hint.lends_to, two, relaxed);
	MELY_STORE(&two->hint.borrows, true, relaxed);
	MELY_STORE(&two->hint.batch_ns, MELYINT_LEND_BACKLOG_NS / 4, relaxed);
	assert_int_equal(melyint_victim_worthy(one, two, now), MELYINT_NOT_WORTHY);
	assert_false(melyint_victim_pays_wakeup(two, 3, true));
	assert_int_equal(melyint_victim_worthy(&rt->cores[2], two, now), MELYINT_WORTHY);
	MELY_STORE(&two->hint.batch_ns, MELYINT_LEND_BACKLOG_NS / 2, relaxed);
	assert_int_equal(melyint_victim_worthy(one, two, now), MELYINT_WORTHY);
	assert_true(melyint_victim_pays_wakeup(two, 3, true));
	/* What has waited for long is worthy in any case. */
	MELY_STORE(&two->hint.batch_ns, 1, relaxed);
	assert_int_equal(melyint_victim_worthy(one, two, now + rt->limits.aged_ticks),
	    MELYINT_WAITED);
	MELY_STORE(&one->hint.lends_to, NULL, relaxed);
	MELY_STORE(&two->hint.borrows, false, relaxed);
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
	    CASE(what_the_poller_finds_is_lent),
	    CASE(a_lender_comes_back_for_a_backlog),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
