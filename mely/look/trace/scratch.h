/* SPDX-License-Identifier: MIT */
/*
 * scratch.h: what the writer of a trace works with: copies of the rings, in which it finds
 * out which post is that of which event. One thread at a time; everything is there before.
 */
#ifndef MELYINT_LOOK_TRACE_SCRATCH_H
#define MELYINT_LOOK_TRACE_SCRATCH_H

#include "look/trace/tracer.h"
#include "look/trace/out.h"

/* The records of a ring. */
struct melyint_row {
	struct melyint_record *records;
	uint64_t count;
	uint64_t lost;
	uint64_t at;    /* how far the pairing is: with runs and posts that have a time, */
	uint64_t own;   /* ... and with posts to the own color, */
	uint64_t own_end; /* ... which count as made when the slice ends that they are in: here */
};

/* The post of this event that has not been paired. */
struct melyint_posted {
	uint64_t event;
	struct melyint_record *post; /* NULL: the event has run since */
};

struct melyint_scratch {
	int rows_count;
	struct melyint_row *rows;
	uint32_t *heap;       /* streams of records, two a row, by the time of their next */
	uint32_t heap_count;
	struct melyint_posted *posted; /* hash table */
	uint64_t posted_mask, posted_max;
	struct melyint_trace_name *names;
	uint32_t *names_order;
	uint32_t names_count;
	uint64_t end_ticks;
	uint64_t arrows;      /* pairs found */
	uint64_t posts, runs;
	struct melyint_out out;
};

/* Copy everything out of the tracer. */
void melyint_scratch_copy(struct melyint_scratch *s, const struct melyint_tracer *tracer);

/*
 * Pair posts with runs. In the record of a run, what becomes the number of an arrow from 1 up, or
 * 0; in that of its post, color becomes the same.
 */
void melyint_trace_pair(struct melyint_scratch *s);

/* Is it the beginning of a slice? */
MELY_INLINE bool
melyint_trace_begins(unsigned kind)
{
	return kind == MELYINT_TRACE_RUN || kind == MELYINT_TRACE_SLEEP ||
	    kind == MELYINT_TRACE_POLL;
}

/* The index of the first record behind i that ends what record i has begun; count: none does. */
uint64_t melyint_row_end(const struct melyint_row *row, uint64_t i);

/* The name that a color had then; NULL: none. */
const char *melyint_scratch_name(const struct melyint_scratch *s, uint64_t color, unsigned flags,
    uint64_t ticks);

#endif
