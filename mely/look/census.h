/* SPDX-License-Identifier: MIT */
/*
 * census.h: the colors of all cores that have events, taken by any thread. The note is in census.c.
 */
#ifndef MELYINT_LOOK_CENSUS_H
#define MELYINT_LOOK_CENSUS_H

#include "sched/waiting.h"

struct melyint_census {
	bool by_age;            /* keep the oldest colors, else the longest */
	uint32_t room;          /* keep up to this many */
	uint32_t count;         /* kept, in order */
	struct melyint_waiting *kept; /* [room] */
	uint64_t now_ticks;     /* ages are at this time */
	uint64_t found;         /* colors with events, kept or not */
	uint64_t *events;       /* [cores] events waiting on each core; may be NULL */
};

/* Walk the queues of all cores, with by_age, room and events set. 0 or -ENOMEM. Any thread that
 * holds no lock of a core. The caller frees census->kept, also after an error. */
int melyint_census(struct mely_runtime *rt, struct melyint_census *census);

#endif
