/* SPDX-License-Identifier: MIT */
/*
 * mime.h: media types by file name. The table is filled before the runtime runs and only read
 * after that, by any thread.
 */
#ifndef SWS_MIME_H
#define SWS_MIME_H

#include <stddef.h>

struct mime_table;

/**
 * Make the table: a small built-in one, and over it the file (form of /etc/mime.types), which
 * may be missing. 0 or -ENOMEM.
 */
int mime_new(struct mime_table **table, const char *file);
void mime_free(struct mime_table *table);

/** The value of Content-Type for a path, by what follows the last '.' of its last segment. */
const char *mime_type(const struct mime_table *table, const char *path, size_t len);

#endif
