/* SPDX-License-Identifier: MIT */
/*
 * http_head.c: fuzz target for request heads, and for the paths, dates and tags in them.
 *
 * With --enable-fuzz (clang) this is a libFuzzer target; otherwise main runs it on the files and
 * directories on the command line, so that the corpus is a test in every build.
 *
 * For every input: parsing it whole and in two pieces gives the same result, wherever the cut; a
 * complete head ends with an empty line, has no byte that framing forbids, and contains all its
 * spans; a path in normal form does not change, and does not climb.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../webserver/http/coding.h"
#include "../../webserver/http/cond.h"
#include "../../webserver/http/date.h"
#include "../../webserver/http/parse.h"
#include "../../webserver/http/path.h"
#include "../../webserver/http/range.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert, on in every build. */
#define REQUIRE(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

/* A copy that ends after the readable bytes, so that sanitizers detect a read beyond them. */
static char *
padded(const char *text, size_t len, int fill)
{
	char *copy = malloc(len + HTTP_PAD);

	REQUIRE(copy != NULL);
	memcpy(copy, text, len);
	memset(copy + len, fill, HTTP_PAD);
	return copy;
}

static int
parse(const char *text, size_t len, int fill, struct http_parser *ps, struct http_request *req)
{
	char *copy = padded(text, len, fill);
	int result = http_parse(ps, copy, len, req);

	free(copy);
	return result;
}

static void
check_span(struct http_span span, int head)
{
	REQUIRE(span.at + span.len <= head);
}

static void
check_path(const char *raw, size_t len)
{
	char *out = malloc(len + 2), *again = malloc(len + 4), *encoded = malloc(3 * len + 4);
	size_t n, m;

	REQUIRE(out != NULL && again != NULL && encoded != NULL);
	if (http_path_normal(raw, len, out, &n) == 0) {
		REQUIRE(n >= 1 && n <= len + 1 && out[0] == '/' && out[n] == '\0');
		REQUIRE(strlen(out) == n && strstr(out, "//") == NULL);
		REQUIRE(strstr(out, "/./") == NULL && strstr(out, "/../") == NULL);
		REQUIRE(n < 3 || strcmp(out + n - 3, "/..") != 0);
		/* Encoding and decoding returns the same path. */
		m = http_path_encode(out, n, encoded);
		again = realloc(again, m + 2);
		REQUIRE(again != NULL);
		REQUIRE(http_path_normal(encoded, m, again, &m) == 0);
		REQUIRE(m == n && memcmp(again, out, n) == 0);
	}
	free(out);
	free(again);
	free(encoded);
}

/* The lines of a field, found one after the other, are those that the parser has counted. */
static void
check_lines(const char *text, const struct http_request *req, enum http_field field)
{
	struct http_span value = {0, 0};
	size_t at = 0;
	int n = 0;

	while (http_next_line(text, field, &at, &value))
		n++;
	REQUIRE((n > 0) == http_has(req, field));
	REQUIRE((n > 1) == ((req->many >> field & 1) != 0));
	REQUIRE(n == 0 || (value.at == req->field[field].at && value.len == req->field[field].len));
}

static void
check_head(const char *text, int head, const struct http_request *req)
{
	static const uint8_t order[] = {HTTP_BR, HTTP_GZIP, HTTP_IDENTITY};
	struct http_accepted accepted;
	struct http_span span;
	struct http_ranges ranges;
	enum http_range kind;
	uint64_t total = 0;
	int64_t second;
	char date[HTTP_DATE_LEN];

	REQUIRE(head >= 18 && memcmp(text + head - 4, "\r\n\r\n", 4) == 0);
	for (int i = 0; i < head; i++) {
		unsigned char c = (unsigned char)text[i];

		REQUIRE(c >= 0x20 || c == '\t' || c == '\r' || c == '\n');
		REQUIRE(c != 0x7f);
		REQUIRE(c != '\n' || (i > 0 && text[i - 1] == '\r'));
		REQUIRE(c != '\r' || text[i + 1] == '\n');
		/* No line is folded. */
		REQUIRE(c != '\n' || i + 1 == head || (text[i + 1] != ' ' && text[i + 1] != '\t'));
	}
	check_span(req->path, head);
	check_span(req->query, head);
	for (int i = 0; i < HTTP_FIELDS; i++) {
		check_span(req->field[i], head);
		REQUIRE(http_has(req, i) || req->field[i].len == 0);
		check_lines(text, req, i);
	}
	REQUIRE(req->method <= HTTP_HEAD && req->minor <= 1);
	REQUIRE(req->body_len <= HTTP_BODY_MAX);
	if (req->flags & HTTP_PLAIN) {
		char out[HTTP_TARGET_MAX + 2];
		size_t n;

		/* A path marked plain is in normal form, and not hidden. */
		REQUIRE(http_path_normal(text + req->path.at, req->path.len, out, &n) == 0);
		REQUIRE(n == req->path.len && memcmp(out, text + req->path.at, n) == 0);
	}
	check_path(text + req->path.at, req->path.len);
	span = req->field[HTTP_IF_NONE_MATCH];
	http_etag_listed(text + span.at, span.len, "\"0123456789abcdef\"", 18);
	span = req->field[HTTP_IF_MODIFIED_SINCE];
	if (http_date_parse(text + span.at, span.len, 1800000000, &second))
		http_date_format(second, date);
	span = req->field[HTTP_ACCEPT_ENCODING];
	http_accepted_init(&accepted);
	http_accepted_add(&accepted, text + span.at, span.len);
	REQUIRE(http_coding_choose(&accepted, order) < HTTP_CODINGS);
	span = req->field[HTTP_RANGE];
	kind = http_range_parse(text + span.at, span.len, 1000, &ranges);
	if (kind == HTTP_RANGE_ONE || kind == HTTP_RANGE_MANY)
		for (unsigned i = 0; i < ranges.count; i++) {
			REQUIRE(ranges.part[i].from < ranges.part[i].to);
			total += ranges.part[i].to - ranges.part[i].from;
		}
	/* None overlaps another. */
	REQUIRE(total <= 1000);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct http_request whole = {0}, pieces = {0};
	struct http_parser ps = {0}, ps2 = {0};
	size_t cut;
	int result;

	if (size > HTTP_HEAD_MAX)
		size = HTTP_HEAD_MAX;
	result = parse(text, size, ':', &ps, &whole);
	REQUIRE(result <= (int)size);
	if (result > 0)
		check_head(text, result, &whole);
	/* The input determines the cut, so that the fuzzer can choose it. */
	cut = size > 0 ? (data[0] * 31u + data[size - 1] * 7u + size / 2) % size : 0;
	if (parse(text, cut, '\n', &ps2, &pieces) == 0) {
		REQUIRE(parse(text, size, '\r', &ps2, &pieces) == result);
		if (result > 0) {
			REQUIRE(memcmp(&whole.path, &pieces.path, sizeof whole.path) == 0);
			REQUIRE(whole.flags == pieces.flags && whole.body_len == pieces.body_len);
			REQUIRE(whole.method == pieces.method && whole.minor == pieces.minor);
		}
	}
	check_path(text, size < HTTP_TARGET_MAX ? size : HTTP_TARGET_MAX);
	return 0;
}

#ifndef SWS_LIBFUZZER

#include "corpus.h"

/* Try every prefix too: a head may be cut anywhere. */
static void
try_input(uint8_t *data, size_t size)
{
	size_t len;

	for (len = size > 4096 ? size : 0; len <= size; len++)
		LLVMFuzzerTestOneInput(data, len);
}

int
main(int argc, char **argv)
{
	return corpus_main(argc, argv, 20);
}

#endif
