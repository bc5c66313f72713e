/* SPDX-License-Identifier: MIT */
/*
 * pool.h: the events of plain posts. Each core keeps a stock; an event goes to the stock of the
 * core that ran it. A stock that grows too large gives a magazine to the depot of the runtime; an
 * empty stock takes one from there. The depot frees its excess, so that a burst leaves little
 * memory behind.
 *
 * Stocks and magazines are arrays of addresses rather than lists through the events: an event that
 * another core ran last is in that core's cache, and only an address known in advance can be
 * prefetched.
 */
#ifndef MELYINT_QUEUE_POOL_H
#define MELYINT_QUEUE_POOL_H

#include <mely/event.h>

#include "base/lock.h"
#include "queue/eventmem.h"
#include "queue/evq.h"

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

/* All under the lock, except count_max, which is constant. */
struct melyint_depot {
	struct melyint_lock lock;
	struct melyint_magazine *full;
	struct melyint_magazine *spent; /* empty ones, for reuse */
	uint32_t count;     /* full ones */
	uint32_t count_low; /* fewest since the last decay: the excess */
	uint32_t count_max;
};

/* Only the owner touches it. */
struct melyint_pool {
	uint32_t count;
	struct melyint_depot *depot;
	struct mely_event *stock[MELYINT_STOCK_MAX];
};

void melyint_depot_init(struct melyint_depot *depot, uint32_t cores);
/* Free a part of the magazines that the depot did not need since the last call. Any thread. */
void melyint_depot_decay(struct melyint_depot *depot);
/* Free all magazines. Returns the bytes. Any thread. */
size_t melyint_depot_trim(struct melyint_depot *depot);
void melyint_pool_init(struct melyint_pool *pool, struct melyint_depot *depot);
void melyint_pool_fini(struct melyint_pool *pool);

/* Are the stock's events distinct and spare, and within bounds? Do the depot's counts agree with
 * its lists? For tests; the caller does not hold the depot's lock. */
bool melyint_pool_validate(const struct melyint_pool *pool);
bool melyint_depot_validate(struct melyint_depot *depot);

struct mely_event *melyint_pool_get_slow(struct melyint_pool *pool);
void melyint_pool_put_slow(struct melyint_pool *pool);

/* An event for a thread that is not a core; NULL: no memory. */
struct mely_event *melyint_pool_get_outside(void);

/* Developer builds mark the events in a pool, to find one that is put in twice. */
MELY_INLINE void
melyint_pool_mark(struct mely_event *ev, uint16_t state)
{
#ifdef MELY_DEVELOPER
	MELY_POKE(&ev->_state, state);
#else
	(void)ev;
	(void)state;
#endif
}

/* An event of the stock; NULL: no memory. */
MELY_INLINE struct mely_event *
melyint_pool_get(struct melyint_pool *pool)
{
	uint32_t count = pool->count;
	struct mely_event *ev;

	MELY_DEBUG_ASSERT(count <= MELYINT_STOCK_MAX);
	if (MELY_UNLIKELY(count == 0))
		return melyint_pool_get_slow(pool);
	pool->count = --count;
	if (MELY_LIKELY(count >= MELYINT_FETCH_AHEAD))
		MELY_PREFETCH(pool->stock[count - MELYINT_FETCH_AHEAD]);
	ev = pool->stock[count];
	MELY_DEBUG_ASSERT(ev != NULL && MELY_PEEK(&ev->_state) == MELYINT_EV_SPARE);
	MELY_ASSUME(ev != NULL); /* so that callers test only what the slow way returns */
	melyint_pool_mark(ev, MELYINT_EV_CLAIMED);
	return ev;
}

/* Put an event that a get returned, of this or another pool, into the stock. */
MELY_INLINE void
melyint_pool_put(struct melyint_pool *pool, struct mely_event *ev)
{
	MELY_DEBUG_ASSERT(ev->_flags & MELYINT_EV_POOLED);
	MELY_DEBUG_ASSERT(MELY_PEEK(&ev->_state) != MELYINT_EV_SPARE);
	MELY_DEBUG_ASSERT((uintptr_t)ev % MELY_CACHE_LINE == 0 && pool->count <= MELYINT_STOCK_MAX);
	melyint_pool_mark(ev, MELYINT_EV_SPARE);
	if (MELY_UNLIKELY(pool->count == MELYINT_STOCK_MAX))
		melyint_pool_put_slow(pool);
	pool->stock[pool->count++] = ev;
}

#endif
