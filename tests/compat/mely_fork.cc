/* SPDX-License-Identifier: MIT */
/*
 * mely_fork.cc: forks while other colors are in the library: in the child, callbacks of descriptors
 * are set, dropped and posted as before, and nobody comes to call them.
 */
#include "mely.h"

#include "facts.h"

static int watched[2];

typedef void (*function)();

/* Each one is a function that the library has not seen yet; none is ever called. */
static function
new_function()
{
	static int functions;

	return (function)(intptr_t)(0x1000 + 16 * facts_add(&functions, 1));
}

static void
watch(int fd, int color)
{
	fdcb(fd, selread, cwrap(new_function(), color));
	fdcb(fd, selread, wrap(new_function()));
	fdcb(fd, selread, NULL);
}

static void
watches(int fd, int color)
{
	for (int i = 0; i < 20; i++)
		watch(fd, color);
	cpucb_tail(cwrap(watches, fd, color, color));
}

/* If it hangs it is to end; the thread that forked may be one without signals. */
static void
child()
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	alarm(30);
	for (int i = 0; i < 2; i++) {
		watch(watched[i], 3);
		watch(watched[i] + 1000, 3); /* not seen before */
	}
	cpucb(cwrap(new_function(), 3));
	cpucb_tail(cpwrap(new_function(), 3, 1));
	_exit(0);
}

static void
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

static void
fork_while_others_watch()
{
	int fds[2];

	for (int i = 0; i < 2; i++) {
		FACT(pipe(fds) == 0);
		watched[i] = fds[0];
		cpucb_tail(cwrap(watches, watched[i], 3 + i, 3 + i));
	}
	cpucb_tail(wrap(forks, 300));
	amain();
}

static const struct fact facts[] = {
	CASE_ON(2, fork_while_others_watch),
	CASE_ON(8, fork_while_others_watch),
};

FACTS_MAIN(facts)
