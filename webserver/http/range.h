/* SPDX-License-Identifier: MIT */
/*
 * range.h: the value of a Range field (RFC 9110, 14.2). Pure functions.
 */
#ifndef SWS_HTTP_RANGE_H
#define SWS_HTTP_RANGE_H

#include <stddef.h>
#include <stdint.h>

enum http_range {
	HTTP_RANGE_NONE,         /**< not one range of bytes: answer with the whole */
	HTTP_RANGE_ONE,          /**< *from .. *to, without *to */
	HTTP_RANGE_UNSATISFIABLE /**< nothing of it exists: 416 */
};

/**
 * The range that a field asks for, of size bytes. A field that is malformed, has another unit or
 * names several ranges is HTTP_RANGE_NONE: a server may ignore it.
 */
enum http_range http_range_parse(const char *value, size_t len, uint64_t size, uint64_t *from,
    uint64_t *to);

#endif
