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

static inline void
expect(const char *what)
{
	if (seen != what)
		fprintf(stderr, "seen: %s, expected: %s\n", seen.c_str(), what);
	FACT(seen == what);
	FACTS_END();
}

#endif
