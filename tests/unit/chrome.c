/* SPDX-License-Identifier: MIT */
/*
 * chrome.c: mely-gantt's reading of raw traces: it pairs posts and events, finds the name of a
 * color at each time, makes any text valid JSON, and refuses bad files.
 */
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "../../mely-gantt/chrome.h"
#include "../../mely-gantt/pair.h"
#include "../../mely-gantt/utf8.h"

enum { RINGS = 3, FILE_MAX = 1 << 18, LENGTH = 100000 };

/* ---- a file ---------------------------------------------------------------------------------- */

static unsigned char file[FILE_MAX];
static size_t size;

static void
add(const void *bytes, size_t n)
{
	assert_true(size + n <= sizeof file);
	memcpy(file + size, bytes, n);
	size += n;
}

static void
add32(uint32_t n)
{
	unsigned char bytes[4] = {(unsigned char)n, (unsigned char)(n >> 8),
	    (unsigned char)(n >> 16), (unsigned char)(n >> 24)};

	add(bytes, sizeof bytes);
}

static void
add64(uint64_t n)
{
	add32((uint32_t)n);
	add32((uint32_t)(n >> 32));
}

static void
add_text(const char *text, size_t room)
{
	char bytes[80] = {0};

	assert_true(strlen(text) < room && room <= sizeof bytes);
	memcpy(bytes, text, strlen(text));
	add(bytes, room);
}

static void
add_part(uint32_t kind, uint32_t ring, uint64_t bytes)
{
	add32(kind);
	add32(ring);
	add64(bytes);
}

/* Two cores and the outside; a tick is a nanosecond. */
static int
setup(void **state)
{
	(void)state;
	size = 0;
	add("melytrc", 8);
	add32(0x01020304);
	add32(1);
	add32(RINGS);
	add32(1);
	add64(4242);
	add64(0);
	add64(77);
	add64(LENGTH);
	add64(77 + LENGTH);
	add_text("stop", 16);
	add_text("mely 0.0.0", 32);
	add_text("program", 80);
	assert_int_equal(size, 192);
	return 0;
}

static void
put(uint32_t ring, uint64_t ticks, enum gantt_raw_kind kind, uint64_t what)
{
	add_part(1, ring, 32);
	add64(ticks);
	add64(what);
	add64(0);
	add64((uint64_t)kind << 56 | 1);
}

static void
name(uint64_t color, uint32_t flags, uint64_t ticks, const char *text)
{
	add_part(4, 0, 64);
	add64(color);
	add64(ticks);
	add32(flags);
	add_text(text, 44);
}

static bool
read_file(struct gantt_raw *raw, struct gantt_raw_fault *fault)
{
	FILE *in = fmemopen(file, size, "r");
	bool ok;

	assert_non_null(in);
	ok = gantt_raw_read(in, raw, fault);
	fclose(in);
	return ok;
}

