/* SPDX-License-Identifier: MIT */
/*
 * stream.h: a trace file read piece by piece.
 *
 * Traces of a hundred megabytes are ordinary, so the file is never held as one JSON value: the
 * outermost braces are read here, and each event goes alone through json-c, which takes its
 * input in pieces of any size. Memory is one buffer and one event.
 *
 * One thread; nothing global.
 */
#ifndef GANTT_STREAM_H
#define GANTT_STREAM_H

#include <stdint.h>
#include <stdio.h>

struct json_object;

/** What becomes of what is read. Each returns NULL, or what is wrong with it. */
struct gantt_sink {
	/** An element of traceEvents; it is released after the call. */
	const char *(*event)(void *context, struct json_object *event);
	/** Any other member of the outermost object. */
	const char *(*member)(void *context, const char *key, struct json_object *value);
	/** Now and then, with the bytes read so far; may be NULL. */
	void (*progress)(void *context, uint64_t bytes);
	void *context;
};

/** Where and what was wrong. */
struct gantt_fault {
	uint64_t line;
	uint64_t column; /**< in bytes, from 1 */
	char what[160];
};

/** Read all of in. 0, or -1 with fault filled in. */
int gantt_stream_read(FILE *in, const struct gantt_sink *sink, struct gantt_fault *fault);

#endif
