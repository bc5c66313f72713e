/* SPDX-License-Identifier: MIT */
/*
 * trace.h: what is kept of a trace: per row its slices and the depth of its queue, and the
 * steals between rows. Times are nanoseconds on the clock of the file.
 *
 * Kept are 32 bytes a slice and 16 a depth, which is about a sixth of their text. Posts, which
 * the picture does not show, are left out while reading.
 */
#ifndef GANTT_TRACE_H
#define GANTT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "names.h"

/** What a core did in a slice. */
enum gantt_kind {
	GANTT_EVENT, /**< it ran a handler */
	GANTT_STEAL,
	GANTT_POLL,
	GANTT_SLEEP
};

struct gantt_slice {
	int64_t start;
	int64_t duration;
	uint32_t name;        /**< of the handler */
	uint32_t color;       /**< its text; GANTT_NO_NAME: none given */
	enum gantt_kind kind;
};

struct gantt_depth {
	int64_t time;
	double value;
};

/** A core: one thread of the trace. */
struct gantt_row {
	int64_t pid;
	int64_t tid;
	int64_t core;         /**< the number that "core N", its name, has; else tid */
	int64_t sort;         /**< rows are drawn in this order, then by pid and core */
	uint32_t name;        /**< GANTT_NO_NAME until the trace gives one */
	bool named_core;      /**< its name is "core N": drawn also without slices */
	struct gantt_slice *slice; /**< in order of their start after gantt_trace_finish */
	size_t slices;
	size_t slices_room;
	struct gantt_depth *depth; /**< likewise */
	size_t depths;
	size_t depths_room;
};

/** One end of a steal's arrow. */
struct gantt_end {
	uint64_t id;
	int64_t time;
	uint32_t row;
	bool thief;
};

struct gantt_steal {
	int64_t from;         /**< when, at the victim */
	int64_t to;           /**< when, at the thief */
	uint32_t victim;      /**< rows */
	uint32_t thief;
};

struct gantt_trace {
	struct gantt_names names;
	struct gantt_row *row;
	size_t rows;
	size_t rows_room;
	size_t row_last;      /**< what the last event was for: most often also the next */
	struct gantt_end *end;
	size_t ends;
	size_t ends_room;
	struct gantt_steal *steal; /**< in order of `to` after gantt_trace_finish */
	size_t steals;
	uint32_t process;     /**< name of the program; GANTT_NO_NAME: none given */
	uint64_t lost;        /**< records that the rings overwrote */
	uint32_t sample;      /**< one batch in this number was traced */
	bool from_zero;       /**< times count from when the trace began, which the file says */
	int64_t zero;         /**< what is shown as time 0 */
	int64_t begin;        /**< the first time of any slice or depth */
	int64_t finish;       /**< the last */
};

void gantt_trace_init(struct gantt_trace *trace);
void gantt_trace_free(struct gantt_trace *trace);

/** The row of a thread, made at its first use; valid until the next is made. NULL: no memory. */
struct gantt_row *gantt_trace_row(struct gantt_trace *trace, int64_t pid, int64_t tid);

/** Add to a row, or to the trace. False: no memory. */
bool gantt_trace_slice(struct gantt_row *row, const struct gantt_slice *slice);
bool gantt_trace_depth(struct gantt_row *row, int64_t time, double value);
bool gantt_trace_end(struct gantt_trace *trace, const struct gantt_end *end);

/** After the last: put things in order, pair the ends of steals. False: no memory. */
bool gantt_trace_finish(struct gantt_trace *trace);

#endif
