/* SPDX-License-Identifier: MIT */
/*
 * request.c: fuzz target for the messages on the live socket: the line of a client's request
 * (mely/look/live/request.c), and the line before an answer (mely-top/head.c).
 *
 * With --enable-fuzz (clang) it is a libFuzzer target; otherwise main runs it on the files of the
 * directories on the command line, so that the corpus is a test in every build.
 *
 * Checks for every input: an accepted request ends with its newline, within the limit, and is
 * printable; no shorter prefix of it is accepted; formatted and parsed again it is unchanged.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "look/live/request.h"
#include "../../mely-top/link.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert, on in every build. */
#define REQUIRE(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

/* Parses a copy that ends after the readable bytes: sanitizers detect a read beyond them. */
static int
parse(const uint8_t *data, size_t size, struct melyint_request *request)
{
	char *copy = malloc(size > 0 ? size : 1);
	int result;

	REQUIRE(copy != NULL);
	if (size > 0)
		memcpy(copy, data, size);
	result = melyint_request_parse(copy, size, request);
	free(copy);
	return result;
}

/* Format the request as a client would write it, and parse it again. */
static void
check_anew(const struct melyint_request *request)
{
	static const char *const names[] = {"stats", "json", "prometheus", "dump", "version"};
	struct melyint_request again;
	char line[MELYINT_REQUEST_MAX + 1];
	int n;

	REQUIRE((size_t)request->kind < sizeof names / sizeof names[0]);
	REQUIRE(request->colors <= MELYINT_COLORS_MOST);
	if (request->kind <= MELYINT_REQUEST_JSON)
		n = snprintf(line, sizeof line, "%s colors %u%s\n", names[request->kind],
		    (unsigned)request->colors, request->oldest ? "" : " longest");
	else
		n = snprintf(line, sizeof line, "%s\n", names[request->kind]);
	REQUIRE(parse((const uint8_t *)line, (size_t)n, &again) == n);
	REQUIRE(again.kind == request->kind && again.colors == request->colors &&
	    again.oldest == request->oldest);
}

static void
check_request(const uint8_t *data, size_t size)
{
	struct melyint_request request, part;
	int length = parse(data, size, &request), i;

	REQUIRE(length == 0 || length < 0 || (size_t)length <= size);
	REQUIRE(length != 0 || (size < MELYINT_REQUEST_MAX && memchr(data, '\n', size) == NULL));
	if (length <= 0)
		return;
	REQUIRE(length <= MELYINT_REQUEST_MAX && data[length - 1] == '\n');
	for (i = 0; i < length - 1; i++)
		REQUIRE(data[i] >= ' ' && data[i] < 0x7f);
	for (i = 0; i < length; i++)
		REQUIRE(parse(data, (size_t)i, &part) == 0);
	REQUIRE(parse(data, (size_t)length, &part) == length);
	REQUIRE(part.kind == request.kind && part.colors == request.colors);
	check_anew(&request);
}

static void
check_head(const uint8_t *data, size_t size)
{
	char head[LINK_HEAD], again[64];
	size_t length;
	bool ok;

	if (size < LINK_HEAD)
		return;
	memcpy(head, data, LINK_HEAD);
	if (!link_head(head, &ok, &length))
		return;
	REQUIRE(length <= LINK_MOST);
	snprintf(again, sizeof again, "mely/1 %-5s %10zu\n", ok ? "ok" : "error", length);
	/* Only leading zeros may differ: they become blanks. */
	REQUIRE(memcmp(again, head, 13) == 0 && strtoul(head + 13, NULL, 10) == length);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_request(data, size);
	check_head(data, size);
	return 0;
}

#ifndef MELY_LIBFUZZER

#include "corpus.h"

/* Try every prefix, and the input with each byte changed in several ways. */
static void
try_input(uint8_t *data, size_t size)
{
	static const uint8_t other[] = {0, ' ', '\n', '0', '9', 'a', 0x7f, 0xff};
	size_t i, k;

	for (i = 0; i <= size; i++)
		LLVMFuzzerTestOneInput(data, i);
	for (i = 0; i < size; i++) {
		uint8_t was = data[i];

		for (k = 0; k < sizeof other; k++) {
			data[i] = other[k];
			LLVMFuzzerTestOneInput(data, size);
		}
		data[i] = was;
	}
}

int
main(int argc, char **argv)
{
	return corpus_main(argc, argv, 15);
}

#endif
