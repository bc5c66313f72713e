/* SPDX-License-Identifier: MIT */
/*
 * log_line.c: lines of the access log in each format, and bytes that would end a line, or a part of
 * it, or are not UTF-8; and the parts of a head that they are made of.
 */
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "http/forwarded.h"
#include "ops/log_line.h"

static struct http_text
text(const char *s)
{
	return (struct http_text){s, strlen(s)};
}

static const char *
format(enum sws_log_format f, const struct sws_log_entry *e)
{
	static char line[SWS_LOG_LINE_MAX + 1];
	size_t n = sws_log_format(f, e, line);

	line[n] = '\0';
	return line;
}

static struct sws_log_entry
entry(void)
{
	return (struct sws_log_entry){
		.client = text("192.0.2.7"),
		.line = text("GET /a?b HTTP/1.1"),
		.host = text("example.org"),
		.referer = text("http://r/"),
		.agent = text("curl \"8\""),
		.wall_us = UINT64_C(784111777000250),
		.duration_us = 1234,
		.body_bytes = 5,
		.bytes = 300,
		.status = 206,
		.range = true,
		.complete = true
	};
}

static void
formats(void **state)
{
	struct sws_log_entry e = entry(), empty = {.status = 400};

	(void)state;
	assert_string_equal(format(SWS_LOG_COMMON, &e), "192.0.2.7 - - "
	    "[06/Nov/1994:08:49:37 +0000] \"GET /a?b HTTP/1.1\" 206 5\n");
	assert_string_equal(format(SWS_LOG_COMBINED, &e), "192.0.2.7 - - "
	    "[06/Nov/1994:08:49:37 +0000] \"GET /a?b HTTP/1.1\" 206 5 \"http://r/\" "
	    "\"curl \\\"8\\\"\"\n");
	e.tls = "TLSv1.3";
	e.protocol = "HTTP/2.0";
	e.complete = false;
	assert_string_equal(format(SWS_LOG_EXTENDED, &e), "192.0.2.7 - - "
	    "[06/Nov/1994:08:49:37 +0000] \"GET /a?b HTTP/2.0\" 206 5 \"http://r/\" "
	    "\"curl \\\"8\\\"\" host=\"example.org\" us=1234 bytes=300 tls=TLSv1.3 range=yes "
	    "end=aborted\n");
	assert_string_equal(format(SWS_LOG_JSON, &e), "{\"time\":\"1994-11-06T08:49:37.000250Z\","
	    "\"client\":\"192.0.2.7\",\"host\":\"example.org\",\"method\":\"GET\","
	    "\"target\":\"/a?b\",\"protocol\":\"HTTP/2.0\",\"status\":206,\"body_bytes\":5,"
	    "\"bytes\":300,\"duration_us\":1234,\"referer\":\"http://r/\","
	    "\"user_agent\":\"curl \\\"8\\\"\",\"tls\":\"TLSv1.3\",\"range\":true,"
	    "\"complete\":false}\n");
	assert_string_equal(format(SWS_LOG_EXTENDED, &empty), "- - - "
	    "[01/Jan/1970:00:00:00 +0000] \"-\" 400 0 \"-\" \"-\" host=\"-\" us=0 bytes=0 tls=- "
	    "range=no end=aborted\n");
}

/* What is between the quotes of the request line, as text and in JSON. */
static const struct {
	const char *raw, *text, *json;
} escapes[] = {
	{"a\nb\rc", "a\\x0ab\\x0dc", "a\\u000ab\\u000dc"},
	{"\"", "\\\"", "\\\""},
	{"\\", "\\\\", "\\\\"},
	{"\x1b[31m\x7f", "\\x1b[31m\\x7f", "\\u001b[31m\\u007f"},
	{"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
	    "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
	{"\xc0\xaf", "\\xc0\\xaf", "\\ufffd\\ufffd"},                 /* overlong */
	{"\xe0\x80\xaf", "\\xe0\\x80\\xaf", "\\ufffd\\ufffd\\ufffd"},
	{"\xed\xa0\x80", "\\xed\\xa0\\x80", "\\ufffd\\ufffd\\ufffd"}, /* a surrogate */
	{"\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80", "\\ufffd\\ufffd\\ufffd\\ufffd"},
	{"\xc2\x85", "\\xc2\\x85", "\\ufffd\\ufffd"},                 /* a control of 8 bits */
	{"\xe2\x82", "\\xe2\\x82", "\\ufffd\\ufffd"},                 /* cut */
	{"\x80", "\\x80", "\\ufffd"},
};

static void
escaping(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++) {
		struct sws_log_entry e = entry();
		char wanted[200];

		e.line = e.agent = text(escapes[i].raw);
		snprintf(wanted, sizeof wanted, " \"%s\" 206 5 \"http://r/\" \"%s\"\n",
		    escapes[i].text, escapes[i].text);
		assert_non_null(strstr(format(SWS_LOG_COMBINED, &e), wanted));
		snprintf(wanted, sizeof wanted, "\"user_agent\":\"%s\",\"tls\":null",
		    escapes[i].json);
		assert_non_null(strstr(format(SWS_LOG_JSON, &e), wanted));
	}
}

