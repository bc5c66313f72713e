/* SPDX-License-Identifier: MIT */
/*
 * rules.c: what an operator says of paths: rules that are refused, the one that applies, and pages
 * made by them.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"
#include "../../webserver/http/lines.h"
#include "../../webserver/site/file.h"
#include "../../webserver/site/mime.h"
#include "../../webserver/site/page.h"
#include "../../webserver/site/rules.h"

static void
checks(void **state)
{
	static const struct {
		const char *(*check)(const char *text);
		const char *text;
		bool sound;
	} table[] = {
		{sws_field_rule_check, "*.css Cache-Control: max-age=9", true},
		{sws_field_rule_check, "/a/* X-A:", true},
		{sws_field_rule_check, "*.css", false},
		{sws_field_rule_check, "*.css X A", false},
		{sws_field_rule_check, "* Content-Length: 9", false},
		{sws_field_rule_check, "* transfer-encoding: chunked", false},
		{sws_field_rule_check, "* X: a\r\nY: b", false},
		{sws_redirect_check, "/a /b", true},
		{sws_redirect_check, "/a/* https://b.example/* 308", true},
		{sws_redirect_check, "/a/* /b", true},
		{sws_redirect_check, "/a", false},
		{sws_redirect_check, "a /b", false},
		{sws_redirect_check, "/a /b*", false},
		{sws_redirect_check, "/a /b 300", false},
		{sws_redirect_check, "/a /b 3011", false},
		{sws_redirect_check, "/a /b 301 x", false},
		{sws_redirect_check, "/a /b\r\nX:y", false},
		{sws_error_page_check, "404 /404.html", true},
		{sws_error_page_check, "503 /sorry.html", true},
		{sws_error_page_check, "200 /x", false},
		{sws_error_page_check, "404", false},
		{sws_error_page_check, "404 x.html", false},
		{sws_error_page_check, "404 /../x", false},
		{sws_error_page_check, "4x4 /x", false},
		{sws_own_path_check, "/app.html", true},
		{sws_own_path_check, "/a//b", false},
		{sws_own_path_check, "/.git/config", false},
		{sws_host_name_check, "example.org", true},
		{sws_host_name_check, "*.example.org", true},
		{sws_host_name_check, "[::1]", true},
		{sws_host_name_check, "Example.org", false},
		{sws_host_name_check, "*", false},
		{sws_host_name_check, "*.", false},
		{sws_host_name_check, ".org", false},
		{sws_host_name_check, "a b", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		print_message("%s\n", table[i].text);
		assert_true((table[i].check(table[i].text) == NULL) == table[i].sound);
	}
}

static void
fields(void **state)
{
	const char *list[] = {"*.css Cache-Control: max-age=9", "/sub/* X-Sub: 1", "*.CSS X-No: 1",
		"*.css X-Gone:"};
	const struct sws_texts rules = {.text = list, .count = 4};
	char lines[256] = "Cache-Control: no-cache\r\nX-Gone: 1\r\n";

	(void)state;
	sws_field_rules_apply(&rules, "/sub/a.css", 10, lines, sizeof lines);
	assert_string_equal(lines, "Cache-Control: max-age=9\r\nX-Sub: 1\r\n");
	strcpy(lines, "X-Gone: 1\r\n");
	sws_field_rules_apply(&rules, "/css", 4, lines, sizeof lines);
	assert_string_equal(lines, "X-Gone: 1\r\n");
	/* What has no room is left out, and the lines stay whole. */
	strcpy(lines, "A: 1\r\n");
	assert_int_equal(http_lines_add(lines, 12, "B: 22"), HTTP_LINES_FULL);
	assert_string_equal(lines, "A: 1\r\n");
	assert_int_equal(http_lines_add(lines, 13, "B: 2"), HTTP_LINES_FINE);
	assert_string_equal(lines, "A: 1\r\nB: 2\r\n");
}

