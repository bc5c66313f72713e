/* SPDX-License-Identifier: MIT */
/*
 * threads.c: a run whose threads cannot all be started. It fails, and the watchers and events that
 * were there run in the next one.
 */
#include <errno.h>
#include <pthread.h>

#include "unit.h"
#include "core/core.h"

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *),
    void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *),
    void *arg);

static int left = -1; /* threads that can be started; below 0: any number */

int
__wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	if (left == 0)
		return EAGAIN;
	if (left > 0)
		left--;
	return __real_pthread_create(thread, attr, fn, arg);
}

enum { CORES = 3, EVENTS = 3 };

static struct mely_runtime *rt;
static struct mely_color colors[EVENTS];
static _Atomic int events, ticks;

static void
on_event(void *arg)
{
	(void)arg;
	atomic_fetch_add(&events, 1);
}

static void
on_tick(void *arg)
{
	(void)arg;
	atomic_fetch_add(&ticks, 1);
	assert_int_equal(mely_stop(rt, MELY_STOP_DRAIN), 0);
}

static struct mely_handler event = MELY_HANDLER(on_event), tick = MELY_HANDLER(on_tick);

static void
fails_and_loses_nothing(int (*run)(struct mely_runtime *rt))
{
	struct mely_config config;
	mely_watch watch;
	int threads, i;

	for (threads = 0; threads < CORES - 1; threads++) {
		assert_int_equal(mely_config_init(&config), 0);
		config.cores = CORES;
		assert_int_equal(mely_runtime_new(&rt, &config), 0);
		atomic_store(&events, 0);
		atomic_store(&ticks, 0);
		for (i = 0; i < EVENTS; i++) {
			assert_int_equal(mely_color_init_on(&colors[i], rt, i), 0);
			assert_int_equal(mely_color_pin(&colors[i], i), 0);
			assert_int_equal(mely_post(&colors[i], &event, NULL), 0);
		}
		/* Due when the failed run is over, and far before the alarm. */
		assert_int_equal(mely_timer_start(&colors[0], 1000000000, 0, 0, &tick, NULL,
		    &watch), 0);
		left = threads;
		assert_int_equal(run(rt), -EAGAIN);
		left = -1;
		assert_int_equal(atomic_load(&ticks), 0);
		assert_int_equal(mely_run(rt), 0);
		assert_int_equal(atomic_load(&ticks), 1);
		assert_int_equal(atomic_load(&events), EVENTS);
		assert_int_equal(mely_runtime_free(rt), 0);
	}
}

static int
run_once(struct mely_runtime *runtime)
{
	return mely_run_once_for(runtime, 0);
}

static void
a_run(void **state)
{
	(void)state;
	fails_and_loses_nothing(mely_run);
}

static void
a_pass(void **state)
{
	(void)state;
	fails_and_loses_nothing(run_once);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_run),
	    cmocka_unit_test(a_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
