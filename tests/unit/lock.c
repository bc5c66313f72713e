/* SPDX-License-Identifier: MIT */
/*
 * lock.c: the lock of the queues excludes, also with many more threads than processors, where the
 * holder is often preempted; try does not wait; the witness names the holder.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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
		MELY_DEBUG_ASSERT(melyint_lock_held(&shared.lock));
		/* The holder loses its processor. */
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

struct witness {
	struct melyint_lock lock;
	bool held; /* as another thread sees it */
};

static void *
ask(void *arg)
{
	struct witness *witness = arg;

	witness->held = melyint_lock_held(&witness->lock);
	return NULL;
}

static bool
held_elsewhere(struct witness *witness)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, ask, witness), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	return witness->held;
}

/* In developer builds only the holder sees that it holds the lock; in release builds every thread
 * does. */
static void
witness_names_the_holder(void **state)
{
#ifdef MELY_DEVELOPER
	const bool otherwise = false;
#else
	const bool otherwise = true;
#endif
	struct witness witness = {.held = false};

	(void)state;
	melyint_lock_init(&witness.lock);
	assert_int_equal(melyint_lock_held(&witness.lock), otherwise);
	melyint_lock_take(&witness.lock);
	assert_true(melyint_lock_held(&witness.lock));
	assert_int_equal(held_elsewhere(&witness), otherwise);
	assert_false(melyint_lock_try(&witness.lock));
	assert_true(melyint_lock_held(&witness.lock));
	melyint_lock_drop(&witness.lock);
	assert_int_equal(melyint_lock_held(&witness.lock), otherwise);
	assert_true(melyint_lock_try(&witness.lock));
	assert_true(melyint_lock_held(&witness.lock));
	melyint_lock_drop(&witness.lock);
	assert_int_equal(melyint_lock_held(&witness.lock), otherwise);
}

#ifdef MELY_DEVELOPER
/* A child that drops a lock it does not hold, or takes one twice, prints a line and aborts. */
static void
abuse(bool twice)
{
	int fds[2], status;
	char line[256] = "";
	pid_t child;

	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		struct melyint_lock lock;

		signal(SIGABRT, SIG_DFL); /* cmocka has a handler */
		dup2(fds[1], STDERR_FILENO);
		melyint_lock_init(&lock);
		if (twice) {
			melyint_lock_take(&lock);
			melyint_lock_take(&lock);
		}
		melyint_lock_drop(&lock);
		_exit(0);
	}
	close(fds[1]);
	assert_true(read(fds[0], line, sizeof line - 1) > 0);
	close(fds[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	assert_non_null(strstr(line, "mely: bug: lock."));
	assert_non_null(strstr(line, "melyint_lock_held(lock)"));
}

static void
abuse_aborts(void **state)
{
	(void)state;
	abuse(false);
	abuse(true);
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(try_does_not_wait),
		cmocka_unit_test(witness_names_the_holder),
#ifdef MELY_DEVELOPER
		cmocka_unit_test(abuse_aborts),
#endif
		cmocka_unit_test(keeps_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
