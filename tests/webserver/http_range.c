/* SPDX-License-Identifier: MIT */
/*
 * http_range.c: the ranges that clients send, and those that none should.
 */
#include <string.h>

#include "unit.h"
#include "../../webserver/http/range.h"

static void
ranges(void **state)
{
	static const struct {
		const char *value;
		uint64_t size;
		enum http_range is;
		uint64_t from, to;
	} table[] = {
		{"bytes=0-0", 1000, HTTP_RANGE_ONE, 0, 1},
		{"bytes=0-999999", 1000, HTTP_RANGE_ONE, 0, 1000},
		{"bytes=200-", 1000, HTTP_RANGE_ONE, 200, 1000},
		{"bytes=-100", 1000, HTTP_RANGE_ONE, 900, 1000},
		{"bytes=-2000", 1000, HTTP_RANGE_ONE, 0, 1000},
		{"bytes=999-999", 1000, HTTP_RANGE_ONE, 999, 1000},
		{"BYTES=5-6", 1000, HTTP_RANGE_ONE, 5, 7},
		{"bytes= ,5-6 ,", 1000, HTTP_RANGE_ONE, 5, 7},
		{"bytes=0-18446744073709551615", 1000, HTTP_RANGE_ONE, 0, 1000},
		{"bytes=0-99999999999999999999999", 1000, HTTP_RANGE_ONE, 0, 1000},
		{"bytes=5000000000-", UINT64_C(6000000000), HTTP_RANGE_ONE, UINT64_C(5000000000),
		    UINT64_C(6000000000)},
		{"bytes=1000-", 1000, HTTP_RANGE_UNSATISFIABLE, 0, 0},
		{"bytes=99999999999999999999999-", 1000, HTTP_RANGE_UNSATISFIABLE, 0, 0},
		{"bytes=-0", 1000, HTTP_RANGE_UNSATISFIABLE, 0, 0},
		{"bytes=0-", 0, HTTP_RANGE_UNSATISFIABLE, 0, 0},
		{"bytes=-1", 0, HTTP_RANGE_NONE, 0, 0},
		{"bytes=-0", 0, HTTP_RANGE_UNSATISFIABLE, 0, 0},
		{"bytes=6-5", 1000, HTTP_RANGE_NONE, 0, 0},
		{"bytes=-", 1000, HTTP_RANGE_NONE, 0, 0},
		{"bytes=", 1000, HTTP_RANGE_NONE, 0, 0},
		{"bytes=a", 1000, HTTP_RANGE_NONE, 0, 0},
		{"bytes=5", 1000, HTTP_RANGE_NONE, 0, 0},
		{"bytes=5-6x", 1000, HTTP_RANGE_NONE, 0, 0},
		{"bytes=+5-6", 1000, HTTP_RANGE_NONE, 0, 0},
		{"bytes=0-1,5-6", 1000, HTTP_RANGE_NONE, 0, 0},
		{"bytes 0-1", 1000, HTTP_RANGE_NONE, 0, 0},
		{"lines=0-1", 1000, HTTP_RANGE_NONE, 0, 0},
		{"", 1000, HTTP_RANGE_NONE, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		uint64_t from = 0, to = 0;

		print_message("%s\n", table[i].value);
		assert_int_equal(http_range_parse(table[i].value, strlen(table[i].value),
		    table[i].size, &from, &to), table[i].is);
		assert_int_equal(from, table[i].from);
		assert_int_equal(to, table[i].to);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
