/* SPDX-License-Identifier: MIT */
/*
 * names_marks.c: high-water marks: NOTE(marks), and what changing a mark does to the event that
 * reports that the color has drained.
 */
#include <errno.h>

#include "cores.h"
#include "color/names_marks.h"

enum { MARK = 4 };

static struct mely_event drained, other;
static int released;

static void
on_release(void *arg)
{
	(void)arg;
	released++;
}

/* Color 0 gets a mark, and MARK posts that count. */
static void
fill(void)
{
	int i;

	released = 0;
	play(NULL);
	mely_event_init(&drained, &handler, NULL);
	mely_event_init(&other, &handler, NULL);
	assert_int_equal(mely_color_set_high_water(&colors[0], MARK, &colors[1], &drained), 0);
	for (i = 0; i < MARK; i++)
		assert_true(melyint_mark_admit(&colors[0]));
}

static void
run(int posts)
{
	for (; posts > 0; posts--)
		melyint_mark_ran(&colors[0]);
}

/* The events of these posts have left the queue, and their threads are about to say so. */
static void
release_waits_for_counted_posts(void **state)
{
	(void)state;
	fill();
	assert_int_equal(mely_color_release(&colors[0], on_release, NULL), 0);
	run(MARK - 1);
	assert_int_equal(released, 0);
	run(1);
	assert_int_equal(released, 1);
}

static void
so_it_does_without_the_mark(void **state)
{
	(void)state;
	fill();
	assert_int_equal(mely_color_set_high_water(&colors[0], 0, NULL, NULL), 0);
	run(MARK - 1);
	assert_int_equal(mely_color_release(&colors[0], on_release, NULL), 0);
	assert_int_equal(released, 0);
	run(1);
	assert_int_equal(released, 1);
	/* A color that is made at the same address has no mark, and no posts. */
	assert_int_equal(mely_color_init(&colors[0], rt), 0);
	assert_int_equal(mely_color_release(&colors[0], on_release, NULL), 0);
	assert_int_equal(released, 2);
}

#ifndef MELY_DEVELOPER
/* A post to a released color, which a developer build does not survive, counts no longer. */
static void
refused_post_does_not_count(void **state)
{
	struct mely_event ev;

	(void)state;
	fill();
	run(MARK);
	mely_event_init(&ev, &handler, NULL);
	assert_int_equal(mely_event_post(&colors[0], &ev), 0);
	assert_int_equal(mely_color_release(&colors[0], on_release, NULL), 0);
	assert_int_equal(mely_post(&colors[0], &handler, NULL), -EINVAL);
	assert_int_equal(mely_event_post(&colors[0], &drained), -EINVAL);
	assert_int_equal(released, 0);
	assert_int_equal(mely_event_cancel(&ev, NULL, NULL), 0);
	assert_int_equal(released, 1);
}
#endif

static void
report_outlasts_a_new_mark(void **state)
{
	(void)state;
	fill();
	assert_false(melyint_mark_admit(&colors[0]));
	assert_int_equal(mely_color_set_high_water(&colors[0], MARK + 1, &colors[1], &other), 0);
	assert_false(mely_event_pending(&other));
	run(2);
	assert_true(mely_event_pending(&other));
	assert_false(mely_event_pending(&drained));
	assert_int_equal(mely_event_cancel(&other, NULL, NULL), 0);
	run(MARK - 2);
	assert_false(mely_event_pending(&other)); /* once */
}

static void
high_mark_reports_at_once(void **state)
{
	(void)state;
	fill();
	assert_false(melyint_mark_admit(&colors[0]));
	assert_int_equal(mely_color_set_high_water(&colors[0], 2 * MARK, &colors[1], &other), 0);
	assert_true(mely_event_pending(&other));
	assert_int_equal(mely_event_cancel(&other, NULL, NULL), 0);
	run(MARK);
	assert_false(mely_event_pending(&other));
}

static void
removed_mark_reports_at_once(void **state)
{
	(void)state;
	fill();
	assert_int_equal(mely_color_set_high_water(&colors[0], 0, NULL, NULL), 0);
	assert_false(mely_event_pending(&drained)); /* no post was refused */
	run(MARK);
	fill();
	assert_false(melyint_mark_admit(&colors[0]));
	assert_int_equal(mely_color_set_high_water(&colors[0], 0, NULL, NULL), 0);
	assert_true(mely_event_pending(&drained));
	assert_int_equal(mely_event_cancel(&drained, NULL, NULL), 0);
	run(MARK);
	assert_false(mely_event_pending(&drained));
}

static void
nothing_counts_after_a_fork(void **state)
{
	(void)state;
	fill();
	assert_false(melyint_mark_admit(&colors[0]));
	melyint_marks_renew(rt->colorext);
	assert_true(melyint_mark_admit(&colors[0]));
	run(1);
	assert_false(mely_event_pending(&drained)); /* nothing was refused here */
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, cores_setup, cores_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(release_waits_for_counted_posts),
	    CASE(so_it_does_without_the_mark),
#ifndef MELY_DEVELOPER
	    CASE(refused_post_does_not_count),
#endif
	    CASE(report_outlasts_a_new_mark),
	    CASE(high_mark_reports_at_once),
	    CASE(removed_mark_reports_at_once),
	    CASE(nothing_counts_after_a_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
