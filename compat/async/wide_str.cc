/* SPDX-License-Identifier: MIT */
/*
 * wide_str.cc: conversion between UTF-8 (RFC 3629) and wide characters.
 */
#include "wide_str.h"

#include <cstring>
#include <cwchar>

namespace melycompat {

/* Decode the character at the start of `len` bytes into *out. Returns its length in bytes, or 0 for
 * invalid UTF-8: cut short, longer than needed, a surrogate, or beyond Unicode. */
static size_t
decode_utf8(const char *s, size_t len, wchar_t *out)
{
	static const struct {
		u_char mask, lead;
		uint32_t least;
	} kinds[] = {
	    {0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
	const u_char *p = reinterpret_cast<const u_char *>(s);

	for (size_t n = 1; n <= 4 && n <= len; n++) {
		if ((p[0] & kinds[n - 1].mask) != kinds[n - 1].lead)
			continue;
		uint32_t c = p[0] & (u_char)~kinds[n - 1].mask;
		for (size_t i = 1; i < n; i++) {
			if ((p[i] & 0xc0) != 0x80)
				return 0;
			c = c << 6 | (p[i] & 0x3fu);
		}
		if (c < kinds[n - 1].least || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			return 0;
		*out = (wchar_t)c;
		return n;
	}
	return 0;
}

/* Encode a character; `to` has room for 4 bytes. */
static size_t
encode_utf8(wchar_t character, char *to)
{
	uint32_t c = (uint32_t)character;
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const u_char leads[] = {0, 0x00, 0xc0, 0xe0, 0xf0};

	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	for (size_t i = n - 1; i > 0; i--) {
		to[i] = (char)(0x80 | (c & 0x3f));
		c >>= 6;
	}
	to[0] = (char)(leads[n] | c);
	return n;
}

}

using namespace melycompat;

wide_str_t::wide_str_t(str utf8) : _err(!utf8)
{
	size_t at = 0, n;
	wchar_t c;

	if (utf8)
		_chars.reserve(utf8.len() + 1);
	while (!_err && at < utf8.len()) {
		n = decode_utf8(utf8.cstr() + at, utf8.len() - at, &c);
		if (n == 0)
			_err = true;
		else
			_chars.push_back(c);
		at += n;
	}
	_chars.push_back(0);
}

wide_str_t::wide_str_t(const wchar_t *p, size_t len) : _err(false)
{
	_chars.reserve(len + 1);
	for (size_t i = 0; i < len; i++)
		_chars.push_back(p[i]);
	_chars.push_back(0);
}

wide_str_t::wide_str_t(const wchar_t *p) : wide_str_t(p, std::wcslen(p))
{
}

wchar_t *
wide_str_t::buf(size_t *lenp)
{
	if (lenp != nullptr)
		*lenp = len();
	return _chars.base();
}

const wchar_t *
wide_str_t::buf(size_t *lenp) const
{
	if (lenp != nullptr)
		*lenp = len();
	return _chars.base();
}

wide_str_t
wide_str_t::substr(size_t start, size_t count) const
{
	size_t from = start < len() ? start : len();
	size_t left = len() - from;
	wide_str_t part(_chars.base() + from, count < left ? count : left);

	part._err = _err;
	return part;
}

str
wide_str_t::to_utf8() const
{
	mstr bytes(4 * len());
	size_t have = 0, n;

	for (size_t i = 0; i < len(); i++) {
		n = encode_utf8(_chars[i], bytes.cstr() + have);
		if (n == 0)
			return str();
		have += n;
	}
	bytes.setlen(have);
	return bytes;
}

const strbuf &
strbuf_cat(const strbuf &sb, const wide_str_t &s)
{
	str utf8 = s.to_utf8();

	if (utf8)
		sb.cat(utf8);
	return sb;
}

bool
is_utf8(const str &s)
{
	return s && !wide_str_t(s).err();
}

str
utf8_substr(const str &s, size_t pos, size_t len)
{
	wide_str_t w(s);

	return w.err() ? str() : w.to_utf8(pos, len);
}

str
utf8_fix(const str &s, const str &repl)
{
	strbuf b;
	wchar_t c;

	if (!s)
		return str();
	for (size_t at = 0, n; at < s.len(); at += n > 0 ? n : 1) {
		n = decode_utf8(s.cstr() + at, s.len() - at, &c);
		b << (n > 0 ? str(s.cstr() + at, n) : repl);
	}
	return b;
}
