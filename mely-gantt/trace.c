/* SPDX-License-Identifier: MIT */
/*
 * trace.c: the store of slices, depths and steals. read_json.c and read_raw.c fill it.
 */
#include "trace.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void
gantt_trace_init(struct gantt_trace *trace)
{
	memset(trace, 0, sizeof *trace);
	trace->process = GANTT_NO_NAME;
	trace->sample = 1;
}

void
gantt_trace_free(struct gantt_trace *trace)
{
	for (size_t i = 0; i < trace->rows; i++) {
		free(trace->row[i].slice);
		free(trace->row[i].depth);
	}
	free(trace->row);
	free(trace->end);
	free(trace->steal);
	gantt_names_free(&trace->names);
	gantt_trace_init(trace);
}

/* Room for one more in an array that doubles. */
static void *
one_more(void *array, size_t count, size_t *room, size_t size)
{
	size_t wanted = *room == 0 ? 16 : *room * 2;
	void *grown;

	assert(count <= *room);
	if (count < *room)
		return array;
	grown = realloc(array, wanted * size);
	if (grown != NULL)
		*room = wanted;
	return grown;
}

struct gantt_row *
gantt_trace_row(struct gantt_trace *trace, int64_t pid, int64_t tid)
{
	struct gantt_row *row;
	size_t i = trace->row_last;

	if (i < trace->rows && trace->row[i].tid == tid && trace->row[i].pid == pid)
		return &trace->row[i];
	for (i = 0; i < trace->rows; i++) {
		if (trace->row[i].tid == tid && trace->row[i].pid == pid) {
			trace->row_last = i;
			return &trace->row[i];
		}
	}
	row = one_more(trace->row, trace->rows, &trace->rows_room, sizeof *row);
	if (row == NULL)
		return NULL;
	trace->row = row;
	trace->row_last = trace->rows;
	row += trace->rows++;
	*row = (struct gantt_row){
		.pid = pid, .tid = tid, .core = tid, .name = GANTT_NO_NAME
	};
	return row;
}

bool
gantt_trace_slice(struct gantt_row *row, const struct gantt_slice *slice)
{
	struct gantt_slice *grown =
	    one_more(row->slice, row->slices, &row->slices_room, sizeof *grown);

	assert(slice->duration >= 0 && slice->name != GANTT_NO_NAME);
	if (grown == NULL)
		return false;
	row->slice = grown;
	row->slice[row->slices++] = *slice;
	return true;
}

bool
gantt_trace_depth(struct gantt_row *row, int64_t time, double value)
{
	struct gantt_depth *grown =
	    one_more(row->depth, row->depths, &row->depths_room, sizeof *grown);

	if (grown == NULL)
		return false;
	row->depth = grown;
	row->depth[row->depths++] = (struct gantt_depth){.time = time, .value = value};
	return true;
}

bool
gantt_trace_end(struct gantt_trace *trace, const struct gantt_end *end)
{
	struct gantt_end *grown =
	    one_more(trace->end, trace->ends, &trace->ends_room, sizeof *grown);

	assert(end->row < trace->rows);
	if (grown == NULL)
		return false;
	trace->end = grown;
	trace->end[trace->ends++] = *end;
	return true;
}

static int
by_start(const void *a, const void *b)
{
	const struct gantt_slice *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/* The enclosing slice first. */
	return x->duration > y->duration ? -1 : x->duration < y->duration;
}

static int
by_time(const void *a, const void *b)
{
	const struct gantt_depth *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

static int
by_id(const void *a, const void *b)
{
	const struct gantt_end *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (int)x->thief - (int)y->thief;
}

static int
by_arrival(const void *a, const void *b)
{
	const struct gantt_steal *x = a, *y = b;

	return x->to < y->to ? -1 : x->to > y->to;
}

/* Drop an end whose other end was overwritten. */
static bool
pair_ends(struct gantt_trace *trace)
{
	if (trace->ends < 2)
		return true;
	trace->steal = malloc(trace->ends / 2 * sizeof *trace->steal);
	if (trace->steal == NULL)
		return false;
	qsort(trace->end, trace->ends, sizeof *trace->end, by_id);
	for (size_t i = 0; i + 1 < trace->ends; i++) {
		const struct gantt_end *victim = &trace->end[i], *thief = victim + 1;

		if (victim->id != thief->id || victim->thief || !thief->thief)
			continue;
		trace->steal[trace->steals++] = (struct gantt_steal){
			.from = victim->time, .to = thief->time,
			.victim = victim->row, .thief = thief->row
		};
		i++;
	}
	qsort(trace->steal, trace->steals, sizeof *trace->steal, by_arrival);
	return true;
}

static void
span(struct gantt_trace *trace, int64_t from, int64_t to)
{
	if (from < trace->begin)
		trace->begin = from;
	if (to > trace->finish)
		trace->finish = to;
}

bool
gantt_trace_finish(struct gantt_trace *trace)
{
	trace->begin = INT64_MAX;
	trace->finish = INT64_MIN;
	for (size_t i = 0; i < trace->rows; i++) {
		struct gantt_row *row = &trace->row[i];

		/* Most rows are in order, and qsort would not notice. */
		for (size_t k = 1; k < row->slices; k++) {
			if (by_start(&row->slice[k - 1], &row->slice[k]) > 0) {
				qsort(row->slice, row->slices, sizeof *row->slice, by_start);
				break;
			}
		}
		for (size_t k = 1; k < row->depths; k++) {
			if (by_time(&row->depth[k - 1], &row->depth[k]) > 0) {
				qsort(row->depth, row->depths, sizeof *row->depth, by_time);
				break;
			}
		}
		for (size_t k = 0; k < row->slices; k++)
			span(trace, row->slice[k].start,
			    row->slice[k].start + row->slice[k].duration);
		for (size_t k = 0; k < row->depths; k++)
			span(trace, row->depth[k].time, row->depth[k].time);
	}
	if (trace->begin > trace->finish)
		trace->begin = trace->finish = 0;
	trace->zero = trace->from_zero ? 0 : trace->begin;
	return pair_ends(trace);
}
