/* SPDX-License-Identifier: MIT */
/*
 * trace.h: read a trace file back, by way of its JSON (docs/internals/trace.md), and examine it.
 */
#ifndef MELY_TEST_TRACE_H
#define MELY_TEST_TRACE_H

#include "test.h"

struct trace_line {
	char phase;        /* "ph" */
	int row;           /* "tid"; -1: none */
	uint64_t from_ns;  /* "ts" */
	uint64_t to_ns;    /* and "dur" */
	uint64_t arrow;    /* "id" */
	char category[16];
	char name[64];     /* as in the file, escapes and all */
	char color[32];
	char color_name[64];
	bool unfinished;
};

struct trace {
	char *text;
	struct trace_line *lines; /* by row, then by time, longer slices first */
	size_t count;
	int cores;
	uint64_t lost;            /* of all rows */
	uint64_t open, unposted;
	char end[32];
};

/* Fails if there is no file, or if its JSON or the lines of it are not as the format has them. */
void trace_read(struct trace *trace, const char *path);
void trace_free(struct trace *trace);

size_t trace_count(const struct trace *trace, char phase, const char *category);
/* The slices of a row do not overlap, except tiny ones that lie on longer ones. */
void trace_check_rows(const struct trace *trace);
/* Neither do the slices of a color, on any rows. */
void trace_check_colors(const struct trace *trace);
/* Every arrow has two ends, in order, each on a slice. */
void trace_check_arrows(const struct trace *trace);

#endif
