/* SPDX-License-Identifier: MIT */
/*
 * stable.h: a growing array whose records never move and are not freed before the array is. So a
 * reader reaches a record without a lock; the contents of a record need their own protection.
 * Records are zero when first reached. Chunk k holds FIRST << k records, so a few pointers reach
 * any 32-bit index.
 *
 * Any thread; one thread alone calls init and fini.
 */
#ifndef MELYINT_BASE_STABLE_H
#define MELYINT_BASE_STABLE_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/lock.h"

#define MELYINT_STABLE_FIRST 64u
#define MELYINT_STABLE_FIRST_LOG 6
#define MELYINT_STABLE_CHUNKS 26

struct melyint_stable {
	size_t record_size;         /* constant */
	struct melyint_lock lock;   /* held to make a chunk */
	_Atomic(char *) chunks[MELYINT_STABLE_CHUNKS]; /* set once; any thread */
};

void melyint_stable_init(struct melyint_stable *array, size_t record_size);
void melyint_stable_fini(struct melyint_stable *array);
/* The record; makes its chunk when it is missing. NULL: no memory, or the index is too large. */
void *melyint_stable_reach(struct melyint_stable *array, uint32_t index);

/* The record, or NULL when its chunk was never made. */
MELY_INLINE void *
melyint_stable_at(struct melyint_stable *array, uint32_t index)
{
	uint64_t place = (uint64_t)index + MELYINT_STABLE_FIRST;
	unsigned log = 63u - (unsigned)__builtin_clzll(place);
	unsigned chunk = log - MELYINT_STABLE_FIRST_LOG;
	char *base;

	if (MELY_UNLIKELY(chunk >= MELYINT_STABLE_CHUNKS))
		return NULL;
	/* acquire: pairs with the release in melyint_stable_reach */
	base = MELY_LOAD(&array->chunks[chunk], acquire);
	if (MELY_UNLIKELY(base == NULL))
		return NULL;
	return base + (size_t)(place - (1ull << log)) * array->record_size;
}

#endif
