/* SPDX-License-Identifier: MIT */
/*
 * store.h: the prebuilt responses of the process, by path, under one memory cap. A core takes the
 * lock only for a path that its own index (index.h) does not have; nothing blocks under the lock.
 * Any thread.
 */
#ifndef SWS_STORE_H
#define SWS_STORE_H

#include <pthread.h>

#include "site/page.h"

struct sws_store {
	pthread_mutex_t lock;
	struct sws_page **buckets;
	size_t buckets_mask;
	size_t cap;
	_Atomic(size_t) bytes;    /* of all pages that are not freed, dead ones included */
	struct sws_page *hand;    /* of the second-chance ring; NULL when it is empty */
	size_t pages;
};

/** How many pages it has. Any thread. */
size_t sws_store_pages(struct sws_store *store);

int sws_store_init(struct sws_store *store, size_t cap);
void sws_store_fini(struct sws_store *store);

/** The page of a key of a site, with a reference for the caller, or NULL. */
struct sws_page *sws_store_get(struct sws_store *store, uint32_t site, uint64_t hash,
    const char *key, size_t key_len);

/**
 * Add a page, replacing the one with the same path. False when it does not fit: it is larger than
 * the cap, or dead pages still have references (then *crowded is true, and the cores should sweep
 * their indexes). The caller keeps its reference either way.
 */
bool sws_store_put(struct sws_store *store, struct sws_page *page, bool *crowded);

/** Add a page unless there is one with the same key. True: it is added. */
bool sws_store_add(struct sws_store *store, struct sws_page *page);

/** Remove a page, unless it has left the store already; it is dead afterwards. */
void sws_store_remove(struct sws_store *store, struct sws_page *page);

/** Remove the pages of a site whose keys begin like this. */
void sws_store_remove_beneath(struct sws_store *store, uint32_t site, const char *path, size_t len);

/** Remove all pages of a site. */
void sws_store_remove_site(struct sws_store *store, uint32_t site);

#endif
