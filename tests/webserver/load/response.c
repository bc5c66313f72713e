/* SPDX-License-Identifier: MIT */
/*
 * response.c: responses that the parser must take or refuse, whole and cut at each byte.
 */
#include <stdio.h>
#include <string.h>

#include "../unit.h"
#include "../../../webserver/load/response.h"

struct row {
	const char *text;
	const char *body;  /* NULL: the text is refused */
	unsigned status;
	bool keep_alive;
	bool head;         /* an answer to HEAD */
	bool at_end;       /* complete when the connection ends, not before */
};

#define OK "HTTP/1.1 200 OK\r\n"

static const struct row rows[] = {
	{OK "Content-Length: 3\r\n\r\nabc", "abc", 200, true, false, false},
	{OK "content-LENGTH:3\r\n\r\nabc", "abc", 200, true, false, false},
	{OK "Content-Length: 0\r\n\r\n", "", 200, true, false, false},
	{OK "Content-Length: 2, 2\r\n\r\nab", "ab", 200, true, false, false},
	{OK "Content-Length: 2\r\nContent-Length: 2\r\n\r\nab", "ab", 200, true, false, false},
	{OK "Content-Length: 3\r\nConnection: close\r\n\r\nabc", "abc", 200, false, false, false},
	{OK "Content-Length: 3\r\nConnection: x, CLOSE ,keep-alive\r\n\r\nabc", "abc", 200, false,
	    false, false},
	{OK "Content-Length: 3\r\n\r\n", "", 200, true, true, false},
	{OK "\r\n", "", 200, true, true, false},
	{OK "\r\nabc", "abc", 200, false, false, true},
	{"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", "a", 200, false, false, false},
	{"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\na", "a", 200, true,
	    false, false},
	{"HTTP/1.1 204 No Content\r\n\r\n", "", 204, true, false, false},
	{"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "", 304, true, false, false},
	{"HTTP/1.1 404\r\nContent-Length: 1\r\n\r\nx", "x", 404, true, false, false},
	{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" OK
	    "Content-Length: 1\r\n\r\nx", "x", 200, true, false, false},
	{"HTTP/1.1 200 OK\nContent-Length: 1\n\nx", "x", 200, true, false, false},
	{OK "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "abc", 200, true, false,
	    false},
	{OK "Transfer-Encoding: gzip, Chunked\r\n\r\n3;x=\"y\"\r\nabc\r\n0A \r\n0123456789\r\n"
	    "000\r\nA: b\r\nC: d\r\n\r\n", "abc0123456789", 200, true, false, false},
	{OK "Transfer-Encoding: chunked\r\n\r\n1\na\n0\n\n", "a", 200, true, false, false},
	{OK "Transfer-Encoding: gzip\r\n\r\nabc", "abc", 200, false, false, true},
	{OK "Transfer-Encoding: chunked\r\n\r\n", "", 200, true, true, false},

	{"HTTP/2 200 OK\r\n\r\n", NULL, 0, false, false, false},
	{"HTTP/1.2 200 OK\r\n\r\n", NULL, 0, false, false, false},
	{"HTTP/1.1 20 OK\r\n\r\n", NULL, 0, false, false, false},
	{"HTTP/1.1 2000 OK\r\n\r\n", NULL, 0, false, false, false},
	{"HTTP/1.1 099 OK\r\n\r\n", NULL, 0, false, false, false},
	{"HTTP/1.1\t200 OK\r\n\r\n", NULL, 0, false, false, false},
	{"\r\n" OK "\r\n", NULL, 0, false, false, false},
	{"HTTP/1.1 101 Switching\r\n\r\n", NULL, 0, false, false, false},
	{OK "Content-Length: 3x\r\n\r\nabc", NULL, 0, false, false, false},
	{OK "Content-Length: +3\r\n\r\nabc", NULL, 0, false, false, false},
	{OK "Content-Length: -3\r\n\r\nabc", NULL, 0, false, false, false},
	{OK "Content-Length:\r\n\r\nabc", NULL, 0, false, false, false},
	{OK "Content-Length: 3,\r\n\r\nabc", NULL, 0, false, false, false},
	{OK "Content-Length: 3, 4\r\n\r\nabc", NULL, 0, false, false, false},
	{OK "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", NULL, 0, false, false, false},
	{OK "Content-Length: 18446744073709551616\r\n\r\nabc", NULL, 0, false, false, false},
	{OK "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", NULL, 0, false,
	    false, false},
	{OK "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", NULL, 0, false, false, false},
	{OK "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", NULL, 0, false, false, false},
	{OK "A b: c\r\n\r\n", NULL, 0, false, false, false},
	{OK "A : c\r\n\r\n", NULL, 0, false, false, false},
	{OK "A: b\r\n c\r\n\r\n", NULL, 0, false, false, false},
	{OK ": b\r\n\r\n", NULL, 0, false, false, false},
	{OK "nothing\r\n\r\n", NULL, 0, false, false, false},
	{OK "A: b\rc\r\n\r\n", NULL, 0, false, false, false},
	{OK "Transfer-Encoding: chunked\r\n\r\n\r\n", NULL, 0, false, false, false},
	{OK "Transfer-Encoding: chunked\r\n\r\nx\r\n", NULL, 0, false, false, false},
	{OK "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", NULL, 0, false, false, false},
	{OK "Transfer-Encoding: chunked\r\n\r\n1\rXa\r\n", NULL, 0, false, false, false},
	{OK "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", NULL, 0, false, false,
	    false},
	{OK "Transfer-Encoding: chunked\r\n\r\n0\r\n\rX", NULL, 0, false, false, false},
};

/* Feed len bytes; bodies go to body. The memory ends with the bytes, so valgrind sees beyond. */
static enum load_parse
feed(struct load_response *r, const char *text, size_t len, char *body)
{
	char *copy = malloc(len > 0 ? len : 1);
	enum load_parse result = LOAD_PARSE_MORE;
	struct load_step step;
	size_t at = 0;

	memcpy(copy, text, len);
	while (at < len && result == LOAD_PARSE_MORE) {
		result = load_response_step(r, copy + at, len - at, &step);
		strncat(body, step.body != NULL ? step.body : "", step.body_len);
		assert_true(step.used > 0 || result == LOAD_PARSE_BAD);
		at += step.used;
		assert_true(at <= len);
	}
	/* Nothing is left: each text holds one response. */
	if (result == LOAD_PARSE_DONE)
		assert_int_equal(at, len);
	free(copy);
	return result;
}

/* cut: where the second piece begins; step: whether each byte is a piece. */
static void
check(const struct row *row, size_t cut, bool bytes)
{
	size_t len = strlen(row->text);
	enum load_parse result = LOAD_PARSE_MORE;
	struct load_response r;
	char body[256] = "";

	load_response_init(&r, row->head);
	for (size_t at = 0; at < len && result == LOAD_PARSE_MORE;) {
		size_t n = bytes ? 1 : at < cut ? cut - at : len - at;

		result = feed(&r, row->text + at, n, body);
		at += n;
		if (result == LOAD_PARSE_DONE && row->body != NULL)
			assert_int_equal(at, len);
	}
	if (row->body != NULL && row->at_end) {
		assert_int_equal(result, LOAD_PARSE_MORE);
		result = load_response_end(&r);
	}
	assert_int_equal(result, row->body != NULL ? LOAD_PARSE_DONE : LOAD_PARSE_BAD);
	if (row->body != NULL) {
		assert_string_equal(body, row->body);
		assert_int_equal(r.status, row->status);
		assert_int_equal(r.keep_alive, row->keep_alive);
		assert_true(load_response_idle(&r));
		assert_int_equal(load_response_end(&r), LOAD_PARSE_MORE);
	}
	load_response_fini(&r);
}

static void
table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		print_message("%s\n", rows[i].text);
		for (size_t cut = 0; cut <= strlen(rows[i].text); cut++)
			check(&rows[i], cut, false);
		check(&rows[i], 0, true);
	}
}

