/* SPDX-License-Identifier: MIT */
/*
 * host.h: the host and port of a Host field or of an absolute target. Pure functions, any thread.
 */
#ifndef SWS_HTTP_HOST_H
#define SWS_HTTP_HOST_H

#include <stdbool.h>
#include <stddef.h>

/** The length of the characters at p that a host and port may have. */
size_t http_host_span(const char *p, size_t n);

/**
 * Is this a host with an optional port (RFC 3986, 3.2.2 and 3.2.3), or empty? The comma counts as
 * wrong: the RFC allows it in a name, no client sends it, and other parsers split at it.
 */
bool http_host_valid(const char *p, size_t n);

#endif
