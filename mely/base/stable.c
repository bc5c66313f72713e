/* SPDX-License-Identifier: MIT */
/*
 * stable.c: making and freeing the chunks of a stable array. Chunks are mapped rather than
 * allocated, so that they are zero and cost memory only where they are touched.
 */
#include "base/stable.h"

#include <sys/mman.h>

#include "base/pages.h"

static size_t
chunk_size(const struct melyint_stable *array, unsigned chunk)
{
	return ((size_t)MELYINT_STABLE_FIRST << chunk) * array->record_size;
}

void
melyint_stable_init(struct melyint_stable *array, size_t record_size)
{
	unsigned i;

	array->record_size = record_size;
	melyint_lock_init(&array->lock);
	for (i = 0; i < MELYINT_STABLE_CHUNKS; i++)
		/* relaxed: no other thread knows the array yet */
		MELY_STORE(&array->chunks[i], NULL, relaxed);
}

void
melyint_stable_fini(struct melyint_stable *array)
{
	unsigned i;

	for (i = 0; i < MELYINT_STABLE_CHUNKS; i++) {
		/* relaxed: no other thread uses the array any more */
		char *base = MELY_LOAD(&array->chunks[i], relaxed);

		if (base != NULL) {
			melyint_pages_leave(base, chunk_size(array, i));
			munmap(base, chunk_size(array, i));
		}
		MELY_STORE(&array->chunks[i], NULL, relaxed); /* relaxed: as above */
	}
}

void *
melyint_stable_reach(struct melyint_stable *array, uint32_t index)
{
	void *record = melyint_stable_at(array, index);
	uint64_t place = (uint64_t)index + MELYINT_STABLE_FIRST;
	unsigned chunk = 63u - (unsigned)__builtin_clzll(place) - MELYINT_STABLE_FIRST_LOG;

	if (record != NULL || chunk >= MELYINT_STABLE_CHUNKS)
		return record;
	melyint_lock_take(&array->lock);
	if (melyint_stable_at(array, index) == NULL) {
		void *base = mmap(NULL, chunk_size(array, chunk), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (base != MAP_FAILED) {
			melyint_pages_hold(base, chunk_size(array, chunk));
			/* release: pairs with the acquire in melyint_stable_at */
			MELY_STORE(&array->chunks[chunk], base, release);
		}
	}
	melyint_lock_drop(&array->lock);
	return melyint_stable_at(array, index);
}
