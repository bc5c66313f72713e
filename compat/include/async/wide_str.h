/* SPDX-License-Identifier: MIT */
/*
 * wide_str.h: UTF-8 as whole characters. Independent of the locale. One color at a time may change
 * an object.
 */
#ifndef MELYCOMPAT_ASYNC_WIDE_STR_H
#define MELYCOMPAT_ASYNC_WIDE_STR_H

#include <stddef.h>
#include <wchar.h>

#include "str.h"
#include "vec.h"

#pragma GCC system_header

/** A string of characters. It ends at the first byte that is not UTF-8; then err() is true. */
class wide_str_t
{
public:
	/** Kept for programs that chose a locale; always true. */
	static bool init(const char *locale = 0)
	{
		(void)locale;
		return true;
	}

	/** The characters of `utf8`; a null str gives none, and err() is true. */
	wide_str_t(str utf8 = str());
	/** `len` characters at `p`, or those before a zero. */
	wide_str_t(const wchar_t *p, size_t len);
	wide_str_t(const wchar_t *p);

	/** The number of characters, and whether the conversion failed. */
	size_t len() const { return _chars.size() - 1; }
	bool err() const { return _err; }
	bool error() const { return _err; }
	operator bool() const { return !_err; }
	operator str() const { return to_utf8(); }
	/** The characters, with a zero after them; `*lenp` (may be NULL) is their number. */
	const wchar_t *buf(size_t *lenp = 0) const;
	wchar_t *buf(size_t *lenp = 0);
	wchar_t operator[](size_t i) const { return _chars[i]; }

	/** At most `len` characters from index `start` on; empty past the end. */
	wide_str_t substr(size_t start, size_t len = (size_t)-1) const;
	/** Become that part of itself. */
	void chop(size_t start, size_t len = (size_t)-1) { *this = substr(start, len); }
	/** The string as UTF-8; a null str if a character is not valid Unicode. */
	str to_utf8() const;
	str to_utf8(size_t start, size_t len) const { return substr(start, len).to_utf8(); }

private:
	vec<wchar_t> _chars;
	bool _err;
};

/** Append the string as UTF-8; nothing if it is not valid Unicode. */
const strbuf &strbuf_cat(const strbuf &sb, const wide_str_t &s);

/** Is all of `s` UTF-8? False for a null str. */
bool is_utf8(const str &s);
/** At most `len` characters of `s` from index `pos` on; a null str if `s` is null or not UTF-8. */
str utf8_substr(const str &s, size_t pos, size_t len = (size_t)-1);
/** `s` with each byte that is not part of UTF-8 replaced by `repl`. A null str stays null. */
str utf8_fix(const str &s, const str &repl = "\xef\xbf\xbd");

#endif
