/* SPDX-License-Identifier: MIT */
/*
 * slab.c: entries cut from blocks of pages. A slab with room is in the list, a full one is not; an
 * entry finds its slab by its address. The caller holds the table's mutex.
 */
#include "base/assert.h"
#include "base/pages.h"
#include "color/slab.h"

enum {
	ENTRIES = MELYINT_BLOCK / sizeof(struct melyint_entry) - 1,
	MAGIC = 0x51ab51ab /* of a slab; other blocks hold colors */
};

struct melyint_slab {
	_Alignas(struct melyint_entry) struct melyint_slab *next;
	struct melyint_slab *prev;
	struct melyint_slabs *slabs; /* that it belongs to */
	struct melyint_entry *free;
	uint32_t magic;
	uint32_t used;
	uint32_t cut; /* entries that were ever used */
	_Alignas(struct melyint_entry) struct melyint_entry entries[ENTRIES];
};
_Static_assert(sizeof(struct melyint_slab) <= MELYINT_BLOCK, "a slab fits in a block");

/* The slab is one of these and its counts agree. */
static void
assert_slab(const struct melyint_slabs *slabs, const struct melyint_slab *slab)
{
	MELY_ASSERT(slab->magic == MAGIC && slab->slabs == slabs);
	MELY_DEBUG_ASSERT(slab->used <= slab->cut && slab->cut <= ENTRIES);
	/* entries that were used and are free are in its list */
	MELY_DEBUG_ASSERT((slab->free == NULL) == (slab->used == slab->cut));
}

static void
add(struct melyint_slabs *slabs, struct melyint_slab *slab)
{
	MELY_DEBUG_ASSERT(slab->next == NULL && slab->used < ENTRIES); /* not in the list */
	if (slabs->roomy == NULL) {
		slab->next = slab->prev = slab;
		slabs->roomy = slab;
	} else {
		slab->next = slabs->roomy;
		slab->prev = slabs->roomy->prev;
		slab->prev->next = slab->next->prev = slab;
	}
}

static void
take_out(struct melyint_slabs *slabs, struct melyint_slab *slab)
{
	MELY_DEBUG_ASSERT(slabs->roomy != NULL);
	MELY_DEBUG_ASSERT(slab->next->prev == slab && slab->prev->next == slab);
	if (slabs->roomy == slab)
		slabs->roomy = slab->next != slab ? slab->next : NULL;
	slab->next->prev = slab->prev;
	slab->prev->next = slab->next;
	slab->next = slab->prev = NULL;
}

void
melyint_slabs_init(struct melyint_slabs *slabs, const struct melyint_mutex *guard)
{
	slabs->roomy = NULL;
	slabs->guard = guard;
}

struct melyint_entry *
melyint_entry_new(struct melyint_slabs *slabs)
{
	struct melyint_slab *slab = slabs->roomy;
	struct melyint_entry *e;

	MELY_DEBUG_ASSERT(melyint_mutex_held(slabs->guard));
	if (slab == NULL) {
		slab = melyint_block_new();
		if (slab == NULL)
			return NULL;
		slab->magic = MAGIC;
		slab->slabs = slabs;
		add(slabs, slab);
	}
	assert_slab(slabs, slab);
	MELY_DEBUG_ASSERT(slab->used < ENTRIES); /* full slabs are not in the list */
	if (slab->free != NULL) {
		e = slab->free;
		slab->free = e->free;
	} else {
		e = &slab->entries[slab->cut++];
	}
	MELY_DEBUG_ASSERT(MELY_PEEK(&e->color._owner) == NULL); /* no color uses the entry */
	if (++slab->used == ENTRIES)
		take_out(slabs, slab);
	assert_slab(slabs, slab);
	return e;
}

void
melyint_entry_free(struct melyint_slabs *slabs, struct melyint_entry *e)
{
	struct melyint_slab *slab =
	    (struct melyint_slab *)((uintptr_t)e & ~(uintptr_t)(MELYINT_BLOCK - 1));

	MELY_DEBUG_ASSERT(melyint_mutex_held(slabs->guard));
	assert_slab(slabs, slab);
	MELY_DEBUG_ASSERT(slab->used > 0 && e >= slab->entries && e < slab->entries + slab->cut);
	MELY_DEBUG_ASSERT(MELY_PEEK(&e->color._owner) != NULL); /* freed once */
	MELY_STORE(&e->color._owner, NULL, relaxed); /* no other thread knows the entry */
	e->free = slab->free;
	slab->free = e;
	if (slab->used-- == ENTRIES)
		add(slabs, slab);
	if (slab->used == 0 && slab->next != slab) {
		take_out(slabs, slab);
		slab->magic = 0;
		melyint_block_free(slab);
	}
}

void
melyint_slabs_fini(struct melyint_slabs *slabs)
{
	while (slabs->roomy != NULL) {
		struct melyint_slab *slab = slabs->roomy;

		assert_slab(slabs, slab);
		MELY_DEBUG_ASSERT(slab->used == 0);
		take_out(slabs, slab);
		melyint_block_free(slab);
	}
}
