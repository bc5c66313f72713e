/* SPDX-License-Identifier: MIT */
/*
 * path.h: from the path of a request to the name of a file, and back to a Location.
 * Pure functions, any thread.
 */
#ifndef SWS_HTTP_PATH_H
#define SWS_HTTP_PATH_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Decode raw[0 .. len) once and convert it to normal form: it begins with '/', has no empty, "."
 * or ".." segment, and keeps a final slash. out has room for len + 2 bytes and is terminated;
 * *out_len is its length. Returns 0; -400 for a bad escape, an escaped control byte or a path that
 * climbs above the root; -404 if a segment is hidden (begins with '.' and is not ".well-known"):
 * then out is filled, too.
 */
int http_path_normal(const char *raw, size_t len, char *out, size_t *out_len);

/** Is a path in normal form, and without a control byte? For assertions. */
bool http_path_is_normal(const char *path, size_t len);

/** Has a path in normal form a hidden segment? */
bool http_path_is_hidden(const char *path, size_t len);

/**
 * Encode a path in normal form for a Location: escape all bytes except '/' and the unreserved
 * characters. out has room for 3 * len + 1 bytes. Returns its length.
 */
size_t http_path_encode(const char *path, size_t len, char *out);

#endif
