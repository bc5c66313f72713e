/* SPDX-License-Identifier: MIT */
/*
 * file.h: opening files beneath the root, and nowhere else. Any thread.
 */
#ifndef SWS_FILE_H
#define SWS_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "base/assertion.h"
#include "http/coding.h"

/*
 * A key names a representation of a file: the path in normal form; and for one that is kept in
 * another file, in a coding, or that has a role, three bytes more, of which the first is in no
 * path.
 */
#define SWS_KEY_MARK '\1'
#define SWS_KEY_MORE 3

/** What a file is the body of: itself, the answer for what is not there, or an error's. */
enum {
	SWS_ROLE_ITSELF,
	SWS_ROLE_FALLBACK,
	SWS_ROLE_ERROR           /**< and higher: status 400 and higher */
};

#define SWS_ROLE_OF(status) (SWS_ROLE_ERROR + (status) - 400)
#define SWS_ROLE_STATUS(role) ((role) < SWS_ROLE_ERROR ? 200 : 400 + (role) - SWS_ROLE_ERROR)

struct sws_key {
	size_t path_len;
	enum http_coding coding;
	int role;
};

/** The parts of a key. */
static inline struct sws_key
sws_key_parts(const char *key, size_t len)
{
	struct sws_key parts = {len, HTTP_IDENTITY, SWS_ROLE_ITSELF};

	if (len <= SWS_KEY_MORE || key[len - SWS_KEY_MORE] != SWS_KEY_MARK)
		return parts;
	parts.path_len = len - SWS_KEY_MORE;
	parts.coding = (enum http_coding)(key[len - 2] - '0');
	parts.role = (unsigned char)key[len - 1] - 1;
	SWS_DEBUG_ASSERT(parts.coding < HTTP_CODINGS && parts.role >= 0);
	return parts;
}

/** Make the key of a path in a coding and a role, in `to`, which has room for three bytes more. */
static inline size_t
sws_key_make(char *to, const char *path, size_t len, enum http_coding coding, int role)
{
	SWS_ASSERT(coding < HTTP_CODINGS && role >= 0 && role < UINT8_MAX - 1);
	SWS_ASSERT(coding != HTTP_IDENTITY || role != SWS_ROLE_ITSELF);
	if (to != path)
		memcpy(to, path, len);
	to[len] = SWS_KEY_MARK;
	to[len + 1] = (char)('0' + coding);
	to[len + 2] = (char)(unsigned char)(role + 1);
	return len + SWS_KEY_MORE;
}

/** Make the key of the same in no coding, in `to`, which has room for three bytes more. */
static inline size_t
sws_key_plain(char *to, const char *key, size_t len)
{
	struct sws_key parts = sws_key_parts(key, len);

	if (parts.role != SWS_ROLE_ITSELF)
		return sws_key_make(to, key, parts.path_len, HTTP_IDENTITY, parts.role);
	memcpy(to, key, parts.path_len);
	return parts.path_len;
}

/** Which symbolic links are followed. */
enum sws_symlinks {
	SWS_SYMLINKS_BENEATH,    /**< those that stay beneath the root */
	SWS_SYMLINKS_NONE,
	SWS_SYMLINKS_FOLLOW      /**< all, also out of the root */
};

/** The directory that a site serves. */
struct sws_root {
	int fd;                  /**< -1: not open */
	enum sws_symlinks symlinks;
	const char *index;       /**< names of files for a directory, the first one first */
};

/** Open the directory of a root whose other parts are set. 0 or a negative errno. */
int sws_root_open(struct sws_root *root, const char *path);

/** What is wrong with a list of index names, or NULL. */
const char *sws_index_check(const char *names);

/**
 * A file that has not been written to for this time is at rest: it is longer than a tick of the
 * kernel's clock, the resolution of file times, and longer than a write takes.
 */
#define SWS_REST_NS INT64_C(50000000)

/**
 * ns until a file is at rest; 0: it is. Until then bytes that are read may be of two versions, and
 * its times do not show it.
 */
int64_t sws_file_unrest_ns(const struct stat *st);

enum sws_file_kind {
	SWS_FILE_REGULAR,
	SWS_FILE_DIRECTORY /**< the path lacks the final slash: redirect */
};

/**
 * Open the file that a key names; a path that ends with '/' names the index of that directory. On
 * success *fd is open and *st filled, and the kind is returned (for a directory *fd is -1).
 * Otherwise a negative HTTP status: -404, -403 (not readable, outside the root, or not a regular
 * file), -503 (no descriptor or memory left), -500.
 */
int sws_file_open(const struct sws_root *root, const char *key, size_t len, int *fd,
    struct stat *st);

/** Open the directory of a path that ends with '/'. Its descriptor, or a negative HTTP status. */
int sws_directory_open(const struct sws_root *root, const char *path, size_t len);

/**
 * The status of the file that a link stands for, in the directory of a path that ends with '/'.
 * False: it cannot be opened beneath the root.
 */
bool sws_file_stat(const struct sws_root *root, const char *path, const char *name,
    struct stat *st);

/**
 * The name of the index, for a path that ends with '/': st describes its file, or that with the
 * suffix of a coding.
 */
const char *sws_index_name(const struct sws_root *root, const char *path, size_t len,
    const char *suffix, const struct stat *st, char name[NAME_MAX + 1]);

#endif
