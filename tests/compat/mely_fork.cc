/* SPDX-License-Identifier: MIT */
/*
 * mely_fork.cc: forks while other colors are in the library: the child can set, drop and post
 * callbacks of descriptors as before, and no thread calls them.
 */
#include "mely.h"

#include "forks.h"

static int watched[2];

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

static void
child()
{
	ends_in_time();
	for (int i = 0; i < 2; i++) {
		watch(watched[i], 3);
		watch(watched[i] + 1000, 3); /* not seen before */
	}
	cpucb(cwrap(new_function(), 3));
	cpucb_tail(cpwrap(new_function(), 3, 1));
	_exit(0);
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
