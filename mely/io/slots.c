/* SPDX-License-Identifier: MIT */
/* slots.c: see slots.h. */
#include "io/slots.h"

#include <errno.h>

#include "base/assert.h"
#include "io/watch.h"

void
melyint_slots_init(struct melyint_slots *slots)
{
	melyint_stable_init(&slots->records, sizeof(struct melyint_watch));
	melyint_lock_init(&slots->lock);
	slots->free = 0;
	slots->closing = false;
	/* relaxed: nobody else knows the table yet */
	MELY_STORE(&slots->used, 0, relaxed);
}

void
melyint_slots_fini(struct melyint_slots *slots)
{
	melyint_stable_fini(&slots->records);
}

struct melyint_watch *
melyint_slots_at(struct melyint_slots *slots, uint32_t slot)
{
	if (slot >= melyint_slots_used(slots))
		return NULL;
	return melyint_stable_at(&slots->records, slot);
}

/* A free slot, under the table's lock. */
static struct melyint_watch *
pick_locked(struct melyint_slots *slots)
{
	/* relaxed: written under the lock we hold */
	uint32_t used = MELY_LOAD(&slots->used, relaxed);
	struct melyint_watch *w;

	if (slots->free != 0) {
		w = melyint_stable_at(&slots->records, slots->free - 1);
		slots->free = w->next_free;
		return w;
	}
	if (used == UINT32_MAX)
		return NULL;
	w = melyint_stable_reach(&slots->records, used);
	if (w == NULL)
		return NULL;
	w->slot = used;
	melyint_lock_init(&w->own);
	/* release: pairs with the acquire in melyint_slots_used; the record is initialised */
	MELY_STORE(&slots->used, used + 1, release);
	return w;
}

int
melyint_slots_take(struct melyint_slots *slots, struct melyint_lock *guard, bool late,
    struct melyint_watch **record)
{
	struct melyint_watch *w;
	uint32_t gen;

	melyint_lock_take(&slots->lock);
	if (slots->closing && !late) {
		melyint_lock_drop(&slots->lock);
		return -ESHUTDOWN;
	}
	w = pick_locked(slots);
	if (w == NULL) {
		melyint_lock_drop(&slots->lock);
		return -ENOMEM;
	}
	if (guard == NULL) {
		guard = &w->own;
		melyint_lock_take(guard);
	}
	/* relaxed: a free slot's generation changes only here, under the table's lock */
	gen = MELY_LOAD(&w->gen, relaxed);
	MELY_ASSERT((gen & 1) == 0);
	/* release: pairs with the acquire in melyint_watch_hold, which then takes this guard */
	MELY_STORE(&w->guard, guard, release);
	MELY_STORE(&w->gen, gen + 1, release); /* release: as above */
	melyint_lock_drop(&slots->lock);
	*record = w;
	return 0;
}

void
melyint_slots_retire(struct melyint_watch *w)
{
	/* relaxed: written under the guard we hold */
	uint32_t gen = MELY_LOAD(&w->gen, relaxed);

	MELY_ASSERT((gen & 1) == 1);
	/* release: pairs with the acquire in melyint_watch_hold */
	MELY_STORE(&w->gen, gen + 1, release);
}

void
melyint_slots_free(struct melyint_slots *slots, struct melyint_watch *w)
{
	melyint_lock_take(&slots->lock);
	/* relaxed: retired by this thread; 0 means that the generations have run out */
	if (MELY_LOAD(&w->gen, relaxed) != 0) {
		w->next_free = slots->free;
		slots->free = w->slot + 1;
	}
	melyint_lock_drop(&slots->lock);
}

void
melyint_slots_close(struct melyint_slots *slots, bool closing)
{
	melyint_lock_take(&slots->lock);
	slots->closing = closing;
	melyint_lock_drop(&slots->lock);
}
