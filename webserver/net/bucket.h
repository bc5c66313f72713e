/* SPDX-License-Identifier: MIT */
/*
 * bucket.h: a token bucket, as the time until which its bytes are given away. It gives bytes in
 * advance, with the time from which they may be sent; so those that wait are served in their order,
 * and none asks twice. It never owes more than a tenth of a second of its rate.
 */
#ifndef SWS_NET_BUCKET_H
#define SWS_NET_BUCKET_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/assertion.h"

#define SWS_BUCKET_BURST_NS UINT64_C(100000000)

struct sws_bucket {
	_Atomic(uint64_t) until_ns;
};

/** Take bytes, of at most 2^33, at a rate in bytes a second. When they may be sent. Any thread. */
static inline uint64_t
sws_bucket_take(struct sws_bucket *b, uint64_t rate, uint64_t bytes, uint64_t now_ns)
{
	/* relaxed, all: only the number counts. */
	uint64_t until = atomic_load_explicit(&b->until_ns, memory_order_relaxed);
	uint64_t oldest = now_ns > SWS_BUCKET_BURST_NS ? now_ns - SWS_BUCKET_BURST_NS : 0, from;

	SWS_DEBUG_ASSERT(rate > 0 && bytes <= UINT64_C(1) << 33);
	do
		from = until > oldest ? until : oldest;
	while (!atomic_compare_exchange_weak_explicit(&b->until_ns, &until,
	    from + bytes * UINT64_C(1000000000) / rate, memory_order_relaxed,
	    memory_order_relaxed));
	return from;
}

/** When bytes may be sent that are taken now. Any thread. */
static inline uint64_t
sws_bucket_when(struct sws_bucket *b)
{
	/* relaxed: only the number counts. */
	return atomic_load_explicit(&b->until_ns, memory_order_relaxed);
}

/** Give back bytes that were taken and will not be sent. Any thread. */
static inline void
sws_bucket_return(struct sws_bucket *b, uint64_t rate, uint64_t bytes)
{
	/* relaxed, all: only the number counts. */
	uint64_t until = atomic_load_explicit(&b->until_ns, memory_order_relaxed);
	uint64_t less = bytes * UINT64_C(1000000000) / rate;

	SWS_DEBUG_ASSERT(rate > 0 && bytes <= UINT64_C(1) << 33);
	/* A reload may have lowered the rate since. */
	while (!atomic_compare_exchange_weak_explicit(&b->until_ns, &until,
	    until > less ? until - less : 0, memory_order_relaxed, memory_order_relaxed))
		continue;
}

#endif
