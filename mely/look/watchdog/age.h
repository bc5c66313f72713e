/* SPDX-License-Identifier: MIT */
/*
 * age.h: report queues in which events wait for too long, with the handlers that have most events
 * there: a step of the monitor, NOTE(age) in age.c.
 */
#ifndef MELYINT_LOOK_WATCHDOG_AGE_H
#define MELYINT_LOOK_WATCHDOG_AGE_H

#include "core/hooks.h"

enum { MELYINT_CENSUS_ROWS = 64 };

/* Events by handler. */
struct melyint_census {
	uint32_t events;      /* counted */
	uint32_t used;        /* rows */
	uint32_t others;      /* events of handlers without a row */
	bool more;            /* not all events were counted */
	struct {
		uint32_t handler, events;
	} rows[MELYINT_CENSUS_ROWS];
};

/* Of a core. */
struct melyint_aging {
	_Atomic uint64_t late_ticks; /* how long the last late event had waited; the core */
	_Atomic uint32_t lates;      /* late events seen; the core */
	_Atomic int stage;           /* of the census: C of NOTE(age); the monitor and the core */
	struct melyint_census census;/* the core, then the monitor */
};

#ifdef MELYINT_SIM /* has no monitor */
#define melyint_age_new(rt) ((void)(rt), 0)
#define melyint_age_free(rt) ((void)(rt))
#define melyint_age_renew(rt) ((void)(rt), 0)
#define melyint_age_begin(rt) ((void)(rt))
#define melyint_age_end(rt) ((void)(rt))
#else

/* When a runtime is made, after its monitor; and in the child of a fork. 0 or a negative errno. */
int melyint_age_new(struct mely_runtime *rt);
void melyint_age_free(struct mely_runtime *rt);
int melyint_age_renew(struct mely_runtime *rt);
/* A run begins, and ends. */
void melyint_age_begin(struct mely_runtime *rt);
void melyint_age_end(struct mely_runtime *rt);

#endif

#endif
