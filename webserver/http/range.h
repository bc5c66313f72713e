/* SPDX-License-Identifier: MIT */
/*
 * range.h: the value of a Range field (RFC 9110, 14.1 and 14.2). Pure functions.
 */
#ifndef SWS_HTTP_RANGE_H
#define SWS_HTTP_RANGE_H

#include <stddef.h>
#include <stdint.h>

/** Most ranges of a request; one with more is answered with the whole. */
#define HTTP_RANGES_MAX 16
/** Ranges with a smaller gap are joined: it costs less than the head of a part. */
#define HTTP_RANGES_GAP 80

enum http_range {
	HTTP_RANGE_NONE,         /**< not ranges of bytes that are granted: answer with the whole */
	HTTP_RANGE_ONE,
	HTTP_RANGE_MANY,
	HTTP_RANGE_UNSATISFIABLE /**< nothing of it exists: 416 */
};

/** Bytes from .. to, without `to`. */
struct http_part {
	uint64_t from, to;
};

struct http_ranges {
	unsigned count;
	struct http_part part[HTTP_RANGES_MAX];
};

/**
 * The parts that a field asks for, of size bytes: those that exist, in the order of the field. None
 * overlaps another, so together they are at most the whole: overlapping ones, and those with a
 * small gap, become one, where the first is. A field that is malformed, has another unit or
 * names too many ranges is HTTP_RANGE_NONE: a server may ignore it.
 */
enum http_range http_range_parse(const char *value, size_t len, uint64_t size,
    struct http_ranges *ranges);

#endif
