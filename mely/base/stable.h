/* SPDX-License-Identifier: MIT */
/*
 * stable.h: a growing array whose records never move and, until the array is finished, are never
 * given back, so that a reader needs no lock to reach one: only what is inside a record needs its
 * own care. Records are zero when first reached. Chunk k holds FIRST << k records, so a handful
 * of pointers reaches any 32-bit index.
 *
 * Any thread; init and fini by one thread alone.
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
	struct melyint_lock lock;   /* for making a chunk */
	_Atomic(char *) chunks[MELYINT_STABLE_CHUNKS]; /* set once; anyone */
};

void melyint_stable_init(struct melyint_stable *array, size_t record_size);
void melyint_stable_fini(struct melyint_stable *array);
/* The record, its chunk made if need be; NULL: no memory, or an index out of reach. */
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
