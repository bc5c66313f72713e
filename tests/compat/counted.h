/* SPDX-License-Identifier: MIT */
/*
 * counted.h: for tests of the freeing of callbacks: a bound argument that counts its instances.
 */
#ifndef MELY_TESTS_COUNTED_H
#define MELY_TESTS_COUNTED_H

#include "facts.h"

/* Any color may use it. */
struct counted {
	static int alive;

	counted() { facts_add(&alive, 1); }
	counted(const counted &) { facts_add(&alive, 1); }
	~counted() { facts_add(&alive, -1); }
};
int counted::alive;

#endif
