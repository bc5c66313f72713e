/* SPDX-License-Identifier: MIT */
/*
 * index.c: additions, removals and sweeps of a core's index. The look-up is in index.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "site/index.h"

int
sws_index_init(struct sws_index *index, int core)
{
	/* An answer that ends outside the runtime ends on core -1, which is never the entry's. */
	SWS_ASSERT(core >= 0);
	memset(index, 0, sizeof *index);
	index->core = core;
	index->buckets = calloc(SWS_INDEX_BUCKETS, sizeof index->buckets[0]);
	return index->buckets != NULL ? 0 : -ENOMEM;
}

static bool
is_idle(struct sws_entry *e)
{
	uint32_t refs, away;

	SWS_LOCAL_TAKE(e);
	refs = e->home_refs;
	SWS_LOCAL_GIVE(e);
	/* acquire pairs with index.h:sws_entry_unref on another core. */
	away = atomic_load_explicit(&e->away_drops, memory_order_acquire);
	/* Both may wrap around; the difference is the number of unfinished answers. */
	SWS_ASSERT((int32_t)(refs - away) >= 0);
	return refs == away;
}

static void
entry_free(struct sws_entry *e)
{
	/* An answer that is not finished would give its reference to freed memory. */
	SWS_ASSERT(is_idle(e));
	sws_page_unref(e->page);
	free(e);
}

/* Is every entry of the table in the bucket of its path, of this core, and counted? */
static bool
adds_up(const struct sws_index *index)
{
	size_t n = 0;

	for (size_t i = 0; i < SWS_INDEX_BUCKETS; i++)
		for (struct sws_entry *e = index->buckets[i]; e != NULL; e = e->next, n++)
			if ((e->hash & (SWS_INDEX_BUCKETS - 1)) != i || e->hash != e->page->hash
			    || e->core != index->core)
				return false;
	return n == index->entries && n <= SWS_INDEX_MAX;
}

static struct sws_entry **
link_of(struct sws_index *index, struct sws_entry *entry)
{
	struct sws_entry **link = &index->buckets[entry->hash & (SWS_INDEX_BUCKETS - 1)];

	while (*link != entry) {
		SWS_ASSERT(*link != NULL);
		link = &(*link)->next;
	}
	return link;
}

void
sws_index_drop(struct sws_index *index, struct sws_entry *entry)
{
	SWS_LOCAL_TAKE(index);
	SWS_ASSERT(index->entries > 0 && entry->core == index->core);
	*link_of(index, entry) = entry->next;
	index->entries--;
	if (is_idle(entry)) {
		entry_free(entry);
	} else {
		entry->next = index->busy;
		index->busy = entry;
	}
	SWS_LOCAL_GIVE(index);
}

static void
sweep_busy(struct sws_index *index)
{
	struct sws_entry **link = &index->busy;

	while (*link != NULL) {
		struct sws_entry *e = *link;

		SWS_ASSERT(e->core == index->core);
		if (is_idle(e)) {
			*link = e->next;
			entry_free(e);
		} else {
			link = &e->next;
		}
	}
}

void
sws_index_sweep(struct sws_index *index)
{
	SWS_LOCAL_TAKE(index);
	SWS_DEBUG_ASSERT(adds_up(index));
	for (size_t i = 0; i < SWS_INDEX_BUCKETS; i++) {
		struct sws_entry *e = index->buckets[i];

		while (e != NULL) {
			struct sws_entry *next = e->next;

			/* relaxed: the next sweep drops a page whose death this one misses. */
			if (atomic_load_explicit(&e->page->dead, memory_order_relaxed))
				sws_index_drop(index, e);
			e = next;
		}
	}
	sweep_busy(index);
	SWS_DEBUG_ASSERT(adds_up(index));
	SWS_LOCAL_GIVE(index);
}

/* Drop one entry, from the next bucket that has one. */
static void
evict_one(struct sws_index *index)
{
	SWS_ASSERT(index->hand < SWS_INDEX_BUCKETS);
	for (size_t i = 0; i < SWS_INDEX_BUCKETS; i++) {
		struct sws_entry *e = index->buckets[index->hand];

		index->hand = (index->hand + 1) & (SWS_INDEX_BUCKETS - 1);
		if (e != NULL) {
			sws_index_drop(index, e);
			return;
		}
	}
	SWS_ASSERT(index->entries == 0);
}

struct sws_entry *
sws_index_insert(struct sws_index *index, struct sws_page *page)
{
	struct sws_entry *e = sws_index_find(index, page->site, page->hash, page->key,
	    page->key_len);

	if (e != NULL)
		sws_index_drop(index, e);
	if (index->entries >= SWS_INDEX_MAX)
		evict_one(index);
	if (index->busy != NULL)
		sweep_busy(index);
	e = malloc(sizeof *e);
	if (e == NULL)
		return NULL;
	sws_page_ref(page);
	e->page = page;
	e->hash = page->hash;
	e->home_refs = 0;
	atomic_init(&e->away_drops, 0);
	e->core = index->core;
	e->next = index->buckets[page->hash & (SWS_INDEX_BUCKETS - 1)];
	index->buckets[page->hash & (SWS_INDEX_BUCKETS - 1)] = e;
	index->entries++;
	SWS_ASSERT(index->entries <= SWS_INDEX_MAX);
	SWS_LOCAL_GIVE(index);
	return e;
}

void
sws_index_fini(struct sws_index *index)
{
	struct sws_entry *e;

	for (size_t i = 0; index->buckets != NULL && i < SWS_INDEX_BUCKETS; i++)
		while ((e = index->buckets[i]) != NULL) {
			index->buckets[i] = e->next;
			entry_free(e);
			index->entries--;
		}
	SWS_ASSERT(index->entries == 0);
	while ((e = index->busy) != NULL) {
		index->busy = e->next;
		entry_free(e);
	}
	free(index->buckets);
}
