/* SPDX-License-Identifier: MIT */
/*
 * store.c: eviction is by second chance: a hand goes round the pages, spares each page that was
 * used since the hand last passed it, and evicts the first that was not. The store holds one
 * reference to each of its pages. The bytes of a page count until the page is freed, so the cap
 * is strict.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assertion.h"
#include "site/store.h"

/* Most steps of the hand for one new page; bounds the time of a put. */
#define HAND_STEPS_MAX 256

int
sws_store_init(struct sws_store *store, size_t cap)
{
	size_t buckets = 1024;

	while (buckets < cap / 4096 && buckets < (size_t)1 << 20)
		buckets *= 2;
	memset(store, 0, sizeof *store);
	store->buckets = calloc(buckets, sizeof store->buckets[0]);
	if (store->buckets == NULL)
		return -ENOMEM;
	store->buckets_mask = buckets - 1;
	store->cap = cap;
	pthread_mutex_init(&store->lock, NULL);
	return 0;
}

/* Is the lock held? A caller without it fails, unless another thread holds it just then. */
static bool
is_locked(struct sws_store *store)
{
	return pthread_mutex_trylock(&store->lock) != 0;
}

static struct sws_page **
find(struct sws_store *store, uint32_t site, uint64_t hash, const char *key, size_t key_len)
{
	struct sws_page **link = &store->buckets[hash & store->buckets_mask];

	while (*link != NULL && ((*link)->hash != hash || (*link)->key_len != key_len
	    || (*link)->site != site || memcmp((*link)->key, key, key_len) != 0))
		link = &(*link)->next;
	return link;
}

/* Where a page is, or another of its key, or where it would be. */
static struct sws_page **
find_page(struct sws_store *store, const struct sws_page *page)
{
	return find(store, page->site, page->hash, page->key, page->key_len);
}

/* Unlink a page and drop the store's reference. With the lock held. */
static void
take_out(struct sws_store *store, struct sws_page **link)
{
	struct sws_page *page = *link;

	SWS_DEBUG_ASSERT(is_locked(store));
	SWS_ASSERT(page != NULL && page->account == &store->bytes && store->pages > 0);
	SWS_ASSERT(page->newer->older == page && page->older->newer == page);
	SWS_ASSERT((page->newer == page) == (store->pages == 1));
	*link = page->next;
	if (page->newer == page) {
		store->hand = NULL;
	} else {
		page->older->newer = page->newer;
		page->newer->older = page->older;
		if (store->hand == page)
			store->hand = page->newer;
	}
	store->pages--;
	/* release pairs with the acquire in check.c:is_fresh: a core that sees the page dead asks
	 * the store again and finds the replacement. */
	atomic_store_explicit(&page->dead, true, memory_order_release);
	sws_page_unref(page);
}

size_t
sws_store_pages(struct sws_store *store)
{
	size_t pages;

	pthread_mutex_lock(&store->lock);
	pages = store->pages;
	pthread_mutex_unlock(&store->lock);
	return pages;
}

struct sws_page *
sws_store_get(struct sws_store *store, uint32_t site, uint64_t hash, const char *key,
    size_t key_len)
{
	struct sws_page *page;

	pthread_mutex_lock(&store->lock);
	page = *find(store, site, hash, key, key_len);
	/* relaxed: written with the lock held. */
	SWS_DEBUG_ASSERT(page == NULL || !atomic_load_explicit(&page->dead, memory_order_relaxed));
	if (page != NULL)
		sws_page_ref(page);
	pthread_mutex_unlock(&store->lock);
	return page;
}

/*
 * Evict pages until need bytes fit, but not more than need bytes: what the indexes of the cores
 * refer to becomes free at their next sweep only, and the whole store could go meanwhile. With the
 * lock held.
 */
