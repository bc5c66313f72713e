/* SPDX-License-Identifier: MIT */
/*
 * coding.h: content codings, and which of them a client prefers (RFC 9110, 8.4 and 12.5.3). Pure
 * functions.
 */
#ifndef SWS_HTTP_CODING_H
#define SWS_HTTP_CODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum http_coding {
	HTTP_IDENTITY,
	HTTP_ZSTD,
	HTTP_BR,
	HTTP_GZIP,
	HTTP_CODINGS
};

/** Its name in fields, "gzip" say. */
const char *http_coding_name(enum http_coding coding);

/** The end of the names of files in this coding, ".gz" say. */
const char *http_coding_suffix(enum http_coding coding);

/** What a client says of codings: weights in thousandths; NONE: nothing. */
struct http_accepted {
	int16_t weight[HTTP_CODINGS];
	int16_t other; /* "*" */
};

/** Nothing is said yet. */
void http_accepted_init(struct http_accepted *accepted);

/** Add one line of Accept-Encoding. What is malformed counts as not there. */
void http_accepted_add(struct http_accepted *accepted, const char *value, size_t len);

/**
 * The coding to send. order: those that there are, the server's favorite first, and HTTP_IDENTITY
 * at the end, which is the result where the client accepts none of the others.
 */
enum http_coding http_coding_choose(const struct http_accepted *accepted, const uint8_t *order);

#endif
