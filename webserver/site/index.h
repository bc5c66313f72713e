/* SPDX-License-Identifier: MIT */
/*
 * index.h: one core's index of the store: a table of references to pages. Only handlers that run
 * on that core use it, one at a time, so look-ups take no lock and write nothing that another core
 * reads.
 *
 * An unfinished answer refers to the entry, not to the page. It starts on the entry's core and
 * adds one to home_refs. It ends either on that core, and subtracts one from home_refs; or, when
 * the connection was stolen in between, on another core, and adds one to away_drops (atomic,
 * rare). An entry can be freed when both words are equal.
 */
#ifndef SWS_INDEX_H
#define SWS_INDEX_H

#include <string.h>

#include "base/assertion.h"
#include "base/local.h"
#include "site/page.h"

struct sws_entry {
	struct sws_entry *next;
	struct sws_page *page;
	uint64_t hash;
	uint32_t home_refs;
	_Atomic(uint32_t) away_drops;
	int core;
};

struct sws_index {
	struct sws_entry **buckets;
	struct sws_entry *busy;   /* removed from the table, but unfinished answers use them */
	size_t entries;
	size_t hand;
	int core;
};

#define SWS_INDEX_BUCKETS 8192
/** Most entries of one core. */
#define SWS_INDEX_MAX 16384

int sws_index_init(struct sws_index *index, int core);
/** Free everything; no answer may be unfinished. */
void sws_index_fini(struct sws_index *index);

/** The entry of a path, dead or alive, or NULL. */
static inline struct sws_entry *
sws_index_find(struct sws_index *index, uint32_t site, uint64_t hash, const char *key,
    size_t key_len)
{
	struct sws_entry *e;

	SWS_LOCAL_TAKE(index);
	/* The empty path is that of error pages, which no index holds. */
	SWS_DEBUG_ASSERT(key_len > 0);
	e = index->buckets[hash & (SWS_INDEX_BUCKETS - 1)];
	while (e != NULL && (e->hash != hash || e->page->key_len != key_len
	    || e->page->site != site || memcmp(e->page->key, key, key_len) != 0))
		e = e->next;
	SWS_DEBUG_ASSERT(e == NULL || e->core == index->core);
	SWS_LOCAL_GIVE(index);
	return e;
}

/** Add a page, replacing the entry with the same path; takes a reference. NULL: no memory. */
struct sws_entry *sws_index_insert(struct sws_index *index, struct sws_page *page);

/** Remove an entry from the table. */
void sws_index_drop(struct sws_index *index, struct sws_entry *entry);

/** Drop all references to dead pages that no unfinished answer needs. */
void sws_index_sweep(struct sws_index *index);

static inline void
sws_entry_ref(struct sws_entry *entry)
{
	SWS_LOCAL_TAKE(entry);
	/* relaxed: no core drops a reference that it does not have, whatever is read. */
	SWS_DEBUG_ASSERT((int32_t)(entry->home_refs - atomic_load_explicit(&entry->away_drops,
	    memory_order_relaxed)) >= 0);
	entry->home_refs++;
	SWS_LOCAL_GIVE(entry);
}

/** An answer ends on core. */
static inline void
sws_entry_unref(struct sws_entry *entry, int core)
{
	if (entry->core == core) {
		SWS_LOCAL_TAKE(entry);
		/* relaxed: while this answer is unfinished, the two differ whatever is read. */
		SWS_ASSERT(entry->home_refs != atomic_load_explicit(&entry->away_drops,
		    memory_order_relaxed));
		entry->home_refs--;
		SWS_LOCAL_GIVE(entry);
	} else {
		/* release pairs with index.c:is_idle: this core is done with the page's bytes. */
		atomic_fetch_add_explicit(&entry->away_drops, 1, memory_order_release);
	}
}

#endif
