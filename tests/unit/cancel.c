/* SPDX-License-Identifier: MIT */
/*
 * cancel.c: cancels that come while another thread moves the event: NOTE(cancel). The test holds a
 * lock that the other thread needs, so it stands still in the middle.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "cores.h"
#include "life/life.h"

static struct mely_event first, second, drained;
static struct mely_color on_one;
static int handed_back;
static _Atomic int result; /* of the cancel of another thread; 1: it has not returned */

static void
on_handback(void *ctx, const struct mely_handback *left)
{
	(void)ctx;
	if (left->event == &first)
		handed_back++;
}

static void *
hand_back(void *arg)
{
	(void)arg;
	(void)melyint_handback_all(rt);
	return NULL;
}

static void *
cancel(void *ev)
{
	MELY_STORE(&result, mely_event_cancel(ev, NULL, NULL), relaxed);
	return NULL;
}

static pthread_t
start(void *(*fn)(void *arg), void *arg)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, fn, arg), 0);
	return thread;
}

static void
give_way(void)
{
	int i;

	for (i = 0; i < 200; i++)
		sched_yield();
}

/* The second event is the first of what is left: the first has been taken out. */
static bool
first_is_out(void)
{
	bool out;

	melyint_lock_take(&two->lock);
	out = rt->life.left == &second;
	melyint_lock_drop(&two->lock);
	return out;
}

/* Two events of a color with a mark, which has refused a third. When the first is handed back, the
 * color has drained, and the post that says so waits for the lock of core one. */
static void
what_is_handed_back_is_claimed(void **state)
{
	pthread_t handback, canceller;
	int before, other;
	unsigned found;

	(void)state;
	play(NULL);
	handed_back = 0;
	rt->config.handback = on_handback;
	mely_event_init(&first, &handler, NULL);
	mely_event_init(&second, &handler, NULL);
	mely_event_init(&drained, &handler, NULL);
	assert_int_equal(mely_color_init_on(&on_one, rt, 0), 0);
	assert_int_equal(mely_color_set_high_water(&colors[0], 2, &on_one, &drained), 0);
	assert_int_equal(mely_event_post(&colors[0], &first), 0);
	assert_int_equal(mely_event_post(&colors[0], &second), 0);
	assert_int_equal(mely_post(&colors[0], &handler, NULL), -EAGAIN);
	melyint_lock_take(&one->lock);
	handback = start(hand_back, NULL);
	while (!first_is_out())
		sched_yield();
	found = MELY_LOAD(&first._state, acquire); /* as a cancel looks at it */
	MELY_STORE(&result, 1, relaxed);
	canceller = start(cancel, &first);
	give_way();
	before = MELY_LOAD(&result, relaxed);
	other = mely_event_cancel(&second, NULL, NULL);
	melyint_lock_drop(&one->lock);
	assert_int_equal(pthread_join(handback, NULL), 0);
	assert_int_equal(pthread_join(canceller, NULL), 0);
	assert_int_equal(found, MELYINT_EV_CLAIMED);
	assert_int_equal(before, 1);
	assert_int_equal(other, 0);
	assert_int_equal(MELY_LOAD(&result, relaxed), -ENOENT);
	assert_int_equal(handed_back, 1);
	rt->config.handback = NULL;
}

/* The event becomes the completion of another cancel while this one waits for the lock, in most
 * rounds; in the others it is one from the beginning. */
static void
completion_is_promised_meanwhile(void **state)
{
	pthread_t canceller;
	int i;

	(void)state;
	mely_event_init(&first, &handler, NULL);
	play(NULL);
	assert_int_equal(mely_event_post(&colors[0], &first), 0);
	run_all(two);
	play(NULL);
	for (i = 0; i < 20; i++) {
		assert_int_equal(MELY_LOAD(&first._state, relaxed), MELYINT_EV_IDLE);
		melyint_lock_take(&two->lock);
		canceller = start(cancel, &first);
		give_way();
		MELY_STORE(&first._state, MELYINT_EV_PROMISED, relaxed); /* as in hang_completion */
		melyint_lock_drop(&two->lock);
		assert_int_equal(pthread_join(canceller, NULL), 0);
		assert_int_equal(MELY_LOAD(&result, relaxed), -EBUSY);
		MELY_STORE(&first._state, MELYINT_EV_IDLE, relaxed);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_handed_back_is_claimed, cores_setup,
		    cores_teardown),
		cmocka_unit_test_setup_teardown(completion_is_promised_meanwhile, cores_setup,
		    cores_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
