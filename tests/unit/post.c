/* SPDX-License-Identifier: MIT */
/*
 * post.c: where a post puts an event, and what it does to the color: NOTE(post). Own posts, appends
 * and removals, adoption, claims, priorities and refusals. One thread plays the cores.
 */
#include <errno.h>

#include "cores.h"

static struct mely_event embedded;

static int
append(int color, struct mely_event *ev, unsigned flags)
{
	struct melyint_core *owner = melyint_color_lock(&colors[color]);
	int how;

	/* relaxed: one thread */
	MELY_STORE(&ev->_state, MELYINT_EV_CLAIMED, relaxed);
	how = melyint_append_locked(owner, &colors[color], ev, flags);
	melyint_lock_drop(&owner->lock);
	return how;
}

static bool
remove_event(int color, struct mely_event *ev)
{
	struct melyint_core *owner = melyint_color_lock(&colors[color]);
	bool last = melyint_remove_locked(owner, &colors[color], ev);

	melyint_lock_drop(&owner->lock);
	MELY_STORE(&ev->_state, MELYINT_EV_IDLE, relaxed); /* one thread */
	return last;
}

static void
append_links_an_idle_color(void **state)
{
	struct mely_event events[3];
	int i;

	(void)state;
	for (i = 0; i < 3; i++)
		mely_event_init(&events[i], &handler, NULL);
	assert_int_equal(append(0, &events[0], 0), MELYINT_APPEND_LINKED);
	assert_int_equal(state_of(&colors[0]), MELYINT_COLOR_QUEUED);
	assert_int_equal(waiting_on(two), 1);
	assert_int_equal(stealable_on(two), 1);
	assert_int_equal(append(0, &events[1], 0), MELYINT_APPEND_QUEUED);
	assert_int_equal(append(0, &events[2], MELYINT_POST_HEAD), MELYINT_APPEND_QUEUED);
	assert_int_equal(two->ready.length, 1);
	assert_ptr_equal(colors[0]._tails, &events[0]);
	assert_ptr_equal(colors[0]._tails->_prev, &events[1]);
	assert_ptr_equal(MELY_LOAD(&colors[0]._heads, relaxed), &events[2]);
	/* The color keeps an embedded event's address in mind: no trim may free it. */
	assert_true(MELY_LOAD(&colors[0]._flags, relaxed) & MELYINT_COLOR_HELD);
	/* Out again, the last one idles the color. */
	assert_false(remove_event(0, &events[0]));
	assert_false(remove_event(0, &events[2]));
	assert_true(remove_event(0, &events[1]));
	assert_int_equal(state_of(&colors[0]), MELYINT_COLOR_IDLE);
	assert_int_equal(waiting_on(two), 0);
	assert_int_equal(stealable_on(two), 0);
	assert_true(melyint_coreq_validate(&two->ready));
}

static void
dead_color_takes_nothing(void **state)
{
	struct mely_event ev;

	(void)state;
	mely_event_init(&ev, &handler, NULL);
	/* relaxed, both: one thread */
	MELY_OR(&colors[0]._flags, MELYINT_COLOR_DEAD, relaxed);
	assert_int_equal(append(0, &ev, 0), MELYINT_APPEND_DEAD);
	assert_null(colors[0]._tails);
	assert_int_equal(waiting_on(two), 0);
	MELY_STORE(&ev._state, MELYINT_EV_IDLE, relaxed);
	assert_int_equal(mely_event_post(&colors[0], &ev), -ESTALE);
	assert_false(mely_event_pending(&ev)); /* the claim was given back */
	MELY_AND(&colors[0]._flags, (uint16_t)~MELYINT_COLOR_DEAD, relaxed);
}

/* A handler that posts to its own color, and twice to another. */
static void
post_from_handler(void *arg)
{
	(void)arg;
	assert_int_equal(mely_post(&colors[0], &handler, (void *)1), 0);
	assert_int_equal(mely_event_post(&colors[0], &embedded), 0);
	/* A of NOTE(post): both are in the batch alone. */
	assert_ptr_equal(one->batch.own->_prev, &embedded);
	assert_null(colors[0]._tails);
	assert_int_equal(MELY_LOAD(&embedded._state, relaxed), MELYINT_EV_PRIVATE);
	assert_int_equal(mely_event_post(&colors[0], &embedded), -EALREADY);
}

