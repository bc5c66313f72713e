/* SPDX-License-Identifier: MIT */
/*
 * http_parse.h: the head of an HTTP/1.x request.
 *
 * Incremental: a head that comes in pieces is taken up again at the line that was cut, so that a
 * client that sends byte by byte costs at most a line each time. Framing is strict: whatever
 * another server could understand in another way is refused with 400, and the caller closes.
 * Pure functions of their arguments, any thread; no allocation.
 */
#ifndef SWS_HTTP_PARSE_H
#define SWS_HTTP_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http_scan.h"

/** Longest head, request line and fields together; longer ones are 431. */
#define HTTP_HEAD_MAX 16384
/** Longest request target; longer ones are 414. */
#define HTTP_TARGET_MAX 8192
/** Most fields of a head; more are 431. */
#define HTTP_FIELDS_MAX 100
/** Longest body that is read and thrown away; longer ones are 413. */
#define HTTP_BODY_MAX 65536

enum http_method {
	HTTP_GET,
	HTTP_HEAD,
	HTTP_OTHER,  /**< a method of RFC 9110 (or PATCH) that files do not have: 405 */
	HTTP_UNKNOWN /**< any other token: 501 */
};

enum http_flags {
	HTTP_KEEP = 1,      /**< the connection stays open after the answer */
	HTTP_PLAIN = 2,     /**< the path is in normal form as it stands */
	HTTP_TOLD_KEEP = 4, /**< HTTP/1.0 with keep-alive: the answer has to say so */
	HTTP_INM_MANY = 8   /**< several If-None-Match lines: taken as no match */
};

/** A piece of the head, from the head's first byte. */
struct http_span {
	uint16_t at;
	uint16_t len;
};

/** A parsed head. Spans are empty where the request has no such part. */
struct http_request {
	struct http_span path;              /**< raw, without the query; never empty once done */
	struct http_span query;             /**< with its '?' */
	struct http_span if_none_match;
	struct http_span if_modified_since;
	uint32_t body_len;                  /**< bytes of body behind the head, to be skipped */
	uint8_t method;
	uint8_t minor;                      /**< of HTTP/1.x: 0, or 1 for all others */
	uint8_t flags;
};

/** What the parser remembers of a head that is not complete; all zero before the first byte. */
struct http_parser {
	uint16_t line;   /* where the line begins that is to be read next */
	uint8_t fields;
	uint8_t seen;    /* enum seen in http_parse.c */
	uint8_t stage;
	uint64_t content_length;
};

/**
 * Parse buf[0 .. len), which begins where a head begins. HTTP_PAD bytes behind it must be
 * readable. Called again with more of the same head, *parser carries what was understood.
 * Returns the length of the head when it is complete (then *parser is ready for the next head),
 * 0 when more is needed, or a negative HTTP status (-400 ...), after which nothing that follows
 * on the connection may be read as a request.
 */
int http_parse(struct http_parser *parser, const char *buf, size_t len,
    struct http_request *request);

#endif