/* The longest texts of the worst bytes: each line ends, and fits. */
static void
longest(void **state)
{
	static char many[70000];
	struct sws_log_entry e = entry();

	(void)state;
	for (int byte = 1; byte < 256; byte += 127) {
		memset(many, byte, sizeof many);
		e.client = e.host = e.referer = e.agent = (struct http_text){many, sizeof many};
		for (int cut = 0; cut < 3; cut++) {
			e.line = (struct http_text){many, sizeof many - (size_t)cut};
			many[100] = cut == 2 ? ' ' : (char)byte;
			for (int f = SWS_LOG_COMMON; f <= SWS_LOG_JSON; f++) {
				const char *line = format((enum sws_log_format)f, &e);

				assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
			}
		}
	}
}

static void
assert_text(struct http_text t, const char *wanted)
{
	assert_int_equal(t.len, strlen(wanted));
	assert_memory_equal(t.at, wanted, t.len);
}

static void
request_lines(void **state)
{
	static const struct {
		const char *line, *method, *target, *protocol;
	} rows[] = {
		{"GET / HTTP/1.1", "GET", "/", "HTTP/1.1"},
		{"GET /a b HTTP/1.0", "GET", "/a b", "HTTP/1.0"},
		{"GET /", "GET", "/", ""},
		{"GET HTTP/1.1", "GET", "", "HTTP/1.1"},
		{"GET", "GET", "", ""},
		{" ", "", "", ""},
		{"", "", "", ""},
		{"a b HTTP/", "a", "b", "HTTP/"},
		{"a b HTTP", "a", "b HTTP", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct http_line_parts parts = http_split_request_line(text(rows[i].line));

		assert_text(parts.method, rows[i].method);
		assert_text(parts.target, rows[i].target);
		assert_text(parts.protocol, rows[i].protocol);
	}
	assert_text(http_find_request_line("\r\n\r\nGET / HTTP/1.1\r\nA: b", 24), "GET / HTTP/1.1");
	assert_text(http_find_request_line("GET", 3), "GET");
	assert_text(http_find_request_line("\r\n\n", 3), "");
	assert_text(http_find_request_line("", 0), "");
}

static void
fields(void **state)
{
	static const char head[] = "\r\nFrom: b\r\nFROM: 1\r\nfrom:\t 2 \t\r\nFrom : 3\r\n"
	    "Fromm: 4\r\nfrom:\n\r\nfrom: 5\r\n";
	struct http_text value;
	size_t at = 0;

	(void)state;
	assert_true(http_find_field(head, sizeof head - 1, "from", &at, &value));
	assert_text(value, "1");
	assert_true(http_find_field(head, sizeof head - 1, "from", &at, &value));
	assert_text(value, "2");
	assert_true(http_find_field(head, sizeof head - 1, "from", &at, &value));
	assert_text(value, "");
	assert_false(http_find_field(head, sizeof head - 1, "from", &at, &value));
	assert_false(http_find_field(head, sizeof head - 1, "from", &at, &value));
	at = 0;
	assert_false(http_find_field(head, 0, "from", &at, &value));
}

static void
forwarded(void **state)
{
	struct http_text list = text("a, [::1]:80 ,\t1.2.3.4:5,2001:db8::1,, \"[::2]\""), address;
	static const char *const wanted[] = {"::2", "", "2001:db8::1", "1.2.3.4", "::1", "a"};

	(void)state;
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		assert_true(http_forwarded_last(&list, &address));
		assert_text(address, wanted[i]);
	}
	assert_false(http_forwarded_last(&list, &address));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats),
		cmocka_unit_test(escaping),
		cmocka_unit_test(longest),
		cmocka_unit_test(request_lines),
		cmocka_unit_test(fields),
		cmocka_unit_test(forwarded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
