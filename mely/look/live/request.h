/* SPDX-License-Identifier: MIT */
/*
 * request.h: the requests of a client of the live socket, one line each:
 *
 *   stats [colors N [longest]]   a snapshot, struct mely_stats, as it is in memory
 *   json [colors N [longest]]    a snapshot as a JSON object
 *   prometheus                   a snapshot in Prometheus' text format
 *   dump                         the text of mely_dump
 *   version                      the version of the library
 *
 * The snapshot has the N oldest colors, or the N with most events waiting; without `colors`, none.
 *
 * The answer to each is a line "mely/1 ok LENGTH" or "mely/1 error LENGTH" and LENGTH bytes. After
 * an error the connection is closed. The parser has no state and makes no system call:
 * tests/fuzz/request.c runs it on any input.
 */
#ifndef MELYINT_LOOK_LIVE_REQUEST_H
#define MELYINT_LOOK_LIVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MELYINT_REQUEST_MAX = 64,   /* bytes of a line with its newline */
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
	uint32_t colors; /* STATS, JSON: the number of colors */
	bool oldest;     /* ... the oldest, not the longest */
};

/* Parse the first line of bytes. Returns its length with the newline; 0 if the line is incomplete;
 * or -EINVAL if it is not a request, or too long. */
int melyint_request_parse(const char *bytes, size_t length, struct melyint_request *request);

#endif