static void
own_posts_stay_in_the_batch(void **state)
{
	static struct mely_handler own = MELY_HANDLER(post_from_handler);

	(void)state;
	mely_event_init(&embedded, &handler, (void *)2);
	assert_int_equal(mely_color_pin(&colors[0], 0), 0);
	assert_int_equal(mely_post(&colors[0], &own, NULL), 0);
	run_batch(one);
	/* They ran in the batch, in order, since it had taken the whole color-queue. */
	assert_int_equal(calls_count, 2);
	assert_int_equal(calls[0], 1);
	assert_int_equal(calls[1], 2);
	assert_false(mely_event_pending(&embedded));
}

static void
idle_color_is_adopted(void **state)
{
	(void)state;
	play(one);
	assert_int_equal(mely_post(&colors[0], &handler, NULL), 0);
	assert_ptr_equal(owner_of(&colors[0]), one);
	assert_int_equal(counted(&one->counters.adoptions), 1);
	/* Not with more waiting than the owner, */
	assert_int_equal(mely_post(&colors[1], &handler, NULL), 0);
	assert_ptr_equal(owner_of(&colors[1]), two);
	assert_int_equal(counted(&one->counters.posts_remote), 1);
	/* ... not a color with events, not a pinned one, */
	post(2, 1);
	run_all(one);
	assert_int_equal(mely_post(&colors[2], &handler, NULL), 0);
	assert_ptr_equal(owner_of(&colors[2]), two);
	assert_int_equal(mely_color_pin(&colors[3], 1), 0);
	assert_int_equal(mely_post(&colors[3], &handler, NULL), 0);
	assert_ptr_equal(owner_of(&colors[3]), two);
	/* ... and none without stealing. */
	assert_int_equal(mely_set_stealing(rt, 0), 0);
	assert_int_equal(mely_post(&colors[4], &handler, NULL), 0);
	assert_ptr_equal(owner_of(&colors[4]), two);
	assert_int_equal(counted(&one->counters.adoptions), 1);
}

static void
priority_follows_the_posts(void **state)
{
	static struct mely_handler high = MELY_HANDLER(count);
	struct mely_color *first;

	(void)state;
	high.priority = MELY_PRIORITY_MAX + 1; /* clipped */
	post(0, 1);
	post(1, 1);
	assert_int_equal(mely_post(&colors[1], &high, NULL), 0);
	assert_int_equal(colors[1]._priority, MELY_PRIORITY_MAX);
	assert_true(melyint_coreq_validate(&two->ready));
	first = melyint_coreq_highest(&two->ready);
	assert_ptr_equal(first, &colors[1]);
	/* A less urgent post leaves it there. */
	post(1, 1);
	assert_ptr_equal(melyint_coreq_highest(&two->ready), &colors[1]);
}

static void
refused_posts_leave_nothing(void **state)
{
	struct mely_event ev;

	(void)state;
	mely_event_init(&ev, &handler, NULL);
	play(NULL);
	/* relaxed, all: one thread */
	MELY_STORE(&rt->phase, MELYINT_DRAINING, relaxed);
	assert_int_equal(mely_event_post(&colors[0], &ev), -ESHUTDOWN);
	assert_int_equal(mely_post(&colors[0], &handler, NULL), -ESHUTDOWN);
	assert_int_equal(melyint_post(&colors[0], &ev, MELYINT_POST_INTERNAL), 0);
	assert_int_equal(mely_event_cancel(&ev, NULL, NULL), 0);
	play(one); /* a handler may */
	assert_int_equal(mely_event_post(&colors[0], &ev), 0);
	assert_int_equal(mely_event_cancel(&ev, NULL, NULL), 0);
	play(NULL);
	MELY_STORE(&rt->phase, MELYINT_FORKED, relaxed);
	assert_int_equal(mely_event_post(&colors[0], &ev), -ECHILD);
	MELY_STORE(&rt->phase, MELYINT_IDLE, relaxed);
	assert_int_equal(waiting_on(one) + waiting_on(two), 0);
	/* A full color. */
	assert_int_equal(mely_color_set_high_water(&colors[1], 1, NULL, NULL), 0);
	post(1, 1);
	assert_int_equal(mely_event_post(&colors[1], &ev), -EAGAIN);
	assert_int_equal(counted(&rt->outside.refused), 1);
	assert_int_equal(melyint_post(&colors[1], &ev, MELYINT_POST_INTERNAL), 0);
	assert_int_equal(mely_event_cancel(&ev, NULL, NULL), 0);
	assert_false(mely_event_pending(&ev));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, cores_setup, cores_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(append_links_an_idle_color),
	    CASE(dead_color_takes_nothing),
	    CASE(own_posts_stay_in_the_batch),
	    CASE(idle_color_is_adopted),
	    CASE(priority_follows_the_posts),
	    CASE(refused_posts_leave_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
