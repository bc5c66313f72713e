/* SPDX-License-Identifier: MIT */
/*
 * query.h: what a client asks for besides the path: parameters of the query, and a media type.
 * Pure functions.
 */
#ifndef SWS_HTTP_QUERY_H
#define SWS_HTTP_QUERY_H

#include <stdbool.h>
#include <stddef.h>

/** Is NAME=VALUE a parameter of a query ("?a=b&c=d")? The first one of that name counts. */
bool http_query_is(const char *query, size_t len, const char *name, const char *value);

/** Does an Accept field prefer JSON to HTML (RFC 9110, 12.5.1)? HTML is the default. */
bool http_accept_json(const char *value, size_t len);

#endif
