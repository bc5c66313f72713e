/* SPDX-License-Identifier: MIT */
/*
 * marks.h: for tests of the order of callbacks, in either dialect: each callback leaves a mark, and
 * the last one checks their order. All run in one color or on one worker, so marks need no lock.
 */
#ifndef MELY_TESTS_MARKS_H
#define MELY_TESTS_MARKS_H

#include "facts.h"

#include <string>

#define MS 1000000

static std::string seen;

static inline void
mark(int c)
{
	seen += (char)c;
}

static int arrivals;

static inline void
count_arrival(int)
{
	facts_add(&arrivals, 1);
}

/* Wait until the handlers of all signals sent so far have run. If color 0 is not on the first
 * worker, that one takes them whenever it gets a processor, in the order of their numbers. */
static inline void
signals_arrive()
{
	int before = facts_get(&arrivals);

	signal(SIGRTMAX, count_arrival);
	kill(getpid(), SIGRTMAX);
	while (facts_get(&arrivals) == before)
		usleep(100);
}

static inline void
expect(const char *what)
{
	if (seen != what)
		fprintf(stderr, "seen: %s, expected: %s\n", seen.c_str(), what);
	FACT(seen == what);
	FACTS_END();
}

#endif
