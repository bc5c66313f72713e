/* SPDX-License-Identifier: MIT */
/*
 * rxx.h: Perl's regular expressions over str, on PCRE2.
 */
#ifndef MELYCOMPAT_ASYNC_RXX_H
#define MELYCOMPAT_ASYNC_RXX_H

#include <stddef.h>

#include "str.h"
#include "vec.h"

#pragma GCC system_header

namespace melycompat {
struct regex;
struct regex_results;
}

/**
 * A regular expression and the result of its last search. The object holds the result: one color at
 * a time. Copies share the compiled expression (its count is atomic) and have separate results, so
 * each color can use its own copy.
 */
class rrxx
{
	/* Convertible to bool but not to a number. */
	typedef bool (rrxx::*truth)() const;

public:
	/** The result of a search, valid until the next one. */
	class matchresult
	{
	public:
		matchresult(const rrxx &x) : _x(x) {}
		operator bool() const { return _x.success(); }
		operator str() const { return _x.at(0); }
		str operator[](ptrdiff_t n) const { return _x.at(n); }

	private:
		const rrxx &_x;
	};

	/** No expression yet: see compile. */
	rrxx();
	rrxx(const rrxx &x);
	rrxx &operator=(const rrxx &x);
	~rrxx();

	/**
	 * Compile expression `pattern` with `options`, letters in any order:
	 * ^ anchored at the start; i caseless; s . matches newlines; m ^ and $ match at every line;
	 * x ignores blanks and # comments; U ungreedy; X an unknown escape is an
	 * error; S study (no effect); 8 expression and strings are UTF-8.
	 * False for an invalid expression: geterr gives the reason, and searches find nothing.
	 */
	bool compile(const char *pattern, const char *options = "");
	/** The error of the last compile or search, or a null str. */
	const str &geterr() const { return _error; }

	/**
	 * Search `s` for the expression. False without a match, for a null `s`, or on an error
	 * (invalid UTF-8, PCRE2's limits; see geterr).
	 */
	matchresult search(const str &s, int options = 0);
	/**
	 * Like search, but the match at the start of `s` must span all of it. Only the first match
	 * counts: "a|ab" does not match "ab", "ab|a" does.
	 */
	matchresult match(const str &s, int options = 0);
	/** Like search and match, in `len` bytes at `p`. at() then has no string to copy from. */
	matchresult search_cstr(const char *p, size_t len, int options = 0);
	matchresult match_cstr(const char *p, size_t len, int options = 0);
	/**
	 * Like search_cstr, with options of PCRE2. False on errors only; success() says whether
	 * there was a match. at() then has no string to copy from.
	 */
	bool _exec(const char *p, size_t len, int options);

	/** Did the last search find a match? */
	bool success() const { return _found > 0; }
	/** Did group `n` take part in the match? */
	bool success(ptrdiff_t n) const { return start(n) >= 0; }
	operator truth() const { return success() ? &rrxx::is_found : 0; }

	/** The text of group `n` (0: the whole match); a null str if it took no part or does not
	 * exist. */
	str at(ptrdiff_t n) const;
	str operator[](ptrdiff_t n) const { return at(n); }
	/** Offsets of group `n` in the string, and its length; -1 where at() is null. */
	int start(ptrdiff_t n) const;
	int end(ptrdiff_t n) const;
	int len(ptrdiff_t n) const;

	/** Studying never fails: returns a null str. */
	str study() { return str(); }
	/** Drop the results and the searched string. */
	void clear();

private:
	bool is_found() const { return true; }
	void look(const str &s, int options);

	melycompat::regex *_regex;
	melycompat::regex_results *_results;
	int _found;
	str _subject;
	str _error;
};

/** An expression that must be valid: an invalid one panics. */
class rxx : public rrxx
{
public:
	rxx(const char *pattern, const char *options = "");
	rxx(const rrxx &x) : rrxx(x) {}
};

/** Search `s`; then get the groups from `x`. As a condition: was there a match? */
inline rrxx &
operator/(const str &s, rrxx &x)
{
	x.search(s);
	return x;
}

inline rxx &
operator/(const str &s, rxx &x)
{
	x.search(s);
	return x;
}

/** Like the above, for a const or temporary expression. */
inline rxx
operator/(const str &s, const rxx &x)
{
	rxx once(x);

	once.search(s);
	return once;
}

/** The result of s / pattern; s / pattern / options searches again, with options. */
class strstrmatch : public rxx
{
public:
	strstrmatch(const str &s, const char *pattern, const char *options = "")
	    : rxx(pattern, options), _s(s), _pattern(pattern)
	{
		search(s);
	}
	operator str() const { return at(0); }
	strstrmatch
	operator/(const char *options) const
	{
		return strstrmatch(_s, _pattern.cstr(), options);
	}

private:
	str _s;
	str _pattern;
};

inline strstrmatch
operator/(const str &s, const char *pattern)
{
	return strstrmatch(s, pattern);
}

/**
 * Split `expr` at every match of `pattern` into `*out`, which is emptied first; NULL only counts.
 * With `lim`, the last of at most `lim` fields is the rest. An empty field at the end is dropped
 * unless `emptylast`; an empty `expr` has no fields. An empty match at the start of the rest gives
 * an empty field, and drops the next byte, as in the originals. Returns the number of fields; 0 on
 * an error of the expression.
 */
int split(vec<str> *out, rxx pattern, str expr, size_t lim = (size_t)-1, bool emptylast = false);

/** The elements of `v` joined with `sep`; "" if there are none. */
str join(const str &sep, const vec<str> &v);

#endif
