/* SPDX-License-Identifier: MIT */
/*
 * slotmem.h: the memory of slots. Records stay where they are, so any thread may read a record at
 * any time; but the pages of slots that are free go back to the system, and read as zero from then
 * on.
 * Each function says which lock the caller holds.
 */
#ifndef MELYINT_IO_SLOTMEM_H
#define MELYINT_IO_SLOTMEM_H

#include "base/stable.h"

struct melyint_watch;

enum {
	MELYINT_SLOT_GROUP = 64, /* slots: their records fill whole pages of 4096 bytes */
	MELYINT_SLOT_LISTS = 3   /* enum place in slotmem.c */
};

struct melyint_slotmem {
	struct melyint_stable records;
	struct melyint_stable groups;
	/* the lock of the slots, all but used */
	uint32_t lists[MELYINT_SLOT_LISTS]; /* the first group of each + 1; 0: none */
	uint32_t empty;             /* groups without a taken slot that have memory */
	uint32_t empty_least;       /* the least of these since melyint_slotmem_idle_bytes */
	uint32_t leaving;           /* the first group that waits for a grace period, + 1 */
	bool locked;                /* pages cannot be given back */
	uint32_t first_gen;         /* constant: the generation of a slot that was never taken */
	_Atomic uint32_t used;      /* read by any thread: slots below were once taken */
};

void melyint_slotmem_init(struct melyint_slotmem *mem);
void melyint_slotmem_fini(struct melyint_slotmem *mem);

/* Under the lock of the slots: a slot that no one has, with an even generation; NULL: no memory. */
struct melyint_watch *melyint_slotmem_get(struct melyint_slotmem *mem);
/* Under the lock of the slots: the slot is free, unless its generations have run out. */
void melyint_slotmem_put(struct melyint_slotmem *mem, struct melyint_watch *w);

/* The bytes of empty groups. Under the lock of the slots. */
size_t melyint_slotmem_free_bytes(const struct melyint_slotmem *mem);
/* The bytes of those that were empty since the last call. Under the lock of the slots. */
size_t melyint_slotmem_idle_bytes(struct melyint_slotmem *mem);
/* Take the groups of these bytes out of use. Under the lock of the slots. */
void melyint_slotmem_detach(struct melyint_slotmem *mem, size_t bytes);
/* After a grace period that began later, under the lock of the slots: give the pages of up to count
 * of these groups back. False: there are no more. */
bool melyint_slotmem_give_back(struct melyint_slotmem *mem, uint32_t count);

/* The record of a slot below used. */
MELY_INLINE struct melyint_watch *
melyint_slotmem_at(struct melyint_slotmem *mem, uint32_t slot)
{
	return melyint_stable_at(&mem->records, slot);
}

#endif
