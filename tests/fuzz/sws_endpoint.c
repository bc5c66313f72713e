/* SPDX-License-Identifier: MIT */
/*
 * sws_endpoint.c: fuzz target for endpoints of sws (--listen), and for addresses without a port.
 *
 * With --enable-fuzz (clang) it is a libFuzzer target; otherwise main runs it on the corpus.
 *
 * Checks for every input: what is accepted has as many addresses as its kind, within their bounds;
 * its key is its first word; and what is written of it, read again, is the same endpoint.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../webserver/net/endpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert, on in every build. */
#define REQUIRE(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

static void
check_addresses(const struct sws_endpoint *e, const struct sws_endpoint *same)
{
	REQUIRE(e->addresses_count == same->addresses_count);
	for (int i = 0; i < e->addresses_count; i++) {
		const union sws_address *a = &e->address[i];

		REQUIRE(e->address_len[i] > sizeof a->any.sa_family);
		REQUIRE(e->address_len[i] <= sizeof *a);
		REQUIRE(sws_address_port(a) == e->port);
		REQUIRE(e->address_len[i] == same->address_len[i]);
		REQUIRE(memcmp(a, &same->address[i], e->address_len[i]) == 0);
	}
}

static void
check_endpoint(const struct sws_endpoint *e, const char *text)
{
	char written[SWS_ENDPOINT_TEXT], url[SWS_ENDPOINT_TEXT];
	struct sws_endpoint same;
	size_t word = strcspn(text, " ");

	REQUIRE(strlen(e->key) == word && memcmp(e->key, text, word) == 0);
	REQUIRE(e->name[0] != '\0' && memchr(e->name, '\0', sizeof e->name) != NULL);
	REQUIRE(e->mode >= -1 && e->mode <= 0777);
	REQUIRE(e->addresses_count == (e->kind == SWS_ENDPOINT_FD ? 0
	    : e->kind == SWS_ENDPOINT_INET && strcmp(e->name, "localhost") == 0 ? 2 : 1));
	REQUIRE(strlen(sws_endpoint_url(e, url)) > 0);
	REQUIRE(sws_endpoint_parse(&same, sws_endpoint_text(e, written)) == NULL);
	REQUIRE(same.kind == e->kind && same.port == e->port && same.everywhere == e->everywhere);
	REQUIRE(strcmp(same.name, e->name) == 0);
	check_addresses(e, &same);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct sws_endpoint e;

	REQUIRE(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	if (sws_endpoint_parse(&e, text) == NULL)
		check_endpoint(&e, text);
	else
		REQUIRE(sws_endpoint_check(text) != NULL);
	/* An address by itself is one with a port, too, where it is not IPv6. */
	if (sws_host_check(text) == NULL && text[0] != '[' && strchr(text, ':') == NULL) {
		char with[64];

		REQUIRE(snprintf(with, sizeof with, "%s:0", text) < (int)sizeof with);
		REQUIRE(sws_endpoint_parse(&e, with) == NULL);
	}
	free(text);
	return 0;
}

#ifndef SWS_LIBFUZZER

#include "corpus.h"

/* Try every prefix, and the input with each byte changed in several ways. */
static void
try_input(uint8_t *data, size_t size)
{
	static const uint8_t other[] = {0, ' ', ':', '[', ']', '*', '0', '9', '@', 0x80};

	for (size_t i = 0; i <= size; i++)
		LLVMFuzzerTestOneInput(data, i);
	for (size_t i = 0; i < size; i++) {
		uint8_t was = data[i];

		for (size_t k = 0; k < sizeof other; k++) {
			data[i] = other[k];
			LLVMFuzzerTestOneInput(data, size);
		}
		data[i] = was;
	}
}

int
main(int argc, char **argv)
{
	return corpus_main(argc, argv, 8);
}

#endif
