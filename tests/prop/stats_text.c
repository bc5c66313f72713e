/* SPDX-License-Identifier: MIT */
/*
 * stats_text.c: a snapshot as text parses and contains what the snapshot contains; a block that is
 * not a snapshot is refused.
 */
#include <ctype.h>
#include <math.h>

#include "test.h"

#define WEIRD "we\"ird\\na\nme\x01 \xc3\xa9 \xff"

static struct mely_runtime *rt;

static void
on_plain(void *arg)
{
	(void)arg;
}

/* A runtime that has run, with events waiting. */
static struct mely_stats *
some_snapshot(void)
{
	static struct mely_handler plain = MELY_HANDLER(on_plain);
	static struct mely_handler weird = {.fn = on_plain, .name = WEIRD, .time_ns = 7};
	struct mely_stats *stats;
	struct mely_color *color;
	uint32_t i;

	rt = test_runtime(2);
	for (i = 0; i < 3000; i++)
		TEST_OK(mely_post_id(rt, i % 50, i % 3 == 0 ? &weird : &plain, NULL));
	test_run_dry(rt);
	for (i = 0; i < 30; i++)
		TEST_OK(mely_post_id(rt, i % 10, &plain, NULL));
	TEST_OK(mely_color_of_id(rt, 3, &color));
	TEST_OK(mely_color_set_name(color, WEIRD));
	TEST_OK(mely_stats_take(rt, 0, 5, &stats));
	TEST_OK(mely_stats_check(stats, (size_t)stats->size));
	return stats;
}

static void
finish(struct mely_stats *stats)
{
	mely_stats_free(stats);
	test_run_dry(rt);
	TEST_OK(mely_runtime_free(rt));
}

/* ---- Prometheus ---------------------------------------------------------------------------- */

enum { LABELS = 6, TEXT = 128 };

struct sample {
	char name[TEXT];
	struct {
		char name[TEXT], value[TEXT];
	} labels[LABELS];
	int labels_count;
	double value;
};

/* The family that the samples belong to. */
static struct {
	char name[TEXT], type[TEXT];
	int samples;
	struct sample last; /* of a histogram's rows */
	double le, cumulative;
	bool closed, summed;
} family;

static char families[200][TEXT];
static int families_count;

static const char *
name(const char *p, char *to, bool label)
{
	int n = 0;

	TEST_CHECK(isalpha((unsigned char)*p) || *p == '_' || (*p == ':' && !label));
	while (isalnum((unsigned char)*p) || *p == '_' || (*p == ':' && !label)) {
		TEST_CHECK(n < TEXT - 1);
		to[n++] = *p++;
	}
	to[n] = '\0';
	return p;
}

static const char *
label_value(const char *p, char *to)
{
	int n = 0;

	TEST_CHECK(*p++ == '"');
	while (*p != '"') {
		TEST_CHECK(*p != '\n' && *p != '\0' && n < TEXT - 1);
		if (*p == '\\') {
			p++;
			TEST_CHECK(*p == '\\' || *p == '"' || *p == 'n');
			to[n++] = *p == 'n' ? '\n' : *p;
		} else {
			to[n++] = *p;
		}
		p++;
	}
	to[n] = '\0';
	return p + 1;
}

static const char *
parse_sample(const char *p, struct sample *s)
{
	char *end;

	memset(s, 0, sizeof *s);
	p = name(p, s->name, false);
	if (*p == '{') {
		do {
			TEST_CHECK(s->labels_count < LABELS);
			p = name(p + 1, s->labels[s->labels_count].name, true);
			TEST_CHECK(*p == '=');
			p = label_value(p + 1, s->labels[s->labels_count++].value);
		} while (*p == ',');
		TEST_CHECK(*p++ == '}');
	}
	TEST_CHECK(*p == ' ');
	s->value = strtod(p + 1, &end);
	TEST_CHECK(end > p + 1 && *end == '\n');
	return end + 1;
}

static const char *
label(const struct sample *s, const char *wanted)
{
	int i;

	for (i = 0; i < s->labels_count; i++)
		if (strcmp(s->labels[i].name, wanted) == 0)
			return s->labels[i].value;
	return NULL;
}

