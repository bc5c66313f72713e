/* SPDX-License-Identifier: MIT */
/*
 * measure.h: how long handlers take, for those that no programmer has annotated: a running average
 * of their time, and a stealing penalty learned from what they take right after a steal.
 *
 * NOTE(measure)
 *   A. One batch in some is measured, the first one after some of the steals, and each event that
 *      is weighed before its handler is known. Its function is called by way of
 *      melyint_probe_run, so that the others pay nothing. The statistics have their times from it,
 *      too (NOTE(tally)), also of handlers that nobody weighs.
 *   B. A handler is the program's again when the function of its last event is entered. So the
 *      sample is not written to it afterwards, but left in the runtime under the handler's number,
 *      and collected when an event of that handler is in hand again, before its function is
 *      entered: when it is measured next, or posted while it is not known. A sample that nobody
 *      comes for is overwritten by another handler's.
 *   C. Away is what ran in the first batch of a color after its steal; anything else counts as at
 *      home. The learned penalty is the ratio of the two averages, rounded; it decays with each
 *      sample from home, so that a handler which is not stolen any more is tried again.
 */
#ifndef MELYINT_CORE_MEASURE_H
#define MELYINT_CORE_MEASURE_H

#include <mely/event.h>

#include "base/atomic.h"
#include "base/compiler.h"

struct melyint_core;
struct mely_runtime;

enum {
	MELYINT_SAMPLES = 64,
	MELYINT_SAMPLE_EVERY = 251, /* batches; a prime, so that rows of colors have their turns */
	MELYINT_SAMPLED_MAX = 1024, /* events of a sampled batch that are measured: all of an
	                             * ordinary one, or who comes late in it would never be */
	MELYINT_PENALTY_MAX = 1000, /* that is learned */
	MELYINT_SAMPLE_STEALS = 4   /* of so many steals one is followed by a measured batch */
};

/* Samples not yet collected, by the number of the handler: its number and ns in one word. Written
 * and collected by cores. */
struct melyint_samples {
	_Atomic uint64_t home[MELYINT_SAMPLES];
	_Atomic uint64_t away[MELYINT_SAMPLES];
};

/* The call that is measured now. Owner of the core. */
struct melyint_probe {
	void (*fn)(void *arg);
	void *arg;
	uint32_t key;    /* of the handler's sample; 0: nobody weighs it */
	bool away;
};

/* Is a time of handler wanted and not yet known? Collects what there is. Any thread that has an
 * event of it in hand. */
bool melyint_measure_wanted(struct mely_runtime *rt, unsigned weighing,
    struct mely_handler *handler);

/* The time of a handler in ns, annotated or measured; 0 when not known. As above. */
uint32_t melyint_measure_time(unsigned weighing, const struct mely_handler *handler);

/* The penalty of a handler, annotated or learned; at least 1. As above. */
uint32_t melyint_measure_penalty(unsigned weighing, const struct mely_handler *handler);

/* The penalty that follows from two averages, both known. */
MELY_INLINE uint32_t
melyint_measure_ratio(uint64_t home_ns, uint64_t away_ns)
{
	uint64_t ratio = (away_ns + home_ns / 2) / home_ns;

	return away_ns <= home_ns ? 1 :
	    ratio < MELYINT_PENALTY_MAX ? (uint32_t)ratio : MELYINT_PENALTY_MAX;
}

/* Owner, before it enters fn(arg) of a handler: collect, and prepare the probe, for which
 * melyint_probe_run(core) then stands in. */
void melyint_measure_begin(struct melyint_core *core, struct mely_handler *handler, void *arg);
void melyint_probe_run(void *core);

/* A sample, ns > 0, into the averages; for collectors and tests. */
void melyint_measure_home(struct mely_handler *handler, uint32_t ns);
void melyint_measure_away(struct mely_handler *handler, uint32_t ns);

#endif
