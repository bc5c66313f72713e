/* SPDX-License-Identifier: MIT */
/*
 * http_unit.c: the parts of sws that need no runtime: request heads, paths, dates, conditions
 * and media types. Every head of the table is parsed whole, byte by byte and cut in two at every
 * place, and must come out the same.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "../../webserver/http_cond.h"
#include "../../webserver/http_date.h"
#include "../../webserver/http_parse.h"
#include "../../webserver/http_path.h"
#include "../../webserver/mime.h"

#define WHOLE 1 /* the head is complete */

struct head {
	const char *text;
	size_t len;      /* 0: strlen */
	int result;      /* WHOLE, 0, or a negative status */
	const char *path;
	unsigned method, minor, flags;
};

#define HOST "Host: a\r\n"
#define G11 HTTP_GET, 1, HTTP_KEEP | HTTP_PLAIN

static const struct head heads[] = {
	{"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 0, WHOLE, "/", G11},
	{"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 0, WHOLE, "/", G11},
	{"\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"HEAD /x.html HTTP/1.1\r\nHost:a\r\n\r\n", 0, WHOLE, "/x.html", HTTP_HEAD, 1,
	    HTTP_KEEP | HTTP_PLAIN},
	{"GET /a/b?c=/../d HTTP/1.1\r\nHost: a:80\r\nConnection: close\r\n\r\n", 0, WHOLE, "/a/b",
	    HTTP_GET, 1, 0},
	{"GET /?q HTTP/1.1\r\nHost: [::1]:80 \t\r\n\r\n", 0, WHOLE, "/", G11},
	{"GET /a HTTP/1.0\r\n\r\n", 0, WHOLE, "/a", HTTP_GET, 0, HTTP_PLAIN},
	{"GET /a HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", 0, WHOLE, "/a", HTTP_GET, 0,
	    HTTP_KEEP | HTTP_TOLD_KEEP | HTTP_PLAIN},
	{"GET /a HTTP/1.9\r\nHost: a\r\nConnection: x , CLOSE\r\n\r\n", 0, WHOLE, "/a", HTTP_GET, 1,
	    HTTP_PLAIN},
	{"GET http://h/x HTTP/1.1\r\nHost: a\r\n\r\n", 0, WHOLE, "/x", HTTP_GET, 1, HTTP_KEEP},
	{"GET HTTP://h HTTP/1.1\r\nHost: a\r\n\r\n", 0, WHOLE, "", HTTP_GET, 1, HTTP_KEEP},
	{"GET /a%20b HTTP/1.1\r\nHost: a\r\n\r\n", 0, WHOLE, "/a%20b", HTTP_GET, 1, HTTP_KEEP},
	{"GET /a//b HTTP/1.1\r\nHost: a\r\n\r\n", 0, WHOLE, "/a//b", HTTP_GET, 1, HTTP_KEEP},
	{"GET /123456789012345/.x HTTP/1.1\r\nHost: a\r\n\r\n", 0, WHOLE, "/123456789012345/.x",
	    HTTP_GET, 1, HTTP_KEEP},
	{"GET /12345678901234/.x HTTP/1.1\r\nHost: a\r\n\r\n", 0, WHOLE, "/12345678901234/.x",
	    HTTP_GET, 1, HTTP_KEEP},
	{"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n", 0, WHOLE, "/", G11},
	{"GET / HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 10\r\n\r\n", 0, WHOLE,
	    "/", HTTP_GET, 1, HTTP_PLAIN},
	{"GET / HTTP/1.1\r\nHost: a\r\nX!#$%&'*+-.^_`|~: \tv\x80\tw\r\n\r\n", 0, WHOLE, "/", G11},
	{"GET / HTTP/1.1\r\nHost: a\r\nAccept-Language-And-More-Than-16: x\r\n\r\n", 0, WHOLE, "/",
	    G11},
	/* not all there */
	{"GET / HTTP/1.1\r\nHost: a\r\n", 0, 0, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\nHost: a\r\n\r", 0, 0, 0, 0, 0, 0},
	{"GE", 0, 0, 0, 0, 0, 0},
	{"GET /", 0, 0, 0, 0, 0, 0},
	{"\r", 0, 0, 0, 0, 0, 0},
	/* framing that others read differently */
	{"GET / HTTP/1.1\nHost: a\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\nHost: a\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\nHost: a\r\n\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\n Host: a\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n\tb\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n", 35, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\nHost: a\r\nX: a\x01\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\nHost: a\r\nX: a\x7f\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\nHost: a\r\nX\x80: a\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", 28, -400, 0, 0, 0, 0},
	{"GET /\x80 HTTP/1.1\r\nHost: a\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET /\x7f HTTP/1.1\r\nHost: a\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET /#f HTTP/1.1\r\nHost: a\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET /  HTTP/1.1\r\nHost: a\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{" GET / HTTP/1.1\r\nHost: a\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / http/1.1\r\nHost: a\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET /\r\n", 0, -400, 0, 0, 0, 0},
	{"GET x HTTP/1.1\r\nHost: a\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET * HTTP/1.1\r\nHost: a\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET http://u@h/x HTTP/1.1\r\nHost: a\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 0, -400, 0, 0, 0, 0},
	/* Host */
	{"GET / HTTP/1.1\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\nHost:\r\n\r\n", 0, WHOLE, "/", G11},
	/* bodies */
	{"GET / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nContent-Length: 1\r\n\r\n", 0, -400, 0, 0,
	    0, 0},
	{"GET / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 0, -400, 0, 0,
	    0, 0},
	{"GET / HTTP/1.1\r\n" HOST "Content-Length: 1, 1\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\n" HOST "Content-Length: +1\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\n" HOST "Content-Length: 0x1\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\n" HOST "Content-Length:\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999\r\n\r\n", 0, -400, 0, 0, 0,
	    0},
	{"GET / HTTP/1.1\r\n" HOST "Content-Length: 65537\r\n\r\n", 0, -413, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\n" HOST "Transfer-Encoding:\x0b" "chunked\r\n\r\n", 0, -400, 0, 0, 0, 0},
	{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", 0,
	    -400, 0, 0, 0, 0},
	{"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 0, -400, 0, 0, 0, 0},
	/* methods and versions */
	{"POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\n", 0, -405, 0, 0, 0, 0},
	{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", 0, -405, 0, 0, 0, 0},
	{"OPTIONS * HTTP/1.1\r\n" HOST "\r\n", 0, -405, 0, 0, 0, 0},
	{"CONNECT a:1 HTTP/1.1\r\n" HOST "\r\n", 0, -405, 0, 0, 0, 0},
	{"get / HTTP/1.1\r\n" HOST "\r\n", 0, -501, 0, 0, 0, 0},
	{"BREW /pot HTTP/1.1\r\n" HOST "\r\n", 0, -501, 0, 0, 0, 0},
	{"GET / HTTP/2.0\r\n", 0, -505, 0, 0, 0, 0},
	{"PRI * HTTP/2.0\r\n\r\n", 0, -505, 0, 0, 0, 0},
	{"GET / HTTP/0.9\r\n\r\n", 0, -505, 0, 0, 0, 0},
	{"GET / HTTP/11.1\r\n\r\n", 0, -400, 0, 0, 0, 0},
};

static char buffer[HTTP_HEAD_MAX + HTTP_PAD];

/* Parse len bytes that arrive up to each of the given cuts in turn. */
static int
parse_cut(const char *text, size_t len, size_t first_cut, size_t step, struct http_request *req)
{
	struct http_parser ps = {0};
	size_t have = first_cut;
	int result;

	/* What lies behind the data must not matter. */
	memset(buffer, ':', sizeof buffer);
	for (;;) {
		memcpy(buffer, text, have);
		result = http_parse(&ps, buffer, have, req);
		if (result != 0 || have == len)
			return result;
		have = have + step < len ? have + step : len;
	}
}

static void
check_head(const struct head *h, size_t len, size_t cut, size_t step)
{
	struct http_request req;
	int result = parse_cut(h->text, len, cut, step, &req);

	if (h->result != WHOLE) {
		if (result != h->result)
			fail_msg("%d instead of %d (cut %zu): %s", result, h->result, cut, h->text);
		return;
	}
	if (result != (int)len)
		fail_msg("%d instead of %zu (cut %zu): %s", result, len, cut, h->text);
	assert_int_equal(req.path.len, strlen(h->path));
	assert_memory_equal(buffer + req.path.at, h->path, req.path.len);
	assert_int_equal(req.method, h->method);
	assert_int_equal(req.minor, h->minor);
	assert_int_equal(req.flags, h->flags);
}

static void
test_heads(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
		const struct head *h = &heads[i];
		size_t len = h->len != 0 ? h->len : strlen(h->text);

		check_head(h, len, len, len);
		check_head(h, len, 0, 1);
		for (size_t cut = 0; cut < len; cut++)
			check_head(h, len, cut, len);
	}
}

static void
test_parts(void **state)
{
	static const char text[] = "GET /p?q=1 HTTP/1.1\r\nHost: a\r\nIF-NONE-MATCH:  \"x\" \r\n"
	    "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\ncontent-length: 7\r\n\r\nGET ";
	struct http_request req;
	struct http_parser ps = {0};

	(void)state;
	memcpy(buffer, text, sizeof text);
	assert_int_equal(http_parse(&ps, buffer, sizeof text - 1, &req), sizeof text - 5);
	assert_int_equal(req.query.len, 4);
	assert_memory_equal(buffer + req.query.at, "?q=1", 4);
	assert_int_equal(req.if_none_match.len, 3);
	assert_memory_equal(buffer + req.if_none_match.at, "\"x\"", 3);
	assert_int_equal(req.if_modified_since.len, 29);
	assert_int_equal(req.body_len, 7);
	assert_false(req.flags & HTTP_INM_MANY);
}

static int
parse_filled(const char *before, size_t fill, const char *after)
{
	struct http_request req;
	struct http_parser ps = {0};
	size_t at = strlen(before), n = strlen(after);

	assert_true(at + fill + n <= HTTP_HEAD_MAX);
	memcpy(buffer, before, at);
	memset(buffer + at, 'x', fill);
	memcpy(buffer + at + fill, after, n);
	return http_parse(&ps, buffer, at + fill + n, &req);
}

static void
test_limits(void **state)
{
	static const char end[] = " HTTP/1.1\r\nHost: a\r\n\r\n";
	struct http_request req;
	struct http_parser ps = {0};
	size_t at;

	(void)state;
	assert_true(parse_filled("GET /", HTTP_TARGET_MAX - 1, end) > 0);
	assert_int_equal(parse_filled("GET /", HTTP_TARGET_MAX, end), -414);
	assert_int_equal(parse_filled("GET /", HTTP_TARGET_MAX, ""), -414);
	assert_int_equal(parse_filled("", HTTP_HEAD_MAX, ""), -400);
	assert_int_equal(parse_filled("GET / HTTP/1.1\r\nA: ", HTTP_HEAD_MAX - 19, ""), -431);
	assert_int_equal(parse_filled("GET / HTTP/1.1\r\n", HTTP_HEAD_MAX - 16, ""), -431);
	assert_int_equal(parse_filled("GET / HTTP/1.1\r\nHost: a\r\nA: ", HTTP_HEAD_MAX - 32,
	    "\r\n\r\n"), HTTP_HEAD_MAX);
	for (int fields = HTTP_FIELDS_MAX; fields <= HTTP_FIELDS_MAX + 1; fields++) {
		memset(&ps, 0, sizeof ps);
		at = (size_t)sprintf(buffer, "GET / HTTP/1.1\r\nHost: a\r\n");
		for (int i = 1; i < fields; i++)
			at += (size_t)sprintf(buffer + at, "A: b\r\n");
		at += (size_t)sprintf(buffer + at, "\r\n");
		if (fields <= HTTP_FIELDS_MAX)
			assert_int_equal(http_parse(&ps, buffer, at, &req), at);
		else
			assert_int_equal(http_parse(&ps, buffer, at, &req), -431);
	}
}

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
	}
}

static void
test_paths(void **state)
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

static void
test_dates(void **state)
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

static bool
listed(const char *list, const char *etag)
{
	return http_etag_listed(list, strlen(list), etag, strlen(etag));
}

static void
test_conditions(void **state)
{
	struct stat a = {.st_size = 1, .st_ino = 2}, b = a;
	char ta[HTTP_ETAG_MAX], tb[HTTP_ETAG_MAX];

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
	assert_int_equal(http_etag(&a, ta), http_etag(&b, tb));
	assert_memory_equal(ta, tb, 18);
	b.st_ctim.tv_nsec = 1;
	http_etag(&b, tb);
	assert_memory_not_equal(ta, tb, 18);
	b = a;
	b.st_mtim.tv_nsec = 1;
	http_etag(&b, tb);
	assert_memory_not_equal(ta, tb, 18);
}

static void
check_type(struct mime_table *table, const char *path, const char *type)
{
	assert_string_equal(mime_type(table, path, strlen(path)), type);
}

static void
test_types(void **state)
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
		cmocka_unit_test(test_heads),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_dates),
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