/* A row of a histogram: buckets in order up to +Inf, then the sum, then the count. */
static void
histogram_row(const struct sample *s)
{
	const char *part = s->name + strlen(family.name), *le = label(s, "le");

	if (strcmp(part, "_bucket") == 0) {
		double bound;

		TEST_CHECK(le != NULL);
		bound = strcmp(le, "+Inf") == 0 ? HUGE_VAL : strtod(le, NULL);
		if (family.closed) {
			TEST_CHECK(!family.summed);
			family.closed = false;
			family.le = family.cumulative = -1;
			family.last = *s;
		}
		TEST_EQ(strcmp(label(s, "number"), label(&family.last, "number")), 0);
		TEST_CHECK(bound > family.le && s->value >= family.cumulative);
		family.le = bound;
		family.cumulative = s->value;
	} else if (strcmp(part, "_sum") == 0) {
		TEST_CHECK(family.le == HUGE_VAL && !family.summed);
		family.summed = true;
	} else {
		TEST_EQ(strcmp(part, "_count"), 0);
		TEST_CHECK(family.summed && s->value == family.cumulative);
		family.summed = false;
		family.closed = true;
	}
}

static void
end_family(void)
{
	TEST_CHECK(family.closed && !family.summed);
}

static const char *
begin_family(const char *p)
{
	char other[TEXT];
	int i;

	end_family();
	memset(&family, 0, sizeof family);
	TEST_EQ(strncmp(p, "# HELP ", 7), 0);
	p = name(p + 7, family.name, false);
	TEST_CHECK(*p == ' ');
	p = strchr(p, '\n') + 1;
	TEST_EQ(strncmp(p, "# TYPE ", 7), 0);
	p = name(p + 7, other, false);
	TEST_EQ(strcmp(other, family.name), 0);
	TEST_CHECK(*p == ' ');
	p = name(p + 1, family.type, true);
	TEST_CHECK(*p == '\n');
	TEST_CHECK(strcmp(family.type, "counter") == 0 || strcmp(family.type, "gauge") == 0 ||
	    strcmp(family.type, "histogram") == 0);
	/* Counters say so, nothing else does. */
	TEST_EQ(strcmp(family.type, "counter") == 0, strlen(family.name) > 6 &&
	    strcmp(family.name + strlen(family.name) - 6, "_total") == 0);
	for (i = 0; i < families_count; i++)
		TEST_CHECK(strcmp(families[i], family.name) != 0);
	memcpy(families[families_count++], family.name, TEXT);
	family.closed = true;
	return p + 1;
}

static double by_core, by_handler, of_weird, weird_runs, colors_seen;

static void
take_note(const struct sample *s)
{
	/* What is not UTF-8 has been replaced; the rest is unchanged. */
	bool is_weird = label(s, "handler") != NULL &&
	    strcmp(label(s, "handler"), "we\"ird\\na\nme\x01 \xc3\xa9 ?") == 0;

	if (strcmp(s->name, "mely_core_events_total") == 0)
		by_core += s->value;
	if (strcmp(s->name, "mely_handler_events_total") == 0)
		by_handler += s->value;
	if (strcmp(s->name, "mely_handler_events_total") == 0 && is_weird)
		of_weird = s->value;
	if (strcmp(s->name, "mely_handler_run_seconds_count") == 0 && is_weird)
		weird_runs = s->value;
	if (strcmp(s->name, "mely_color_events") == 0)
		colors_seen++;
}

