/* SPDX-License-Identifier: MIT */
/*
 * bycolor.c: the lists of the watchers of each color.
 *
 * NOTE(by color)
 *   A. A hash table holds the first record of each list; a color without watchers costs nothing,
 *      and struct mely_color stays one cache line. What belongs to the list as a whole (its link in
 *      the table, the event that reports its end) lives in the first record, and moves to the next
 *      one when the first is removed.
 *   B. A record enters the list at its front when its slot is taken, and leaves it when the slot is
 *      freed: after the handler has ended and nothing refers to the record any more. So an empty
 *      list says that all watchers of the color have ended, and the last one to leave posts the
 *      event that waits for this.
 *   C. A walk enters a place of its own into the list, behind the record that it visits, and drops
 *      the lock for the visit. Records before the place have been visited or are newer than the
 *      walk. Any number of walks may be in one list; a place may be the first of its list.
 *   D. All of it is under the lock of the table of slots, which each taking and freeing of a slot
 *      takes anyway. An event costs nothing.
 */
#include "io/bycolor.h"

#include <stdlib.h>

#include "base/assert.h"

enum { BUCKETS_MIN = 64 };

static struct melyint_mates **
bucket_of(struct melyint_bycolor *table, const struct mely_color *color)
{
	/* Colors are cache lines: the low bits say nothing. */
	uint64_t hash = ((uintptr_t)color >> 6) * 0x9e3779b97f4a7c15u;

	MELY_DEBUG_ASSERT((table->mask & (table->mask + 1)) == 0); /* a power of two, less 1 */
	return &table->buckets[(uint32_t)(hash >> 32) & table->mask];
}

/* The link that leads to the first of the color's list, or to NULL at the end of the chain. */
static struct melyint_mates **
link_of(struct melyint_bycolor *table, const struct mely_color *color)
{
	struct melyint_mates **link = bucket_of(table, color);

	while (*link != NULL && (*link)->color != color)
		link = &(*link)->chain;
	MELY_DEBUG_ASSERT(*link == NULL || (*link)->prev == NULL);
	return link;
}

void
melyint_bycolor_init(struct melyint_bycolor *table)
{
	table->only = NULL;
	table->buckets = &table->only;
	table->mask = 0;
	table->lists = 0;
}

void
melyint_bycolor_fini(struct melyint_bycolor *table)
{
	MELY_ASSERT((table->buckets == &table->only) == (table->mask == 0));
	if (table->buckets != &table->only)
		free(table->buckets);
	melyint_bycolor_init(table);
}

/* One bucket a list, or more. Without memory the chains get longer, and that is all. */
static void
grow(struct melyint_bycolor *table)
{
	struct melyint_bycolor old = *table;
	uint32_t size = (old.mask + 1) * 2, moved = 0, i;

	MELY_ASSERT(old.lists > old.mask); /* the caller has counted its new list */
	if (size < BUCKETS_MIN)
		size = BUCKETS_MIN;
	table->buckets = calloc(size, sizeof(struct melyint_mates *));
	if (table->buckets == NULL) {
		table->buckets = old.buckets;
		return;
	}
	table->mask = size - 1;
	for (i = 0; i <= old.mask; i++) {
		struct melyint_mates *first = old.buckets[i], *next;

		for (; first != NULL; first = next) {
			struct melyint_mates **bucket = bucket_of(table, first->color);

			next = first->chain;
			first->chain = *bucket;
			*bucket = first;
			moved++;
		}
	}
	MELY_ASSERT(moved == old.lists);
	if (old.buckets != &table->only)
		free(old.buckets);
}

struct melyint_mates *
melyint_bycolor_first(struct melyint_bycolor *table, const struct mely_color *color)
{
	return *link_of(table, color);
}

void
melyint_bycolor_add(struct melyint_bycolor *table, struct melyint_mates *mates,
    struct mely_color *color)
{
	struct melyint_mates **link = link_of(table, color), *first = *link;

	MELY_ASSERT(mates->color == NULL);
	MELY_DEBUG_ASSERT(mates->prev == NULL && mates->next == NULL && mates->chain == NULL);
	mates->color = color;
	mates->place = false;
	mates->prev = NULL;
	mates->next = first;
	mates->chain = NULL;
	mates->ended = NULL;
	*link = mates;
	if (first != NULL) {
		MELY_ASSERT(first->prev == NULL);
		first->prev = mates;
		mates->chain = first->chain;
		mates->ended = first->ended;
		first->chain = NULL;
		first->ended = NULL;
	} else if (++table->lists > table->mask && table->mask < UINT32_MAX / 4) {
		grow(table);
	}
}

/* A of NOTE(by color): the second of the list becomes the first. */
static struct mely_event *
remove_first(struct melyint_bycolor *table, struct melyint_mates *first)
{
	struct melyint_mates **link = link_of(table, first->color), *next = first->next;

	MELY_ASSERT(*link == first);
	MELY_DEBUG_ASSERT(table->lists > 0);
	if (next == NULL) {
		*link = first->chain;
		table->lists--;
		return first->ended;
	}
	/* Only the first has what belongs to the list as a whole. */
	MELY_DEBUG_ASSERT(next->prev == first && next->chain == NULL && next->ended == NULL);
	next->prev = NULL;
	next->chain = first->chain;
	next->ended = first->ended;
	*link = next;
	return NULL;
}

struct mely_event *
melyint_bycolor_remove(struct melyint_bycolor *table, struct melyint_mates *mates)
{
	struct mely_event *ended = NULL;

	MELY_ASSERT(mates->color != NULL);
	if (mates->prev == NULL) {
		ended = remove_first(table, mates);
	} else {
		MELY_ASSERT(mates->prev->next == mates);
		MELY_DEBUG_ASSERT(mates->chain == NULL && mates->ended == NULL);
		MELY_DEBUG_ASSERT(mates->next == NULL || mates->next->prev == mates);
		mates->prev->next = mates->next;
		if (mates->next != NULL)
			mates->next->prev = mates->prev;
	}
	mates->next = mates->prev = mates->chain = NULL;
	mates->ended = NULL;
	mates->color = NULL;
	return ended;
}

void
melyint_bycolor_place(struct melyint_mates *place, struct melyint_mates *mates)
{
	MELY_DEBUG_ASSERT(!mates->place && mates->color != NULL);
	MELY_DEBUG_ASSERT(mates->next == NULL || mates->next->prev == mates);
	place->color = mates->color;
	place->place = true;
	place->chain = NULL;
	place->ended = NULL;
	place->prev = mates;
	place->next = mates->next;
	if (place->next != NULL)
		place->next->prev = place;
	mates->next = place;
}