static void
redirects(void **state)
{
	const char *list[] = {"/old /new", "/a/* https://b.example/x/* 308", "/c/* /d 302",
		"/e/* /*"};
	const struct sws_texts rules = {.text = list, .count = 4};
	static const struct {
		const char *path, *to, *rest;
		int status;
	} table[] = {
		{"/old", "/new", "", 301},
		{"/old/", NULL, NULL, 0},
		{"/older", NULL, NULL, 0},
		{"/a/b/c", "https://b.example/x/", "b/c", 308},
		{"/a", NULL, NULL, 0},
		{"/c/anything", "/d", "", 302},
		/* Not "//host", which would be another site. */
		{"/e//host", "/", "host", 301},
	};
	struct sws_redirect r;

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		const char *path = table[i].path;

		print_message("%s\n", path);
		assert_int_equal(sws_redirect_find(&rules, path, strlen(path), &r),
		    table[i].to != NULL);
		if (table[i].to == NULL)
			continue;
		assert_int_equal(r.to_len, strlen(table[i].to));
		assert_memory_equal(r.to, table[i].to, r.to_len);
		assert_int_equal(r.rest_len, strlen(table[i].rest));
		assert_memory_equal(r.rest, table[i].rest, r.rest_len);
		assert_int_equal(r.status, table[i].status);
	}
}

static void
error_pages(void **state)
{
	const char *list[] = {"404 /a.html", "503 /b.html"};
	const struct sws_texts rules = {.text = list, .count = 2};

	(void)state;
	assert_string_equal(sws_error_page_find(&rules, 404), "/a.html");
	assert_string_equal(sws_error_page_find(&rules, 503), "/b.html");
	assert_null(sws_error_page_find(&rules, 403));
}

/* The rest of the path is encoded; the query is kept unless TO has one. */
static void
moved(void **state)
{
	static const struct sws_redirect redirect = {
		.to = "https://new.example/a/*", .to_len = 22, .rest = "b c", .rest_len = 3,
		.status = 308
	}, own_query = {.to = "/x?y", .to_len = 4, .rest = "", .status = 302};
	static const char first[] = "Location: https://new.example/a/b%20c?q\r\n",
	    second[] = "Location: /x?y\r\n";
	struct sws_page *page;

	(void)state;
	assert_int_equal(sws_page_moved(&page, &redirect, "?q", 2), 0);
	assert_int_equal(page->status, 308);
	assert_non_null(memmem(page->head, page->head_len, first, sizeof first - 1));
	sws_page_unref(page);
	assert_int_equal(sws_page_moved(&page, &own_query, "?q", 2), 0);
	assert_non_null(memmem(page->head, page->head_len, second, sizeof second - 1));
	sws_page_unref(page);
}

/* A file that is the body of an error has its status, and nothing that a client could keep. */
static void
roles(void **state)
{
	static const char no_cache[] = "Cache-Control: no-cache\r\n";
	struct sws_page_style style = {.fields = "Cache-Control: max-age=60\r\n"};
	FILE *file = tmpfile();
	struct sws_page *page;
	struct timespec old[2] = {{784111777, 0}, {784111777, 5}};
	char key[16];
	struct stat st;
	size_t len = sws_key_make(key, "/404.html", 9, HTTP_IDENTITY, SWS_ROLE_OF(404));

	(void)state;
	assert_non_null(file);
	assert_int_equal(fputs("gone", file) == EOF || fflush(file) != 0, 0);
	assert_int_equal(futimens(fileno(file), old), 0);
	assert_int_equal(fstat(fileno(file), &st), 0);
	assert_int_equal(mime_new(&style.mime, "/nonexistent"), 0);
	assert_int_equal(sws_key_parts(key, len).role, SWS_ROLE_OF(404));
	assert_int_equal(sws_page_build(&page, &style, key, len, 0, fileno(file), &st, 0,
	    SWS_BODY_READ), 0);
	assert_int_equal(page->status, 404);
	assert_memory_equal(page->head, "HTTP/1.1 404 Not Found\r\n", 24);
	assert_memory_equal(page->body, "gone", 4);
	assert_int_equal(page->etag_len, 0);
	assert_false(page->dated);
	assert_null(memmem(page->head, page->head_len, "Accept-Ranges", 13));
	sws_page_unref(page);

	/* The answer for what is not there is a 200 that no client keeps. */
	len = sws_key_make(key, "/404.html", 9, HTTP_IDENTITY, SWS_ROLE_FALLBACK);
	assert_int_equal(sws_page_build(&page, &style, key, len, 0, fileno(file), &st, 0,
	    SWS_BODY_NONE), 0);
	assert_int_equal(page->status, 200);
	assert_true(page->dated);
	assert_non_null(memmem(page->head, page->head_len, no_cache, sizeof no_cache - 1));
	assert_null(memmem(page->head, page->head_len, "max-age", 7));
	sws_page_unref(page);
	mime_free(style.mime);
	fclose(file);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checks),
		cmocka_unit_test(fields),
		cmocka_unit_test(redirects),
		cmocka_unit_test(error_pages),
		cmocka_unit_test(moved),
		cmocka_unit_test(roles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
