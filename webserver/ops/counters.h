/* SPDX-License-Identifier: MIT */
/*
 * counters.h: what a core counts. Each core has its own, which only its handlers write: by a load
 * and a store, so that a request costs no atomic operation. Any thread may read them.
 */
#ifndef SWS_OPS_COUNTERS_H
#define SWS_OPS_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

/** Methods that are counted apart: GET, HEAD, and all others. */
#define SWS_COUNTED_METHODS 3
/** Classes of statuses: 1xx to 5xx, by their first digit. */
#define SWS_COUNTED_CLASSES 6

/** Buckets of the times of answers, by their upper bounds in seconds; and one for all others. */
#define SWS_DURATIONS {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, \
	0.25, 0.5, 1, 2.5, 5, 10, 30}
#define SWS_DURATIONS_COUNT 17

struct sws_counters {
	/** Times of the answers that are seen (core.h), not added up; and the sum of all. */
	_Atomic(uint64_t) durations[SWS_DURATIONS_COUNT + 1];
	_Atomic(uint64_t) durations_ns;
	/** Answers that have ended, sent or not. */
	_Atomic(uint64_t) answers[SWS_COUNTED_METHODS][SWS_COUNTED_CLASSES];
#define SWS_COUNTER(name, help) _Atomic(uint64_t) name;
#include "ops/counters.def"
#undef SWS_COUNTER
};

/** Add n to a counter of the current core. */
static inline void
sws_count(_Atomic(uint64_t) *counter, uint64_t n)
{
	/* relaxed: there is one writer, and the word publishes no other data. */
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
	    memory_order_relaxed);
}

#endif
