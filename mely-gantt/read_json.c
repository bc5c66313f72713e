/* SPDX-License-Identifier: MIT */
/*
 * read_json.c: events of the Trace Event format, into the store. docs/internals/trace.md describes
 * their members.
 */
#include "read_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

static const char no_memory[] = "out of memory";

/* The members that all kinds of events have. */
struct said {
	struct json_object *event;
	const char *phase;
	const char *name;     /* "" if there is none */
	const char *category; /* likewise */
	int64_t pid;
	int64_t tid;
};

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

/* Microseconds as nanoseconds; false: not a number, or out of range. */
static bool
time_of(struct json_object *event, const char *key, int64_t *ns)
{
	double us;

	if (!number_of(event, key, &us) || us < -1e15 || us > 1e15)
		return false;
	*ns = (int64_t)llround(us * 1000);
	return true;
}

/* The color of an event, with its name if it has one: "7 (connection)". */
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

/* False: a slice that only carries an arrow; it is not drawn. */
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
	struct gantt_row *row = gantt_trace_row(trace, said->pid, said->tid);
	struct gantt_slice made;

	if (!kind_of(said->category, &made.kind))
		return NULL;
	if (!time_of(said->event, "ts", &made.start))
		return "a slice without a time (ts)";
	if (!time_of(said->event, "dur", &made.duration) || made.duration < 0)
		return "a slice without a duration (dur)";
	made.name = gantt_names_number(&trace->names, said->name);
	made.color = color_of(trace, said->event);
	if (row == NULL || made.name == GANTT_NO_NAME || !gantt_trace_slice(row, &made))
		return no_memory;
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
	struct gantt_row *row = gantt_trace_row(trace, said->pid, said->tid);
	struct json_object *args;
	double value = 0;
	int64_t time;

	if (strcmp(said->category, "queue") != 0)
		return NULL;
	if (!time_of(said->event, "ts", &time))
		return "a counter without a time (ts)";
	if (!json_object_object_get_ex(said->event, "args", &args)
	    || !json_object_is_type(args, json_type_object))
		return "a counter without args";
	json_object_object_foreach(args, key, member) {
		double one;

		(void)member;
		if (!number_of(args, key, &one))
			return "a counter whose value is not a number";
		value += one;
	}
	return row != NULL && gantt_trace_depth(row, time, value) ? NULL : no_memory;
}

static const char *
flow(struct gantt_trace *trace, const struct said *said)
{
	struct gantt_row *row = gantt_trace_row(trace, said->pid, said->tid);
	struct gantt_end made;
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
	return gantt_trace_end(trace, &made) ? NULL : no_memory;
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
	row = gantt_trace_row(trace, said->pid, said->tid);
	if (row == NULL)
		return no_memory;
	if (strcmp(said->name, "thread_name") == 0) {
		row->name = number;
		row->named_core = strncmp(name, "core ", 5) == 0;
		last_number(name, &row->core);
	} else if (strcmp(said->name, "thread_sort_index") == 0
	    && number_of(args, "sort_index", &sort)) {
		row->sort = (int64_t)fmax(fmin(sort, 1e9), -1e9);
	}
	return NULL;
}

const char *
gantt_json_event(struct gantt_trace *trace, struct json_object *event)
{
	struct said said = {.event = event};
	double number;

	if (!json_object_is_type(event, json_type_object))
		return "an event that is not an object";
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
gantt_json_member(struct gantt_trace *trace, const char *key, struct json_object *value)
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
