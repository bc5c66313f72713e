/* SPDX-License-Identifier: MIT */
/*
 * listing.h: what is in a directory, as HTML or JSON, made in pieces of some 64 KB. One thread at a
 * time; a helper, since reading a directory may wait for a disk.
 */
#ifndef SWS_SITE_LISTING_H
#define SWS_SITE_LISTING_H

#include <stdint.h>

#include "base/text.h"
#include "site/file.h"

/** Directories with more entries are listed in the order in which they are read. */
#define SWS_LISTING_SORTED_MAX 20000
/** A piece ends with the entry that makes it longer than this. */
#define SWS_LISTING_PIECE 61440

enum sws_listing_sort {
	SWS_LISTING_NAME,
	SWS_LISTING_SIZE,
	SWS_LISTING_TIME
};

/** What is asked for. */
struct sws_listing_form {
	enum sws_listing_sort sort;
	bool descending;
	bool json;
	bool dotfiles;           /**< list names that begin with a dot */
};

/** An entry of the directory. */
struct sws_listing_entry {
	uint32_t name;           /**< offset in names */
	bool directory;
	uint64_t size;
	int64_t modified_s;
};

struct sws_listing {
	const struct sws_root *root;
	struct sws_listing_form form;
	int fd;                  /**< of the directory */
	char *path;              /**< from the root on, with a slash at both ends */
	struct sws_text text;    /**< the piece */
	struct sws_text names;
	struct sws_listing_entry *entries;
	size_t count, next, room;
	uint64_t listed;         /**< entries in this piece and those before it */
	bool begun;
	bool sorted;
	bool read;               /**< the end of the directory is reached */
	bool ended;              /**< text is the last piece */
	char *dents;             /**< as the kernel gives them: those at at .. len are not used */
	size_t dents_at, dents_len;
};

/**
 * Begin to list an open directory; takes over fd, if it succeeds. root must last as long as the
 * listing. NULL: no memory.
 */
struct sws_listing *sws_listing_new(const struct sws_root *root, int fd, const char *path,
    size_t len, const struct sws_listing_form *form);
void sws_listing_free(struct sws_listing *listing);

/**
 * Add the next piece to text, which must not be the last one yet. 0 or a negative errno; then
 * nothing more can be made.
 */
int sws_listing_more(struct sws_listing *listing);

#endif
