/* SPDX-License-Identifier: MIT */
/*
 * slots.h: the ids of watchers and work. An id is a generation (high half) and a slot (low half).
 * The generation of a slot is odd while the slot is taken, and grows by one when it is taken and
 * when it is freed. A slot whose generation has run out is never used again. So an id is exact: two
 * takings never share one, and 0 is never an id.
 *
 * The memory of slots (struct melyint_watch) stays until the table is finished, and any thread may
 * read it; watch.h says how to do that safely. NOTE(closing) in slots.c.
 */
#ifndef MELYINT_IO_SLOTS_H
#define MELYINT_IO_SLOTS_H

#include "base/stable.h"
#include "io/bycolor.h"

struct melyint_watch;

struct melyint_slots {
	struct melyint_stable records;
	struct melyint_lock lock;
	uint32_t free;              /* lock: the first free slot + 1; 0: none */
	uint32_t first_gen;         /* constant: the generation of a slot that was never taken */
	bool closing;               /* lock */
	struct melyint_bycolor colors; /* lock */
	_Atomic uint32_t used;      /* lock; read by any thread: slots below were once taken */
};

void melyint_slots_init(struct melyint_slots *slots);
void melyint_slots_fini(struct melyint_slots *slots);
/*
 * Take a slot for a record of color. guard is the lock that protects the record, held by the
 * caller, or NULL for the record's own lock, which this takes. 0, -ENOMEM, -ESHUTDOWN while closing
 * unless `late`.
 */
int melyint_slots_take(struct melyint_slots *slots, struct mely_color *color,
    struct melyint_lock *guard, bool late, struct melyint_watch **record);
/* Make the record's id stale; under its guard. */
void melyint_slots_retire(struct melyint_watch *record);
/* Give a retired slot back, holding no guard. Returns the event that waits for the end of all
 * records of the color, for the caller to post to that color; NULL: none. */
struct mely_event *melyint_slots_free(struct melyint_slots *slots, struct melyint_watch *record);
/*
 * Call fn for each record that color has when this begins, in time proportional to their number. fn
 * runs under no lock and may stop the record, which may have ended by then. Any thread. Returns an
 * event as melyint_slots_free does.
 */
struct mely_event *melyint_slots_each(struct melyint_slots *slots, struct mely_color *color,
    void (*fn)(void *arg, mely_watch id), void *arg);
/* Keep ended until color has no records: melyint_slots_free or _each then returns it. 0; -ENOENT:
 * the color has none now; -EALREADY: another event waits. */
int melyint_slots_await(struct melyint_slots *slots, struct mely_color *color,
    struct mely_event *ended);
void melyint_slots_close(struct melyint_slots *slots, bool closing);

/* The record of an id's slot, possibly of another generation by now; NULL: never taken. */
struct melyint_watch *melyint_slots_at(struct melyint_slots *slots, uint32_t slot);

MELY_INLINE uint32_t
melyint_slots_used(struct melyint_slots *slots)
{
	/* acquire: pairs with the release in melyint_slots_take */
	return MELY_LOAD(&slots->used, acquire);
}

#endif
