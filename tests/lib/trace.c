/* SPDX-License-Identifier: MIT */
/*
 * trace.c: a strict reader of trace files, and the rules for slices and arrows.
 */
#include <ctype.h>

#include "../../mely-gantt/chrome.h"
#include "trace.h"

/* The largest difference between the clocks of two processors that a thread can see. */
enum { SKEW_NS = 2000 };

/* ---- is it JSON? ----------------------------------------------------------------------------- */

static const char *skip_value(const char *at);

static const char *
skip_space(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

static const char *
skip_string(const char *at)
{
	TEST_CHECK(*at == '"');
	for (at++; *at != '"'; at++) {
		int i;

		TEST_CHECK((unsigned char)*at >= 0x20);
		if (*at != '\\')
			continue;
		at++;
		TEST_CHECK(*at != '\0' && strchr("\"\\/bfnrtu", *at) != NULL);
		for (i = 0; *at == 'u' && i < 4; i++)
			TEST_CHECK(isxdigit((unsigned char)at[i + 1]));
		if (*at == 'u')
			at += 4;
	}
	return at + 1;
}

static const char *
skip_row(const char *at, char end, bool keys)
{
	at = skip_space(at + 1);
	if (*at == end)
		return at + 1;
	for (;;) {
		if (keys) {
			at = skip_space(skip_string(at));
			TEST_CHECK(*at == ':');
			at = skip_space(at + 1);
		}
		at = skip_space(skip_value(at));
		if (*at == end)
			return at + 1;
		TEST_CHECK(*at == ',');
		at = skip_space(at + 1);
	}
}

static const char *
skip_value(const char *at)
{
	static const char *const words[] = {"true", "false", "null"};
	size_t i;
	char *end;

	if (*at == '{')
		return skip_row(at, '}', true);
	if (*at == '[')
		return skip_row(at, ']', false);
	if (*at == '"')
		return skip_string(at);
	for (i = 0; i < 3; i++) {
		if (strncmp(at, words[i], strlen(words[i])) == 0)
			return at + strlen(words[i]);
	}
	TEST_CHECK(*at == '-' || isdigit((unsigned char)*at));
	(void)strtod(at, &end);
	return end;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The value of a key in one line, or NULL. */
static const char *
value_of(const char *line, const char *key)
{
	char wanted[32];
	const char *at;

	snprintf(wanted, sizeof wanted, "\"%s\":", key);
	at = strstr(line, wanted);
	return at != NULL ? at + strlen(wanted) : NULL;
}

static void
text_of(const char *line, const char *key, char *to, size_t size)
{
	const char *at = value_of(line, key), *end;

	to[0] = '\0';
	if (at == NULL)
		return;
	end = skip_string(at);
	TEST_CHECK((size_t)(end - at) - 1 <= size);
	memcpy(to, at + 1, (size_t)(end - at) - 2);
	to[end - at - 2] = '\0';
}

/* Microseconds with three decimals. */
static uint64_t
ns_of(const char *line, const char *key)
{
	unsigned long long us;
	unsigned ns;
	const char *at = value_of(line, key);

	if (at == NULL)
		return 0;
	TEST_EQ(sscanf(at, "%llu.%3u", &us, &ns), 2);
	return us * 1000 + ns;
}

static void
read_line(struct trace_line *to, const char *line)
{
	const char *at = value_of(line, "ph");

	memset(to, 0, sizeof *to);
	TEST_CHECK(at != NULL && at[0] == '"' && strchr("MXiCsf", at[1]) != NULL);
	to->phase = at[1];
	at = value_of(line, "tid");
	to->row = at != NULL ? atoi(at) : -1;
	to->from_ns = ns_of(line, "ts");
	to->to_ns = to->from_ns + ns_of(line, "dur");
	at = value_of(line, "id");
	to->arrow = at != NULL ? strtoull(at, NULL, 10) : 0;
	text_of(line, "cat", to->category, sizeof to->category);
	text_of(line, "name", to->name, sizeof to->name);
	text_of(line, "color", to->color, sizeof to->color);
	text_of(line, "color_name", to->color_name, sizeof to->color_name);
	to->unfinished = value_of(line, "unfinished") != NULL;
}

static int
by_time(const void *a, const void *b)
{
	const struct trace_line *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return x->to_ns != y->to_ns ? x->to_ns > y->to_ns ? -1 : 1 : 0;
}

static void
read_end(struct trace *trace, const char *other)
{
	const char *at = value_of(other, "lost");

	TEST_CHECK(at != NULL && *at == '[');
	do {
		trace->lost += strtoull(at + 1, (char **)&at, 10);
	} while (*at == ',');
	at = value_of(other, "cores");
	TEST_CHECK(at != NULL);
	trace->cores = atoi(at);
	at = value_of(other, "posts_open");
	TEST_CHECK(at != NULL);
	trace->open = strtoull(at, NULL, 10);
	at = value_of(other, "events_unposted");
	TEST_CHECK(at != NULL);
	trace->unposted = strtoull(at, NULL, 10);
	text_of(other, "end", trace->end, sizeof trace->end);
}

/* The JSON of the file, as mely-gantt --chrome writes it. */
static char *
json_of(const char *path)
{
	struct gantt_raw_fault fault;
	struct gantt_raw raw;
	char *text = NULL;
	size_t size = 0;
	FILE *in = fopen(path, "r"), *out = open_memstream(&text, &size);

	if (in == NULL)
		test_fail(__FILE__, __LINE__, "%s: %s", path, strerror(errno));
	if (!gantt_raw_read(in, &raw, &fault))
		test_fail(__FILE__, __LINE__, "%s: byte %llu: %s", path,
		    (unsigned long long)fault.at, fault.what);
	TEST_CHECK(out != NULL && gantt_chrome(out, &raw) && fclose(out) == 0);
	gantt_raw_free(&raw);
	fclose(in);
	return text;
}

void
trace_read(struct trace *trace, const char *path)
{
	size_t room = 0;
	char *at, *end;

	memset(trace, 0, sizeof *trace);
	trace->text = json_of(path);
	TEST_CHECK(*skip_space(skip_value(trace->text)) == '\0');

	at = strstr(trace->text, "\"traceEvents\":[\n");
	TEST_CHECK(at != NULL);
	for (at = strchr(at, '\n') + 1; *at != ']'; at = end + 1) {
		end = strchr(at, '\n');
		*end = '\0'; /* lines are parsed one by one */
		if (trace->count == room) {
			room = room * 2 + 1024;
			trace->lines = realloc(trace->lines, room * sizeof trace->lines[0]);
			TEST_CHECK(trace->lines != NULL);
		}
		read_line(&trace->lines[trace->count++], at);
	}
	read_end(trace, strchr(at, '\n') + 1);
	qsort(trace->lines, trace->count, sizeof trace->lines[0], by_time);
}

void
trace_free(struct trace *trace)
{
	free(trace->text);
	free(trace->lines);
}

/* ---- looks ----------------------------------------------------------------------------------- */

size_t
trace_count(const struct trace *trace, char phase, const char *category)
{
	size_t n = 0, i;

	for (i = 0; i < trace->count; i++)
		n += trace->lines[i].phase == phase &&
		    strcmp(trace->lines[i].category, category) == 0;
	return n;
}

static bool
tiny(const struct trace_line *line)
{
	return strcmp(line->category, "post") == 0 || strcmp(line->category, "stolen") == 0;
}

void
trace_check_rows(const struct trace *trace)
{
	const struct trace_line *before = NULL;
	size_t i;

	for (i = 0; i < trace->count; i++) {
		const struct trace_line *line = &trace->lines[i];

		if (line->phase != 'X' || tiny(line))
			continue;
		if (before != NULL && before->row == line->row && before->to_ns > line->from_ns)
			test_fail(__FILE__, __LINE__, "row %d: %s until %llu, %s from %llu ns",
			    line->row, before->name, (unsigned long long)before->to_ns, line->name,
			    (unsigned long long)line->from_ns);
		before = line;
	}
}

static int
by_color(const void *a, const void *b)
{
	const struct trace_line *x = *(const struct trace_line *const *)a;
	const struct trace_line *y = *(const struct trace_line *const *)b;
	int order = strcmp(x->color, y->color);

	if (order != 0)
		return order;
	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

void
trace_check_colors(const struct trace *trace)
{
	const struct trace_line **slices = calloc(trace->count + 1, sizeof *slices);
	size_t n = 0, i;

	TEST_CHECK(slices != NULL);
	for (i = 0; i < trace->count; i++) {
		if (strcmp(trace->lines[i].category, "event") == 0)
			slices[n++] = &trace->lines[i];
	}
	qsort(slices, n, sizeof *slices, by_color);
	for (i = 1; i < n; i++) {
		if (strcmp(slices[i]->color, slices[i - 1]->color) == 0 &&
		    slices[i - 1]->to_ns > slices[i]->from_ns + SKEW_NS)
			test_fail(__FILE__, __LINE__,
			    "color %s: on row %d until %llu, on row %d from %llu ns",
			    slices[i]->color, slices[i - 1]->row,
			    (unsigned long long)slices[i - 1]->to_ns, slices[i]->row,
			    (unsigned long long)slices[i]->from_ns);
	}
	free(slices);
}

/* Is there a slice on this line's row at its time? */
static bool
on_slice(const struct trace *trace, size_t i)
{
	const struct trace_line *end = &trace->lines[i];
	size_t j;

	/* A slice that begins at the same time may follow in the list; tiny slices lie on longer
	 * ones. */
	for (j = i; j < trace->count && trace->lines[j].row == end->row &&
	    trace->lines[j].from_ns == end->from_ns; j++) {
		if (trace->lines[j].phase == 'X')
			return true;
	}
	for (j = i; j-- > 0 && trace->lines[j].row == end->row;) {
		if (trace->lines[j].phase == 'X' && trace->lines[j].to_ns >= end->from_ns)
			return true;
		if (trace->lines[j].phase == 'X' && !tiny(&trace->lines[j]))
			return false;
	}
	return false;
}

void
trace_check_arrows(const struct trace *trace)
{
	const struct trace_line **starts = calloc(trace->count + 2, sizeof *starts);
	bool *ended = calloc(trace->count + 2, sizeof *ended);
	size_t i, pairs = 0;

	TEST_CHECK(starts != NULL && ended != NULL);
	for (i = 0; i < trace->count; i++) {
		const struct trace_line *line = &trace->lines[i];

		if (line->phase != 's')
			continue;
		TEST_CHECK(line->arrow > 0 && line->arrow <= trace->count);
		TEST_CHECK(starts[line->arrow] == NULL);
		TEST_CHECK(on_slice(trace, i));
		starts[line->arrow] = line;
		pairs++;
	}
	for (i = 0; i < trace->count; i++) {
		const struct trace_line *line = &trace->lines[i];

		if (line->phase != 'f')
			continue;
		TEST_CHECK(line->arrow > 0 && line->arrow <= trace->count);
		TEST_CHECK(starts[line->arrow] != NULL && !ended[line->arrow]);
		TEST_CHECK(starts[line->arrow]->from_ns <= line->from_ns);
		TEST_CHECK(strcmp(starts[line->arrow]->category, line->category) == 0);
		TEST_CHECK(on_slice(trace, i));
		ended[line->arrow] = true;
		pairs--;
	}
	TEST_EQ(pairs, 0);
	free(starts);
	free(ended);
}
