/* SPDX-License-Identifier: MIT */
/*
 * pool.h: the events of plain posts. Each core keeps a stock; an event goes to the stock of the
 * core that ran it. Stocks that grow too large give magazines to the depot of the runtime, empty
 * ones take them from there; what the depot does not want goes back to malloc, so that a burst
 * leaves little behind.
 *
 * Stocks and magazines are arrays of addresses rather than lists through the events: an event that
 * another core has run is in that core's cache, and only an address known beforehand can be
 * fetched ahead.
 */
#ifndef MELYINT_QUEUE_POOL_H
#define MELYINT_QUEUE_POOL_H

#include <mely/event.h>

#include "queue/evq.h"
#include "base/lock.h"

enum {
	MELYINT_MAGAZINE = 64,       /* events that move together */
	MELYINT_STOCK_MAX = 2 * MELYINT_MAGAZINE,
	MELYINT_FETCH_AHEAD = 4,
	MELYINT_DEPOT_PER_CORE = 64  /* most magazines the depot keeps, per core */
};

struct melyint_magazine {
	struct melyint_magazine *next;
	struct mely_event *events[MELYINT_MAGAZINE];
};

/* All under the lock, but for count_max, which is constant. */
struct melyint_depot {
	struct melyint_lock lock;
	struct melyint_magazine *full;
	struct melyint_magazine *spent; /* empty ones, for use again */
	uint32_t count;     /* full ones */
	uint32_t count_low; /* fewest since the last decay: so many were of no use */
	uint32_t count_max;
};

/* Owner only. */
struct melyint_pool {
	uint32_t count;
	struct melyint_depot *depot;
	struct mely_event *stock[MELYINT_STOCK_MAX];
};

void melyint_depot_init(struct melyint_depot *depot, uint32_t cores);
/* Give a part of what the depot did not need since the last call back to malloc. Any thread. */
void melyint_depot_decay(struct melyint_depot *depot);
/* Give all magazines back to malloc. Returns the bytes. Any thread. */
size_t melyint_depot_trim(struct melyint_depot *depot);
void melyint_pool_init(struct melyint_pool *pool, struct melyint_depot *depot);
void melyint_pool_fini(struct melyint_pool *pool);

struct mely_event *melyint_pool_get_slow(struct melyint_pool *pool);
void melyint_pool_put_slow(struct melyint_pool *pool);

/* For a thread that is no core. */
struct mely_event *melyint_pool_get_outside(void);

MELY_INLINE struct mely_event *
melyint_pool_get(struct melyint_pool *pool)
{
	uint32_t count = pool->count;

	if (MELY_UNLIKELY(count == 0))
		return melyint_pool_get_slow(pool);
	pool->count = --count;
	if (MELY_LIKELY(count >= MELYINT_FETCH_AHEAD))
		MELY_PREFETCH(pool->stock[count - MELYINT_FETCH_AHEAD]);
	return pool->stock[count];
}

MELY_INLINE void
melyint_pool_put(struct melyint_pool *pool, struct mely_event *ev)
{
	if (MELY_UNLIKELY(pool->count == MELYINT_STOCK_MAX))
		melyint_pool_put_slow(pool);
	pool->stock[pool->count++] = ev;
}

#endif
