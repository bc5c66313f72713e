/* SPDX-License-Identifier: MIT */
/*
 * file.h: opening files beneath the root, and nowhere else. Any thread.
 */
#ifndef SWS_FILE_H
#define SWS_FILE_H

#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "base/assertion.h"
#include "http/coding.h"

/*
 * A key names a representation of a file: the path in normal form; and for one that is kept in
 * another file, in a coding, two bytes more, of which the first is in no path.
 */
#define SWS_CODED '\1'
#define SWS_CODED_LEN 2

/** The coding that a key ends with; *len becomes the length of its path. */
static inline enum http_coding
sws_key_coding(const char *key, size_t *len)
{
	if (*len <= SWS_CODED_LEN || key[*len - SWS_CODED_LEN] != SWS_CODED)
		return HTTP_IDENTITY;
	*len -= SWS_CODED_LEN;
	SWS_DEBUG_ASSERT(key[*len + 1] > '0' && key[*len + 1] < '0' + HTTP_CODINGS);
	return (enum http_coding)(key[*len + 1] - '0');
}

/** Make the key of a path in a coding, in `to`, which has room for two bytes more. */
static inline size_t
sws_key_make(char *to, const char *path, size_t len, enum http_coding coding)
{
	SWS_ASSERT(coding > HTTP_IDENTITY && coding < HTTP_CODINGS);
	if (to != path)
		memcpy(to, path, len);
	to[len] = SWS_CODED;
	to[len + 1] = (char)('0' + coding);
	return len + SWS_CODED_LEN;
}

/**
 * Open the root, a readable directory, once at the start. 0 and the descriptor for the calls
 * below, or a negative errno.
 */
int sws_root_open(const char *path, int *fd);

enum sws_file_kind {
	SWS_FILE_REGULAR,
	SWS_FILE_DIRECTORY /**< the path lacks the final slash: redirect */
};

/**
 * Open the file that a key names; a path that ends with '/' names the index.html of that directory.
 * On success *fd is open and *st filled, and the kind is returned (for a directory *fd is -1).
 * Otherwise a negative HTTP status: -404, -403 (not readable, outside the root, or not a regular
 * file), -503 (no descriptor or memory left), -500.
 */
int sws_file_open(int root_fd, const char *key, size_t len, int *fd, struct stat *st);

#endif
