/* SPDX-License-Identifier: MIT */
/*
 * table_private.h: the members of the table of colors, and what must hold of them. For
 * color/table.c and trim.c alone.
 */
#ifndef MELYINT_COLOR_TABLE_PRIVATE_H
#define MELYINT_COLOR_TABLE_PRIVATE_H

#include "base/assert.h"
#include "base/mutex.h"
#include "base/pages.h"
#include "color/slab.h"
#include "color/table.h"

enum { MELYINT_BUCKETS_MIN = 64 };

struct melyint_buckets {
	size_t count;
	struct melyint_buckets *older; /* replaced ones, freed with the table or by a trim */
	_Atomic(struct melyint_entry *) chain[];
};

struct melyint_colortab {
	struct melyint_dense dense; /* what look-ups of dense ids need */
	struct mely_runtime *rt;
	_Atomic(struct melyint_buckets *) buckets;
	_Alignas(MELY_CACHE_LINE) struct melyint_mutex lock;
	size_t chunks, colors, scattered;   /* chunks, colors in chunks, entries; under the lock */
	struct melyint_slabs slabs;         /* the memory of entries; under the lock */
	uint16_t *used;                     /* colors of each chunk; under the lock */
	_Alignas(MELY_CACHE_LINE) _Atomic uint32_t readers; /* outside threads */
};

/* Replace the buckets. Under the lock. The old ones are older of the new. */
void melyint_colortab_resize(struct melyint_colortab *t, size_t count);
void melyint_buckets_free(struct melyint_buckets *b);

MELY_INLINE size_t
melyint_colortab_hash(uint32_t id, size_t count)
{
	return (size_t)((id * 0x9e3779b97f4a7c15u) >> 32) & (count - 1);
}

/* ---- assertions ------------------------------------------------------------------------------ */

MELY_INLINE void
melyint_assert_colortab_locked(const struct melyint_colortab *t)
{
	MELY_DEBUG_ASSERT(melyint_mutex_held(&t->lock));
}

/* A color that was given back takes no more events: C of NOTE(colortab). Under its owner's lock, or
 * after the grace period. */
MELY_INLINE void
melyint_assert_dead(const struct mely_color *color)
{
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_flags) == MELYINT_COLOR_DEAD);
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_state) == MELYINT_COLOR_IDLE);
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_heads) == NULL && color->_tails == NULL);
}

/* The colors that exist in a chunk are those that the table counts, and its mark of a full chunk
 * says so. Under the table's mutex. */
MELY_INLINE void
melyint_assert_chunk(const struct melyint_colortab *t, size_t number)
{
#ifdef MELY_DEVELOPER
	uintptr_t entry = MELY_PEEK(&t->dense.directory[number]);
	const struct mely_color *chunk = melyint_dense_chunk(entry);
	uint32_t exist = 0;
	int i;

	for (i = 0; i < MELYINT_DENSE_CHUNK; i++)
		exist += MELY_PEEK(&chunk[i]._owner) != NULL;
	MELY_DEBUG_ASSERT(exist == t->used[number] && exist <= t->colors);
	MELY_DEBUG_ASSERT((exist == MELYINT_DENSE_CHUNK) == ((entry & MELYINT_DENSE_FULL) != 0));
#else
	(void)t;
	(void)number;
#endif
}

/* Take the table's mutex, before any core's lock. */
MELY_INLINE void
melyint_colortab_take(struct melyint_colortab *t)
{
	MELY_DEBUG_ASSERT(melyint_self == NULL || melyint_self->rt != t->rt ||
	    !melyint_lock_held(&melyint_self->lock));
	melyint_mutex_take(&t->lock);
}

/* Under the table's mutex, for assertions: the color of an id in the hash table, or NULL. */
MELY_INLINE const struct mely_color *
melyint_colortab_peek(const struct melyint_buckets *b, uint32_t id)
{
	const struct melyint_entry *e = MELY_PEEK(&b->chain[melyint_colortab_hash(id, b->count)]);

	while (e != NULL && e->color._id != id)
		e = MELY_PEEK(&e->next);
	return e != NULL ? &e->color : NULL;
}

/* After the grace period: no post reached a color of the chunk after its burial. */
MELY_INLINE void
melyint_assert_dead_chunk(const struct mely_color *chunk)
{
#ifdef MELY_DEVELOPER
	int i;

	for (i = 0; i < MELYINT_DENSE_CHUNK; i++) {
		if (MELY_PEEK(&chunk[i]._owner) != NULL)
			melyint_assert_dead(&chunk[i]);
	}
#else
	(void)chunk;
#endif
}

#endif
