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

void
melyint_slots_init(struct melyint_slots *slots)
{
	melyint_slotmem_init(&slots->mem);
	melyint_lock_init(&slots->lock);
	slots->closing = false;
	melyint_bycolor_init(&slots->colors);
}

void
melyint_slots_fini(struct melyint_slots *slots)
{
	melyint_bycolor_fini(&slots->colors);
	melyint_slotmem_fini(&slots->mem);
}

struct melyint_watch *
melyint_slots_at(struct melyint_slots *slots, uint32_t slot)
{
	return slot < melyint_slots_used(slots) ? melyint_slotmem_at(&slots->mem, slot) : NULL;
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
	w = melyint_slotmem_get(&slots->mem);
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
	MELY_DEBUG_ASSERT(w->slot < melyint_slots_used(slots));
	ended = melyint_bycolor_remove(&slots->colors, &w->mates);
	melyint_slotmem_put(&slots->mem, w);
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

/* ---- giving memory back ---------------------------------------------------------------------- */

size_t
melyint_slots_free_bytes(struct melyint_slots *slots)
{
	size_t bytes;

	melyint_lock_take(&slots->lock);
	bytes = melyint_slotmem_free_bytes(&slots->mem);
	melyint_lock_drop(&slots->lock);
	return bytes;
}

size_t
melyint_slots_idle_bytes(struct melyint_slots *slots)
{
	size_t bytes;

	melyint_lock_take(&slots->lock);
	bytes = melyint_slotmem_idle_bytes(&slots->mem);
	melyint_lock_drop(&slots->lock);
	return bytes;
}

void
melyint_slots_detach(struct melyint_slots *slots, size_t bytes)
{
	melyint_lock_take(&slots->lock);
	melyint_slotmem_detach(&slots->mem, bytes);
	melyint_lock_drop(&slots->lock);
}

bool
melyint_slots_give_back(struct melyint_slots *slots)
{
	enum { GROUPS = 32 };
	bool more;

	melyint_lock_take(&slots->lock);
	more = melyint_slotmem_give_back(&slots->mem, GROUPS);
	melyint_lock_drop(&slots->lock);
	return more;
}