/* A response that the connection's end cuts. */
static void
cut_short(void **state)
{
	static const char text[] = OK "Content-Length: 3\r\n\r\nabc";
	struct load_response r;
	char body[16];

	(void)state;
	for (size_t len = 1; len < sizeof text - 1; len++) {
		body[0] = '\0';
		load_response_init(&r, false);
		assert_int_equal(feed(&r, text, len, body), LOAD_PARSE_MORE);
		assert_int_equal(load_response_end(&r), LOAD_PARSE_BAD);
		load_response_fini(&r);
	}
}

/* The end of each of several responses is found. */
static void
several(void **state)
{
	static const char text[] = OK "Content-Length: 2\r\n\r\nab" OK
	    "Transfer-Encoding: chunked\r\n\r\n1\r\nc\r\n0\r\n\r\n" OK "Content-Length: 0\r\n\r\n";
	struct load_response r;
	struct load_step step;
	int complete = 0;

	(void)state;
	load_response_init(&r, false);
	for (size_t at = 0; at < sizeof text - 1; at += step.used) {
		enum load_parse result = load_response_step(&r, text + at, sizeof text - 1 - at,
		    &step);

		assert_int_not_equal(result, LOAD_PARSE_BAD);
		complete += result == LOAD_PARSE_DONE;
	}
	assert_int_equal(complete, 3);
	load_response_fini(&r);
}

static void
zero_byte(void **state)
{
	static const char text[] = OK "A: b\0c\r\nContent-Length: 0\r\n\r\n";
	struct load_response r;
	char body[16] = "";

	(void)state;
	load_response_init(&r, false);
	assert_int_equal(feed(&r, text, sizeof text - 1, body), LOAD_PARSE_BAD);
	load_response_fini(&r);
}

static void
long_head(void **state)
{
	char *text = malloc(LOAD_HEAD_MAX + 100);
	enum load_parse result = LOAD_PARSE_MORE;
	struct load_response r;
	struct load_step step;
	size_t at = 0;

	(void)state;
	memset(text, 'a', LOAD_HEAD_MAX + 100);
	memcpy(text, OK "A: ", sizeof OK + 2);
	load_response_init(&r, false);
	while (result == LOAD_PARSE_MORE && at < LOAD_HEAD_MAX + 100) {
		result = load_response_step(&r, text + at, 1, &step);
		at += step.used;
	}
	assert_int_equal(result, LOAD_PARSE_BAD);
	load_response_fini(&r);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table),
		cmocka_unit_test(cut_short),
		cmocka_unit_test(several),
		cmocka_unit_test(zero_byte),
		cmocka_unit_test(long_head),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
