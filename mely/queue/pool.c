/* SPDX-License-Identifier: MIT */
/*
 * pool.c: the slow half of the event pools: new events, and magazines that move between the
 * stocks and the depot. A pool belongs to its core's thread; the depot has a lock, which is never
 * held while memory is made or freed.
 */
#include <stdlib.h>
#include <string.h>

#include "queue/pool.h"

enum { DECAY = 8 }; /* an eighth at a time */

_Static_assert(sizeof(struct mely_event) <= MELY_CACHE_LINE, "an event fits in a cache line");

/* Under the depot's lock: its list and its counts agree. */
static void
assert_depot(const struct melyint_depot *depot)
{
	MELY_DEBUG_ASSERT(melyint_lock_held(&depot->lock));
	MELY_DEBUG_ASSERT((depot->full == NULL) == (depot->count == 0));
	MELY_DEBUG_ASSERT(depot->count_low <= depot->count);
}

/* The events are spare: no thread has used one since it was put into a pool. Always so in release
 * builds, which do not mark them. */
static void
assert_spare(struct mely_event *const *events, uint32_t count)
{
#ifdef MELY_DEVELOPER
	uint32_t i;

	for (i = 0; i < count; i++)
		MELY_DEBUG_ASSERT(MELY_PEEK(&events[i]->_state) == MELYINT_EV_SPARE &&
		    (events[i]->_flags & MELYINT_EV_POOLED));
#else
	(void)events;
	(void)count;
#endif
}

void
melyint_depot_init(struct melyint_depot *depot, uint32_t cores)
{
	memset(depot, 0, sizeof *depot);
	melyint_lock_init(&depot->lock);
	depot->count_max = cores * MELYINT_DEPOT_PER_CORE;
}

/* Free a list of magazines; with full, their events, too. Returns the bytes. */
static size_t
free_magazines(struct melyint_magazine *magazine, bool full)
{
	size_t bytes = 0;

	while (magazine != NULL) {
		struct melyint_magazine *next = magazine->next;

		if (full) {
			assert_spare(magazine->events, MELYINT_MAGAZINE);
			melyint_events_free(magazine->events, MELYINT_MAGAZINE);
		}
		bytes += sizeof *magazine +
		    (full ? MELYINT_MAGAZINE * MELY_CACHE_LINE : 0);
		free(magazine);
		magazine = next;
	}
	return bytes;
}

void
melyint_depot_decay(struct melyint_depot *depot)
{
	struct melyint_magazine *excess = NULL;
	uint32_t n;

	if (!melyint_lock_try(&depot->lock))
		return;
	assert_depot(depot);
	for (n = (depot->count_low + DECAY - 1) / DECAY; n > 0; n--) {
		struct melyint_magazine *magazine = depot->full;

		MELY_DEBUG_ASSERT(magazine != NULL);

		depot->full = magazine->next;
		magazine->next = excess;
		excess = magazine;
		depot->count--;
	}
	depot->count_low = depot->count;
	assert_depot(depot);
	melyint_lock_drop(&depot->lock);
	free_magazines(excess, true);
}

size_t
melyint_depot_trim(struct melyint_depot *depot)
{
	struct melyint_magazine *full, *spent;

	melyint_lock_take(&depot->lock);
	assert_depot(depot);
	full = depot->full;
	spent = depot->spent;
	depot->full = depot->spent = NULL;
	depot->count = depot->count_low = 0;
	melyint_lock_drop(&depot->lock);
	return free_magazines(full, true) + free_magazines(spent, false) + melyint_events_trim();
}

void
melyint_pool_init(struct melyint_pool *pool, struct melyint_depot *depot)
{
	pool->count = 0;
	pool->depot = depot;
}

void
melyint_pool_fini(struct melyint_pool *pool)
{
	MELY_DEBUG_ASSERT(pool->count <= MELYINT_STOCK_MAX);
	assert_spare(pool->stock, pool->count);
	melyint_events_free(pool->stock, pool->count);
	pool->count = 0;
}

MELY_NOINLINE struct mely_event *
melyint_pool_get_outside(void)
{
	struct mely_event *ev;

	if (melyint_events_new(&ev, 1) == 0)
		return NULL;
	ev->_flags = MELYINT_EV_POOLED;
	melyint_pool_mark(ev, MELYINT_EV_CLAIMED);
	return ev;
}

