/* SPDX-License-Identifier: MIT */
/*
 * http_query.c: parameters of queries, and media types that clients prefer.
 */
#include <string.h>

#include "unit.h"
#include "../../webserver/http/query.h"

static void
parameters(void **state)
{
	static const struct {
		const char *query;
		bool is;
	} table[] = {
		{"?sort=size", true}, {"?a=b&sort=size", true}, {"?sort=size&order=desc", true},
		{"?sort=name&sort=size", false}, {"?sort=sizes", false}, {"?sort=siz", false},
		{"?xsort=size", false}, {"?sort", false}, {"?sort=", false}, {"?", false},
		{"", false}, {"?&&sort=size&", true}, {"?sort=size&&", true}, {"?Sort=size", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		print_message("%s\n", table[i].query);
		assert_int_equal(http_query_is(table[i].query, strlen(table[i].query), "sort",
		    "size"), table[i].is);
	}
}

static void
json(void **state)
{
	static const struct {
		const char *accept;
		bool json;
	} table[] = {
		{"application/json", true}, {"application/json, */*;q=0.5", true},
		{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", false},
		{"*/*", false}, {"", false}, {"application/json, text/html", false},
		{"application/json;q=0.5, text/html;q=0.4", true},
		{"application/json;q=0.5,text/html;q=0.6", false},
		{"application/json; q=0.501 , text/html; q=0.5", true},
		{"application/json;q=0", false}, {"APPLICATION/JSON", true},
		{"application/jsonx", false}, {"application/json;charset=utf-8", true},
		{"application/json;q=1.0", true}, {"application/json;q=", true},
		{"application/json;q", true}, {", ,application/json,", true},
		{"text/html;q=0, application/json;v=1;q=0.1", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		print_message("%s\n", table[i].accept);
		assert_int_equal(http_accept_json(table[i].accept, strlen(table[i].accept)),
		    table[i].json);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters), cmocka_unit_test(json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
