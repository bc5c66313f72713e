/* SPDX-License-Identifier: MIT */
/*
 * page.h: a prebuilt response: the head of the 200 (or of an error, or a redirection) and, when
 * it is held in memory, the body. Immutable once built, except for the atomic words; shared by
 * all cores and freed with the last reference.
 */
#ifndef SWS_PAGE_H
#define SWS_PAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "assertion.h"

struct mime_table;

struct sws_page {
	/* Written at most once a second, read at every look-up. */
	_Atomic(uint32_t) checked_s; /* second in which the file was last looked at */
	_Atomic(bool) dead;          /* no longer what the path names: drop the reference */
	_Atomic(bool) used;          /* since the store's hand came by */
	_Atomic(uint32_t) refs;
	_Atomic(size_t) *account;    /* bytes of all pages of the store it is in, or NULL */

	uint64_t hash;
	struct sws_page *next;       /* in the store: bucket, and ring of the hand */
	struct sws_page *older, *newer;

	const char *key;             /* path in normal form, terminated; NULL for errors */
	const char *head;            /* up to and with the empty line */
	const char *body;
	size_t size;                 /* of this object with all its bytes */
	uint64_t file_size;          /* of the body of a page that is sent from its file */
	uint32_t body_len;
	uint32_t head_len;
	uint32_t key_len;
	uint16_t date_at;            /* where in head the date has its place */
	uint16_t validators_at;      /* head from here on is what a 304 repeats; 0: none */
	uint16_t etag_at, etag_len;
	int64_t modified_s;
	dev_t dev;
	ino_t ino;
	struct timespec mtime, ctime;
	bool young;                  /* changed so lately that the times may hide another change */
	char bytes[];
};

/**
 * Build the page of an open regular file. With in_memory the body is read in; otherwise it is to
 * be sent from the descriptor. The caller gets the one reference. 0 or a negative errno
 * (-ESTALE: the file was changing all the time it was read).
 */
int sws_page_build(struct sws_page **page, const struct mime_table *mime, const char *key,
    size_t key_len, uint64_t hash, int fd, const struct stat *st, bool in_memory);

/** Is st still the file that page was built from? */
bool sws_page_matches(const struct sws_page *page, const struct stat *st);

/** Page of an error status: a short text. 0 or -ENOMEM. */
int sws_page_error(struct sws_page **page, int status);

/** Page of a redirection (301) to path, which is in normal form, with a slash, and the query. */
int sws_page_redirect(struct sws_page **page, const char *path, size_t len, const char *query,
    size_t query_len);

static inline void
sws_page_ref(struct sws_page *page)
{
	/* relaxed: whoever takes a reference has one, or the lock of the store. */
	uint32_t before = atomic_fetch_add_explicit(&page->refs, 1, memory_order_relaxed);

	SWS_ASSERT(before > 0);
}

void sws_page_unref(struct sws_page *page);

#endif
