/* SPDX-License-Identifier: MIT */
/*
 * mime.h: media types by file name. The table is filled before the runtime runs; afterwards any
 * thread may read it.
 */
#ifndef SWS_MIME_H
#define SWS_MIME_H

#include <stdbool.h>
#include <stddef.h>

struct mime_table;

/**
 * Make the table from a small built-in one and from a file (format of /etc/mime.types), which
 * takes precedence and may be missing. 0 or -ENOMEM.
 */
int mime_new(struct mime_table **table, const char *file);
void mime_free(struct mime_table *table);

/** The value of Content-Type for a path, by the suffix of its last segment. */
const char *mime_type(const struct mime_table *table, const char *path, size_t len);

/** Has the path a suffix that names a type? */
bool mime_is_known(const struct mime_table *table, const char *path, size_t len);

#endif
