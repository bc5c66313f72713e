/* SPDX-License-Identifier: MIT */
/*
 * counted.h: for tests of the freeing of callbacks: an argument to bind that counts itself.
 */
#ifndef MELY_TESTS_COUNTED_H
#define MELY_TESTS_COUNTED_H

#include "facts.h"

/* Of any color. */
struct counted {
	static int alive;

	counted() { facts_add(&alive, 1); }
	counted(const counted &) { facts_add(&alive, 1); }
	~counted() { facts_add(&alive, -1); }
};
int counted::alive;

#endif
