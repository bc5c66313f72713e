/* SPDX-License-Identifier: MIT */
/*
 * http_coding.c: which coding a client gets for what it says.
 */
#include <string.h>

#include "unit.h"
#include "../../webserver/http/coding.h"

#define ALL {HTTP_ZSTD, HTTP_BR, HTTP_GZIP, HTTP_IDENTITY}

static enum http_coding
choose(const char *first, const char *second, const uint8_t *order)
{
	struct http_accepted accepted;

	http_accepted_init(&accepted);
	http_accepted_add(&accepted, first, strlen(first));
	if (second != NULL)
		http_accepted_add(&accepted, second, strlen(second));
	return http_coding_choose(&accepted, order);
}

static void
choices(void **state)
{
	static const struct {
		const char *value;
		enum http_coding coding;
	} table[] = {
		{"gzip, deflate, br, zstd", HTTP_ZSTD},
		{"gzip, deflate, br", HTTP_BR},
		{"gzip", HTTP_GZIP},
		{"GZip", HTTP_GZIP},
		{"x-gzip", HTTP_GZIP},
		{"deflate", HTTP_IDENTITY},
		{"abbr", HTTP_IDENTITY},
		{"gzipped, xgzip", HTTP_IDENTITY},
		{"br;q=0", HTTP_IDENTITY},
		{"br;q=0.000, gzip;q=0.001", HTTP_GZIP},
		{"br;q=0.5, gzip;q=0.8", HTTP_GZIP},
		{"br;q=0.5,gzip;q=0.5", HTTP_BR},
		{"br ; q=0.1 , gzip ;Q=1.000", HTTP_GZIP},
		{"*", HTTP_ZSTD},
		{"*;q=0", HTTP_IDENTITY},
		{"zstd;q=0, *;q=0.5", HTTP_BR},
		{"gzip;q=0.5, *;q=0.1", HTTP_GZIP},
		{"identity, gzip", HTTP_GZIP},
		{"identity;q=1, gzip;q=0.5", HTTP_IDENTITY},
		{"identity;q=0, gzip;q=0.001", HTTP_GZIP},
		{"identity;q=0", HTTP_IDENTITY},
		{"", HTTP_IDENTITY},
		{",, ,gzip,", HTTP_GZIP},
		{"gzip;q", HTTP_IDENTITY},
		{"gzip;q=", HTTP_IDENTITY},
		{"gzip;q=2", HTTP_IDENTITY},
		{"gzip;q=1.001", HTTP_IDENTITY},
		{"gzip;q=0.1234", HTTP_IDENTITY},
		{"gzip;q=-1", HTTP_IDENTITY},
		{"gzip;level=9", HTTP_IDENTITY},
		{";q=1", HTTP_IDENTITY},
		{"br;q=x, gzip", HTTP_GZIP},
	};
	static const uint8_t all[] = ALL, reversed[] = {HTTP_GZIP, HTTP_BR, HTTP_IDENTITY},
		none[] = {HTTP_IDENTITY};

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		print_message("%s\n", table[i].value);
		assert_int_equal(choose(table[i].value, NULL, all), table[i].coding);
		assert_int_equal(choose(table[i].value, NULL, none), HTTP_IDENTITY);
	}
	assert_int_equal(choose("gzip, br, zstd", NULL, reversed), HTTP_GZIP);
	assert_int_equal(choose("zstd", NULL, reversed), HTTP_IDENTITY);
	assert_int_equal(choose("zstd;q=0", "gzip;q=0.2, br;q=0.1", all), HTTP_GZIP);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(choices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
