/* SPDX-License-Identifier: MIT */
/*
 * async_fork.cc: forks while other colors are in the library: the child can set, drop and post
 * callbacks as before, and no thread calls them. Section 1.9 of the facts.
 */
#include "async.h"

#include "forks.h"

static void
never()
{
	facts_fail(__FILE__, __LINE__, "it is called");
}

/* ---- descriptors ---- */

static int ends[2];
static int file;

static void
ignored()
{
}

static void
watch(int fd, int color)
{
	fdcb(fd, selread, cwrap(new_function(), color));
	fdcb(fd, selread, wrap(never));
	fdcb(fd, selread, NULL);
}

static void
watches(int fd, int color)
{
	for (int i = 0; i < 20; i++)
		watch(fd, color);
	fdcb(file, selread, wrap(ignored));
	fdcb(file, selread, NULL);
	cpucb_tail(cwrap(watches, fd, color, color));
}

static void
child()
{
	ends_in_time();
	for (int i = 0; i < 2; i++) {
		watch(ends[i], 3);
		watch(ends[i] + 1000, 3); /* not seen before */
	}
	fdcb(file, selread, wrap(ignored));
	fdcb(file, selread, NULL);
	cpucb(cwrap(new_function(), 3));
	cpucb(cpwrap(new_function(), 3, 1));
	cpucb_tail(wrap(new_function()));
	_exit(0);
}

static void
fork_while_others_watch()
{
	int fds[2];

	sigcb(SIGCHLD, cbv_null); /* so that the loop does not reap it */
	file = open("/proc/self/exe", O_RDONLY);
	for (int i = 0; i < 2; i++) {
		FACT(pipe(fds) == 0);
		ends[i] = fds[0];
		cpucb_tail(cwrap(watches, ends[i], 3 + i, 3 + i));
	}
	cpucb_tail(wrap(forks, 300));
	amain();
}

/* ---- timers ---- */

static void
uses_timers(int color)
{
	for (int i = 0; i < 20; i++) {
		timecb_remove(delaycb(10, wrap(never)));
		timecb_remove(delaycb(10, cwrap(never, color)));
	}
	cpucb_tail(cwrap(uses_timers, color, color));
}

static void
fork_with_timers(int times)
{
	timecb_t *zero, *colored;
	int status;
	pid_t pid;

	if (times == 0)
		FACTS_END();
	zero = delaycb(100, wrap(never));
	colored = delaycb(100, cwrap(never, 9));
	pid = fork();
	if (pid == 0)
		ends_in_time();
	timecb_remove(zero);
	timecb_remove(colored);
	if (pid == 0)
		_exit(0);
	FACT(waitpid(pid, &status, 0) == pid && status == 0);
	cpucb_tail(wrap(fork_with_timers, times - 1));
}

/* Objects of a child that ends may own timers, whatever another color was doing at the fork. */
static void
fork_while_others_use_timers()
{
	sigcb(SIGCHLD, cbv_null); /* so that the loop does not reap it */
	cpucb_tail(cwrap(uses_timers, 3, 3));
	cpucb_tail(wrap(fork_with_timers, 500));
	amain();
}

static const struct fact facts[] = {
	CASE_ON(2, fork_while_others_use_timers),
	CASE_ON(2, fork_while_others_watch),
	CASE_ON(8, fork_while_others_watch),
};

FACTS_MAIN(facts)
