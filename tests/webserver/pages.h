/* SPDX-License-Identifier: MIT */
/*
 * pages.h: pages of a given path, hash and size for the unit tests of what holds pages.
 */
#ifndef SWS_TEST_PAGES_H
#define SWS_TEST_PAGES_H

#include <string.h>

#include "unit.h"
#include "../../webserver/site/page.h"

/* The site of all pages. */
#define SITE 7

/* A page with room bytes beside its path, and one reference: the caller's. */
static inline struct sws_page *
test_page(const char *key, uint64_t hash, size_t room)
{
	size_t len = strlen(key), size = sizeof(struct sws_page) + len + 1 + room;
	struct sws_page *page = calloc(1, size);

	assert_non_null(page);
	atomic_init(&page->refs, 1);
	memcpy(page->bytes, key, len + 1);
	page->key = page->bytes;
	page->key_len = (uint32_t)len;
	page->site = SITE;
	page->hash = hash;
	page->size = size;
	return page;
}

static inline uint32_t
test_refs(struct sws_page *page)
{
	return atomic_load(&page->refs);
}

#endif
