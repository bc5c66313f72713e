/* SPDX-License-Identifier: MIT */
/*
 * parse.h: the head of an HTTP/1.x request.
 *
 * The parser is incremental: it resumes a head that arrives in pieces at the line that was cut, so
 * each piece costs at most one line again. Framing is strict: input that another server could
 * interpret differently gets 400, and the caller closes the connection. Pure functions of their
 * arguments, any thread; no allocation.
 */
#ifndef SWS_HTTP_PARSE_H
#define SWS_HTTP_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/scan.h"

/** Longest head, request line and fields together; longer ones are 431. */
#define HTTP_HEAD_MAX 16384
/** Longest request target; longer ones are 414. */
#define HTTP_TARGET_MAX 8192
/** Most fields of a head; more are 431. */
#define HTTP_FIELDS_MAX 100
/** Longest body that is read and discarded; longer ones are 413. */
#define HTTP_BODY_MAX 65536

enum http_method {
	HTTP_GET,
	HTTP_HEAD,
	HTTP_OTHER,  /**< a method of RFC 9110 (or PATCH) that files do not support: 405 */
	HTTP_UNKNOWN /**< any other token: 501 */
};

enum http_flags {
	HTTP_KEEP = 1,      /**< the connection stays open after the answer */
	HTTP_PLAIN = 2,     /**< the raw path is in normal form */
	HTTP_TOLD_KEEP = 4, /**< HTTP/1.0 with keep-alive: the answer must say so */
	HTTP_SECURE = 8     /**< the target is one of https */
};

/** The fields that a request keeps. */
enum http_field {
#define HTTP_FIELD(symbol, name) HTTP_##symbol,
#include "http/fields.def"
#undef HTTP_FIELD
	HTTP_FIELDS
};

/** A part of the head; the offset counts from the head's first byte. */
struct http_span {
	uint16_t at;
	uint16_t len;
};

/** A parsed head. The span of a part that the request does not have is empty. */
struct http_request {
	struct http_span path;              /**< raw, without the query; may be empty */
	struct http_span query;             /**< with its '?' */
	struct http_span authority;         /**< of a target in absolute form; replaces Host */
	struct http_span field[HTTP_FIELDS]; /**< values; of several lines, the last one's */
	uint16_t present;                   /**< bit i: field i, perhaps with an empty value */
	uint16_t many;                      /**< bit i: in several lines */
	uint32_t body_len;                  /**< bytes of body after the head, to be skipped */
	uint8_t method;
	uint8_t minor;                      /**< of HTTP/1.x: 0, or 1 for all others */
	uint8_t flags;
};

static inline bool
http_has(const struct http_request *request, enum http_field field)
{
	return (request->present >> field & 1) != 0;
}

/** The state of the parser inside an incomplete head; all zero before the first byte. */
struct http_parser {
	uint16_t line;   /* offset of the next line to parse */
	uint8_t fields;
	uint8_t seen;    /* enum seen in http/parse.c */
	uint8_t stage;
	uint64_t content_length;
};

/**
 * Parse buf[0 .. len), which begins with a head. HTTP_PAD bytes after it must be readable. *parser
 * carries the state from one call to the next with more of the same head. Returns the length of
 * the head when it is complete (then *parser is ready for the next head), 0 when more input is
 * needed, or a negative HTTP status (-400 ...), after which no further input of the connection may
 * be read as a request.
 */
int http_parse(struct http_parser *parser, const char *buf, size_t len,
    struct http_request *request);

/**
 * The value of the next line of a field in a complete head; *at is where to look, 0 at first.
 * False: there is no further line. For fields that came in several lines.
 */
bool http_next_line(const char *head, enum http_field field, size_t *at, struct http_span *value);

#endif
