/* SPDX-License-Identifier: MIT */
/*
 * config.cc: fuzz target for the parsers of compat's dialect "async": files of options (parseargs,
 * conftab, convertint), armor, hexadecimal, UTF-8.
 *
 * With --enable-fuzz (clang) it is a libFuzzer target; otherwise main runs it on the files of the
 * directories on the command line, so that the corpus is a test in every build.
 *
 * Checks for every input: accepted input, written and read again, is unchanged; refused input
 * changes nothing; values stay within their bounds.
 */
#include "parseopt.h"
#include "serial.h"
#include "wide_str.h"

#include <stdint.h>
#include <sys/mman.h>

#include "err.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert, on in every build. */
#define REQUIRE(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

/* ---- files of options ---- */

static int
file_of(const str &text)
{
	int fd = memfd_create("options", 0);

	REQUIRE(fd >= 0 && write(fd, text.cstr(), text.len()) == (ssize_t)text.len());
	REQUIRE(lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

class lenient : public parseargs
{
public:
	bool failed;

	explicit lenient(const str &text) : parseargs("options", file_of(text)), failed(false) {}

protected:
	void error(str message)
	{
		REQUIRE(!failed && message.len() > 0);
		failed = true;
	}
};

/* The words as a line that parses to the same words; a \n within quotes is part of its word. */
static str
line_of(const vec<str> &words)
{
	strbuf line;

	for (size_t i = 0; i < words.size(); i++) {
		line << (i > 0 ? " \"" : "\"");
		for (size_t k = 0; k < words[i].len(); k++) {
			char c = words[i][k];

			if (c == '"' || c == '\\')
				line << "\\";
			line << str(&c, 1);
		}
		line << "\"";
	}
	line << "\n";
	return line;
}

static void
check_words(const vec<str> &words)
{
	lenient again(line_of(words));
	vec<str> same;
	int line = 0;

	REQUIRE(again.getline(&same, &line) && line == 1 && same.size() == words.size());
	for (size_t i = 0; i < words.size(); i++)
		REQUIRE(same[i] == words[i]);
	REQUIRE(!again.getline(&same, &line) && !again.failed);
}

static void
check_number(const str &s)
{
	int64_t n = 0x5555, same = 0;
	uint8_t small = 0x55;

	if (!convertint(s, &n)) {
		REQUIRE(n == 0x5555 && !convertint(s, &small) && small == 0x55);
		return;
	}
	REQUIRE(convertint(str(strbuf() << n), &same) && same == n);
	REQUIRE(convertint(s, &small) && small == (uint8_t)n); /* cut, as in the originals */
}

static void
on_line(size_t *lines, vec<str> words, str where, bool *error)
{
	*lines += words.size() > 0 && where.len() > 0 && !*error;
}

static void
check_options(const str &text)
{
	static int errors_to = open("/dev/null", O_WRONLY);
	int number = 1, line = 0, before = 0;
	bool truth = false, error;
	double fraction = 0.5;
	size_t lines = 0;
	str string("s");
	conftab table;
	lenient file(text);
	vec<str> words;

	errfd = errors_to;
	table.add("number", &number, -100, 100)
	    .add("truth", &truth)
	    .add("fraction", &fraction, 0, 1)
	    .add("string", &string)
	    .add("lines", wrap(on_line, &lines))
	    .ignore("nothing");
	while (file.getline(&words, &line)) {
		REQUIRE(words.size() > 0 && line > before);
		before = line;
		check_words(words);
		for (size_t i = 0; i < words.size(); i++)
			check_number(words[i]);
		error = false;
		REQUIRE(table.match(words, "options", line, &error) || !error);
		REQUIRE(number >= -100 && number <= 100 && fraction >= 0 && fraction <= 1);
		REQUIRE(string.len() <= text.len());
	}
	REQUIRE(words.size() == 0 && lines <= text.len());
}

/* ---- encodings ---- */

typedef str (*encode_fn)(const str &);
typedef str (*decode_fn)(const str &);
typedef str (*decode_some_fn)(const char *, ssize_t);
typedef size_t (*length_fn)(const u_char *);

static void
check_armor(const str &s, encode_fn encode, decode_fn decode, decode_some_fn some, length_fn length)
{
	str armor = encode(s), bytes = decode(s);
	str half(s.cstr(), s.len() / 2), part = some(s, half.len());

	REQUIRE(decode(armor) == s && some(armor, -1) == s);
	REQUIRE(length(reinterpret_cast<const u_char *>(armor.cstr())) == armor.len());
	REQUIRE(length(reinterpret_cast<const u_char *>(s.cstr())) <= strlen(s));
	if (bytes) {
		str again = encode(bytes);

		REQUIRE(again.len() == s.len() && decode(again) == bytes && some(s, -1) == bytes);
	}
	REQUIRE(!part || part.len() <= half.len());
	REQUIRE(!decode(half) || part == decode(half));
}

static void
check_hex(const str &s)
{
	str bytes = hex2bytes(s), digits = strbuf() << hexdump(s, s.len());

	REQUIRE(hex2bytes(digits) == s);
	if (bytes)
		REQUIRE(strcasecmp(str(strbuf() << hexdump(bytes, bytes.len())), s) == 0);
}

static void
check_utf8(const str &s)
{
	wide_str_t wide(s);
	str fixed = utf8_fix(s, "?");

	REQUIRE(is_utf8(fixed) && fixed.len() <= s.len());
	REQUIRE(wide.err() == !is_utf8(s) && wide.len() <= s.len());
	/* The text before the error is UTF-8, too. */
	str begin = wide.to_utf8();
	REQUIRE(begin.len() <= s.len() && memcmp(begin, s, begin.len()) == 0);
	REQUIRE((fixed == s) == !wide.err() || memchr(s, '?', s.len()) != NULL);
	if (!wide.err()) {
		size_t half = wide.len() / 2;
		REQUIRE(begin == s);
		str both = strbuf() << utf8_substr(s, 0, half)
				    << utf8_substr(s, half, wide.len());
		REQUIRE(both == s);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	str s(reinterpret_cast<const char *>(data), size);

	check_options(s);
	check_armor(s, armor64, dearmor64, dearmor64, armor64len);
	check_armor(s, armor64A, dearmor64A, dearmor64A, armor64Alen);
	check_armor(s, armor64X, dearmor64X, dearmor64X, armor64Xlen);
	check_armor(s, armor32, dearmor32, dearmor32, armor32len);
	check_armor(s, armor32_rfc, dearmor32_rfc, dearmor32_rfc, armor32len_rfc);
	check_hex(s);
	check_utf8(s);
	return 0;
}

#ifndef MELY_LIBFUZZER

#include "corpus.h"

/* Try every prefix, and the input with each byte changed in several ways. */
static void
try_input(uint8_t *data, size_t size)
{
	static const uint8_t other[] = {0, ' ', '\n', '"', '\\', '=', 0x80, 0xe7};

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
	return corpus_main(argc, argv, 15);
}

#endif
