/* SPDX-License-Identifier: MIT */
/*
 * steal.c: the mechanism of stealing: NOTE(steal). A steal moves one whole color into the thief's
 * batch; a pull moves colors into its core-queue; pinned and running colors stay. One thread plays
 * the cores.
 */
#include "cores.h"
#include "sched/steal.h"

enum { PULLS_MAX = 16 };

static uint32_t
events_of(const struct mely_color *color)
{
	const struct mely_event *ev = color->_tails;
	uint32_t n = 0;

	if (ev == NULL)
		return 0;
	do {
		n++;
		ev = ev->_next;
	} while (ev != color->_tails);
	return n;
}

static void
nothing_to_steal(void **state)
{
	(void)state;
	play(one);
	assert_false(melyint_steal_glance(one));
	assert_false(melyint_steal(one));
	assert_int_equal(counted(&one->counters.steals_tried), 0); /* no lock was taken */
	post(0, 1);
	assert_int_equal(mely_set_stealing(rt, 0), 0);
	assert_false(melyint_steal_glance(one));
	assert_false(melyint_steal(one));
}

static void
a_whole_color_moves(void **state)
{
	(void)state;
	post(0, 3);
	post(1, 2);
	play(one);
	assert_true(melyint_steal_glance(one));
	assert_true(melyint_steal_glanced(one));
	assert_ptr_equal(one->batch.color, &colors[0]); /* it has waited longest */
	assert_ptr_equal(owner_of(&colors[0]), one);
	assert_int_equal(state_of(&colors[0]), MELYINT_COLOR_RUNNING);
	assert_true(one->locked.has_batch);
	assert_int_equal(waiting_on(two), 1);
	assert_int_equal(stealable_on(two), 1);
	assert_true(melyint_coreq_validate(&two->ready));
	assert_int_equal(counted(&one->counters.steals), 1);
	assert_int_equal(counted(&one->counters.steals_tried), 1);
	/* C of NOTE(measure): the batch is the first of its color away from home. */
	assert_true(one->sampling.away);
	assert_int_equal(one->sampling.batches_left, 1);
	melyint_batch_run(one);
	assert_false(one->sampling.away);
	assert_int_equal(calls_count, 3);
	assert_int_equal(counted(&one->counters.stolen_events), 3);
}

static void
the_sampling_goes_on_after_a_steal(void **state)
{
	(void)state;
	post(0, 1);
	play(one);
	one->sampling.batches_left = 17;
	assert_true(melyint_steal(one));
	melyint_batch_run(one);
	assert_int_equal(one->sampling.batches_left, 17);
	/* Observed: plain_left has the countdown to the next sampled batch, and keeps it. */
	melyint_turn_end(one);
	post(1, 1);
	play(one);
	one->sampling.observe = 1;
	one->sampling.observe_every = 1;
	melyint_sampling_observe(one, true);
	assert_int_equal(one->sampling.plain_left, 17);
	assert_int_equal(one->sampling.batches_left, 1);
	assert_true(melyint_steal(one));
	assert_int_equal(one->sampling.plain_left, 17);
	one->sampling.observe = 0;
	melyint_sampling_observe(one, false);
	melyint_batch_run(one);
	assert_int_equal(one->sampling.batches_left, 17);
}

static void
pinned_and_running_colors_stay(void **state)
{
	(void)state;
	assert_int_equal(mely_color_pin(&colors[0], 1), 0);
	post(0, 1);
	post(1, 1);
	play(two);
	assert_true(melyint_turn(two)); /* color 0 runs */
	assert_ptr_equal(two->batch.color, &colors[0]);
	play(NULL);
	assert_int_equal(mely_color_pin(&colors[1], 1), 0);
	play(one);
	assert_false(melyint_steal(one));
	/* A hint that is behind: there is a color, but none to take. */
	MELY_STORE(&two->hint.stealable, 1, relaxed); /* one thread, as below */
	assert_false(melyint_steal(one));
	assert_int_equal(counted(&one->counters.steals_empty), 1);
	MELY_STORE(&two->hint.stealable, 0, relaxed);
	play(two);
	melyint_batch_run(two);
}

static void
a_held_lock_is_left_alone(void **state)
{
	(void)state;
	post(0, 1);
	play(one);
	melyint_lock_take(&two->lock);
	assert_false(melyint_steal(one));
	melyint_lock_drop(&two->lock);
	assert_int_equal(counted(&one->counters.steals_tried), 1);
	assert_int_equal(counted(&one->counters.steals_empty), 1);
	assert_ptr_equal(owner_of(&colors[0]), two);
	assert_true(melyint_steal(one));
}

static void
a_stuck_core_is_emptied(void **state)
{
	struct mely_color more[PULLS_MAX];
	int i;

	(void)state;
	play(NULL);
	for (i = 0; i < PULLS_MAX; i++) {
		assert_int_equal(mely_color_init_on(&more[i], rt, 1), 0);
		assert_int_equal(mely_post(&more[i], &handler, NULL), 0);
	}
	post(0, 2);
	play(one);
	melyint_steal_relieve(one, two);
	assert_int_equal(waiting_on(one), PULLS_MAX);
	assert_int_equal(waiting_on(two), 1);
	assert_int_equal(counted(&one->counters.balance_steals), PULLS_MAX);
	assert_int_equal(MELY_LOAD(&one->hint.moving, relaxed), 0); /* one thread */
	for (i = 0; i < PULLS_MAX; i++) {
		assert_ptr_equal(owner_of(&more[i]), one);
		assert_int_equal(state_of(&more[i]), MELYINT_COLOR_QUEUED);
	}
	assert_true(melyint_coreq_validate(&one->ready));
	melyint_steal_relieve(one, two);
	assert_int_equal(waiting_on(one), PULLS_MAX + 1);
	assert_int_equal(events_of(&colors[0]), 2);
	run_all(one);
	assert_int_equal(calls_count, PULLS_MAX + 2);
}

static void
balance_takes_half_of_the_difference(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 5; i++)
		post(i, 1);
	play(one);
	melyint_balance(one, 1000); /* the first glance */
	assert_int_equal(waiting_on(one), 0);
	MELY_COUNT(&two->hint.dry, 1); /* it had nothing waiting meanwhile */
	melyint_balance(one, 2000);
	assert_int_equal(waiting_on(one), 0);
	melyint_balance(one, 3000);
	assert_int_equal(waiting_on(one), 3); /* the odd one, too */
	assert_int_equal(waiting_on(two), 2);
	melyint_balance(one, 4000);
	assert_int_equal(waiting_on(one), 3); /* it has more than the others now */
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, cores_setup, cores_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(nothing_to_steal),
	    CASE(a_whole_color_moves),
	    CASE(the_sampling_goes_on_after_a_steal),
	    CASE(pinned_and_running_colors_stay),
	    CASE(a_held_lock_is_left_alone),
	    CASE(a_stuck_core_is_emptied),
	    CASE(balance_takes_half_of_the_difference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
