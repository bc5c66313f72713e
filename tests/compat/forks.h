/* SPDX-License-Identifier: MIT */
/*
 * forks.h: for tests of forks while other colors are in the library, of either dialect: what is the
 * same in both. The children allocate, which no sanitizer's allocator survives when another thread
 * was in it at the fork; so these tests are for builds without one.
 */
#ifndef MELY_TESTS_FORKS_H
#define MELY_TESTS_FORKS_H

#include "facts.h"

#include <stdint.h>

typedef void (*function)();

/* Each one is a function that the library has not seen yet; none is ever called. */
static inline function
new_function()
{
	static int functions;

	return (function)(intptr_t)(0x1000 + 16 * facts_add(&functions, 1));
}

/* A child that hangs is to end; the thread that forked may be one without signals. */
static inline void
ends_in_time()
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	alarm(30);
}

/* What a child does, which never comes back: the test's. */
static void child();

/* Fork so often, once in each event of color 0, and end the test. */
static inline void
forks(int times)
{
	int status;
	pid_t pid;

	if (times == 0)
		FACTS_END();
	pid = fork();
	if (pid == 0)
		child();
	FACT(waitpid(pid, &status, 0) == pid);
	FACT_EQ(status, 0);
	cpucb_tail(wrap(forks, times - 1));
}

#endif
