/* SPDX-License-Identifier: MIT */
/*
 * http_values.c: fuzz target for the values of request fields, and for paths: without a head
 * around it, the fuzzer reaches further into each of their parsers than through http_head.c.
 *
 * The first letter chooses the parser, and the rest is the value. With --enable-fuzz (clang) this
 * is a libFuzzer target; otherwise main runs it on the corpus.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../webserver/http/coding.h"
#include "../../webserver/http/cond.h"
#include "../../webserver/http/date.h"
#include "../../webserver/http/forwarded.h"
#include "../../webserver/http/host.h"
#include "../../webserver/http/path.h"
#include "../../webserver/http/query.h"
#include "../../webserver/http/range.h"
#include "../../webserver/net/proxy.h"
#include "../../webserver/ops/log_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert, on in every build. */
#define REQUIRE(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

#define NOW INT64_C(1800000000)

/* The parts exist, and none overlaps another. */
static void
try_range(const char *text, size_t len)
{
	static const uint64_t sizes[] = {0, 1, 10, 1000, UINT64_C(1) << 40, INT64_MAX};

	for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
		struct http_ranges ranges = {0};
		enum http_range is = http_range_parse(text, len, sizes[s], &ranges);

		if (is != HTTP_RANGE_ONE && is != HTTP_RANGE_MANY)
			continue;
		REQUIRE(ranges.count <= HTTP_RANGES_MAX);
		REQUIRE(is == HTTP_RANGE_ONE ? ranges.count == 1 : ranges.count > 1);
		for (unsigned i = 0; i < ranges.count; i++) {
			const struct http_part *a = &ranges.part[i];

			REQUIRE(a->from < a->to && a->to <= sizes[s]);
			for (unsigned j = 0; j < i; j++) {
				const struct http_part *b = &ranges.part[j];

				REQUIRE(a->to <= b->from || b->to <= a->from);
			}
		}
	}
}

static void
try_coding(const char *text, size_t len)
{
	static const uint8_t order[] = {HTTP_ZSTD, HTTP_BR, HTTP_GZIP, HTTP_IDENTITY};
	struct http_accepted accepted;
	enum http_coding coding;

	http_accepted_init(&accepted);
	http_accepted_add(&accepted, text, len);
	for (int i = 0; i < HTTP_CODINGS; i++)
		REQUIRE(accepted.weight[i] >= -1 && accepted.weight[i] <= 1000);
	coding = http_coding_choose(&accepted, order);
	REQUIRE(coding < HTTP_CODINGS);
	/* Nothing that is excluded is chosen, but for what remains. */
	REQUIRE(coding == HTTP_IDENTITY || accepted.weight[coding] != 0);
}

static void
try_date(const char *text, size_t len)
{
	char date[HTTP_DATE_LEN];
	int64_t second, again;

	if (!http_date_parse(text, len, NOW, &second))
		return;
	http_date_format(second, date);
	REQUIRE(http_date_parse(date, sizeof date, NOW, &again));
	REQUIRE(second < 0 ? again == 0 : again == second || second > INT64_C(253402300799));
}

static void
try_tags(const char *text, size_t len)
{
	static const char tag[] = "\"0123456789abcdef\"";

	/* What is equal by strong comparison is so by weak. */
	if (http_etag_listed_strong(text, len, tag, sizeof tag - 1))
		REQUIRE(http_etag_listed(text, len, tag, sizeof tag - 1));
	/* Only a star names a file without a tag. */
	REQUIRE(http_etag_listed(text, len, "", 0) == http_etag_listed_strong(text, len, "", 0));
}

static void
try_host(const char *text, size_t len)
{
	size_t colons = 0;

	if (!http_host_valid(text, len))
		return;
	REQUIRE(http_host_span(text, len) == len);
	for (size_t i = 0; i < len; i++) {
		REQUIRE(strchr(" ,/?#@\\\"<>", text[i]) == NULL);
		colons += text[i] == ':';
	}
	REQUIRE(colons <= 1 || text[0] == '[');
}