/* The stock is empty: take a magazine from the depot, or make a magazine of events. */
MELY_NOINLINE struct mely_event *
melyint_pool_get_slow(struct melyint_pool *pool)
{
	struct melyint_depot *depot = pool->depot;
	struct melyint_magazine *magazine;
	struct mely_event *ev;
	uint32_t i;

	MELY_DEBUG_ASSERT(pool->count == 0);
	melyint_lock_take(&depot->lock);
	magazine = depot->full;
	if (magazine != NULL) {
		depot->full = magazine->next;
		if (--depot->count < depot->count_low)
			depot->count_low = depot->count;
		assert_spare(magazine->events, MELYINT_MAGAZINE);
		memcpy(pool->stock, magazine->events, sizeof magazine->events);
		pool->count = MELYINT_MAGAZINE;
		magazine->next = depot->spent;
		depot->spent = magazine;
	}
	assert_depot(depot);
	melyint_lock_drop(&depot->lock);
	if (pool->count == 0) {
		pool->count = melyint_events_new(pool->stock, MELYINT_MAGAZINE);
		for (i = 0; i < pool->count; i++) {
			pool->stock[i]->_flags = MELYINT_EV_POOLED;
			melyint_pool_mark(pool->stock[i], MELYINT_EV_SPARE);
		}
	}
	if (pool->count == 0)
		return NULL;
	ev = pool->stock[--pool->count];
	melyint_pool_mark(ev, MELYINT_EV_CLAIMED);
	return ev;
}

/* The stock is full: move its oldest magazine of events to the depot, or free them. */
MELY_NOINLINE void
melyint_pool_put_slow(struct melyint_pool *pool)
{
	struct melyint_depot *depot = pool->depot;
	struct melyint_magazine *magazine = NULL;
	bool wanted;

	MELY_DEBUG_ASSERT(pool->count == MELYINT_STOCK_MAX);
	assert_spare(pool->stock, MELYINT_MAGAZINE);
	melyint_lock_take(&depot->lock);
	assert_depot(depot);
	wanted = depot->count < depot->count_max;
	if (wanted && depot->spent != NULL) {
		magazine = depot->spent;
		depot->spent = magazine->next;
	}
	melyint_lock_drop(&depot->lock);
	if (wanted && magazine == NULL)
		magazine = malloc(sizeof *magazine);
	if (magazine != NULL) {
		memcpy(magazine->events, pool->stock, sizeof magazine->events);
		melyint_lock_take(&depot->lock);
		magazine->next = depot->full;
		depot->full = magazine;
		depot->count++;
		assert_depot(depot);
		melyint_lock_drop(&depot->lock);
	} else {
		melyint_events_free(pool->stock, MELYINT_MAGAZINE);
	}
	pool->count -= MELYINT_MAGAZINE;
	memmove(pool->stock, pool->stock + MELYINT_MAGAZINE, pool->count * sizeof pool->stock[0]);
}

/* ---- validation ------------------------------------------------------------------------------ */

/* Distinct, and marked as spare where they are marked at all? */
static bool
are_spare(struct mely_event *const *events, uint32_t count)
{
	uint32_t i, j;

	for (i = 0; i < count; i++) {
#ifdef MELY_DEVELOPER
		if (MELY_PEEK(&events[i]->_state) != MELYINT_EV_SPARE)
			return false;
#endif
		for (j = 0; j < i; j++)
			if (events[i] == events[j])
				return false;
	}
	return true;
}

bool
melyint_pool_validate(const struct melyint_pool *pool)
{
	return pool->count <= MELYINT_STOCK_MAX && are_spare(pool->stock, pool->count);
}

bool
melyint_depot_validate(struct melyint_depot *depot)
{
	const struct melyint_magazine *magazine;
	uint32_t count = 0;
	bool valid = true;

	melyint_lock_take(&depot->lock);
	for (magazine = depot->full; magazine != NULL; magazine = magazine->next, count++)
		valid = valid && are_spare(magazine->events, MELYINT_MAGAZINE);
	valid = valid && count == depot->count && depot->count_low <= count;
	melyint_lock_drop(&depot->lock);
	return valid;
}
