/* SPDX-License-Identifier: MIT */
/*
 * main.c: mely-gantt. The whole trace is read, then the picture is written: an input that is
 * refused leaves no half of one behind.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "draw.h"
#include "options.h"
#include "stream.h"
#include "trace.h"

/* What the sink of the reader needs. */
struct reading {
	struct gantt_trace trace;
	uint64_t size;  /* of the file; 0: not known */
	bool told;
};

static const char *
take_event(void *context, struct json_object *event)
{
	struct reading *reading = context;

	return gantt_trace_event(&reading->trace, event);
}

static const char *
take_member(void *context, const char *key, struct json_object *value)
{
	struct reading *reading = context;

	return gantt_trace_member(&reading->trace, key, value);
}

static void
tell(void *context, uint64_t bytes)
{
	struct reading *reading = context;

	if (reading->size > 0 && bytes <= reading->size)
		fprintf(stderr, "\rmely-gantt: %3.0f %%",
		    100 * (double)bytes / (double)reading->size);
	else
		fprintf(stderr, "\rmely-gantt: %" PRIu64 " MB", bytes >> 20);
	reading->told = true;
}

/* Read all; false after a message. */
static bool
take_file(FILE *in, const char *name, struct reading *reading)
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
		sink.progress = tell;
	result = gantt_stream_read(in, &sink, &fault);
	if (reading->told)
		fputs("\r                    \r", stderr);
	if (result != 0) {
		fprintf(stderr, "mely-gantt: %s:%" PRIu64 ":%" PRIu64 ": %s\n", name, fault.line,
		    fault.column, fault.what);
		return false;
	}
	if (!gantt_trace_finish(&reading->trace)) {
		fprintf(stderr, "mely-gantt: %s: out of memory\n", name);
		return false;
	}
	return true;
}

static bool
write_file(const struct gantt_options *options, const struct gantt_trace *trace, const char *name)
{
	FILE *out = stdout;
	bool drawn;

	if (options->output != NULL && (out = fopen(options->output, "w")) == NULL) {
		fprintf(stderr, "mely-gantt: %s: %s\n", options->output, strerror(errno));
		return false;
	}
	drawn = gantt_draw(out, trace, options, name);
	if (!drawn)
		fputs("mely-gantt: out of memory\n", stderr);
	errno = 0;
	if (fflush(out) != 0 || ferror(out) || (out != stdout && fclose(out) != 0)) {
		fprintf(stderr, "mely-gantt: %s: %s\n",
		    options->output != NULL ? options->output : "standard output",
		    errno != 0 ? strerror(errno) : "could not be written");
		return false;
	}
	return drawn;
}

/* The last part of a path, without its .json. */
static char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = strdup(slash != NULL ? slash + 1 : path);
	size_t length = name != NULL ? strlen(name) : 0;

	if (length > 5 && strcmp(name + length - 5, ".json") == 0)
		name[length - 5] = '\0';
	return name;
}

int
main(int argc, char **argv)
{
	struct gantt_options options;
	struct reading reading = {0};
	const char *name;
	char *title;
	FILE *in = stdin;
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
	gantt_trace_init(&reading.trace);
	ok = take_file(in, name, &reading);
	if (ok) {
		title = base_name(name);
		ok = title != NULL && write_file(&options, &reading.trace, title);
		free(title);
	}
	gantt_trace_free(&reading.trace);
	if (in != stdin)
		fclose(in);
	return ok ? 0 : 1;
}
