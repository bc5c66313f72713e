/* SPDX-License-Identifier: MIT */
/*
 * idle_ids.h: a case for both dialects: what a program posts to a color by number keeps no memory,
 * also where the callback asks for its color.
 */
#ifndef MELY_TESTS_IDLE_IDS_H
#define MELY_TESTS_IDLE_IDS_H

#include "facts.h"

struct mely_runtime;
extern "C" struct mely_runtime *mely_current_runtime();
extern "C" size_t mely_trim(struct mely_runtime *rt);

enum { IDLE_IDS = 16 * 1024, IDLE_CHUNK_BYTES = 65536 };

static struct mely_runtime *idle_rt;

/* A chunk of 1,024 colors goes as a whole. Colors of the program and the library may keep two. */
static void *
idle_trim(void *)
{
	size_t bytes = mely_trim(idle_rt);

	fprintf(stderr, "%lu bytes given back\n", (unsigned long)bytes);
	FACT(bytes >= (IDLE_IDS / 1024 - 2) * (size_t)IDLE_CHUNK_BYTES);
	FACTS_END();
	return NULL;
}

/* One callback at a time, so that next to no memory is that of events. Each color is used twice,
 * once at its head. */
static void
idle_use(int n)
{
	int next = n + 1, color = next % IDLE_IDS;

	FACT_EQ(get_current_color(), n % IDLE_IDS);
	if (next == 2 * IDLE_IDS) {
		idle_rt = mely_current_runtime();
		facts_thread(idle_trim);
	} else if ((next + next / IDLE_IDS) % 2 == 0) {
		cpucb_tail(cwrap(idle_use, next, color));
	} else {
		cpucb(cwrap(idle_use, next, color));
	}
}

static void
idle_ids_come_back()
{
	cpucb_tail(cwrap(idle_use, 0, 0));
	amain();
}

#endif
