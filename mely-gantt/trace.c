/* SPDX-License-Identifier: MIT */
/*
 * trace.c: see trace.h. What the members of an event mean is in docs/internals/trace.md.
 */
#include "trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

static const char no_memory[] = "out of memory";

/* What one event says, as far as all kinds of them say it. */
struct said {
	struct json_object *event;
	const char *phase;
	const char *name;     /* "" where none is given */
	const char *category; /* likewise */
	int64_t pid;
	int64_t tid;
};

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

	if (count < *room)
		return array;
	grown = realloc(array, wanted * size);
	if (grown != NULL)
		*room = wanted;
	return grown;
}

static struct gantt_row *
row_of(struct gantt_trace *trace, int64_t pid, int64_t tid)
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

static const char *
text_of(struct json_object *object, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value)
	    || !json_object_is_type(value, json_type_string))
		return "";
	return json_object_get_string(value);
}

static bool
number_of(struct json_object *object, const char *key, double *number)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value)
	    || !(json_object_is_type(value, json_type_int)
	    || json_object_is_type(value, json_type_double)))
		return false;
	*number = json_object_get_double(value);
	return isfinite(*number);
}

/* Microseconds as nanoseconds; false when there are none, or too many to count in. */
static bool
time_of(struct json_object *event, const char *key, int64_t *ns)
{
	double us;

	if (!number_of(event, key, &us) || us < -1e15 || us > 1e15)
		return false;
	*ns = (int64_t)llround(us * 1000);
	return true;
}

/* The color of an event, with its name where it has one: "7 (connection)". */
static uint32_t
color_of(struct gantt_trace *trace, struct json_object *event)
{
	struct json_object *args, *color;
	const char *name;
	char text[256];

	if (!json_object_object_get_ex(event, "args", &args)
	    || !json_object_is_type(args, json_type_object)
	    || !json_object_object_get_ex(args, "color", &color) || color == NULL)
		return GANTT_NO_NAME;
	name = text_of(args, "color_name");
	if (name[0] == '\0')
		return gantt_names_number(&trace->names, json_object_get_string(color));
	snprintf(text, sizeof text, "%s (%s)", json_object_get_string(color), name);
	return gantt_names_number(&trace->names, text);
}

/* False: a slice that only carries an arrow, and is not drawn. */
static bool
kind_of(const char *category, enum gantt_kind *kind)
{
	if (strcmp(category, "stolen") == 0 || strcmp(category, "post") == 0)
		return false;
	if (strcmp(category, "steal") == 0)
		*kind = GANTT_STEAL;
	else if (strcmp(category, "poll") == 0)
		*kind = GANTT_POLL;
	else if (strcmp(category, "sleep") == 0)
		*kind = GANTT_SLEEP;
	else
		*kind = GANTT_EVENT;
	return true;
}

static const char *
slice(struct gantt_trace *trace, const struct said *said)
{
	struct gantt_row *row = row_of(trace, said->pid, said->tid);
	struct gantt_slice *grown, made;

	if (!kind_of(said->category, &made.kind))
		return NULL;
	if (!time_of(said->event, "ts", &made.start))
		return "a slice without a time (ts)";
	if (!time_of(said->event, "dur", &made.duration) || made.duration < 0)
		return "a slice without a duration (dur)";
	made.name = gantt_names_number(&trace->names, said->name);
	made.color = color_of(trace, said->event);
	if (row == NULL || made.name == GANTT_NO_NAME)
		return no_memory;
	grown = one_more(row->slice, row->slices, &row->slices_room, sizeof *grown);
	if (grown == NULL)
		return no_memory;
	row->slice = grown;
	row->slice[row->slices++] = made;
	return NULL;
}

/* The number behind the last blank of a name: "queue of core 3". */
static bool
last_number(const char *name, int64_t *number)
{
	const char *blank = strrchr(name, ' ');
	char *end;
	long n;

	if (blank == NULL || blank[1] < '0' || blank[1] > '9')
		return false;
	n = strtol(blank + 1, &end, 10);
	if (*end != '\0' || n >= INT32_MAX)
		return false;
	*number = n;
	return true;
}

/* The depth of a queue is drawn below the row of its thread. */
static const char *
counter(struct gantt_trace *trace, const struct said *said)
{
	struct gantt_row *row = row_of(trace, said->pid, said->tid);
	struct gantt_depth *grown, made;
	struct json_object *args;

	if (strcmp(said->category, "queue") != 0)
		return NULL;
	if (!time_of(said->event, "ts", &made.time))
		return "a counter without a time (ts)";
	if (!json_object_object_get_ex(said->event, "args", &args)
	    || !json_object_is_type(args, json_type_object))
		return "a counter without args";
	made.value = 0;
	json_object_object_foreach(args, key, value) {
		double one;

		(void)value;
		if (!number_of(args, key, &one))
			return "a counter whose value is no number";
		made.value += one;
	}
	if (row == NULL)
		return no_memory;
	grown = one_more(row->depth, row->depths, &row->depths_room, sizeof *grown);
	if (grown == NULL)
		return no_memory;
	row->depth = grown;
	row->depth[row->depths++] = made;
	return NULL;
}

