/* SPDX-License-Identifier: MIT */
/*
 * forks.h: for tests that fork while other colors are in the library: the part common to both
 * dialects. The children allocate. A sanitizer's allocator does not survive that if another thread
 * was inside it at the fork, so these tests are for builds without sanitizers.
 */
#ifndef MELY_TESTS_FORKS_H
#define MELY_TESTS_FORKS_H

#include "facts.h"

#include <stdint.h>

typedef void (*function)();

/* Returns a function that the library has not seen yet; none is ever called. */
static inline function
new_function()
{
	static int functions;

	return (function)(intptr_t)(0x1000 + 16 * facts_add(&functions, 1));
}

/* End a child that hangs; the thread that forked may block all signals. */
static inline void
ends_in_time()
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	alarm(100);
}

/* The test defines the code of the child, which never returns. */
static void child();

/* Fork a number of times, once in each event of color 0, then end the test. */
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
