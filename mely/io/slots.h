/* SPDX-License-Identifier: MIT */
/*
 * slots.h: the ids of watchers and work. An id is a generation (high half) and a slot (low half).
 * The generation of a slot is odd while the slot is taken, and grows by one when it is taken and
 * when it is freed. A slot whose generation has run out is never used again. So an id is exact: two
 * takings never share one, and 0 is never an id.
 *
 * Any thread may read the memory of slots (struct melyint_watch) until the table is finished;
 * watch.h says how to do that safely. NOTE(closing) in slots.c, NOTE(slotmem) in slotmem.c.
 */
#ifndef MELYINT_IO_SLOTS_H
#define MELYINT_IO_SLOTS_H

#include "io/bycolor.h"
#include "io/slotmem.h"

struct melyint_watch;

struct melyint_slots {
	struct melyint_slotmem mem;
	struct melyint_lock lock;
	bool closing;               /* lock */
	struct melyint_bycolor colors; /* lock */
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

/* Bytes of slots that are free and can be given back; of those that no watcher has needed since the
 * last call. Any thread. */
size_t melyint_slots_free_bytes(struct melyint_slots *slots);
size_t melyint_slots_idle_bytes(struct melyint_slots *slots);
/* Give that memory back: detach it, wait for a grace period that begins then, and call
 * melyint_slots_give_back until it returns false. One thread at a time. */
void melyint_slots_detach(struct melyint_slots *slots, size_t bytes);
bool melyint_slots_give_back(struct melyint_slots *slots);

/* The record of an id's slot, possibly of another generation by now; NULL: never taken. */
struct melyint_watch *melyint_slots_at(struct melyint_slots *slots, uint32_t slot);

MELY_INLINE uint32_t
melyint_slots_used(struct melyint_slots *slots)
{
	/* acquire: pairs with the release in slotmem.c */
	return MELY_LOAD(&slots->mem.used, acquire);
}

#endif
