/* SPDX-License-Identifier: MIT */
/*
 * edge.c: the table of edges. The memory of spent edges is used again and never freed: a store with
 * release replaces what was there.
 */
#include "check/edge.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/assert.h"
#include "check/fiber.h"
#include "base/lock.h"
#include "check/tsan.h"

enum { BUCKETS = 65536, LOCKS = 64, SLAB = 512 };

static struct melyint_lock locks[LOCKS];            /* of every LOCKS'th bucket */
static struct melyint_edge *buckets[BUCKETS];       /* under their locks */
static struct melyint_lock spare_lock;
static struct melyint_edge *spares;                 /* under spare_lock */

/* ---- memory ---------------------------------------------------------------------------------- */

/* Under spare_lock. */
static void
make_spares(void)
{
	struct melyint_edge *slab = calloc(SLAB, sizeof *slab);
	int i;

	if (slab == NULL)
		melyint_bug(__FILE__, __LINE__, "no memory for the color checker");
	for (i = 0; i < SLAB; i++) {
		slab[i].next = spares;
		spares = &slab[i];
	}
}

static struct melyint_edge *
get_spare(const void *key)
{
	struct melyint_edge *edge;

	melyint_lock_take(&spare_lock);
	if (spares == NULL)
		make_spares();
	edge = spares;
	spares = edge->next;
	melyint_lock_drop(&spare_lock);
	edge->key = key;
	return edge;
}

void
melyint_edge_free(struct melyint_edge *edge)
{
	if (edge == NULL)
		return;
	melyint_lock_take(&spare_lock);
	edge->next = spares;
	spares = edge;
	melyint_lock_drop(&spare_lock);
}

/* ---- what ThreadSanitizer sees --------------------------------------------------------------- */

/* Visit a fiber, and go back to the one before. Signals are held meanwhile: one that came would
 * wait with the visited fiber until that runs. */
struct visit {
	void *before;
	uint64_t mask;
};

static struct visit
go_to(void *fiber)
{
	struct visit visit = {__tsan_get_current_fiber(), melyint_fiber_hold_signals()};

	__tsan_switch_to_fiber(fiber, MELYINT_TSAN_NO_SYNC);
	return visit;
}

static void
go_back(struct visit visit)
{
	__tsan_switch_to_fiber(visit.before, MELYINT_TSAN_NO_SYNC);
	melyint_fiber_release_signals(visit.mask);
}

void
melyint_edge_release(long *word, void *fiber)
{
	struct visit visit = go_to(fiber);

	__tsan_atomic64_store(word, 1, MELYINT_TSAN_RELEASE);
	go_back(visit);
}

static void
release_too(long *word, void *fiber)
{
	struct visit visit = go_to(fiber);

	(void)__tsan_atomic64_fetch_add(word, 1, MELYINT_TSAN_RELEASE);
	go_back(visit);
}

void
melyint_edge_acquire(const long *word, void *fiber)
{
	struct visit visit = go_to(fiber);

	(void)__tsan_atomic64_load(word, MELYINT_TSAN_ACQUIRE);
	go_back(visit);
}

/* ---- the table ------------------------------------------------------------------------------- */

static struct melyint_edge **
bucket_of(const void *key, struct melyint_lock **lock)
{
	uint64_t h = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
	size_t i = (size_t)(h >> 32) % BUCKETS;

	*lock = &locks[i % LOCKS];
	return &buckets[i];
}

/* Under the bucket's lock. */
static struct melyint_edge **
find(struct melyint_edge **bucket, const void *key)
{
	while (*bucket != NULL && (*bucket)->key != key)
		bucket = &(*bucket)->next;
	return bucket;
}

/* Under the bucket's lock. */
static struct melyint_edge *
obtain(struct melyint_edge **bucket, const void *key, bool *made)
{
	struct melyint_edge *edge = *find(bucket, key);

	*made = edge == NULL;
	if (edge != NULL)
		return edge;
	edge = get_spare(key);
	edge->next = *bucket;
	*bucket = edge;
	return edge;
}

void
melyint_edge_set(const void *key, void *fiber)
{
	struct melyint_lock *lock;
	struct melyint_edge **bucket = bucket_of(key, &lock);
	bool made;

	if (fiber == NULL) {
		melyint_edge_free(melyint_edge_take(key));
		return;
	}
	melyint_lock_take(lock);
	melyint_edge_release(&obtain(bucket, key, &made)->word, fiber);
	melyint_lock_drop(lock);
}

void
melyint_edge_add(const void *key, void *fiber)
{
	struct melyint_lock *lock;
	struct melyint_edge **bucket = bucket_of(key, &lock), *edge;
	bool made;

	if (fiber == NULL)
		return;
	melyint_lock_take(lock);
	edge = obtain(bucket, key, &made);
	if (made)
		melyint_edge_release(&edge->word, fiber);
	else
		release_too(&edge->word, fiber);
	melyint_lock_drop(lock);
}

struct melyint_edge *
melyint_edge_take(const void *key)
{
	struct melyint_lock *lock;
	struct melyint_edge **slot = bucket_of(key, &lock), *edge;

	melyint_lock_take(lock);
	slot = find(slot, key);
	edge = *slot;
	if (edge != NULL)
		*slot = edge->next;
	melyint_lock_drop(lock);
	return edge;
}

void
melyint_edge_follow(const struct melyint_edge *edge, void *fiber)
{
	if (edge != NULL && fiber != NULL)
		melyint_edge_acquire(&edge->word, fiber);
}

void
melyint_edge_follow_key(const void *key, void *fiber)
{
	struct melyint_lock *lock;
	struct melyint_edge **slot = bucket_of(key, &lock);

	melyint_lock_take(lock);
	melyint_edge_follow(*find(slot, key), fiber);
	melyint_lock_drop(lock);
}
