/* SPDX-License-Identifier: MIT */
/*
 * http_path.h: from the path of a request to the name of a file, and back into a Location.
 * Pure functions, any thread.
 */
#ifndef SWS_HTTP_PATH_H
#define SWS_HTTP_PATH_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Decode raw[0 .. len) once and bring it into normal form: it begins with '/', has no empty, "."
 * or ".." segment, and keeps a slash at its end. out has room for len + 2 bytes and is
 * terminated; *out_len is its length. 0; -400 for a bad escape, an escaped control byte or a
 * path that climbs above the root; -404 when a segment is hidden (begins with '.', and is not
 * ".well-known").
 */
int http_path_normal(const char *raw, size_t len, char *out, size_t *out_len);

/**
 * Encode a path in normal form for a Location: everything that is not unreserved or '/' is
 * escaped. out has room for 3 * len + 1 bytes. Returns its length.
 */
size_t http_path_encode(const char *path, size_t len, char *out);

#endif
