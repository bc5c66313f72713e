/* SPDX-License-Identifier: MIT */
/*
 * slab.h: memory for the colors of scattered ids, in entries of two cache lines that are cut from
 * blocks of pages. The caller holds the table's mutex.
 */
#ifndef MELYINT_COLOR_SLAB_H
#define MELYINT_COLOR_SLAB_H

#include <mely/color.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/mutex.h"

struct melyint_entry {
	struct mely_color color;
	_Atomic(struct melyint_entry *) next; /* in its hash chain */
	struct melyint_entry *free;           /* in its slab, or in a grave */
};
_Static_assert(sizeof(struct melyint_entry) == 2 * MELY_CACHE_LINE, "entries fill cache lines");

struct melyint_slab;

struct melyint_slabs {
	struct melyint_slab *roomy; /* the slabs with room, circular */
	const struct melyint_mutex *guard; /* the table's mutex; for assertions */
};

void melyint_slabs_init(struct melyint_slabs *slabs, const struct melyint_mutex *guard);
/* A new entry; NULL: no memory. Its color has no owner. */
struct melyint_entry *melyint_entry_new(struct melyint_slabs *slabs);
/* Free an entry, whose color has an owner. An empty slab goes back to the system, unless it is the
 * only one with room. */
void melyint_entry_free(struct melyint_slabs *slabs, struct melyint_entry *e);
/* Free the last slabs, after all entries were freed. */
void melyint_slabs_fini(struct melyint_slabs *slabs);

#endif
