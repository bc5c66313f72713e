/* SPDX-License-Identifier: MIT */
/*
 * slots.c: the table of slots: taking, retiring and freeing them, and walks over those of one
 * color.
 *
 * NOTE(closing)
 *   A taker holds the record's guard before it publishes an odd generation, and reads `closing`
 *   under the table's lock together with that. A stop sets `closing` under the same lock and then
 *   walks the table, taking each guard. So a new record is either refused or met by the walk.
 */
#include "io/slots.h"

#include <errno.h>

#include "base/assert.h"
#include "io/watch.h"

/* Each table begins with other generations, so that an id of a runtime that was freed is stale in
 * the next one. Even, and in the lower half, so that each slot can be taken many times. */
static uint32_t
next_first_gen(void)
{
	static _Atomic uint32_t tables MELY_LASTING; /* any thread */

	return MELY_ADD(&tables, 1, relaxed) * 0x9e3779b1u >> 1 & ~1u; /* relaxed: a number */
}

void
melyint_slots_init(struct melyint_slots *slots)
{
	slots->first_gen = next_first_gen();
	melyint_stable_init(&slots->records, sizeof(struct melyint_watch));
	melyint_lock_init(&slots->lock);
	slots->free = 0;
	slots->closing = false;
	melyint_bycolor_init(&slots->colors);
	/* relaxed: no other thread knows the table yet */
	MELY_STORE(&slots->used, 0, relaxed);
}

void
melyint_slots_fini(struct melyint_slots *slots)
{
	melyint_bycolor_fini(&slots->colors);
	melyint_stable_fini(&slots->records);
}

struct melyint_watch *
melyint_slots_at(struct melyint_slots *slots, uint32_t slot)
{
	struct melyint_watch *w;

	if (slot >= melyint_slots_used(slots))
		return NULL;
	w = melyint_stable_at(&slots->records, slot);
	MELY_DEBUG_ASSERT(w->magic == MELYINT_WATCH_MAGIC && w->slot == slot);
	return w;
}

/* A free slot, under the table's lock. */
static struct melyint_watch *
pick_locked(struct melyint_slots *slots)
{
	/* relaxed: written under the lock that this thread holds */
	uint32_t used = MELY_LOAD(&slots->used, relaxed);
	struct melyint_watch *w;

	MELY_DEBUG_ASSERT(melyint_lock_held(&slots->lock) && slots->free <= used);
	if (slots->free != 0) {
		w = melyint_stable_at(&slots->records, slots->free - 1);
		MELY_ASSERT(w->magic == MELYINT_WATCH_MAGIC && w->slot == slots->free - 1);
		slots->free = w->next_free;
		return w;
	}
	if (used == UINT32_MAX)
		return NULL;
	w = melyint_stable_reach(&slots->records, used);
	if (w == NULL)
		return NULL;
	MELY_DEBUG_ASSERT(w->magic == 0 && MELY_PEEK(&w->gen) == 0); /* never taken */
	/* relaxed: published with the record */
	MELY_STORE(&w->gen, slots->first_gen, relaxed);
	w->magic = MELYINT_WATCH_MAGIC;
	w->slot = used;
	melyint_lock_init(&w->own);
	/* release: pairs with the acquire in melyint_slots_used; the record is initialised */
	MELY_STORE(&slots->used, used + 1, release);
	return w;
}

int
melyint_slots_take(struct melyint_slots *slots, struct mely_color *color,
    struct melyint_lock *guard, bool late, struct melyint_watch **record)
{
	struct melyint_mates *first;
	struct melyint_watch *w;
	uint32_t gen;

