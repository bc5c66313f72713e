/* SPDX-License-Identifier: MIT */
/*
 * site.h: a site: the files beneath a root, their media types, the rules for them, and the pages of
 * errors. It does not change after it is made; the store of its pages is the server's. Any thread.
 */
#ifndef SWS_SITE_SITE_H
#define SWS_SITE_SITE_H

#include <stdint.h>

#include "base/texts.h"
#include "site/file.h"
#include "site/page.h"
#include "site/store.h"

/** Statuses that have a prebuilt page. */
enum sws_error {
	SWS_400, SWS_403, SWS_404, SWS_405, SWS_408, SWS_412, SWS_413, SWS_414, SWS_421, SWS_431,
	SWS_500, SWS_501, SWS_503, SWS_505, SWS_ERRORS
};

/** A key (file.h) of a site, and its hash. */
struct sws_path {
	const char *text;
	size_t len;
	uint64_t hash;
	uint32_t site;            /**< the number of its site */
};

/** What an operator says of a site. */
struct sws_site_options {
	const char *root;
	size_t cache_file_size;   /**< largest file that is prebuilt */
	bool sendfile;            /**< the kernel sends larger ones; else they are copied */
	/** Fields of all answers with a file, as lines with CR LF. */
	char fields[SWS_FIELDS_MAX];
	struct sws_texts names;       /**< of hosts; "*.NAME" for all beneath it */
	struct sws_texts field_rules; /**< rules.h */
	struct sws_texts redirects;
	struct sws_texts error_pages;
	const char *mime_types;       /**< the file that adds to the built-in types */
	const char *fallback;         /**< path of the answer for what is not there, or NULL */
	const char *index;            /**< names of the files for a directory */
	int symlinks;                 /**< enum sws_symlinks */
	int dotfiles;                 /**< enum sws_dotfiles */
	/** Codings that sws makes itself, as above. */
	uint8_t compress[HTTP_CODINGS];
	int listing;                  /**< enum sws_listing_mode */
	bool list_dotfiles;
	/** Codings of sidecars, the favorite first; HTTP_IDENTITY at the end. */
	uint8_t codings[HTTP_CODINGS];
};

/** What to do with names that begin with a dot. */
enum sws_dotfiles {
	SWS_DOTFILES_HIDE,       /**< 404, except for .well-known */
	SWS_DOTFILES_SERVE
};

/** The answer for a directory without index. */
enum sws_listing_mode {
	SWS_LISTING_OFF,
	SWS_LISTING_HTML,
	SWS_LISTING_JSON,
	SWS_LISTING_AUTO         /**< what the client prefers */
};

struct sws_site {
	struct sws_root root;
	uint32_t number;          /* of no other site of the process, earlier ones included */
	struct sws_page_style style;
	struct sws_store *store;
	struct sws_page *errors[SWS_ERRORS];
	struct sws_site_options options;
	uint64_t hash_seed;
};

/**
 * Open the root and make what the site needs. What the options refer to must last as long as the
 * site. 0 or a negative errno; in either case sws_site_fini follows.
 */
int sws_site_init(struct sws_site *site, const struct sws_site_options *options,
    struct sws_store *store);
/** End a site; its pages leave the store. */
void sws_site_fini(struct sws_site *site);

/** The page for a status; the one for 500 if the status has none. */
struct sws_page *sws_site_error(const struct sws_site *site, int status);

/** Fill in the hash of a path, and its site. */
void sws_site_hash(const struct sws_site *site, struct sws_path *path);

/** Compare a page of the store with its file; if they differ, remove the page. */
bool sws_site_revalidate(struct sws_site *site, struct sws_page *page);

/**
 * The path, of the site itself, whose file is the body of the answer for a path that ended with an
 * error status; *role becomes that of its key (file.h). NULL: there is none.
 */
const char *sws_site_instead(const struct sws_site *site, const char *path, size_t len, int status,
    int *role);

/** What is held in memory of a file of this size. */
enum sws_body sws_site_body_of(const struct sws_site *site, uint64_t size);

/**
 * Build the page of an open file, whose *st this may renew. *fd stays open if the body is to be
 * sent from it, or to be read by a helper: -EAGAIN; otherwise it becomes -1. 0 or a negative errno.
 */
int sws_site_build(struct sws_site *site, const struct sws_path *path, int *fd, struct stat *st,
    enum sws_body body, struct sws_page **page);

/** The page of a file in a coding of which these are the bytes. 0 or -ENOMEM. */
int sws_site_encoded(const struct sws_site *site, const struct sws_path *path,
    const struct stat *st, const char *bytes, size_t len, struct sws_page **page);

/** The vain page that holds the place of one, of the file of a plain page. 0 or -ENOMEM. */
int sws_site_vain(const struct sws_site *site, const struct sws_path *path,
    const struct sws_page *plain, struct sws_page **page);

/** Remove the page of a path from the store, if there is one. */
void sws_site_forget(struct sws_site *site, const char *path, size_t len, enum http_coding coding,
    int role);

#endif
