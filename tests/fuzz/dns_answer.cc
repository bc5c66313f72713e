/* SPDX-License-Identifier: MIT */
/*
 * dns_answer.cc: fuzz target for the answers of name servers (compat/async/dns_answer.cc). The
 * first byte selects the question, the rest is the answer.
 *
 * With --enable-fuzz (clang) it is a libFuzzer target; otherwise main runs it on the files of the
 * directories on the command line, so that the corpus is a test in every build.
 *
 * Checks for every input: an error never comes with records; names are within the limit; hints
 * belong to targets; there are not more records than the bytes can hold.
 */
#include <arpa/nameser.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <strings.h>

#include "../../compat/async/dns_answer.h"

using melycompat::dns_answer;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert, on in every build. */
#define REQUIRE(condition) \
	do { \
		if (!(condition)) { \
			std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			std::abort(); \
		} \
	} while (0)

static void
check_name(const std::string &name)
{
	REQUIRE(!name.empty() && name.size() < NS_MAXDNAME);
	REQUIRE(std::strlen(name.c_str()) == name.size());
}

static void
check_hint(const dns_answer &answer, const melycompat::dns_host &hint)
{
	check_name(hint.name);
	for (const melycompat::dns_target &t : answer.targets)
		if (strcasecmp(t.name.c_str(), hint.name.c_str()) == 0)
			return;
	REQUIRE(!"a hint of no target");
}

static void
check_answer(const dns_answer &answer, int type, size_t size)
{
	if (answer.error != 0)
		return;
	check_name(answer.name);
	REQUIRE(answer.targets.empty() == (type == ns_t_txt));
	REQUIRE(answer.texts.empty() == (type != ns_t_txt));
	REQUIRE(answer.targets.size() + answer.texts.size() + answer.hints.size() <=
	    size / NS_RRFIXEDSZ);
	for (const melycompat::dns_target &t : answer.targets)
		check_name(t.name);
	for (const melycompat::dns_host &h : answer.hints)
		check_hint(answer, h);
	for (const std::string &t : answer.texts)
		REQUIRE(t.size() < size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int types[] = {ns_t_mx, ns_t_srv, ns_t_txt};
	std::unique_ptr<unsigned char[]> copy;
	dns_answer answer;
	int type;

	if (size == 0)
		return 0;
	type = types[data[0] % 3];
	/* A copy that ends after the readable bytes, so that sanitizers detect a read beyond. */
	copy.reset(new unsigned char[size - 1]);
	std::memcpy(copy.get(), data + 1, size - 1);
	melycompat::dns_parse(copy.get(), size - 1, type, &answer);
	check_answer(answer, type, size);
	return 0;
}

#ifndef MELY_LIBFUZZER

#include "corpus.h"

/* Try every prefix, and the input with each byte changed in several ways. */
static void
try_input(uint8_t *data, size_t size)
{
	static const uint8_t other[] = {0, 1, 0x3f, 0x7f, 0xc0, 0xff};
	size_t i;

	for (i = 0; i <= size; i++)
		LLVMFuzzerTestOneInput(data, i);
	for (i = 0; i < size; i++) {
		uint8_t was = data[i];

		for (uint8_t o : other) {
			data[i] = o;
			LLVMFuzzerTestOneInput(data, size);
		}
		data[i] = was;
	}
}

int
main(int argc, char **argv)
{
	return corpus_main(argc, argv, 12);
}

#endif
