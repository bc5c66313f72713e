/* SPDX-License-Identifier: MIT */
/*
 * read_json.h: a trace in the Trace Event format, element by element, as stream.h reads it.
 */
#ifndef GANTT_READ_JSON_H
#define GANTT_READ_JSON_H

#include "trace.h"

struct json_object;

/** Take in an element of traceEvents. NULL, or what is wrong with it. */
const char *gantt_json_event(struct gantt_trace *trace, struct json_object *event);

/** Take in another member of the outermost object. */
const char *gantt_json_member(struct gantt_trace *trace, const char *key,
    struct json_object *value);

#endif
