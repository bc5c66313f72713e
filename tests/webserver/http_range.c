/* SPDX-License-Identifier: MIT */
/*
 * http_range.c: the ranges that clients send, and those that none should.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "../../webserver/http/range.h"

/* A field and the parts that it asks for, up to one without a byte. */
static const struct {
	const char *value;
	uint64_t size;
	enum http_range is;
	struct http_part part[5];
} table[] = {
	{"bytes=0-0", 1000, HTTP_RANGE_ONE, {{0, 1}}},
	{"bytes=0-999999", 1000, HTTP_RANGE_ONE, {{0, 1000}}},
	{"bytes=200-", 1000, HTTP_RANGE_ONE, {{200, 1000}}},
	{"bytes=-100", 1000, HTTP_RANGE_ONE, {{900, 1000}}},
	{"bytes=-2000", 1000, HTTP_RANGE_ONE, {{0, 1000}}},
	{"bytes=999-999", 1000, HTTP_RANGE_ONE, {{999, 1000}}},
	{"BYTES=5-6", 1000, HTTP_RANGE_ONE, {{5, 7}}},
	{"bytes= ,5-6 ,", 1000, HTTP_RANGE_ONE, {{5, 7}}},
	{"bytes=0-18446744073709551615", 1000, HTTP_RANGE_ONE, {{0, 1000}}},
	{"bytes=0-99999999999999999999999", 1000, HTTP_RANGE_ONE, {{0, 1000}}},
	{"bytes=5000000000-", UINT64_C(6000000000), HTTP_RANGE_ONE,
	    {{UINT64_C(5000000000), UINT64_C(6000000000)}}},
	{"bytes=1000-", 1000, HTTP_RANGE_UNSATISFIABLE, {{0, 0}}},
	{"bytes=99999999999999999999999-", 1000, HTTP_RANGE_UNSATISFIABLE, {{0, 0}}},
	{"bytes=-0", 1000, HTTP_RANGE_UNSATISFIABLE, {{0, 0}}},
	{"bytes=0-", 0, HTTP_RANGE_UNSATISFIABLE, {{0, 0}}},
	{"bytes=-1", 0, HTTP_RANGE_NONE, {{0, 0}}},
	{"bytes=-0", 0, HTTP_RANGE_UNSATISFIABLE, {{0, 0}}},
	{"bytes=6-5", 1000, HTTP_RANGE_NONE, {{0, 0}}},
	{"bytes=-", 1000, HTTP_RANGE_NONE, {{0, 0}}},
	{"bytes=", 1000, HTTP_RANGE_NONE, {{0, 0}}},
	{"bytes=a", 1000, HTTP_RANGE_NONE, {{0, 0}}},
	{"bytes=5", 1000, HTTP_RANGE_NONE, {{0, 0}}},
	{"bytes=5-6x", 1000, HTTP_RANGE_NONE, {{0, 0}}},
	{"bytes=+5-6", 1000, HTTP_RANGE_NONE, {{0, 0}}},
	{"bytes 0-1", 1000, HTTP_RANGE_NONE, {{0, 0}}},
	{"lines=0-1", 1000, HTTP_RANGE_NONE, {{0, 0}}},
	{"", 1000, HTTP_RANGE_NONE, {{0, 0}}},
	{"bytes=0-1,500-501", 1000, HTTP_RANGE_MANY, {{0, 2}, {500, 502}}},
	{"bytes=500-501, 0-1", 1000, HTTP_RANGE_MANY, {{500, 502}, {0, 2}}},
	{"bytes=0-0,-1", 1000, HTTP_RANGE_MANY, {{0, 1}, {999, 1000}}},
	{"bytes=0-9 , ,\t,  200-209,,", 1000, HTTP_RANGE_MANY, {{0, 10}, {200, 210}}},
	{"bytes=0-9,200-,400-", 1000, HTTP_RANGE_MANY, {{0, 10}, {200, 1000}}},
	/* Those that overlap, or nearly touch, become one, where the first is. */
	{"bytes=0-1,5-6", 1000, HTTP_RANGE_ONE, {{0, 7}}},
	{"bytes=0-,0-,0-", 1000, HTTP_RANGE_ONE, {{0, 1000}}},
	{"bytes=0-99,50-149", 1000, HTTP_RANGE_ONE, {{0, 150}}},
	{"bytes=50-149,0-99", 1000, HTTP_RANGE_ONE, {{0, 150}}},
	{"bytes=0-9,90-99", 1000, HTTP_RANGE_ONE, {{0, 100}}},
	{"bytes=0-9,91-99", 1000, HTTP_RANGE_MANY, {{0, 10}, {91, 100}}},
	{"bytes=900-909,0-9,300-309,895-", 1000, HTTP_RANGE_MANY,
	    {{895, 1000}, {0, 10}, {300, 310}}},
	/* One that joins two others. */
	{"bytes=0-9,500-509,300-309,5-305", 1000, HTTP_RANGE_MANY, {{0, 310}, {500, 510}}},
	{"bytes=0-9,200-209,400-409,600-609,0-", 1000, HTTP_RANGE_ONE, {{0, 1000}}},
	{"bytes=0-18446744073709551615,18446744073709551615-", 1000, HTTP_RANGE_ONE, {{0, 1000}}},
	/* What does not exist is left out. */
	{"bytes=0-1,2000-", 1000, HTTP_RANGE_ONE, {{0, 2}}},
	{"bytes=2000-,-0,500-501,0-1", 1000, HTTP_RANGE_MANY, {{500, 502}, {0, 2}}},
	{"bytes=1000-,2000-,-0", 1000, HTTP_RANGE_UNSATISFIABLE, {{0, 0}}},
	{"bytes=0-1,5-4", 1000, HTTP_RANGE_NONE, {{0, 0}}},
	{"bytes=0-1,x", 1000, HTTP_RANGE_NONE, {{0, 0}}},
	{"bytes=0-1;500-501", 1000, HTTP_RANGE_NONE, {{0, 0}}},
	{"bytes=0-1 500-501", 1000, HTTP_RANGE_NONE, {{0, 0}}},
	{"bytes=0-1,-", 1000, HTTP_RANGE_NONE, {{0, 0}}},
	{"bytes=,,,", 1000, HTTP_RANGE_NONE, {{0, 0}}},
	{"bytes=-1,-2", 0, HTTP_RANGE_NONE, {{0, 0}}},
};