	MELY_DEBUG_ASSERT(guard == NULL || melyint_lock_held(guard));
	melyint_lock_take(&slots->lock);
	/* A list that waits for its end is of a color that is being closed. */
	first = melyint_bycolor_first(&slots->colors, color);
	if ((slots->closing && !late) || (first != NULL && first->ended != NULL)) {
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
	melyint_bycolor_add(&slots->colors, &w->mates, color);
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
	/* relaxed: written under the guard, which this thread holds */
	uint32_t gen = MELY_LOAD(&w->gen, relaxed);

	MELY_DEBUG_ASSERT(melyint_watch_guarded(w));
	MELY_ASSERT((gen & 1) == 1 && w->magic == MELYINT_WATCH_MAGIC);
	/* release: pairs with the acquire in melyint_watch_hold */
	MELY_STORE(&w->gen, gen + 1, release);
}

struct mely_event *
melyint_slots_free(struct melyint_slots *slots, struct melyint_watch *w)
{
	struct mely_event *ended;

	MELY_DEBUG_ASSERT((MELY_PEEK(&w->gen) & 1) == 0);
	melyint_lock_take(&slots->lock);
	MELY_DEBUG_ASSERT(slots->free != w->slot + 1 && w->slot < MELY_PEEK(&slots->used));
	ended = melyint_bycolor_remove(&slots->colors, &w->mates);
	/* relaxed: retired by this thread. 0: the generations have run out. */
	if (MELY_LOAD(&w->gen, relaxed) != 0) {
		w->next_free = slots->free;
		slots->free = w->slot + 1;
	}
	melyint_lock_drop(&slots->lock);
	return ended;
}

/* Under the lock: the id of the first record at or behind *mates, which may be a place; 0: none. */
static mely_watch
next_id(struct melyint_mates **mates)
{
	for (; *mates != NULL; *mates = (*mates)->next) {
		const struct melyint_watch *w =
		    MELY_CONTAINER_OF(*mates, struct melyint_watch, mates);
		uint32_t gen;

		if ((*mates)->place)
			continue;
		MELY_DEBUG_ASSERT(w->magic == MELYINT_WATCH_MAGIC);
		/* relaxed: a user of the id checks it again. Even: about to be freed. */
		gen = MELY_LOAD(&w->gen, relaxed);
		if ((gen & 1) == 1)
			return (mely_watch)gen << 32 | w->slot;
	}
	return 0;
}

struct mely_event *
melyint_slots_each(struct melyint_slots *slots, struct mely_color *color,
    void (*fn)(void *arg, mely_watch id), void *arg)
{
	struct melyint_mates place, *mates;
	struct mely_event *ended = NULL;
	bool entered = false;
	mely_watch id;

	melyint_lock_take(&slots->lock);
	mates = melyint_bycolor_first(&slots->colors, color);
	while ((id = next_id(&mates)) != 0) {
		/* C of NOTE(by color): the place leaves the list and enters it again. */
		if (entered)
			(void)melyint_bycolor_remove(&slots->colors, &place);
		melyint_bycolor_place(&place, mates);
		entered = true;
		melyint_lock_drop(&slots->lock);
		fn(arg, id);
		melyint_lock_take(&slots->lock);
		MELY_ASSERT(place.place && place.color == color); /* still in its list */
		mates = place.next;
	}
	if (entered)
		ended = melyint_bycolor_remove(&slots->colors, &place);
	melyint_lock_drop(&slots->lock);
	return ended;
}

int
melyint_slots_await(struct melyint_slots *slots, struct mely_color *color,
    struct mely_event *ended)
{
	struct melyint_mates *first;
	int r = 0;

	melyint_lock_take(&slots->lock);
	first = melyint_bycolor_first(&slots->colors, color);
	if (first == NULL)
		r = -ENOENT;
	else if (first->ended != NULL)
		r = -EALREADY;
	else
		first->ended = ended;
	MELY_DEBUG_ASSERT(first == NULL || first->prev == NULL);
	melyint_lock_drop(&slots->lock);
	return r;
}

void
melyint_slots_close(struct melyint_slots *slots, bool closing)
{
	melyint_lock_take(&slots->lock);
	slots->closing = closing;
	melyint_lock_drop(&slots->lock);
}
