/* SPDX-License-Identifier: MIT */
/*
 * table.h: the table that maps a 32-bit id to its color, exactly. Dense ids live in chunks found by
 * index, scattered ones in a hash table. Look-ups take no lock; the table's mutex guards making
 * colors and giving them back. The protocol is NOTE(colortab) in color/table.c.
 */
#ifndef MELYINT_COLOR_TABLE_H
#define MELYINT_COLOR_TABLE_H

#include "core/core.h"

enum {
	MELYINT_DENSE_CHUNK = 1024,
	MELYINT_DENSE_LIMIT = 1 << 22,
	MELYINT_DENSE_DIRECTORY = MELYINT_DENSE_LIMIT / MELYINT_DENSE_CHUNK,
	MELYINT_DENSE_FULL = 1 /* in a directory entry: every color of the chunk exists */
};

/* The first member of the table. */
struct melyint_dense {
	/* address of each chunk, or 0; untouched pages of the directory cost nothing */
	_Atomic uintptr_t *directory;
};

MELY_INLINE struct mely_color *
melyint_dense_chunk(uintptr_t entry)
{
	return (struct mely_color *)(entry & ~(uintptr_t)MELYINT_DENSE_FULL);
}

/* The color of a dense id, or NULL. Does not touch the color when its chunk is full. */
MELY_INLINE struct mely_color *
melyint_dense_find(const struct melyint_dense *dense, uint32_t id)
{
	struct mely_color *color;
	uintptr_t entry;

	if (MELY_UNLIKELY(id >= MELYINT_DENSE_LIMIT))
		return NULL;
	/* acquire, both: A of NOTE(colortab) */
	entry = MELY_LOAD(&dense->directory[id / MELYINT_DENSE_CHUNK], acquire);
	if (entry == 0)
		return NULL;
	color = melyint_dense_chunk(entry) + id % MELYINT_DENSE_CHUNK;
	if (MELY_LIKELY(entry & MELYINT_DENSE_FULL) || MELY_LOAD(&color->_owner, acquire) != NULL)
		return color;
	return NULL;
}

int melyint_colortab_new(struct mely_runtime *rt, struct melyint_colortab **table);
void melyint_colortab_free(struct melyint_colortab *table);

/*
 * Find the color with this id; make it when it is missing. Between an enter that returns 0 and the
 * leave, the color is not given back. self is the caller's core or NULL.
 */
int melyint_colortab_enter(struct mely_runtime *rt, struct melyint_core *self, uint32_t id,
    struct mely_color **color);
void melyint_colortab_leave(struct mely_runtime *rt, struct melyint_core *self);

/* The color that was found is dead: wait until the trim that marked it has unlinked it. The caller
 * holds no core's lock. Returns true, so that it can end the condition of a loop. */
bool melyint_colortab_settle(struct mely_runtime *rt);

/* Free idle colors. Any thread that is not a core of rt. Returns the bytes. */
size_t melyint_colortab_trim(struct mely_runtime *rt);

/* Lock the table around a fork. */
void melyint_colortab_lock(struct melyint_colortab *table);
void melyint_colortab_unlock(struct melyint_colortab *table);

/* In the child of a fork, by one thread: the readers of the parent do not exist here. */
void melyint_colortab_renew(struct melyint_colortab *table);

/* The bytes that the table occupies now. */
size_t melyint_colortab_bytes(const struct melyint_colortab *table);

#endif
