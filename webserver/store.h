/* SPDX-License-Identifier: MIT */
/*
 * store.h: the prebuilt responses of the process, by path, under one cap of memory. Its lock is
 * taken only when a core's own index (index.h) does not know a path; nothing blocks under it.
 * Any thread.
 */
#ifndef SWS_STORE_H
#define SWS_STORE_H

#include <pthread.h>

#include "page.h"

struct sws_store {
	pthread_mutex_t lock;
	struct sws_page **buckets;
	size_t buckets_mask;
	size_t cap;
	_Atomic(size_t) bytes;    /* of all pages not yet freed, dead ones included */
	struct sws_page *hand;    /* of the second-chance ring; NULL: empty */
	size_t pages;
};

int sws_store_init(struct sws_store *store, size_t cap);
void sws_store_fini(struct sws_store *store);

/** The page of a path with a reference for the caller, or NULL. */
struct sws_page *sws_store_get(struct sws_store *store, uint64_t hash, const char *key,
    size_t key_len);

/**
 * Put a page in, in place of one with the same path. False when there is no room for it: dead
 * pages are still referred to (*crowded, the cores should look through their indexes), or it is
 * too large. The caller keeps its reference either way.
 */
bool sws_store_put(struct sws_store *store, struct sws_page *page, bool *crowded);

/** Take a page out, if it is still in; it is dead then. */
void sws_store_remove(struct sws_store *store, struct sws_page *page);

#endif
