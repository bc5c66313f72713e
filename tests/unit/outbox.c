/* SPDX-License-Identifier: MIT */
/*
 * outbox.c: rows of posts: NOTE(outbox). When a core opens its outbox, what goes into it, and how a
 * delivery finds the colors. One thread plays the cores; the colors are pinned, so that none is
 * adopted.
 */
#include "cores.h"

static int posts; /* that the handler makes */

static uint32_t
held_back(void)
{
	/* relaxed, both: one thread */
	return MELY_LOAD(&one->outbox.tail, relaxed) - MELY_LOAD(&one->outbox.head, relaxed);
}

static bool
is_open(void)
{
	return MELY_LOAD(&one->outbox.open, relaxed); /* one thread */
}

/* Posts to color 0, which lives on the second core and has work waiting there. */
static void
post_row(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < posts; i++)
		assert_int_equal(mely_post(&colors[0], &handler, (void *)(intptr_t)i), 0);
}

static struct mely_handler row = MELY_HANDLER(post_row);

static int
setup(void **state)
{
	int i;

	assert_int_equal(cores_setup(state), 0);
	for (i = 0; i < COLORS; i++)
		assert_int_equal(mely_color_pin(&colors[i], 1), 0);
	assert_int_equal(mely_color_pin(&colors[COLORS - 1], 0), 0);
	post(1, 1);
	post(2, 1);
	/* The first core runs a batch; its handler is this thread's. */
	assert_int_equal(mely_post(&colors[COLORS - 1], &row, NULL), 0);
	play(one);
	assert_true(melyint_turn(one));
	posts = MELYINT_OUTBOX_AFTER;
	post_row(NULL);
	return 0;
}

static int
teardown(void **state)
{
	posts = 0;
	melyint_batch_run(one);
	return cores_teardown(state);
}

static void
a_row_opens_it(void **state)
{
	struct mely_event *last;

	(void)state;
	assert_true(is_open());
	assert_true(MELY_LOAD(&rt->flow.outboxes, relaxed)); /* one thread */
	assert_int_equal(held_back(), 0);
	last = colors[0]._tails->_prev;
	post_row(NULL);
	assert_int_equal(held_back(), MELYINT_OUTBOX_AFTER);
	assert_ptr_equal(colors[0]._tails->_prev, last); /* the color was not touched */
	melyint_outbox_deliver(one, one);
	assert_int_equal(held_back(), 0);
	run_all(two);
	play(one);
	/* 2 others; then both rows in order */
	assert_int_equal(calls_count, 2 + 2 * MELYINT_OUTBOX_AFTER);
	assert_int_equal(calls[2], 0);
	assert_int_equal(calls[2 + MELYINT_OUTBOX_AFTER], 0);
	assert_int_equal(calls[1 + 2 * MELYINT_OUTBOX_AFTER], MELYINT_OUTBOX_AFTER - 1);
}

static void
post_more_than_a_row(void *arg)
{
	(void)arg;
	post_row(NULL);
	post_row(NULL);
}

static void
release_self(void *arg)
{
	assert_int_equal(mely_color_release(arg, post_more_than_a_row, NULL), 0);
}

static struct mely_handler releaser = MELY_HANDLER(release_self);

/* The function runs after a turn, outside of any batch that would deliver what it posts. */
static void
a_release_function_holds_nothing_back(void **state)
{
	struct mely_color mine;

	(void)state;
	assert_int_equal(mely_color_init_on(&mine, rt, 0), 0);
	assert_int_equal(mely_color_pin(&mine, 0), 0);
	assert_int_equal(mely_post(&mine, &releaser, &mine), 0);
	posts = 0;
	melyint_batch_run(one);
	run_batch(one); /* of mine */
	posts = MELYINT_OUTBOX_AFTER;
	assert_false(melyint_turn(one));
	assert_int_equal(held_back(), 0);
	assert_false(is_open());
	assert_int_equal(mely_post(&colors[COLORS - 1], &row, NULL), 0);
	assert_true(melyint_turn(one)); /* for the teardown */
}

static void
another_kind_of_post_delivers_first(void **state)
{
	struct mely_event ev;

	(void)state;
	post_row(NULL);
	assert_int_equal(held_back(), MELYINT_OUTBOX_AFTER);
	mely_event_init(&ev, &handler, (void *)100);
	assert_int_equal(mely_event_post(&colors[0], &ev), 0);
	assert_int_equal(held_back(), 0);
	assert_ptr_equal(colors[0]._tails->_prev, &ev); /* behind the row */
	post_row(NULL);
	assert_int_equal(mely_post_head(&colors[0], &handler, (void *)101), 0);
	assert_int_equal(held_back(), 0);
	run_all(two);
	play(one);
	assert_int_equal(calls[2], 101);
}

static void
a_full_one_is_delivered(void **state)
{
	(void)state;
	posts = MELYINT_OUTBOX_FULL - 1;
	post_row(NULL);
	assert_int_equal(held_back(), MELYINT_OUTBOX_FULL - 1);
	posts = 1;
	post_row(NULL);
	assert_int_equal(held_back(), 0);
}

static void
the_batch_ends_with_a_delivery(void **state)
{
	(void)state;
	post_row(NULL);
	posts = 2;
	melyint_batch_run(one); /* runs post_row, which puts two more in */
	assert_int_equal(held_back(), 0);
	assert_false(is_open());
	assert_int_equal(one->outbox.remote, 0);
	assert_int_equal(mely_post(&colors[COLORS - 1], &row, NULL), 0); /* for the teardown */
	play(one);
	assert_true(melyint_turn(one));
}

static void
idle_cores_collect(void **state)
{
	struct melyint_core *three = &rt->cores[2];

	(void)state;
	post_row(NULL);
	play(three);
	assert_true(melyint_outbox_collect(three));
	assert_int_equal(held_back(), 0);
	assert_false(is_open());
	assert_false(melyint_outbox_collect(three));
	assert_false(melyint_outbox_collect_from(three, one));
	play(one);
	/* Closed: the next post takes the ordinary way. */
	posts = 1;
	post_row(NULL);
	assert_int_equal(held_back(), 0);
}

static void
colors_that_move_get_their_events(void **state)
{
	struct melyint_core *three = &rt->cores[2];

	(void)state;
	post_row(NULL);
	play(NULL);
	assert_int_equal(mely_color_pin(&colors[0], 2), 0);
	assert_ptr_equal(owner_of(&colors[0]), three);
	play(one);
	melyint_outbox_deliver_all(rt, one);
	assert_int_equal(held_back(), 0);
	run_all(three);
	play(one);
	assert_int_equal(calls_count, 2 * MELYINT_OUTBOX_AFTER);
	assert_int_equal(waiting_on(two), 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(a_row_opens_it, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_release_function_holds_nothing_back, setup,
	        teardown),
	    cmocka_unit_test_setup_teardown(another_kind_of_post_delivers_first, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_full_one_is_delivered, setup, teardown),
	    cmocka_unit_test_setup_teardown(the_batch_ends_with_a_delivery, setup, teardown),
	    cmocka_unit_test_setup_teardown(idle_cores_collect, setup, teardown),
	    cmocka_unit_test_setup_teardown(colors_that_move_get_their_events, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
