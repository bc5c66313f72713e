/* SPDX-License-Identifier: MIT */
/*
 * file.h: opening files beneath the root, and nowhere else. Any thread.
 */
#ifndef SWS_FILE_H
#define SWS_FILE_H

#include <stddef.h>
#include <sys/stat.h>

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
 * Open the file that a path in normal form names; a path that ends with '/' names the index.html
 * of that directory. On success *fd is open and *st filled, and the kind is returned (for a
 * directory *fd is -1). Otherwise a negative HTTP status: -404, -403 (not readable, outside the
 * root, or not a regular file), -503 (no descriptor or memory left), -500.
 */
int sws_file_open(int root_fd, const char *path, size_t len, int *fd, struct stat *st);

#endif
