/* SPDX-License-Identifier: MIT */
/*
 * lock.c: the lock of the queues keeps out, also with many more threads than processors, where a
 * holder is often preempted; try does not wait.
 */
#include <pthread.h>
#include <sched.h>

#include "unit.h"
#include "base/lock.h"

enum { THREADS = 16, ROUNDS = 2000 };

static struct {
	struct melyint_lock lock;
	long plain;         /* under the lock */
	long tries;         /* under the lock */
} shared;

static void *
add(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < ROUNDS; i++) {
		melyint_lock_take(&shared.lock);
		shared.plain++;
		/* A holder that loses its processor. */
		if (i % 100 == 0)
			sched_yield();
		melyint_lock_drop(&shared.lock);
		if (melyint_lock_try(&shared.lock)) {
			shared.tries++;
			melyint_lock_drop(&shared.lock);
		}
	}
	return NULL;
}

static void
keeps_out(void **state)
{
	pthread_t threads[THREADS];
	int i;

	(void)state;
	melyint_lock_init(&shared.lock);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add, NULL), 0);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(shared.plain, (long)THREADS * ROUNDS);
	assert_in_range(shared.tries, 1, (long)THREADS * ROUNDS);
}

static void
try_does_not_wait(void **state)
{
	struct melyint_lock lock;

	(void)state;
	melyint_lock_init(&lock);
	assert_true(melyint_lock_try(&lock));
	assert_false(melyint_lock_try(&lock));
	melyint_lock_drop(&lock);
	assert_true(melyint_lock_try(&lock));
	melyint_lock_drop(&lock);
	melyint_lock_take(&lock);
	assert_false(melyint_lock_try(&lock));
	melyint_lock_drop(&lock);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(try_does_not_wait),
		cmocka_unit_test(keeps_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