static void
ranges(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct http_ranges r;
		unsigned n = 0;

		print_message("%s\n", table[i].value);
		assert_int_equal(http_range_parse(table[i].value, strlen(table[i].value),
		    table[i].size, &r), table[i].is);
		if (table[i].is != HTTP_RANGE_ONE && table[i].is != HTTP_RANGE_MANY)
			continue;
		for (; table[i].part[n].to > 0; n++) {
			assert_true(n < r.count);
			assert_int_equal(r.part[n].from, table[i].part[n].from);
			assert_int_equal(r.part[n].to, table[i].part[n].to);
		}
		assert_int_equal(r.count, n);
	}
}

/* A field with n ranges of one byte, far from each other. */
static enum http_range
many(unsigned n, struct http_ranges *r)
{
	char value[4096] = "bytes=";
	size_t len = strlen(value);

	for (unsigned i = 0; i < n; i++)
		len += (size_t)sprintf(value + len, "%u-%u,", 1000 * i, 1000 * i);
	return http_range_parse(value, len, 1000000, r);
}

static void
limit(void **state)
{
	struct http_ranges r;

	(void)state;
	assert_int_equal(many(HTTP_RANGES_MAX, &r), HTTP_RANGE_MANY);
	assert_int_equal(r.count, HTTP_RANGES_MAX);
	assert_int_equal(many(HTTP_RANGES_MAX + 1, &r), HTTP_RANGE_NONE);
	assert_int_equal(many(300, &r), HTTP_RANGE_NONE);
}

/* Whatever is asked for: the parts are ordered within, apart from each other, and of the file. */
static void
any(void **state)
{
	uint32_t seed = 12345;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char value[512] = "bytes=";
		size_t len = strlen(value);
		struct http_ranges r;
		bool wanted[2000] = {false};

		for (int i = 0; i < 12; i++) {
			unsigned from = (seed = seed * 1664525 + 1013904223) >> 20 & 2047;
			unsigned to = from + ((seed = seed * 1664525 + 1013904223) >> 24);

			len += (size_t)sprintf(value + len, "%u-%u,", from, to);
			for (unsigned k = from; k <= to && k < 2000; k++)
				wanted[k] = true;
		}
		if (http_range_parse(value, len, 2000, &r) == HTTP_RANGE_UNSATISFIABLE)
			continue;
		assert_true(r.count > 0);
		for (unsigned i = 0; i < r.count; i++) {
			assert_true(r.part[i].from < r.part[i].to && r.part[i].to <= 2000);
			for (unsigned k = 0; k < i; k++)
				assert_true(r.part[i].from > r.part[k].to + HTTP_RANGES_GAP
				    || r.part[k].from > r.part[i].to + HTTP_RANGES_GAP);
			for (uint64_t k = r.part[i].from; k < r.part[i].to; k++)
				wanted[k] = false;
		}
		for (unsigned k = 0; k < 2000; k++)
			assert_false(wanted[k]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges),
		cmocka_unit_test(limit),
		cmocka_unit_test(any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
