/* SPDX-License-Identifier: MIT */
/*
 * table.h: from a 32-bit id to its color, exactly. Dense ids live in chunks found by index,
 * scattered ones in a hash table. Look-ups take no lock; colors are made and given back under
 * one. The protocol is NOTE(colortab) in color/table.c.
 */
#ifndef MELYINT_COLOR_TABLE_H
#define MELYINT_COLOR_TABLE_H

#include "core/core.h"

enum {
	MELYINT_DENSE_CHUNK = 1024,
	MELYINT_DENSE_LIMIT = 1 << 22,
	MELYINT_DENSE_FULL = 1 /* in a directory entry: every color of the chunk exists */
};

/* The first member of the table. */
struct melyint_dense {
	/* address of each chunk, or 0; pages of the directory that are untouched cost nothing */
	_Atomic uintptr_t *directory;
};

MELY_INLINE struct mely_color *
melyint_dense_chunk(uintptr_t entry)
{
	return (struct mely_color *)(entry & ~(uintptr_t)MELYINT_DENSE_FULL);
}

/* The color of a dense id, or NULL. Without touching the color when its chunk is full. */
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
 * Find the color, make it when missing. Between enter (if it returns 0) and leave the color can
 * not be given back. self is the caller's core or NULL.
 */
int melyint_colortab_enter(struct mely_runtime *rt, struct melyint_core *self, uint32_t id,
    struct mely_color **color);
void melyint_colortab_leave(struct mely_runtime *rt, struct melyint_core *self);

/* The color that was found is dead: wait until whoever buries it has unlinked it, too. No lock of a
 * core held. True, so that a loop may end with it. */
bool melyint_colortab_settle(struct mely_runtime *rt);

/* Give idle colors back to malloc. Any thread that is no core of rt. Returns the bytes. */
size_t melyint_colortab_trim(struct mely_runtime *rt);

/* Around a fork. */
void melyint_colortab_lock(struct melyint_colortab *table);
void melyint_colortab_unlock(struct melyint_colortab *table);

/* Bytes it occupies now. */
size_t melyint_colortab_bytes(const struct melyint_colortab *table);

#endif
