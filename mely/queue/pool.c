/* SPDX-License-Identifier: MIT */
/*
 * pool.c: the slow half of the event pools; see pool.h.
 */
#include <stdlib.h>
#include <string.h>

#include "queue/pool.h"

enum { DECAY = 8 }; /* an eighth at a time */

_Static_assert(sizeof(struct mely_event) <= MELY_CACHE_LINE, "an event fits in a line");

void
melyint_depot_init(struct melyint_depot *depot, uint32_t cores)
{
	memset(depot, 0, sizeof *depot);
	melyint_lock_init(&depot->lock);
	depot->count_max = cores * MELYINT_DEPOT_PER_CORE;
}

/* Free a list of magazines, the events of full ones included. */
static size_t
free_magazines(struct melyint_magazine *magazine, bool full)
{
	size_t bytes = 0;

	while (magazine != NULL) {
		struct melyint_magazine *next = magazine->next;
		int i;

		for (i = 0; full && i < MELYINT_MAGAZINE; i++)
			free(magazine->events[i]);
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
	for (n = (depot->count_low + DECAY - 1) / DECAY; n > 0; n--) {
		struct melyint_magazine *magazine = depot->full;

		depot->full = magazine->next;
		magazine->next = excess;
		excess = magazine;
		depot->count--;
	}
	depot->count_low = depot->count;
	melyint_lock_drop(&depot->lock);
	free_magazines(excess, true);
}

size_t
melyint_depot_trim(struct melyint_depot *depot)
{
	struct melyint_magazine *full, *spent;

	melyint_lock_take(&depot->lock);
	full = depot->full;
	spent = depot->spent;
	depot->full = depot->spent = NULL;
	depot->count = depot->count_low = 0;
	melyint_lock_drop(&depot->lock);
	return free_magazines(full, true) + free_magazines(spent, false);
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
	while (pool->count > 0)
		free(pool->stock[--pool->count]);
}

MELY_NOINLINE struct mely_event *
melyint_pool_get_outside(void)
{
	/* A cache line of its own: two events in one line, used by two cores, slow both down. */
	struct mely_event *ev = aligned_alloc(MELY_CACHE_LINE, MELY_CACHE_LINE);

	if (ev != NULL)
		ev->_flags = MELYINT_EV_POOLED;
	return ev;
}

/* The stock is empty: take a magazine of the depot's, or make some events. */
MELY_NOINLINE struct mely_event *
melyint_pool_get_slow(struct melyint_pool *pool)
{
	struct melyint_depot *depot = pool->depot;
	struct melyint_magazine *magazine;

	melyint_lock_take(&depot->lock);
	magazine = depot->full;
	if (magazine != NULL) {
		depot->full = magazine->next;
		if (--depot->count < depot->count_low)
			depot->count_low = depot->count;
		memcpy(pool->stock, magazine->events, sizeof magazine->events);
		pool->count = MELYINT_MAGAZINE;
		magazine->next = depot->spent;
		depot->spent = magazine;
	}
	melyint_lock_drop(&depot->lock);
	while (pool->count < MELYINT_MAGAZINE) {
		struct mely_event *ev = melyint_pool_get_outside();

		if (ev == NULL)
			break;
		pool->stock[pool->count++] = ev;
	}
	return pool->count > 0 ? pool->stock[--pool->count] : NULL;
}

/* The stock is full: move the magazine that was put in first away. */
MELY_NOINLINE void
melyint_pool_put_slow(struct melyint_pool *pool)
{
	struct melyint_depot *depot = pool->depot;
	struct melyint_magazine *magazine = NULL;
	bool wanted;
	int i;

	melyint_lock_take(&depot->lock);
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
		melyint_lock_drop(&depot->lock);
	} else {
		for (i = 0; i < MELYINT_MAGAZINE; i++)
			free(pool->stock[i]);
	}
	pool->count -= MELYINT_MAGAZINE;
	memmove(pool->stock, pool->stock + MELYINT_MAGAZINE, pool->count * sizeof pool->stock[0]);
}
