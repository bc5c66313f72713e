/* SPDX-License-Identifier: MIT */
/*
 * stream.c: see stream.h.
 *
 * Both forms of the format are taken: an array of events, whose closing bracket may be missing
 * (the format allows that to writers that die), and an object with the array in "traceEvents".
 */
#include "stream.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

enum {
	BUFFER_BYTES = 1 << 16,
	DEPTH_MAX = 32,
	/* A value longer than this is not part of a trace; it would be held in memory. */
	VALUE_BYTES_MAX = 16 << 20,
	PROGRESS_BYTES = 1 << 22
};

struct stream {
	FILE *in;
	const struct gantt_sink *sink;
	struct gantt_fault *fault;
	struct json_tokener *tokener;
	size_t at;          /* next byte of the buffer */
	size_t len;
	uint64_t line;      /* of the next byte, from 0 */
	uint64_t line_from; /* what has been read when that line began */
	uint64_t read;      /* bytes before the next byte */
	uint64_t told;      /* read, when progress was last reported */
	char buffer[BUFFER_BYTES];
};

static int
fail(struct stream *s, const char *format, ...)
{
	va_list args;

	s->fault->line = s->line + 1;
	s->fault->column = s->read - s->line_from + 1;
	va_start(args, format);
	vsnprintf(s->fault->what, sizeof s->fault->what, format, args);
	va_end(args);
	return -1;
}

static void
advance(struct stream *s, size_t bytes)
{
	const char *from = s->buffer + s->at, *end = from + bytes, *newline;

	while ((newline = memchr(from, '\n', (size_t)(end - from))) != NULL) {
		from = newline + 1;
		s->line++;
		s->line_from = s->read + (uint64_t)(from - (s->buffer + s->at));
	}
	s->at += bytes;
	s->read += bytes;
}

/* Bytes in the buffer, after reading more when there are none; 0 at the end of the file. */
static size_t
available(struct stream *s)
{
	if (s->at == s->len) {
		s->at = 0;
		s->len = fread(s->buffer, 1, sizeof s->buffer, s->in);
		if (s->sink->progress != NULL && s->read - s->told >= PROGRESS_BYTES) {
			s->told = s->read;
			s->sink->progress(s->sink->context, s->read);
		}
	}
	return s->len - s->at;
}

/* The next byte that is not white space, not consumed; -1 at the end of the file. */
static int
peek(struct stream *s)
{
	while (available(s) > 0) {
		size_t blank = 0;

		while (blank < s->len - s->at && strchr(" \t\r\n", s->buffer[s->at + blank]) != NULL
		    && s->buffer[s->at + blank] != '\0')
			blank++;
		advance(s, blank);
		if (s->at < s->len)
			return (unsigned char)s->buffer[s->at];
	}
	return -1;
}

static int
unexpected(struct stream *s, int c, const char *wanted)
{
	if (c < 0 && ferror(s->in))
		return fail(s, "%s", strerror(errno));
	if (c < 0)
		return fail(s, "the file ends where %s must follow", wanted);
	if (c < ' ' || c > '~')
		return fail(s, "byte 0x%02x where %s must follow", (unsigned)c, wanted);
	return fail(s, "'%c' where %s must follow", c, wanted);
}

/* Take one byte, which must be that one. */
static int
take(struct stream *s, char byte, const char *wanted)
{
	int c = peek(s);

	if (c != byte)
		return unexpected(s, c, wanted);
	advance(s, 1);
	return 0;
}

/* A whole value; NULL in *value is JSON's null. */
static int
value(struct stream *s, struct json_object **value)
{
	uint64_t from;

	*value = NULL;
	if (peek(s) < 0)
		return unexpected(s, -1, "a value");
	from = s->read;
	json_tokener_reset(s->tokener);
	for (;;) {
		size_t n = available(s);
		enum json_tokener_error error;
		struct json_object *object;

		if (n == 0)
			return unexpected(s, -1, "the rest of a value");
		object = json_tokener_parse_ex(s->tokener, s->buffer + s->at, (int)n);
		error = json_tokener_get_error(s->tokener);
		if (error == json_tokener_continue) {
			advance(s, n);
			if (s->read - from > VALUE_BYTES_MAX)
				return fail(s, "a value of more than %d bytes", VALUE_BYTES_MAX);
			continue;
		}
		advance(s, json_tokener_get_parse_end(s->tokener));
		if (error == json_tokener_success) {
			*value = object;
			return 0;
		}
		return fail(s, "%s", json_tokener_error_desc(error));
	}
}