/* Ends the file, and pairs its posts and events. */
static struct gantt_pairs
paired(struct gantt_raw *raw)
{
	struct gantt_raw_fault fault;
	struct gantt_pairs pairs;

	add_part(0, 0, 0);
	if (!read_file(raw, &fault))
		fail_msg("byte %llu: %s", (unsigned long long)fault.at, fault.what);
	assert_true(gantt_pair(raw, &pairs));
	return pairs;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static uint64_t
arrow_of(const struct gantt_raw *raw, int row, int i)
{
	const struct gantt_raw_record *record = &raw->row[row].record[i];

	return record->kind == RAW_RUN ? record->what : record->color;
}

/* The same address is posted and run several times, on both cores. */
static void
posts_find_their_runs(void **state)
{
	struct gantt_pairs pairs;
	struct gantt_raw raw;

	(void)state;
	put(2, 1000, RAW_POST, 0x10);
	put(0, 2000, RAW_RUN, 0x10);      /* posted from outside */
	put(0, 2500, RAW_POST, 0x10);
	put(1, 3000, RAW_RUN, 0x10);      /* posted by core 0 */
	put(1, 0, RAW_OWN_POST, 0x10);
	put(1, 4000, RAW_RUN, 0x10);      /* posted to its own color as the slice before it ended */
	put(1, 5000, RAW_BATCH, 0);
	pairs = paired(&raw);
	assert_int_equal(pairs.pairs, 3);
	assert_int_equal(pairs.posts, 3);
	assert_int_equal(pairs.runs, 3);
	assert_true(arrow_of(&raw, 2, 0) != 0);
	assert_int_equal(arrow_of(&raw, 2, 0), arrow_of(&raw, 0, 0));
	assert_int_equal(arrow_of(&raw, 0, 1), arrow_of(&raw, 1, 0));
	assert_int_equal(arrow_of(&raw, 1, 1), arrow_of(&raw, 1, 2));
	gantt_raw_free(&raw);
}

/* B of NOTE(pair): the event runs elsewhere during the slice, and then the slice posts it. */
static void
own_post_counts_at_the_end(void **state)
{
	struct gantt_raw raw;

	(void)state;
	put(1, 900, RAW_POST, 0x10);
	put(0, 1000, RAW_RUN, 0x20);
	put(1, 1500, RAW_RUN, 0x10);
	put(0, 0, RAW_OWN_POST, 0x10);
	put(0, 2000, RAW_BATCH, 0);
	put(1, 3000, RAW_RUN, 0x10);
	assert_int_equal(paired(&raw).pairs, 2);
	assert_int_equal(arrow_of(&raw, 1, 0), arrow_of(&raw, 1, 1));
	assert_int_equal(arrow_of(&raw, 0, 1), arrow_of(&raw, 1, 2));
	assert_int_equal(arrow_of(&raw, 0, 0), 0); /* posted before the trace began */
	gantt_raw_free(&raw);
}

static void
cancelled_stays_open(void **state)
{
	struct gantt_pairs pairs;
	struct gantt_raw raw;

	(void)state;
	put(0, 1000, RAW_POST, 0x10); /* cancelled */
	put(0, 2000, RAW_POST, 0x10);
	put(0, 2500, RAW_POST, 0x30); /* pending */
	put(1, 3000, RAW_RUN, 0x10);
	pairs = paired(&raw);
	assert_int_equal(pairs.pairs, 1);
	assert_int_equal(arrow_of(&raw, 0, 0), 0);
	assert_int_equal(arrow_of(&raw, 0, 1), arrow_of(&raw, 1, 0));
	assert_int_equal(arrow_of(&raw, 0, 2), 0);
	assert_int_equal(pairs.posts - pairs.pairs, 2);
	gantt_raw_free(&raw);
}

/* Their slice was overwritten, so the time of such posts is unknown. */
static void
own_posts_without_slice(void **state)
{
	struct gantt_raw raw;

	(void)state;
	put(0, 0, RAW_OWN_POST, 0x10);
	put(0, 1000, RAW_RUN, 0x10);
	assert_int_equal(paired(&raw).pairs, 0);
	assert_int_equal(arrow_of(&raw, 0, 1), 0);
	gantt_raw_free(&raw);
}

/* Behind a gap they could belong to a slice that is missing, and no slice goes over it. */
static void
nothing_goes_over_a_gap(void **state)
{
	struct gantt_raw raw;

	(void)state;
	put(0, 1000, RAW_RUN, 0x20);
	put(0, 0, RAW_OWN_POST, 0x10);
	put(0, 1000, RAW_GAP, 0);
	put(0, 0, RAW_OWN_POST, 0x30);
	put(0, 3000, RAW_BATCH, 0);
	put(0, 4000, RAW_RUN, 0x10);
	put(0, 5000, RAW_RUN, 0x30);
	assert_int_equal(paired(&raw).pairs, 1);
	assert_int_equal(gantt_raw_slice_end(&raw.row[0], 0), 2);
	assert_int_equal(arrow_of(&raw, 0, 1), arrow_of(&raw, 0, 5));
	assert_int_equal(arrow_of(&raw, 0, 6), 0);
	gantt_raw_free(&raw);
}

/* A clock that steps back, or stands still, still gives slices one after another. */
static void
rows_are_in_order(void **state)
{
	struct gantt_raw raw;
	int i;

	(void)state;
	put(0, 1000, RAW_RUN, 0x10);
	put(0, 1000, RAW_RUN, 0x10);
	put(0, 990, RAW_RUN, 0x10);
	put(0, 2000, RAW_BATCH, 0);
	put(2, 30, RAW_POST, 0x10); /* the outside is sorted instead */
	put(2, 10, RAW_POST, 0x20);
	paired(&raw);
	for (i = 1; i < 4; i++)
		assert_true(raw.row[0].record[i].ticks > raw.row[0].record[i - 1].ticks);
	assert_int_equal(raw.row[0].record[3].ticks, 2000);
	assert_int_equal(raw.row[2].record[0].ticks, 10);
	assert_int_equal(raw.row[2].record[1].ticks, 30);
	gantt_raw_free(&raw);
}

/* ---- names ----------------------------------------------------------------------------------- */

static const char *
name_at(const struct gantt_raw *raw, uint64_t color, uint8_t flags, uint64_t ticks)
{
	struct gantt_raw_record record = {.color = color, .flags = flags, .ticks = ticks};

	return gantt_raw_color(raw, &record);
}

static void
names_have_their_time(void **state)
{
	struct gantt_raw raw;
	uint64_t i;

	(void)state;
	for (i = 100; i < 1100; i++)
		name(i * 7919 % 1000 + 100, 0, i, "one of many");
	name(7, 0, 10, "seven");
	name(7, RAW_OBJECT, 20, "first");
	name(7, RAW_OBJECT, 40, "");
	name(7, RAW_OBJECT, 60, "second");
	paired(&raw);
	assert_string_equal(name_at(&raw, 7, 0, 10), "seven");
	assert_string_equal(name_at(&raw, 7, 0, UINT64_MAX), "seven");
	assert_null(name_at(&raw, 7, RAW_OBJECT, 19));
	assert_string_equal(name_at(&raw, 7, RAW_OBJECT, 39), "first");
	assert_null(name_at(&raw, 7, RAW_OBJECT, 40));
	assert_string_equal(name_at(&raw, 7, RAW_OBJECT, 1000), "second");
	assert_null(name_at(&raw, 8, 0, 1000));
	assert_string_equal(name_at(&raw, 500, 0, UINT64_MAX), "one of many");
	gantt_raw_free(&raw);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void
check_clean(const char *text, const char *wanted)
{
	char *clean = utf8_clean(text, strlen(text));

	assert_string_equal(clean, wanted);
	free(clean);
}

static void
text_is_utf8(void **state)
{
	char *cut;

	(void)state;
	check_clean("", "");
	check_clean("plain", "plain");
	check_clean("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
	/* cut short, alone, too long for its code, half a pair, beyond the last code */
	check_clean("\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd");
	check_clean("\x80\xfe", "\xef\xbf\xbd\xef\xbf\xbd");
	check_clean("\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd");
	check_clean("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	check_clean("\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	/* a text without a terminating 0 */
	cut = utf8_clean("ab\xe2\x82\xac", 4);
	assert_string_equal(cut, "ab\xef\xbf\xbd\xef\xbf\xbd");
	free(cut);
}

/* The line of the JSON that contains part; the caller frees it. */
static char *
line_with(struct gantt_raw *raw, const char *part)
{
	char *text = NULL, *at, *line;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_true(gantt_chrome(out, raw));
	assert_int_equal(fclose(out), 0);
	at = strstr(text, part);
	assert_non_null(at);
	while (at > text && at[-1] != '\n')
		at--;
	line = strndup(at, strcspn(at, "\n"));
	free(text);
	return line;
}

static void
lines_are_json(void **state)
{
	struct gantt_raw_fault fault;
	struct gantt_raw raw;
	char *line;

	(void)state;
	add_part(1, 0, 2 * 32);
	add64(12345);
	add64(0x10);
	add64(0xc0ffee);
	add64((uint64_t)RAW_RUN << 56 | (uint64_t)RAW_OBJECT << 48 | 9);
	add64(12354);
	add64(0);
	add64(0);
	add64((uint64_t)RAW_BATCH << 56);
	name(0xc0ffee, RAW_OBJECT, 0, "\"\\\b");
	add_part(3, 0, 84);
	add32(9);
	add_text("\n\x1f\x7f/\xff", 80);
	add_part(2, 0, 8 * RINGS);
	add64(1);
	add64(UINT64_MAX);
	add64(3);
	add_part(0, 0, 0);
	assert_true(read_file(&raw, &fault));
	line = line_with(&raw, "\"ph\":\"X\"");
	assert_string_equal(line,
	    "{\"ph\":\"X\",\"pid\":4242,\"tid\":0,\"ts\":12.345,\"dur\":0.009,"
	    "\"cat\":\"event\",\"name\":\"\\u000a\\u001f\\u007f/\xef\xbf\xbd\",\"args\":{"
	    "\"color\":\"0xc0ffee\",\"color_name\":\"\\\"\\\\\\u0008\"}},");
	free(line);
	line = line_with(&raw, "otherData");
	assert_string_equal(line, "\"otherData\":{\"producer\":\"mely 0.0.0\",\"cores\":2,"
	    "\"sample\":1,\"end\":\"stop\",\"start_ns\":77,\"length_ns\":100000,"
	    "\"lost\":[1,9223372036854775807,3],\"posts_open\":0,\"events_unposted\":1}}");
	free(line);
	gantt_raw_free(&raw);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void
refused(const char *why)
{
	struct gantt_raw_fault fault;
	struct gantt_raw raw;

	if (read_file(&raw, &fault))
		fail_msg("accepted, though %s", why);
	assert_string_equal(fault.what, why);
	gantt_raw_free(&raw);
}

static void
with32(size_t at, uint32_t value, const char *why)
{
	unsigned char before[4];

	memcpy(before, file + at, 4);
	memset(file + at, 0, 4);
	file[at] = (unsigned char)value;
	file[at + 1] = (unsigned char)(value >> 8);
	file[at + 3] = (unsigned char)(value >> 24);
	refused(why);
	memcpy(file + at, before, 4);
}

static void
damaged_files(void **state)
{
	size_t whole;

	(void)state;
	put(0, 1000, RAW_RUN, 0x10);
	add_part(0, 0, 0);
	whole = size;
	for (size = whole - 1; size > 0; size--)
		refused("the file is cut off");
	size = whole;
	with32(0, 'm', "not a trace");
	with32(8, 4, "written by a machine with another byte order");
	with32(12, 2, "version 2 of the format, which this program does not know");
	with32(16, 1, "1 rings, not 2 to 4097");
	with32(16, 5000, "5000 rings, not 2 to 4097");
	with32(56, 1, "the trace ends before it begins");
	with32(52, 0x7f000000, "its clock cannot be right");
}

static void
impossible_files(void **state)
{
	size_t head = size;

	(void)state;
	add_part(1, RINGS, 32);
	add(file, 32);
	refused("records of ring 3 of 3");
	size = head;
	add_part(1, 0, 33);
	refused("a part of 33 bytes, not a multiple of 32");
	size = head;
	add_part(1, 0, UINT64_MAX - 31);
	add(file, 64);
	refused("the file is cut off");
	size = head;
	add_part(5, 0, 0);
	refused("a part of kind 5, which this program does not know");
	size = head;
	add_part(0, 0, 1);
	refused("the end is not empty");
	size = head;
	add_part(0, 0, 0);
	add("", 1);
	refused("bytes behind the end");
	size = head;
	add_part(2, 0, 8 * (RINGS + 1));
	add(file, 8 * (RINGS + 1));
	refused("more numbers of lost records than rings");
	size = head;
	add_part(3, 0, 84);
	add32(65536);
	add(file, 80);
	refused("handler number 65536, not below 65536");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(posts_find_their_runs, setup),
		cmocka_unit_test_setup(own_post_counts_at_the_end, setup),
		cmocka_unit_test_setup(cancelled_stays_open, setup),
		cmocka_unit_test_setup(own_posts_without_slice, setup),
		cmocka_unit_test_setup(nothing_goes_over_a_gap, setup),
		cmocka_unit_test_setup(rows_are_in_order, setup),
		cmocka_unit_test_setup(names_have_their_time, setup),
		cmocka_unit_test_setup(text_is_utf8, setup),
		cmocka_unit_test_setup(lines_are_json, setup),
		cmocka_unit_test_setup(damaged_files, setup),
		cmocka_unit_test_setup(impossible_files, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
