/* SPDX-License-Identifier: MIT */
/*
 * bound.h: for tests of callbacks in either dialect: functions to bind, which record their
 * arguments in "seen", and arguments to bind to them.
 */
#ifndef MELY_TESTS_BOUND_H
#define MELY_TESTS_BOUND_H

#include <string.h>

static int seen[8];

static inline void
see(int a, int b, int c, int d, int e)
{
	seen[0] = a, seen[1] = b, seen[2] = c, seen[3] = d, seen[4] = e;
}

static inline void
see_one(int a)
{
	seen[0] = a;
}

static inline int
sum(int a, int b, int c)
{
	return a + b + c;
}

static inline void
count()
{
	seen[7]++;
}

struct counted {
	static int alive;
	int value;

	counted(int v) : value(v) { alive++; }
	counted(const counted &c) : value(c.value) { alive++; }
	~counted() { alive--; }
};
int counted::alive;

static const counted *address;

static inline void
take_reference(const counted &c)
{
	address = &c;
}

static inline void
take_value(counted c)
{
	seen[0] = c.value;
}

static inline void
take_pointer(const char *s, void *p)
{
	seen[0] = s != NULL && strcmp(s, "abc") == 0;
	seen[1] = p == NULL;
}

#endif
