/* SPDX-License-Identifier: MIT */
/*
 * http_date.c: dates of HTTP, against the C library's.
 */
#include <string.h>
#include <time.h>

#include "unit.h"
#include "../../webserver/http/date.h"

static void
dates(void **state)
{
	static const char *const bad[] = {
		"", "x", "Sun, 06 Nov 1994 08:49:37 GM", "Sun, 06 Nov 1994 08:49:37 UTC",
		"Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
		"Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
		"Sunday, 06-Nov-94 08:49:37 GM", "Sun Nov  6 08:49:37 199x",
		"Sun, -1 Nov 1994 08:49:37 GMT"
	};
	char out[HTTP_DATE_LEN];
	int64_t second;

	(void)state;
	http_date_format(784111777, out);
	assert_memory_equal(out, "Sun, 06 Nov 1994 08:49:37 GMT", HTTP_DATE_LEN);
	assert_true(http_date_parse("Sun, 06 Nov 1994 08:49:37 GMT", 29, 0, &second));
	assert_int_equal(second, 784111777);
	assert_true(http_date_parse("Sunday, 06-Nov-94 08:49:37 GMT", 30, 784111777, &second));
	assert_int_equal(second, 784111777);
	assert_true(http_date_parse("Sunday, 06-Nov-94 08:49:37 GMT", 30, 1800000000, &second));
	assert_int_equal(second, 784111777);
	assert_true(http_date_parse("Sun Nov  6 08:49:37 1994", 24, 0, &second));
	assert_int_equal(second, 784111777);
	/* The year of which January and February belong to the year -1 of the arithmetic. */
	assert_true(http_date_parse("Sat, 01 Jan 0000 00:00:00 GMT", 29, 0, &second));
	assert_int_equal(second, INT64_C(-62167219200));
	assert_true(http_date_parse("Wed, 01 Mar 0000 00:00:00 GMT", 29, 0, &second));
	assert_int_equal(second, INT64_C(-62167219200) + 60 * 86400);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(http_date_parse(bad[i], strlen(bad[i]), 1800000000, &second));
	/* Against the C library, over the days of four centuries. */
	for (int64_t t = 0; t < INT64_C(12622780800); t += 86400 * 3 + 4321) {
		char expected[64];
		time_t tt = (time_t)t;
		struct tm tm;

		gmtime_r(&tt, &tm);
		strftime(expected, sizeof expected, "%a, %d %b %Y %H:%M:%S GMT", &tm);
		http_date_format(t, out);
		assert_memory_equal(out, expected, HTTP_DATE_LEN);
		assert_true(http_date_parse(out, HTTP_DATE_LEN, 0, &second));
		assert_int_equal(second, t);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
