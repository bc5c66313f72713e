/* SPDX-License-Identifier: MIT */
/*
 * age.h: queues in which events wait for too long are reported, with the handlers that have most
 * events there. A step of the monitor; the protocol is NOTE(age) in age.c.
 */
#ifndef MELYINT_LOOK_WATCHDOG_AGE_H
#define MELYINT_LOOK_WATCHDOG_AGE_H

#include "core/core.h"

enum { MELYINT_CENSUS_ROWS = 64 };

/* How many events of which handlers. */
struct melyint_census {
	uint32_t events;      /* counted */
	uint32_t used;        /* rows */
	uint32_t others;      /* events of handlers that found no row */
	bool more;            /* there are more events than are counted */
	struct {
		uint32_t handler, events;
	} rows[MELYINT_CENSUS_ROWS];
};

/* Of a core. */
struct melyint_aging {
	_Atomic uint64_t late_ticks; /* so long had the last event waited that had for too long; */
	_Atomic uint32_t lates;      /* ... how many of them were met; both the core */
	_Atomic int stage;           /* of the census: C of NOTE(age); the monitor and the core */
	struct melyint_census census;/* the core, then the monitor */
};

#ifdef MELYINT_SIM /* no monitor there */
#define melyint_age_new(rt) ((void)(rt), 0)
#define melyint_age_free(rt) ((void)(rt))
#define melyint_age_renew(rt) ((void)(rt), 0)
#define melyint_age_begin(rt) ((void)(rt))
#define melyint_age_end(rt) ((void)(rt))
#define melyint_age_saw(core, stamp_ticks) ((void)(core), (void)(stamp_ticks))
#define melyint_age_count(core) ((void)(core))
#else

/* With a runtime, once its monitor is there; and in the child of a fork. 0 or a negative errno. */
int melyint_age_new(struct mely_runtime *rt);
void melyint_age_free(struct mely_runtime *rt);
int melyint_age_renew(struct mely_runtime *rt);
/* A run begins, and ends. */
void melyint_age_begin(struct mely_runtime *rt);
void melyint_age_end(struct mely_runtime *rt);

void melyint_age_saw_slow(struct melyint_core *core, uint64_t stamp_ticks);
void melyint_age_count_slow(struct melyint_core *core);

/* Owner: an event whose delay is wanted is about to be run. B of NOTE(age) */
MELY_INLINE void
melyint_age_saw(struct melyint_core *core, uint64_t stamp_ticks)
{
	if (core->fixed.aging != NULL)
		melyint_age_saw_slow(core, stamp_ticks);
}

/* Owner, in no handler, about once a millisecond. C of NOTE(age) */
MELY_INLINE void
melyint_age_count(struct melyint_core *core)
{
	/* relaxed: what is missed now is seen a millisecond later */
	if (core->fixed.aging != NULL &&
	    MELY_UNLIKELY(MELY_LOAD(&core->fixed.aging->stage, relaxed) != 0))
		melyint_age_count_slow(core);
}

#endif

#endif
