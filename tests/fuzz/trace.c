/* SPDX-License-Identifier: MIT */
/*
 * trace.c: fuzz target for the input of mely-gantt, raw traces and JSON, and for its output.
 *
 * With --enable-fuzz (clang) it is a libFuzzer target; otherwise main runs it on the files and
 * directories on the command line, so that the corpus is a test in every build.
 *
 * For every input: a refusal names a place and a reason; the tags, entities and characters of the
 * picture are well-formed XML, and its length is limited by the pixels; mely-gantt can read the
 * JSON of a raw trace, which has as many slices as the raw trace.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../mely-gantt/chrome.h"
#include "../../mely-gantt/draw.h"
#include "../../mely-gantt/read_json.h"
#include "../../mely-gantt/read_raw.h"
#include "../../mely-gantt/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	INPUT_MAX = 1 << 16,
	/* The limit for any input of this length, with as many rows as it can name. */
	PICTURE_MAX = 8 << 20,
	DEPTH_MAX = 8,
	TAG_MAX = 16
};

/* Unlike assert, on in every build. */
#define REQUIRE(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

static const char *
take_event(void *context, struct json_object *event)
{
	return gantt_json_event(context, event);
}

static const char *
take_member(void *context, const char *key, struct json_object *value)
{
	return gantt_json_member(context, key, value);
}

/* Check a tag and return the end of it; stack contains the names of the open elements. */
static const char *
check_tag(const char *at, char stack[][TAG_MAX], int *depth)
{
	bool closing = at[1] == '/';
	const char *name = at + 1 + closing;
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz");
	const char *end = name + length;

	REQUIRE(length > 0 && length < TAG_MAX);
	for (; *end != '>'; end++) {
		REQUIRE(*end != '\0' && *end != '<');
		if (*end == '"') {
			end = strchr(end + 1, '"');
			REQUIRE(end != NULL);
		}
	}
	if (closing) {
		REQUIRE(*depth > 0);
		--*depth;
		REQUIRE(strlen(stack[*depth]) == length);
		REQUIRE(memcmp(stack[*depth], name, length) == 0);
	} else if (end[-1] != '/') {
		REQUIRE(*depth < DEPTH_MAX);
		memcpy(stack[*depth], name, length);
		stack[(*depth)++][length] = '\0';
	}
	return end + 1;
}

static void
check_picture(const char *text, size_t size)
{
	char stack[DEPTH_MAX][TAG_MAX];
	const char *at = text;
	int depth = 0;

	REQUIRE(size < PICTURE_MAX && strlen(text) == size);
	REQUIRE(strncmp(text, "<svg ", 5) == 0);
	while (*at != '\0') {
		if (*at == '<') {
			at = check_tag(at, stack, &depth);
			continue;
		}
		REQUIRE(depth > 0 || *at == '\n');
		REQUIRE((unsigned char)*at >= ' ' || *at == '\n' || *at == '\t');
		if (*at == '&')
			REQUIRE(strncmp(at, "&amp;", 5) == 0 || strncmp(at, "&lt;", 4) == 0
			    || strncmp(at, "&gt;", 4) == 0 || strncmp(at, "&quot;", 6) == 0);
		at++;
	}
	REQUIRE(depth == 0);
	/* No attribute begins with NaN or infinity. */
	REQUIRE(strstr(text, "=\"nan") == NULL && strstr(text, "=\"-nan") == NULL);
	REQUIRE(strstr(text, "=\"inf") == NULL && strstr(text, "=\"Mnan") == NULL);
}

static void
draw(const struct gantt_trace *trace, const uint8_t *data, size_t size)
{
	struct gantt_options options;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	REQUIRE(out != NULL);
	gantt_options_default(&options);
	/* The input chooses the view too. */
	if (size > 0 && (data[size - 1] & 1) != 0)
		options.by = GANTT_BY_COLOR;
	if (size > 1 && (data[size - 2] & 1) != 0) {
		options.from = data[size - 2] * 100;
		options.to = options.from + 1 + data[size - 1] * 1000;
		options.height = 1 + data[size - 1] * 8;
	}
	REQUIRE(gantt_draw(out, trace, &options, "input"));
	REQUIRE(fclose(out) == 0);
	check_picture(text, length);
	free(text);
}

static bool
read_json(struct gantt_trace *trace, FILE *in)
{
	struct gantt_fault fault;
	struct gantt_sink sink = {
		.event = take_event, .member = take_member, .context = trace
	};

	if (gantt_stream_read(in, &sink, &fault) == 0) {
		REQUIRE(gantt_trace_finish(trace));
		return true;
	}
	REQUIRE(fault.line > 0 && fault.column > 0 && fault.what[0] != '\0');
	REQUIRE(strchr(fault.what, '\n') == NULL);
	return false;
}

static size_t
slices(const struct gantt_trace *trace)
{
	size_t n = 0, i;

	for (i = 0; i < trace->rows; i++)
		n += trace->row[i].slices;
	return n;
}

/* The JSON of raw, read back, has the same contents as the trace. */
static void
check_json(struct gantt_raw *raw, const struct gantt_trace *trace)
{
	struct gantt_trace again;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length), *in;

	REQUIRE(out != NULL);
	REQUIRE(gantt_chrome(out, raw));
	REQUIRE(fclose(out) == 0);
	in = fmemopen(text, length, "r");
	REQUIRE(in != NULL);
	gantt_trace_init(&again);
	REQUIRE(read_json(&again, in));
	REQUIRE(slices(&again) == slices(trace));
	REQUIRE(again.steals == trace->steals);
	gantt_trace_free(&again);
	fclose(in);
	free(text);
}

static bool
read_raw(struct gantt_trace *trace, FILE *in)
{
	struct gantt_raw_fault fault;
	struct gantt_raw raw;
	bool ok = gantt_raw_read(in, &raw, &fault);

	if (ok) {
		REQUIRE(gantt_read_raw(trace, &raw));
		REQUIRE(gantt_trace_finish(trace));
		check_json(&raw, trace);
	} else {
		REQUIRE(fault.what[0] != '\0' && strchr(fault.what, '\n') == NULL);
	}
	gantt_raw_free(&raw);
	return ok;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gantt_trace trace;
	FILE *in;

	if (size == 0 || size > INPUT_MAX)
		return 0;
	in = fmemopen((void *)(uintptr_t)data, size, "r");
	REQUIRE(in != NULL);
	gantt_trace_init(&trace);
	if (gantt_raw_begins(data[0]) ? read_raw(&trace, in) : read_json(&trace, in))
		draw(&trace, data, size);
	gantt_trace_free(&trace);
	fclose(in);
	return 0;
}

#ifndef GANTT_LIBFUZZER

#include "corpus.h"

/* Try the input, its prefixes, and the input with one byte changed, for many bytes. */
static void
try_input(uint8_t *data, size_t size)
{
	size_t len, i;

	for (len = size; len > 0; len -= len > size / 100 + 1 ? size / 100 + 1 : len)
		LLVMFuzzerTestOneInput(data, len);
	for (i = 0; i < size; i += size / 200 + 1) {
		data[i] ^= 0x11;
		LLVMFuzzerTestOneInput(data, size);
		data[i] ^= 0x11;
	}
}

int
main(int argc, char **argv)
{
	return corpus_main(argc, argv, 20);
}

#endif
