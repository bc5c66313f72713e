/* SPDX-License-Identifier: MIT */
/*
 * armor.cc: bytes as text of 64 or 32 symbols, and in hexadecimal.
 */
#include "serial.h"

#include <array>

namespace melycompat {

/* Each symbol encodes `bits` bits, most significant first; a group of symbols is a whole number of
 * bytes. */
struct alphabet {
	char symbols[65];
	unsigned bits;
	size_t group;
	bool padded;
	std::array<signed char, 256> values;
};

static constexpr alphabet
make_alphabet(const char *symbols, unsigned bits, bool padded)
{
	alphabet a = {};

	a.bits = bits;
	a.group = bits == 6 ? 4 : 8;
	a.padded = padded;
	for (size_t i = 0; i < a.values.size(); i++)
		a.values[i] = -1;
	for (size_t i = 0; i < (size_t)1 << bits; i++) {
		a.symbols[i] = symbols[i];
		a.values[(u_char)symbols[i]] = (signed char)i;
	}
	return a;
}

static constexpr alphabet base64 = make_alphabet(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 6, true);
static constexpr alphabet base64_files = make_alphabet(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-", 6, false);
static constexpr alphabet base64_x = make_alphabet(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@_", 6, true);
static constexpr alphabet base32 =
    make_alphabet("abcdefghijkmnpqrstuvwxyz23456789", 5, false);
static constexpr alphabet base32_rfc = make_alphabet("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 5, true);

/* The number of "=" that pad a number of symbols. */
static size_t
padding(const alphabet &a, size_t symbols)
{
	return a.padded ? (a.group - symbols % a.group) % a.group : 0;
}

static str
encode(const alphabet &a, const void *data, size_t len)
{
	const u_char *p = static_cast<const u_char *>(data);
	size_t symbols = (len * 8 + a.bits - 1) / a.bits;
	mstr text(symbols + padding(a, symbols));
	char *out = text.cstr();
	unsigned held = 0, bits = 0;

	for (size_t i = 0; i < symbols; i++) {
		if (bits < a.bits) {
			held = held << 8 | (len > 0 ? *p++ : 0);
			len -= len > 0;
			bits += 8;
		}
		bits -= a.bits;
		*out++ = a.symbols[held >> bits & ((1u << a.bits) - 1)];
	}
	for (size_t i = padding(a, symbols); i > 0; i--)
		*out++ = '=';
	return text;
}

/* The number of symbols at the start of `max` bytes; a NUL is not a symbol. */
static size_t
count_symbols(const alphabet &a, const u_char *s, size_t max)
{
	size_t n = 0;

	while (n < max && a.values[s[n]] >= 0)
		n++;
	return n;
}

static str
decode(const alphabet &a, const u_char *s, size_t symbols)
{
	mstr bytes(symbols * a.bits / 8);
	char *out = bytes.cstr();
	unsigned held = 0, bits = 0;

	for (; symbols > 0; symbols--) {
		held = held << a.bits | (unsigned)a.values[*s++];
		bits += a.bits;
		if (bits >= 8) {
			bits -= 8;
			*out++ = (char)(held >> bits & 0xff);
		}
	}
	return bytes;
}

static size_t
armor_length(const alphabet &a, const u_char *s)
{
	size_t n = count_symbols(a, s, (size_t)-1);
	/* Of 64 symbols, any two "=" behind them count. */
	size_t pads = a.padded && a.bits == 6 ? 2 : padding(a, n), i = 0;

	while (i < pads && s[n + i] == '=')
		i++;
	return n + i;
}

/* Could encode return this number of symbols, padding included? */
static bool
is_whole(const alphabet &a, size_t length)
{
	return a.padded ? length % a.group == 0 : length * a.bits % 8 < a.bits;
}

/* The armored text at the start of a C string, or its first `len` bytes. */
static str
decode_some(const alphabet &a, const char *s, ssize_t len)
{
	const u_char *p = reinterpret_cast<const u_char *>(s);
	size_t length = len < 0 ? armor_length(a, p) : (size_t)len;

	if (!is_whole(a, length))
		return str();
	return decode(a, p, count_symbols(a, p, length));
}

/* All of `s` if it could be the output of encode; the unused bits of the last symbol may be
 * anything. */
static str
decode_all(const alphabet &a, const str &s)
{
	if (!s)
		return str();
	const u_char *p = reinterpret_cast<const u_char *>(s.cstr());
	size_t symbols = count_symbols(a, p, s.len());
	if (symbols * a.bits % 8 >= a.bits || armor_length(a, p) != s.len() ||
	    symbols + padding(a, symbols) != s.len())
		return str();
	return decode(a, p, symbols);
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

}

using namespace melycompat;

str
hex2bytes(const str &hex)
{
	if (!hex || hex.len() % 2 != 0)
		return str();
	mstr bytes(hex.len() / 2);
	for (size_t i = 0; i < hex.len(); i += 2) {
		int high = hex_digit(hex[i]), low = hex_digit(hex[i + 1]);

		if (high < 0 || low < 0)
			return str();
		bytes.cstr()[i / 2] = (char)(high << 4 | low);
	}
	return bytes;
}

/* Define the functions of serial.h for an alphabet. */
#define ARMOR(name, length, alphabet) \
	str name(const void *s, size_t len) { return encode(alphabet, s, len); } \
	str name(const str &bin) { return encode(alphabet, bin.cstr(), bin.len()); } \
	size_t length(const u_char *s) { return armor_length(alphabet, s); } \
	str de##name(const char *s, ssize_t len) { return decode_some(alphabet, s, len); } \
	str de##name(const str &asc) { return decode_all(alphabet, asc); }

ARMOR(armor64, armor64len, base64)
ARMOR(armor64A, armor64Alen, base64_files)
ARMOR(armor64X, armor64Xlen, base64_x)
ARMOR(armor32, armor32len, base32)
ARMOR(armor32_rfc, armor32len_rfc, base32_rfc)