static int
one_event(struct stream *s)
{
	/* A complaint about what an event says names the line where it begins. */
	uint64_t line, line_from, from;
	struct json_object *object;
	const char *wrong;

	peek(s);
	line = s->line;
	line_from = s->line_from;
	from = s->read;
	if (value(s, &object) != 0)
		return -1;
	wrong = s->sink->event(s->sink->context, object);
	json_object_put(object);
	if (wrong == NULL)
		return 0;
	fail(s, "%s", wrong);
	s->fault->line = line + 1;
	s->fault->column = from - line_from + 1;
	return -1;
}

/* The array of events. Its end may be that of the file where may_end. */
static int
events(struct stream *s, bool may_end)
{
	int c;

	if (take(s, '[', "'['") != 0)
		return -1;
	c = peek(s);
	while (c != ']') {
		if (c < 0 && may_end && !ferror(s->in))
			return 0;
		if (one_event(s) != 0)
			return -1;
		c = peek(s);
		if (c == ',') {
			advance(s, 1);
			c = peek(s);
			if (c == ']')
				return unexpected(s, c, "an event");
		} else if (c != ']' && !(c < 0 && may_end && !ferror(s->in))) {
			return unexpected(s, c, "',' or ']'");
		}
	}
	advance(s, 1);
	return 0;
}

static int
member(struct stream *s, bool *had_events)
{
	struct json_object *key = NULL, *object = NULL;
	const char *wrong = NULL;
	int result = -1;

	if (peek(s) != '"') {
		unexpected(s, peek(s), "a name in quotes");
		return -1;
	}
	if (value(s, &key) != 0 || take(s, ':', "':'") != 0)
		goto out;
	if (strcmp(json_object_get_string(key), "traceEvents") == 0) {
		*had_events = true;
		result = events(s, false);
		goto out;
	}
	if (value(s, &object) != 0)
		goto out;
	if (s->sink->member != NULL)
		wrong = s->sink->member(s->sink->context, json_object_get_string(key), object);
	result = wrong == NULL ? 0 : fail(s, "%s", wrong);
out:
	json_object_put(object);
	json_object_put(key);
	return result;
}

static int
members(struct stream *s)
{
	bool had_events = false;
	int c;

	advance(s, 1);
	c = peek(s);
	while (c != '}') {
		if (member(s, &had_events) != 0)
			return -1;
		c = peek(s);
		if (c == ',') {
			advance(s, 1);
			c = peek(s);
			if (c == '}')
				return unexpected(s, c, "a name in quotes");
		} else if (c != '}') {
			return unexpected(s, c, "',' or '}'");
		}
	}
	advance(s, 1);
	return had_events ? 0 : fail(s, "no \"traceEvents\" in it");
}

static int
whole(struct stream *s)
{
	int c = peek(s);

	if (c == '[') {
		if (events(s, true) != 0)
			return -1;
	} else if (c == '{') {
		if (members(s) != 0)
			return -1;
	} else {
		return unexpected(s, c, "'{' or '['");
	}
	c = peek(s);
	if (c >= 0 || ferror(s->in))
		return unexpected(s, c, "the end of the file");
	return 0;
}

int
gantt_stream_read(FILE *in, const struct gantt_sink *sink, struct gantt_fault *fault)
{
	struct stream *s = calloc(1, sizeof *s);
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
	int result = -1;

	memset(fault, 0, sizeof *fault);
	if (s == NULL || tokener == NULL) {
		snprintf(fault->what, sizeof fault->what, "out of memory");
	} else {
		json_tokener_set_flags(tokener, JSON_TOKENER_STRICT
		    | JSON_TOKENER_ALLOW_TRAILING_CHARS | JSON_TOKENER_VALIDATE_UTF8);
		s->in = in;
		s->sink = sink;
		s->fault = fault;
		s->tokener = tokener;
		result = whole(s);
	}
	if (tokener != NULL)
		json_tokener_free(tokener);
	free(s);
	return result;
}
