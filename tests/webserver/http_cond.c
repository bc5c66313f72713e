/* SPDX-License-Identifier: MIT */
/*
 * http_cond.c: entity tags, and the lists of If-None-Match and If-Match.
 */
#include <string.h>

#include "unit.h"
#include "../../webserver/http/cond.h"

static bool
listed(const char *list, const char *etag)
{
	return http_etag_listed(list, strlen(list), etag, strlen(etag));
}

static bool
strongly(const char *list, const char *etag)
{
	return http_etag_listed_strong(list, strlen(list), etag, strlen(etag));
}

static void
conditions(void **state)
{
	struct stat a = {.st_size = 1, .st_ino = 2}, b = a;
	char ta[HTTP_ETAG_LEN], tb[HTTP_ETAG_LEN];

	(void)state;
	assert_true(listed("\"a\"", "\"a\""));
	assert_true(listed("W/\"a\"", "\"a\""));
	assert_true(listed("\"b\", W/\"c\" ,\"a\"", "\"a\""));
	assert_true(listed("*", "\"a\""));
	assert_false(listed("\"b\"", "\"a\""));
	assert_false(listed("a", "\"a\""));
	assert_false(listed("\"a", "\"a\""));
	assert_false(listed("", "\"a\""));
	assert_false(listed("W/", "\"a\""));
	assert_false(listed("\"b, \"a\"", "\"a\""));
	assert_false(listed("*, x", "\"a\""));
	assert_true(strongly("W/\"a\", \"a\"", "\"a\""));
	assert_true(strongly("*", "\"a\""));
	assert_false(strongly("W/\"a\"", "\"a\""));
	/* A file that has no tag yet. */
	assert_true(listed("*", ""));
	assert_false(listed("\"\"", ""));
	assert_false(listed("", ""));
	http_etag(&a, HTTP_IDENTITY, ta);
	http_etag(&b, HTTP_IDENTITY, tb);
	assert_memory_equal(ta, tb, HTTP_ETAG_LEN);
	b.st_ctim.tv_nsec = 1;
	http_etag(&b, HTTP_IDENTITY, tb);
	assert_memory_not_equal(ta, tb, HTTP_ETAG_LEN);
	/* Two representations never share a tag. */
	http_etag(&a, HTTP_GZIP, tb);
	assert_memory_not_equal(ta, tb, HTTP_ETAG_LEN);
	b = a;
	b.st_mtim.tv_nsec = 1;
	http_etag(&b, HTTP_IDENTITY, tb);
	assert_memory_not_equal(ta, tb, HTTP_ETAG_LEN);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
