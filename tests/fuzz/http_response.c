/* SPDX-License-Identifier: MIT */
/*
 * http_response.c: fuzz target for the responses that sws-load reads.
 *
 * With --enable-fuzz (clang) this is a libFuzzer target; otherwise main runs it on the files and
 * directories on the command line, so that the corpus is a test in every build.
 *
 * For every input: each step goes on or ends; reading it whole, in two pieces and byte by byte
 * gives the same responses with the same bodies, and refuses at the same response; a body is as
 * long as its head says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../webserver/load/response.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert, on in every build. */
#define REQUIRE(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

/* What a reading of the input has found; hash is of all bodies and of where they end. */
struct found {
	uint64_t hash;
	unsigned responses;
	unsigned status;
	bool keep_alive;
	bool bad;
	uint64_t body_len; /* of the response in progress */
};

static void
add_body(struct found *f, const char *body, size_t len)
{
	f->body_len += len;
	for (size_t i = 0; i < len; i++)
		f->hash = (f->hash ^ (unsigned char)body[i]) * UINT64_C(0x100000001b3);
}

static void
complete(struct found *f, const struct load_response *r)
{
	REQUIRE(r->status >= 200 && r->status <= 999);
	REQUIRE(!r->has_length || r->bodyless || r->status == 204 || r->status == 304
	    || f->body_len == r->length);
	REQUIRE(!(r->bodyless || r->status == 204 || r->status == 304) || f->body_len == 0);
	f->hash = (f->hash ^ 256) * UINT64_C(0x100000001b3);
	f->responses++;
	f->status = r->status;
	f->keep_alive = r->keep_alive;
	f->body_len = 0;
}

/* A copy that ends with the bytes, so that sanitizers detect a read beyond them. */
static void
feed(struct load_response *r, const uint8_t *data, size_t len, struct found *f)
{
	char *copy = malloc(len > 0 ? len : 1);
	struct load_step step;
	size_t at = 0;

	REQUIRE(copy != NULL);
	memcpy(copy, data, len);
	while (at < len && !f->bad) {
		enum load_parse result = load_response_step(r, copy + at, len - at, &step);

		REQUIRE(result != LOAD_PARSE_NO_MEMORY && step.used <= len - at);
		REQUIRE(step.body_len == 0 || (step.body >= copy + at
		    && step.body + step.body_len <= copy + at + step.used));
		REQUIRE(result == LOAD_PARSE_BAD || step.used > 0);
		add_body(f, step.body, step.body_len);
		at += step.used;
		f->bad = result == LOAD_PARSE_BAD;
		if (result == LOAD_PARSE_DONE) {
			REQUIRE(load_response_idle(r));
			complete(f, r);
		}
	}
	free(copy);
}

/* Read the input: first cut bytes, then pieces of that size. */
static struct found
parse(const uint8_t *data, size_t size, size_t cut, size_t piece, bool head)
{
	struct found f = {0};
	struct load_response r;
	enum load_parse result;

	load_response_init(&r, head);
	for (size_t at = 0; at < size && !f.bad;) {
		size_t n = at < cut ? cut - at : piece;

		if (n > size - at)
			n = size - at;
		feed(&r, data + at, n, &f);
		at += n;
	}
	/* A head that was cut is refused when it is complete, or ends: in one piece, earlier. */
	result = f.bad ? LOAD_PARSE_BAD : load_response_end(&r);
	if (result == LOAD_PARSE_DONE)
		complete(&f, &r);
	f.bad = result == LOAD_PARSE_BAD;
	load_response_fini(&r);
	return f;
}

static void
compare(const struct found *a, const struct found *b)
{
	REQUIRE(a->bad == b->bad && a->responses == b->responses);
	REQUIRE(a->status == b->status && a->keep_alive == b->keep_alive);
	/* Before a refusal, pieces may show more of the body. */
	REQUIRE(a->bad || (a->hash == b->hash && a->body_len == b->body_len));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* The input determines the cut, so that the fuzzer can choose it. */
	size_t cut = size > 0 ? (data[0] * 31u + data[size - 1] * 7u + size / 2) % size : 0;
	bool head = size > 1 && data[size / 2] % 8 == 0;
	struct found whole = parse(data, size, 0, size, head), other;

	other = parse(data, size, cut, size, head);
	compare(&whole, &other);
	other = parse(data, size, 0, 1, head);
	compare(&whole, &other);
	return 0;
}

#ifndef SWS_LIBFUZZER

#include "corpus.h"

/* Try every prefix too: a connection may end anywhere. */
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
	return corpus_main(argc, argv, 8);
}

#endif
