/* SPDX-License-Identifier: MIT */
/*
 * main.c: mely-gantt. Read all of the trace, then write the picture or the JSON: input that is
 * refused leaves no half of a file behind.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chrome.h"
#include "draw.h"
#include "options.h"
#include "read_json.h"
#include "read_raw.h"
#include "stream.h"
#include "trace.h"

struct reading {
	struct gantt_trace trace;
	uint64_t size;  /* of the file; 0: unknown */
	bool shown;     /* progress, which has to be erased */
};

static const char *
take_event(void *context, struct json_object *event)
{
	struct reading *reading = context;

	return gantt_json_event(&reading->trace, event);
}

static const char *
take_member(void *context, const char *key, struct json_object *value)
{
	struct reading *reading = context;

	return gantt_json_member(&reading->trace, key, value);
}

static void
show_progress(void *context, uint64_t bytes)
{
	struct reading *reading = context;

	if (reading->size > 0 && bytes <= reading->size)
		fprintf(stderr, "\rmely-gantt: %3.0f %%",
		    100 * (double)bytes / (double)reading->size);
	else
		fprintf(stderr, "\rmely-gantt: %" PRIu64 " MB", bytes >> 20);
	reading->shown = true;
}

/* Read a trace in JSON; false after a message. */
static bool
take_json(FILE *in, const char *name, struct reading *reading)
{
	struct gantt_sink sink = {
		.event = take_event, .member = take_member, .context = reading
	};
	struct gantt_fault fault;
	struct stat status;
	int result;

	if (fstat(fileno(in), &status) == 0 && S_ISREG(status.st_mode))
		reading->size = (uint64_t)status.st_size;
	if (isatty(STDERR_FILENO))
		sink.progress = show_progress;
	result = gantt_stream_read(in, &sink, &fault);
	if (reading->shown)
		fputs("\r                    \r", stderr);
	if (result != 0) {
		fprintf(stderr, "mely-gantt: %s:%" PRIu64 ":%" PRIu64 ": %s\n", name, fault.line,
		    fault.column, fault.what);
		return false;
	}
	return true;
}

/* Read a raw trace; false after a message. */
static bool
take_raw(FILE *in, const char *name, struct gantt_raw *raw)
{
	struct gantt_raw_fault fault;

	if (gantt_raw_read(in, raw, &fault))
		return true;
	fprintf(stderr, "mely-gantt: %s: byte %" PRIu64 ": %s\n", name, fault.at, fault.what);
	return false;
}

/* Write the JSON of raw, or without it the picture of the trace; false after a message. */
static bool
write_file(const struct gantt_options *options, const struct gantt_trace *trace,
    struct gantt_raw *raw, const char *name)
{
	FILE *out = stdout;
	bool written;

	if (options->output != NULL && (out = fopen(options->output, "w")) == NULL) {
		fprintf(stderr, "mely-gantt: %s: %s\n", options->output, strerror(errno));
		return false;
	}
	written = raw != NULL ? gantt_chrome(out, raw) : gantt_draw(out, trace, options, name);
	if (!written)
		fputs("mely-gantt: out of memory\n", stderr);
	errno = 0;
	if (fflush(out) != 0 || ferror(out) || (out != stdout && fclose(out) != 0)) {
		fprintf(stderr, "mely-gantt: %s: %s\n",
		    options->output != NULL ? options->output : "standard output",
		    errno != 0 ? strerror(errno) : "cannot be written");
		return false;
	}
	return written;
}

/* The last part of a path, without an extension. */
static char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = strdup(slash != NULL ? slash + 1 : path), *dot;

	if (name != NULL && (dot = strrchr(name, '.')) != NULL && dot != name)
		*dot = '\0';
	return name;
}

static bool
draw(const struct gantt_options *options, struct gantt_trace *trace, const char *name)
{
	char *title = base_name(name);
	bool ok = title != NULL && gantt_trace_finish(trace);

	if (!ok)
		fprintf(stderr, "mely-gantt: %s: out of memory\n", name);
	ok = ok && write_file(options, trace, NULL, title);
	free(title);
	return ok;
}

static bool
from_raw(const struct gantt_options *options, FILE *in, const char *name)
{
	struct gantt_trace trace;
	struct gantt_raw raw;
	bool ok = take_raw(in, name, &raw);

	gantt_trace_init(&trace);
	if (ok && options->chrome) {
		ok = write_file(options, NULL, &raw, name);
	} else if (ok) {
		ok = gantt_read_raw(&trace, &raw);
		if (!ok)
			fprintf(stderr, "mely-gantt: %s: out of memory\n", name);
		ok = ok && draw(options, &trace, name);
	}
	gantt_trace_free(&trace);
	gantt_raw_free(&raw);
	return ok;
}

static bool
from_json(const struct gantt_options *options, FILE *in, const char *name)
{
	struct reading reading = {0};
	bool ok = false;

	gantt_trace_init(&reading.trace);
	if (options->chrome)
		fprintf(stderr, "mely-gantt: --chrome: %s is not a trace written by MELY_TRACE\n",
		    name);
	else
		ok = take_json(in, name, &reading) && draw(options, &reading.trace, name);
	gantt_trace_free(&reading.trace);
	return ok;
}

int
main(int argc, char **argv)
{
	struct gantt_options options;
	const char *name;
	FILE *in = stdin;
	int first;
	bool ok;

	switch (gantt_options_parse(&options, argc, argv)) {
	case GANTT_OPTIONS_DONE:
		return 0;
	case GANTT_OPTIONS_USAGE:
		return 2;
	case GANTT_OPTIONS_RUN:
		break;
	}
	name = strcmp(options.input, "-") == 0 ? "standard input" : options.input;
	if (strcmp(options.input, "-") != 0 && (in = fopen(options.input, "r")) == NULL) {
		fprintf(stderr, "mely-gantt: %s: %s\n", name, strerror(errno));
		return 1;
	}
	first = getc(in);
	if (first != EOF)
		ungetc(first, in);
	ok = gantt_raw_begins(first) ? from_raw(&options, in, name) :
	    from_json(&options, in, name);
	if (in != stdin)
		fclose(in);
	return ok ? 0 : 1;
}