static bool
make_room(struct sws_store *store, size_t need)
{
	size_t evicted = 0;

	SWS_DEBUG_ASSERT(is_locked(store));
	SWS_ASSERT(need <= store->cap && (store->hand == NULL) == (store->pages == 0));
	for (int steps = 0; steps < HAND_STEPS_MAX; steps++) {
		struct sws_page *page = store->hand;

		/* acquire pairs with page.c:sws_page_unref. */
		if (atomic_load_explicit(&store->bytes, memory_order_acquire) + need <= store->cap)
			return true;
		if (page == NULL || evicted >= need)
			return false;
		if (atomic_load_explicit(&page->used, memory_order_relaxed)) {
			/* relaxed: a hint about recent use; nothing depends on it. */
			atomic_store_explicit(&page->used, false, memory_order_relaxed);
			store->hand = page->newer;
		} else {
			evicted += page->size;
			take_out(store, find_page(store, page));
		}
	}
	return false;
}

static bool
put_page(struct sws_store *store, struct sws_page *page, bool replace, bool *crowded)
{
	struct sws_page **link;
	size_t before;
	bool room;

	/* A page is added to one store, once. */
	SWS_ASSERT(page->account == NULL);
	/* relaxed: no other thread has a reference yet. */
	SWS_ASSERT(!atomic_load_explicit(&page->dead, memory_order_relaxed));
	*crowded = false;
	if (page->size > store->cap)
		return false;
	pthread_mutex_lock(&store->lock);
	link = find_page(store, page);
	if (*link != NULL && !replace) {
		pthread_mutex_unlock(&store->lock);
		return false;
	}
	if (*link != NULL)
		take_out(store, link);
	room = make_room(store, page->size);
	if (room) {
		link = &store->buckets[page->hash & store->buckets_mask];
		page->next = *link;
		*link = page;
		if (store->hand == NULL) {
			page->older = page->newer = store->hand = page;
		} else {
			page->newer = store->hand;
			page->older = store->hand->older;
			page->older->newer = page;
			page->newer->older = page;
		}
		store->pages++;
		page->account = &store->bytes;
		/* relaxed: it grows only with the lock held. */
		before = atomic_fetch_add_explicit(&store->bytes, page->size,
		    memory_order_relaxed);
		SWS_ASSERT(before + page->size <= store->cap);
		/* The hand comes to a new page last. */
		SWS_ASSERT(store->hand->older == page);
		sws_page_ref(page);
	}
	pthread_mutex_unlock(&store->lock);
	*crowded = !room;
	return room;
}

bool
sws_store_put(struct sws_store *store, struct sws_page *page, bool *crowded)
{
	return put_page(store, page, true, crowded);
}

bool
sws_store_add(struct sws_store *store, struct sws_page *page)
{
	bool crowded;

	return put_page(store, page, false, &crowded);
}

void
sws_store_remove(struct sws_store *store, struct sws_page *page)
{
	struct sws_page **link;

	pthread_mutex_lock(&store->lock);
	link = find_page(store, page);
	if (*link == page)
		take_out(store, link);
	/* relaxed: written with the lock held. */
	SWS_ASSERT(atomic_load_explicit(&page->dead, memory_order_relaxed));
	pthread_mutex_unlock(&store->lock);
}

void
sws_store_remove_beneath(struct sws_store *store, uint32_t site, const char *path, size_t len)
{
	pthread_mutex_lock(&store->lock);
	for (size_t i = 0; i <= store->buckets_mask; i++) {
		struct sws_page **link = &store->buckets[i];

		while (*link != NULL)
			if ((*link)->site == site && (*link)->key_len >= len
			    && memcmp((*link)->key, path, len) == 0)
				take_out(store, link);
			else
				link = &(*link)->next;
	}
	pthread_mutex_unlock(&store->lock);
}

void
sws_store_remove_site(struct sws_store *store, uint32_t site)
{
	sws_store_remove_beneath(store, site, "", 0);
}

void
sws_store_fini(struct sws_store *store)
{
	pthread_mutex_lock(&store->lock);
	while (store->hand != NULL) {
		struct sws_page *page = store->hand;

		take_out(store, find_page(store, page));
	}
	pthread_mutex_unlock(&store->lock);
	SWS_ASSERT(store->pages == 0);
	/* A page that is freed later would write to the account. */
	SWS_ASSERT(atomic_load_explicit(&store->bytes, memory_order_acquire) == 0);
	free(store->buckets);
	pthread_mutex_destroy(&store->lock);
}