static void
prometheus(void)
{
	struct mely_stats *stats = some_snapshot();
	const char *p;
	char *text;
	size_t length;

	TEST_OK(mely_stats_prometheus(stats, &text, &length));
	TEST_EQ(strlen(text), length);
	family.closed = true;
	for (p = text; *p != '\0';) {
		struct sample s;

		if (*p == '#') {
			p = begin_family(p);
			continue;
		}
		p = parse_sample(p, &s);
		take_note(&s);
		if (strcmp(family.type, "histogram") == 0) {
			TEST_EQ(strncmp(s.name, family.name, strlen(family.name)), 0);
			histogram_row(&s);
		} else {
			TEST_EQ(strcmp(s.name, family.name), 0);
		}
	}
	end_family();
	TEST_CHECK(families_count >= 25);
	TEST_EQ(by_core, by_handler);
	TEST_EQ(by_core, test_counters(rt).events);
	TEST_EQ(of_weird, 1000);
	TEST_CHECK(weird_runs > 0);
	TEST_EQ(colors_seen, 5);
	free(text);
	finish(stats);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static const char *json_value(const char *p);

static const char *
json_string(const char *p)
{
	TEST_CHECK(*p++ == '"');
	while (*p != '"') {
		TEST_CHECK((unsigned char)*p >= ' ' && (unsigned char)*p != 0xff);
		if (*p == '\\') {
			p++;
			TEST_CHECK(*p != '\0' && strchr("\"\\/bfnrtu", *p) != NULL);
			if (*p == 'u')
				TEST_CHECK(isxdigit((unsigned char)p[1]) &&
				    isxdigit((unsigned char)p[2]) &&
				    isxdigit((unsigned char)p[3]) &&
				    isxdigit((unsigned char)p[4]));
		}
		p++;
	}
	return p + 1;
}

static const char *
json_list(const char *p, char end, bool members)
{
	if (*++p == end)
		return p + 1;
	for (;;) {
		if (members) {
			p = json_string(p);
			TEST_CHECK(*p++ == ':');
		}
		p = json_value(p);
		if (*p == end)
			return p + 1;
		TEST_CHECK(*p++ == ',');
	}
}

static const char *
json_value(const char *p)
{
	static const char *const words[] = {"true", "false", "null"};
	char *end;
	int i;

	if (*p == '{')
		return json_list(p, '}', true);
	if (*p == '[')
		return json_list(p, ']', false);
	if (*p == '"')
		return json_string(p);
	for (i = 0; i < 3; i++)
		if (strncmp(p, words[i], strlen(words[i])) == 0)
			return p + strlen(words[i]);
	TEST_CHECK(*p == '-' || isdigit((unsigned char)*p));
	(void)strtod(p, &end);
	TEST_CHECK(end > p);
	return end;
}

static void
json(void)
{
	struct mely_stats *stats = some_snapshot();
	const char *end, *place;
	char *text;
	size_t length;

	TEST_OK(mely_stats_json(stats, &text, &length));
	TEST_EQ(strlen(text), length);
	end = json_value(text);
	TEST_EQ(strcmp(end, "\n"), 0);
	place = strstr(text, "\"name\":\"we\\\"ird\\\\na\\u000ame\\u0001 \xc3\xa9 \\ufffd\"");
	TEST_CHECK(place != NULL);
	TEST_CHECK(strstr(place, "\"count\":1000,\"time_ns\":7,\"time_from\":\"annotated\"") !=
	    NULL);
	TEST_CHECK(strstr(text, "\"colors_found\":10,") != NULL);
	free(text);
	finish(stats);
}

/* ---- blocks from outside ------------------------------------------------------------------- */

/* Call every reader. */
static void
read_all(const struct mely_stats *stats)
{
	char *text;

	TEST_OK(mely_stats_prometheus(stats, &text, NULL));
	free(text);
	TEST_OK(mely_stats_json(stats, &text, NULL));
	free(text);
}

static void
blocks_are_checked(void)
{
	struct mely_stats *stats = some_snapshot(), *copy;
	size_t size = (size_t)stats->size, i;
	uint64_t state = test_seed, passed = 0, refused = 0;

	copy = malloc(size);
	TEST_CHECK(copy != NULL);
	for (i = 0; i < size; i += i < 300 ? 1 : 97) {
		memcpy(copy, stats, size);
		TEST_EQ(mely_stats_check(copy, i), -EINVAL);
	}
	copy->version++;
	TEST_EQ(mely_stats_check(copy, size), -EPROTONOSUPPORT);
	memcpy(copy, stats, size);
	/* Whatever passes can be read. */
	for (i = 0; i < test_scale(20000); i++) {
		size_t at = (size_t)(test_random(&state) % (size / 8));
		uint64_t *word = &((uint64_t *)(void *)copy)[at];

		if (at % 2 == 0) /* the head more often than the rest */
			word = &((uint64_t *)(void *)copy)[at % (sizeof *stats / 8)];
		*word = test_random(&state) % 3 == 0 ? test_random(&state) :
		    *word ^ 1ull << test_random(&state) % 64;
		if (mely_stats_check(copy, size) == 0) {
			passed++;
			if (passed % 16 == 0)
				read_all(copy);
		} else {
			refused++;
			memcpy(copy, stats, size);
		}
		if (test_random(&state) % 8 == 0)
			memcpy(copy, stats, size);
	}
	TEST_CHECK(passed > 100 && refused > 100);
	free(copy);
	finish(stats);
}

static void
wrong_use(void)
{
	struct mely_stats *stats;

	rt = test_runtime(1);
	TEST_EQ(mely_stats_take(rt, 1u << 30, 0, &stats), -EINVAL);
	TEST_CHECK(stats == NULL);
	mely_stats_free(NULL);
	TEST_OK(mely_stats_take(rt, 0, UINT32_MAX, &stats));
	TEST_EQ(stats->colors_asked, MELY_STATS_COLORS_MAX);
	TEST_CHECK(mely_stats_core_row(stats, 1) == NULL);
	TEST_CHECK(mely_stats_handler_numbered(stats, 0) == NULL);
	TEST_EQ(strcmp(mely_stats_name(stats, 0), ""), 0);
	mely_stats_free(stats);
	TEST_OK(mely_runtime_free(rt));
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 60);
	TEST_CASE(prometheus);
	TEST_CASE(json);
	TEST_CASE(blocks_are_checked);
	TEST_CASE(wrong_use);
	return test_done();
}
