/* SPDX-License-Identifier: MIT */
/*
 * request.h: what a client of the live socket asks for, one line each:
 *
 *   stats [colors N [longest]]   a look, struct mely_stats, as it is in memory
 *   json [colors N [longest]]    the same as a JSON object
 *   prometheus                   the same in Prometheus' text format
 *   dump                         text for people: mely_dump
 *   version                      the version of the library
 *
 * Of the colors the N oldest are told, or those with most events waiting; none unless asked.
 *
 * Each is answered by a line "mely/1 ok LENGTH" or "mely/1 error LENGTH" and LENGTH bytes. After an
 * error the connection is closed. No state, no system call: tests/fuzz/request.c runs it on
 * anything.
 */
#ifndef MELYINT_LOOK_LIVE_REQUEST_H
#define MELYINT_LOOK_LIVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MELYINT_REQUEST_MAX = 64,   /* bytes of a line, its newline included */
	MELYINT_COLORS_MOST = 1000  /* colors in an answer */
};

enum melyint_request_kind {
	MELYINT_REQUEST_STATS,
	MELYINT_REQUEST_JSON,
	MELYINT_REQUEST_PROMETHEUS,
	MELYINT_REQUEST_DUMP,
	MELYINT_REQUEST_VERSION
};

struct melyint_request {
	enum melyint_request_kind kind;
	uint32_t colors; /* STATS, JSON: so many; 0: none */
	bool oldest;     /* ... oldest first, not longest */
};

/* The first line of bytes. Its length, newline included; 0 when the line has not all come yet; or
 * -EINVAL when it is none of the above, or too long. */
int melyint_request_parse(const char *bytes, size_t length, struct melyint_request *request);

#endif
