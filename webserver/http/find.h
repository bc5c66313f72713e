/* SPDX-License-Identifier: MIT */
/*
 * find.h: parts of a request head that the parser does not keep, for those who rarely want them.
 * The head need not be complete, nor be one. Pure functions, any thread.
 */
#ifndef SWS_HTTP_FIND_H
#define SWS_HTTP_FIND_H

#include <stdbool.h>
#include <stddef.h>

struct http_text {
	const char *at;
	size_t len;
};

/** The first line that is not empty, without its end. */
struct http_text http_find_request_line(const char *head, size_t len);

/** A request line in parts; those that it does not have are empty. */
struct http_line_parts {
	struct http_text method, target, protocol;
};

struct http_line_parts http_split_request_line(struct http_text line);

/**
 * The value of the next field of that name, in lower case, without white space around it. *at is
 * where to look, 0 at first. False: there is no further one.
 */
bool http_find_field(const char *head, size_t len, const char *name, size_t *at,
    struct http_text *value);

#endif
