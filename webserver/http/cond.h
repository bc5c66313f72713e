/* SPDX-License-Identifier: MIT */
/*
 * cond.h: entity tags and conditional requests (RFC 9110, 8.8 and 13). Pure functions.
 */
#ifndef SWS_HTTP_COND_H
#define SWS_HTTP_COND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "http/coding.h"

/** The length of an entity tag of http_etag, with its quotes. */
#define HTTP_ETAG_LEN 18

/**
 * The strong entity tag of a file in a coding: a hash of both, of the file its device, inode, size,
 * mtime and ctime in ns. Quoted, not terminated.
 */
void http_etag(const struct stat *st, enum http_coding coding, char out[HTTP_ETAG_LEN]);

/** The strong entity tag of some bytes: a hash of them. */
void http_etag_of_bytes(const char *bytes, size_t len, char out[HTTP_ETAG_LEN]);

/**
 * Does the list of an If-None-Match contain etag (weak comparison), or is it "*"? Nothing else
 * contains a tag of length 0.
 */
bool http_etag_listed(const char *list, size_t len, const char *etag, size_t etag_len);

/** As http_etag_listed, for If-Match and If-Range: by strong comparison, so no weak tag counts. */
bool http_etag_listed_strong(const char *list, size_t len, const char *etag, size_t etag_len);

#endif
