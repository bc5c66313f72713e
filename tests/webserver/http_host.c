/* SPDX-License-Identifier: MIT */
/*
 * http_host.c: hosts and ports, alone and in a head, whose parser has a fast path.
 */
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "../../webserver/http/host.h"
#include "../../webserver/http/parse.h"

static const struct {
	const char *value;
	bool good;
} table[] = {
	{"", true}, {"a", true}, {"a.example", true}, {"A-1.example:8080", true}, {"a:", true},
	{":80", true}, {"127.0.0.1:80", true}, {"a_b~c", true}, {"a%41", true},
	{"(a)!$&'*+;=", true}, {"[::1]", true}, {"[::1]:80", true},
	{"[::ffff:1.2.3.4]:", true}, {"a:00080", true},
	{"a-rather-long-name.example:123456789", true}, {"a:b", false}, {"a:1:2", false},
	{"a::", false}, {"::1", false}, {"a:8b", false}, {"a:-1", false}, {"a:1.2", false},
	{"a-rather-long-name.example:12345678x", false}, {"[", false}, {"]", false},
	{"[]", false}, {"[::1", false}, {"::1]", false}, {"[::1]a", false}, {"[::1]:a", false},
	{"[zz]", false}, {"[1.2.3.4]", false}, {"a[::1]", false}, {"[[::1]]", false},
	{"[::1%25eth0]", false},
	{"[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]", false}, {"a%", false},
	{"a%4", false}, {"a%zz", false}, {"a b", false}, {"a,b", false}, {"a/b", false},
	{"u@a", false}, {"http://a", false}, {"a?b", false}, {"a#b", false}, {"a\\b", false},
	{"\"a\"", false}, {"caf\xc3\xa9", false}, {"a\tb", false}, {"<a>", false},
	{"{a}", false},
};

static void
values(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		print_message("%s\n", table[i].value);
		assert_int_equal(http_host_valid(table[i].value, strlen(table[i].value)),
		    table[i].good);
	}
}

static void
heads(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		char text[512] = {0};
		struct http_parser ps = {0};
		struct http_request req;
		int n = snprintf(text, sizeof text - HTTP_PAD, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n",
		    table[i].value);

		print_message("%s\n", table[i].value);
		/* What follows the value must not count. */
		memset(text + n, i % 2 == 0 ? ':' : '1', HTTP_PAD);
		assert_int_equal(http_parse(&ps, text, (size_t)n, &req),
		    table[i].good ? n : -400);
	}
}

static void
spans(void **state)
{
	(void)state;
	assert_int_equal(http_host_span("a:80/b", 6), 4);
	assert_int_equal(http_host_span("a:80", 4), 4);
	assert_int_equal(http_host_span("", 0), 0);
	assert_int_equal(http_host_span("@a", 2), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(heads),
		cmocka_unit_test(spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
