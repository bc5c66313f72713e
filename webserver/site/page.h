/* SPDX-License-Identifier: MIT */
/*
 * page.h: a prebuilt response: the head of a 200, an error or a redirection, and the body if it is
 * held in memory. A page does not change after it is built, except for its atomic words. All
 * cores share it; the last reference frees it.
 */
#ifndef SWS_PAGE_H
#define SWS_PAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/assertion.h"

struct mime_table;
struct sws_fields;
struct sws_texts;

/** Most bytes of further fields, and a zero byte. */
#define SWS_FIELDS_MAX 4096

/** What all pages of files of a site have in common. */
struct sws_page_style {
	struct mime_table *mime;
	bool copy;                /**< bodies are not sent by sendfile */
	const char *fields;       /**< lines of further fields, each with its CR LF */
	const struct sws_texts *rules; /**< those of fields for some paths, or NULL */
	const char *index;        /**< the name of the file, if the path ends with a slash */
	uint32_t site;            /**< its number */
};

/** Largest body that a page holds: the lengths of pages and answers are 32 bits wide. */
#define SWS_BODY_MAX ((size_t)1 << 30)

struct sws_page {
	/* Written at most once a second, read by all look-ups. */
	_Atomic(uint32_t) checked_s; /* second of the last comparison with the file */
	_Atomic(bool) dead;          /* the path names another page or none: drop the reference */
	_Atomic(bool) used;          /* since the store's hand last passed it */
	_Atomic(uint32_t) refs;
	_Atomic(size_t) *account;    /* the byte count of the store that took it, or NULL */

	uint64_t hash;
	struct sws_page *next;       /* in the store: the bucket, and the ring of the hand */
	struct sws_page *older, *newer;

	const char *key;             /* file.h; terminated; "" for errors */
	const char *head;            /* up to and including the empty line */
	const char *body;
	struct sws_fields *fields;   /* of head, for HTTP/2 */
	size_t size;                 /* of this object with all its bytes, and its fields */
	uint64_t file_size;          /* of the file, also when the body is not in memory */
	uint32_t body_len;
	uint32_t head_len;
	uint32_t key_len;
	uint32_t site;               /* number of its site; 0: none */
	uint16_t status;
	uint16_t date_at;            /* offset of the date in head */
	uint16_t length_at;          /* ... of its Content-Length; 0: no file */
	uint16_t validators_at;      /* a 304 repeats head from this offset on; 0: never a 304 */
	uint16_t etag_at, etag_len;  /* length 0: no tag */
	int64_t modified_s;
	dev_t dev;
	ino_t ino;
	struct timespec mtime, ctime;
	bool dated;                  /* has a Last-Modified: modified_s */
	bool young;                  /* of a file that had just changed */
	bool copy;                   /* a body that is sent from the file is copied */
	uint8_t codings;             /* bit i: it is also there in coding i, in a file of its own */
	uint8_t makes;               /* ... of these, in no file: made, as compress.h says */
	uint8_t coding;              /* enum http_coding */
	bool made;                   /* of the bytes of a file, whose size is source_size */
	bool vain;                   /* only says that the page of this key is of no use, or made */
	uint64_t source_size;
	char bytes[];
};

/** What a page of a file holds besides the head. */
enum sws_body {
	SWS_BODY_NONE,   /**< nothing: the body is sent from the descriptor */
	SWS_BODY_CACHED, /**< the body, if the page cache has it */
	SWS_BODY_READ    /**< the body; waits for the disk */
};

/**
 * Build the page of an open regular file. codings: those in which it is also there. The caller gets
 * the only reference. 0 or a negative errno (-ESTALE: the file kept changing while it was read, or
 * could not be read; -EAGAIN: the body is not in the page cache).
 */
int sws_page_build(struct sws_page **page, const struct sws_page_style *style, const char *key,
    size_t key_len, uint64_t hash, int fd, const struct stat *st, uint8_t codings,
    enum sws_body body);

/**
 * Has the file still the content that page was built from? Unlike sws_page_matches it allows that
 * it has been renamed or removed.
 */
static inline bool
sws_page_has_content(const struct sws_page *page, const struct stat *st)
{
	return page->file_size == (uint64_t)st->st_size
	    && page->mtime.tv_sec == st->st_mtim.tv_sec
	    && page->mtime.tv_nsec == st->st_mtim.tv_nsec;
}

/**
 * The page of a file in a coding of which these are the bytes; NULL: a vain page, which holds the
 * place of one. 0 or -ENOMEM.
 */
int sws_page_encoded(struct sws_page **page, const struct sws_page_style *style, const char *key,
    size_t key_len, uint64_t hash, const struct stat *st, const char *bytes, size_t len);

/** Does st describe the version of the file that page was built from? */
bool sws_page_matches(const struct sws_page *page, const struct stat *st);

/** A page with this body of a type; fields are further lines. 0 or -ENOMEM. */
int sws_page_text(struct sws_page **page, int status, const char *type, const char *fields,
    const char *body, size_t body_len);

/** The page of an error status, with a short text. 0 or -ENOMEM. */
int sws_page_error(struct sws_page **page, int status);

/** The page for a range that does not exist (416), of a file of this size. 0 or -ENOMEM. */
int sws_page_unsatisfiable(struct sws_page **page, uint64_t size);

/** The media type of the page of a file. */
const char *sws_page_type(const struct sws_page *page, size_t *len);

/** The page of several ranges (206) of that of a file; the body, of len bytes, is elsewhere. */
int sws_page_multipart(struct sws_page **page, const struct sws_page *of, const char *boundary,
    uint64_t len);

/** A body that is made of something else than a file. */
struct sws_page_made {
	const char *type;
	const char *body;         /**< NULL: it follows in pieces */
	size_t body_len;
	bool chunked;             /**< ... which are chunks */
	bool vary;                /**< it depends on Accept */
};

/** The page (200) of a body for a path. 0 or -ENOMEM. */
int sws_page_made(struct sws_page **page, const struct sws_page_style *style, const char *path,
    size_t len, const struct sws_page_made *made);

/** The page of a redirection (301) to path (in normal form) with a slash and the query added. */
int sws_page_redirect(struct sws_page **page, const char *path, size_t len, const char *query,
    size_t query_len);

struct sws_redirect;

/** The page of a redirection that an operator asks for; the query is added unless it has one. */
int sws_page_moved(struct sws_page **page, const struct sws_redirect *redirect, const char *query,
    size_t query_len);

static inline void
sws_page_ref(struct sws_page *page)
{
	/* relaxed: the caller has a reference already, or holds the lock of the store. */
	uint32_t before = atomic_fetch_add_explicit(&page->refs, 1, memory_order_relaxed);

	SWS_ASSERT(before > 0);
}

void sws_page_unref(struct sws_page *page);

#endif