static void
try_path(const char *text, size_t len)
{
	char *out = malloc(len + 2), *encoded, *again;
	size_t n, m, k;

	REQUIRE(out != NULL);
	if (http_path_normal(text, len, out, &n) == 0) {
		REQUIRE(http_path_is_normal(out, n) && out[n] == '\0' && strlen(out) == n);
		encoded = malloc(3 * n + 1);
		REQUIRE(encoded != NULL);
		m = http_path_encode(out, n, encoded);
		again = malloc(m + 2);
		REQUIRE(again != NULL);
		REQUIRE(http_path_normal(encoded, m, again, &k) == 0);
		REQUIRE(k == n && memcmp(again, out, n) == 0);
		free(again);
		free(encoded);
	}
	free(out);
}

/* A parameter has one value. */
static void
try_query(const char *text, size_t len)
{
	REQUIRE(http_query_is(text, len, "sort", "size") + http_query_is(text, len, "sort", "time")
	    + http_query_is(text, len, "sort", "") <= 1);
}

static void
try_accept(const char *text, size_t len)
{
	REQUIRE(!http_accept_json(text, len) || len >= strlen("application/json"));
}

/* A header is within its bounds, and its client an address. */
static void
try_proxy(const char *text, size_t len)
{
	struct sws_proxied p;
	unsigned char bytes[16];
	int n = sws_proxy_parse((const unsigned char *)text, len, &p);

	REQUIRE(n >= -1 && n <= (int)len && n <= SWS_PROXY_V2_MAX);
	if (n > 0 && p.client[0] != '\0' && strcmp(p.client, "unix:") != 0)
		REQUIRE(inet_pton(AF_INET, p.client, bytes) == 1
		    || inet_pton(AF_INET6, p.client, bytes) == 1);
}

static void
try_forwarded(const char *text, size_t len)
{
	struct http_text list = {text, len}, address;

	while (http_forwarded_last(&list, &address))
		REQUIRE(address.at >= text && address.at + address.len <= text + len);
}

/* A line of the log ends once, whatever a client sends. */
static void
try_log(const char *text, size_t len)
{
	static char line[SWS_LOG_LINE_MAX];
	struct sws_log_entry e = {.line = http_find_request_line(text, len)};
	size_t at = 0;

	(void)http_find_field(text, len, "user-agent", &at, &e.agent);
	e.host = e.referer = e.client = (struct http_text){text, len};
	for (int format = SWS_LOG_COMMON; format <= SWS_LOG_JSON; format++) {
		size_t n = sws_log_format((enum sws_log_format)format, &e, line);

		REQUIRE(n > 0 && memchr(line, '\n', n) == line + n - 1);
		for (size_t i = 0; i + 1 < n; i++)
			REQUIRE((unsigned char)line[i] >= 0x20 && line[i] != 0x7f);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void (*parser)(const char *text, size_t len);
	char *copy;

	if (size == 0 || size > 8192)
		return 0;
	switch (data[0]) {
	case 'r': parser = try_range; break;
	case 'q': parser = try_query; break;
	case 'a': parser = try_accept; break;
	case 'c': parser = try_coding; break;
	case 'd': parser = try_date; break;
	case 'e': parser = try_tags; break;
	case 'h': parser = try_host; break;
	case 'p': parser = try_path; break;
	case 'x': parser = try_proxy; break;
	case 'f': parser = try_forwarded; break;
	case 'l': parser = try_log; break;
	default: return 0;
	}
	/* A copy of this length, so that sanitizers detect a read behind it. */
	copy = malloc(size - 1 > 0 ? size - 1 : 1);
	REQUIRE(copy != NULL);
	memcpy(copy, data + 1, size - 1);
	parser(copy, size - 1);
	free(copy);
	return 0;
}

#ifndef SWS_LIBFUZZER

#include "corpus.h"

/* Try every prefix too. */
static void
try_input(uint8_t *data, size_t size)
{
	for (size_t len = size > 4096 ? size : 0; len <= size; len++)
		LLVMFuzzerTestOneInput(data, len);
}

int
main(int argc, char **argv)
{
	return corpus_main(argc, argv, 20);
}

#endif