static const char *
flow(struct gantt_trace *trace, const struct said *said)
{
	struct gantt_row *row = row_of(trace, said->pid, said->tid);
	struct gantt_end *grown, made;
	struct json_object *id;

	if (strcmp(said->category, "steal") != 0)
		return NULL;
	if (!time_of(said->event, "ts", &made.time))
		return "a steal without a time (ts)";
	if (!json_object_object_get_ex(said->event, "id", &id))
		return "a steal without an id";
	if (json_object_is_type(id, json_type_string))
		made.id = strtoull(json_object_get_string(id), NULL, 16);
	else
		made.id = json_object_get_uint64(id);
	made.thief = said->phase[0] == 'f';
	if (row == NULL)
		return no_memory;
	made.row = (uint32_t)(row - trace->row);
	grown = one_more(trace->end, trace->ends, &trace->ends_room, sizeof *grown);
	if (grown == NULL)
		return no_memory;
	trace->end = grown;
	trace->end[trace->ends++] = made;
	return NULL;
}

static const char *
metadata(struct gantt_trace *trace, const struct said *said)
{
	struct json_object *args;
	const char *name;
	uint32_t number;
	double sort;
	struct gantt_row *row;

	if (!json_object_object_get_ex(said->event, "args", &args)
	    || !json_object_is_type(args, json_type_object))
		return NULL;
	name = text_of(args, "name");
	number = gantt_names_number(&trace->names, name);
	if (number == GANTT_NO_NAME)
		return no_memory;
	if (strcmp(said->name, "process_name") == 0) {
		trace->process = number;
		return NULL;
	}
	if (strncmp(said->name, "thread_", 7) != 0)
		return NULL;
	row = row_of(trace, said->pid, said->tid);
	if (row == NULL)
		return no_memory;
	if (strcmp(said->name, "thread_name") == 0) {
		row->name = number;
		last_number(name, &row->core);
	} else if (strcmp(said->name, "thread_sort_index") == 0
	    && number_of(args, "sort_index", &sort)) {
		row->sort = (int64_t)fmax(fmin(sort, 1e9), -1e9);
	}
	return NULL;
}

const char *
gantt_trace_event(struct gantt_trace *trace, struct json_object *event)
{
	struct said said = {.event = event};
	double number;

	if (!json_object_is_type(event, json_type_object))
		return "an event that is no object";
	said.phase = text_of(event, "ph");
	if (said.phase[0] == '\0')
		return "an event without a phase (ph)";
	said.name = text_of(event, "name");
	said.category = text_of(event, "cat");
	said.pid = number_of(event, "pid", &number) ? (int64_t)fmax(fmin(number, 1e15), -1e15) : 0;
	said.tid = number_of(event, "tid", &number) ? (int64_t)fmax(fmin(number, 1e15), -1e15) : 0;
	switch (said.phase[0]) {
	case 'X':
		return slice(trace, &said);
	case 'C':
		return counter(trace, &said);
	case 's': case 'f':
		return flow(trace, &said);
	case 'M':
		return metadata(trace, &said);
	default:
		return NULL;
	}
}

const char *
gantt_trace_member(struct gantt_trace *trace, const char *key, struct json_object *value)
{
	struct json_object *lost;
	double number;

	if (strcmp(key, "otherData") != 0 || !json_object_is_type(value, json_type_object))
		return NULL;
	trace->from_zero = number_of(value, "start_ns", &number);
	if (number_of(value, "sample", &number) && number >= 1 && number <= 1e9)
		trace->sample = (uint32_t)number;
	if (!json_object_object_get_ex(value, "lost", &lost)
	    || !json_object_is_type(lost, json_type_array))
		return NULL;
	for (size_t i = 0; i < json_object_array_length(lost); i++) {
		struct json_object *one = json_object_array_get_idx(lost, i);

		if (json_object_is_type(one, json_type_int) && json_object_get_int64(one) > 0)
			trace->lost += (uint64_t)json_object_get_int64(one);
	}
	return NULL;
}

static int
by_start(const void *a, const void *b)
{
	const struct gantt_slice *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/* What encloses goes first. */
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

/* An arrow has both ends; one whose other end was overwritten is none. */
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

		/* qsort of what is in order costs as much as of what is not. */
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
