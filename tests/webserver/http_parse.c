/* SPDX-License-Identifier: MIT */
/*
 * http_parse.c: request heads. Every head of the table is parsed whole, byte by byte, and cut in
 * two at every place; the result must be the same each time.
 */
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "../../webserver/http/parse.h"

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
	/* incomplete */
	{"GET / HTTP/1.1\r\nHost: a\r\n", 0, 0, 0, 0, 0, 0},
	{"GET / HTTP/1.1\r\nHost: a\r\n\r", 0, 0, 0, 0, 0, 0},
	{"GE", 0, 0, 0, 0, 0, 0},
	{"GET /", 0, 0, 0, 0, 0, 0},
	{"\r", 0, 0, 0, 0, 0, 0},
	/* framing that other servers may read differently */
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

/* Parse len bytes of which first_cut arrive first, and then step at a time. */
static int
parse_cut(const char *text, size_t len, size_t first_cut, size_t step, struct http_request *req)
{
	struct http_parser ps = {0};
	size_t have = first_cut;
	int result;

	/* The bytes after the data must not matter. */
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
heads_in_pieces(void **state)
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
parts_of_a_head(void **state)
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
	assert_int_equal(req.field[HTTP_IF_NONE_MATCH].len, 3);
	assert_memory_equal(buffer + req.field[HTTP_IF_NONE_MATCH].at, "\"x\"", 3);
	assert_int_equal(req.field[HTTP_IF_MODIFIED_SINCE].len, 29);
	assert_int_equal(req.body_len, 7);
	assert_int_equal(req.many, 0);
	assert_false(http_has(&req, HTTP_RANGE));
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
limits(void **state)
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heads_in_pieces),
		cmocka_unit_test(parts_of_a_head),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
