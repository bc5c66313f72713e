/* SPDX-License-Identifier: MIT */
/*
 * encode.h: bytes in a content coding, by the libraries that sws is built with. Any thread; takes
 * long.
 */
#ifndef SWS_SITE_ENCODE_H
#define SWS_SITE_ENCODE_H

#include <stdbool.h>
#include <stddef.h>

#include "http/coding.h"

/** Is there a library for this coding? */
bool sws_can_encode(enum http_coding coding);

/** What is wrong with a list of codings, such as "br,gz", or NULL. */
const char *sws_encode_check(const char *list);

/** Is a file of this media type likely to become much smaller? */
bool sws_is_compressible(const char *type);

/**
 * Encode len bytes. 0; -E2BIG: they need more than *out_len bytes; -ENOMEM; -EIO. *out_len becomes
 * their number.
 */
int sws_encode(enum http_coding coding, const char *bytes, size_t len, char *out, size_t *out_len);

#endif
