/* SPDX-License-Identifier: MIT */
/*
 * http_path.c: from the path of a request to normal form, and its encoding in a Location.
 */
#include <string.h>

#include "unit.h"
#include "../../webserver/http/path.h"

static void
check_path(const char *raw, int status, const char *expected)
{
	char out[256];
	size_t len;
	int got = http_path_normal(raw, strlen(raw), out, &len);

	if (got != status)
		fail_msg("%d instead of %d: %s", got, status, raw);
	if (status == 0) {
		assert_string_equal(out, expected);
		assert_int_equal(len, strlen(expected));
		assert_true(http_path_is_normal(out, len));
	}
}

static void
normal_form(void **state)
{
	static const char *const not[] = {
		"", "a", "//", "/a//", "/a//b", "/.", "/..", "/a/../b", "/a/.", "/a\nb",
		"/a\x7f"
	};

	(void)state;
	for (size_t i = 0; i < sizeof not / sizeof not[0]; i++)
		assert_false(http_path_is_normal(not[i], strlen(not[i])));
	assert_false(http_path_is_normal("/a\0b", 4));
	assert_true(http_path_is_normal("/a..b/c./\xc3\xa9/", 12));
	assert_true(http_path_is_normal("/.git", 5));
	assert_true(http_path_is_hidden("/.git", 5));
	assert_true(http_path_is_hidden("/a/.b/c", 7));
	assert_true(http_path_is_hidden("/.well-known/.x", 15));
	assert_false(http_path_is_hidden("/.well-known/x", 14));
	assert_false(http_path_is_hidden("/a.b/c./", 8));
	assert_false(http_path_is_hidden("/", 1));
}

static void
paths(void **state)
{
	char out[64];

	(void)state;
	check_path("", 0, "/");
	check_path("/", 0, "/");
	check_path("//", 0, "/");
	check_path("/a", 0, "/a");
	check_path("/a/", 0, "/a/");
	check_path("//a///b//", 0, "/a/b/");
	check_path("/./a/./", 0, "/a/");
	check_path("/a/../b", 0, "/b");
	check_path("/a/b/..", 0, "/a/");
	check_path("/a/..", 0, "/");
	check_path("/..", -400, NULL);
	check_path("/a/../..", -400, NULL);
	check_path("/%2e%2e/x", -400, NULL);
	check_path("/a%2f..%2f../x", -400, NULL);
	check_path("/%2E/x", 0, "/x");
	check_path("/a%20b%25", 0, "/a b%");
	check_path("/%252e%252e/x", 0, "/%2e%2e/x");
	check_path("/%", -400, NULL);
	check_path("/%4", -400, NULL);
	check_path("/%4g", -400, NULL);
	check_path("/%00", -400, NULL);
	check_path("/a%0ab", -400, NULL);
	check_path("/%7f", -400, NULL);
	check_path("/%c3%a9", 0, "/\xc3\xa9");
	check_path("/.git/config", -404, NULL);
	check_path("/a/.b", -404, NULL);
	check_path("/a/%2eb/", -404, NULL);
	check_path("/...", -404, NULL);
	check_path("/.well-known/x", 0, "/.well-known/x");
	check_path("/.well-known/.x", -404, NULL);
	check_path("/.well-knownx", -404, NULL);
	assert_int_equal(http_path_encode("/a b/\xc3<", 7, out), 13);
	assert_string_equal(out, "/a%20b/%C3%3C");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(normal_form),
		cmocka_unit_test(paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
