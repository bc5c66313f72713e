/* SPDX-License-Identifier: MIT */
/*
 * mime.c: media types by suffix, from the built-in table and from a file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"
#include "../../webserver/site/mime.h"

static void
check_type(struct mime_table *table, const char *path, const char *type)
{
	assert_string_equal(mime_type(table, path, strlen(path)), type);
}

static void
types(void **state)
{
	char name[] = "/tmp/mely-mime-XXXXXX";
	int fd = mkstemp(name);
	struct mime_table *table;
	FILE *f;

	(void)state;
	assert_true(fd >= 0);
	f = fdopen(fd, "w");
	fprintf(f, "# comment\napplication/x-test\ttst Test2\n\ntext/x-html html\nbad\x01/x bad\n");
	fclose(f);
	assert_int_equal(mime_new(&table, name), 0);
	check_type(table, "/a.tst", "application/x-test");
	check_type(table, "/a.TEST2", "application/x-test");
	check_type(table, "/a.html", "text/x-html; charset=utf-8");
	check_type(table, "/a.tar.gz", "application/gzip");
	check_type(table, "/a.bad", "application/octet-stream");
	check_type(table, "/a.b/c", "application/octet-stream");
	check_type(table, "/a.", "application/octet-stream");
	mime_free(table);
	unlink(name);
	assert_int_equal(mime_new(&table, "/nonexistent/mime.types"), 0);
	check_type(table, "/index.html", "text/html; charset=utf-8");
	check_type(table, "/a.png", "image/png");
	mime_free(table);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
