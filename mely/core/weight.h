/* SPDX-License-Identifier: MIT */
/*
 * weight.h: what an event weighs when a thief considers its color, and how long handlers take.
 *
 * The weight of an event is its running time divided by its stealing penalty (paper, sections 3.2
 * and 3.3), in sixteenths of a nanosecond. An annotation of the programmer always wins. The library
 * measures a time that the handler does not give and learns a penalty that it does not give.
 * The protocols are NOTE(weight) and NOTE(measure) in weight.c.
 */
#ifndef MELYINT_CORE_WEIGHT_H
#define MELYINT_CORE_WEIGHT_H

#include <stdbool.h>
#include <mely/event.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "queue/evq.h"

struct melyint_core;
struct mely_runtime;

enum {
	MELYINT_WEIGHT_SHIFT = 4,      /* of a nanosecond */
	MELYINT_WEIGHT_UNKNOWN = 1,    /* next to nothing */
	MELYINT_OWN_HANDLER_NS = 1000, /* the annotation of the library's own handlers */
	MELYINT_DIVIDED_SHIFT = 12,    /* the place of a shift in ev->_flags */
	MELYINT_DIVIDED_MAX = 15
};

enum {
	MELYINT_SAMPLES = 64,
	MELYINT_SAMPLE_EVERY = 251, /* batches; a prime, so that rows of colors take turns */
	MELYINT_SAMPLED_MAX = 1024, /* events of a sampled batch that are measured: all of an
	                             * ordinary batch, so that late ones are measured, too */
	MELYINT_PENALTY_MAX = 1000, /* the highest that is learned */
	MELYINT_SAMPLE_STEALS = 4   /* one steal in this many is followed by a sampled batch */
};

/* rt->switches.weighing: what counts. One less is the place in handler->_weight. */
enum {
	MELYINT_WEIGH_NOT = 0,
	MELYINT_WEIGH_TIME,           /* annotated times alone */
	MELYINT_WEIGH_TIME_MEASURED,  /* ... and measured times */
	MELYINT_WEIGH_PENALTY,        /* times and penalties; with this and all that follow */
	MELYINT_WEIGH_PENALTY_MEASURED,
	MELYINT_WEIGH_PENALTY_LEARNED,
	MELYINT_WEIGH_PENALTY_MEASURED_LEARNED,
	MELYINT_WEIGHINGS = MELYINT_WEIGH_PENALTY_MEASURED_LEARNED
};

/* Samples that no thread has collected yet, each under the key of its handler: key and ns in one
 * word. Cores write and collect them. */
struct melyint_samples {
	_Atomic uint64_t home[MELYINT_SAMPLES];
	_Atomic uint64_t away[MELYINT_SAMPLES];
};

/* The call that a core measures now. Owner of the core. */
struct melyint_sample {
	void (*fn)(void *arg);
	void *arg;
	uint32_t key;    /* of the handler's sample; 0: the handler needs no sample */
	bool away;
};

/* Do penalties count? */
MELY_INLINE bool
melyint_weighs_penalties(unsigned weighing)
{
	return weighing >= MELYINT_WEIGH_PENALTY;
}

/* Do measured times count? */
MELY_INLINE bool
melyint_weighs_measured(unsigned weighing)
{
	return weighing != MELYINT_WEIGH_NOT && (weighing - MELYINT_WEIGH_TIME) % 2 != 0;
}

/* Do learned penalties count? */
MELY_INLINE bool
melyint_weighs_learned(unsigned weighing)
{
	return weighing >= MELYINT_WEIGH_PENALTY_LEARNED;
}

/* The weighing with the times of this one and without penalties. */
MELY_INLINE unsigned
melyint_weighing_plain(unsigned weighing)
{
	return melyint_weighs_measured(weighing) ? MELYINT_WEIGH_TIME_MEASURED : MELYINT_WEIGH_TIME;
}

/* ---- weights --------------------------------------------------------------------------------- */

/* The weight of an event that has its own time, or whose handler's weight is not known. Any thread.
 * The event is not in its color-queue yet, so its handler is still valid. */
uint32_t melyint_weigh_slow(struct mely_runtime *rt, unsigned weighing, struct mely_event *ev);

/* The weight that an event with its own time was counted with. */
uint32_t melyint_weight_of_timed(const struct mely_event *ev);

/* Weigh an event that enters a color-queue: A of NOTE(weight). */
MELY_INLINE uint32_t
melyint_weigh(struct mely_runtime *rt, unsigned weighing, struct mely_event *ev)
{
	uint32_t weight;

	/* relaxed: a measurement */
	weight = MELY_LOAD(&ev->_handler->_weight[weighing - 1], relaxed);
	if (MELY_UNLIKELY((ev->_flags & MELYINT_EV_TIMED) || weight == 0))
		return melyint_weigh_slow(rt, weighing, ev);
	ev->_time = weight;
	return weight;
}

/* The weight that an event was counted with; 0 when it was not weighed. */
MELY_INLINE uint32_t
melyint_weight_of(const struct mely_event *ev)
{
	if (MELY_UNLIKELY(ev->_flags & MELYINT_EV_TIMED))
		return melyint_weight_of_timed(ev);
	return ev->_time;
}

/* A time in ns as a weight that fits a word of 32 bits. */
MELY_INLINE uint32_t
melyint_weight_from_ns(uint64_t ns)
{
	return ns < UINT32_MAX >> MELYINT_WEIGHT_SHIFT ? (uint32_t)ns << MELYINT_WEIGHT_SHIFT :
	    UINT32_MAX;
}

/* ---- what is known of a handler: any thread that holds an event of it ------------------------ */

/* Does the weighing need a time of the handler that is not known yet? Collects its samples. */
bool melyint_weight_unknown(struct mely_runtime *rt, unsigned weighing,
    struct mely_handler *handler);

/* The time of a handler in ns, annotated or measured; 0 when not known. */
uint32_t melyint_weight_time(unsigned weighing, const struct mely_handler *handler);

/* The penalty of a handler, annotated or learned; at least 1. */
uint32_t melyint_weight_penalty(unsigned weighing, const struct mely_handler *handler);

/* The penalty that follows from two averages, both known. */
MELY_INLINE uint32_t
melyint_weight_ratio(uint64_t home_ns, uint64_t away_ns)
{
	uint64_t ratio = (away_ns + home_ns / 2) / home_ns;

	return away_ns <= home_ns ? 1 :
	    ratio < MELYINT_PENALTY_MAX ? (uint32_t)ratio : MELYINT_PENALTY_MAX;
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Owner, before it enters fn(arg) of a handler: collect the handler's samples and prepare
 * core->sampling.call. The owner then calls melyint_sample_run(core) instead of fn(arg). */
void melyint_sample_begin(struct melyint_core *core, struct mely_handler *handler, void *arg);
void melyint_sample_run(void *core);

/* Add a sample, ns > 0, to the handler's averages. For collectors and tests. */
void melyint_sample_home(struct mely_handler *handler, uint32_t ns);
void melyint_sample_away(struct mely_handler *handler, uint32_t ns);

#endif
