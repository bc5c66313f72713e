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
	/* True and false, without turning into a number. */
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
	 * Take expression `pattern` with the options of `options`, letters in any order:
	 * ^ anchored at the start; i caseless; s . takes newlines; m ^ and $ at every line;
	 * x blanks and # comments mean nothing; U ungreedy; X an escape without a meaning is an
	 * error; S study (is always done); 8 expression and strings are UTF-8.
	 * False for an invalid expression: geterr says why, and searches find nothing.
	 */
	bool compile(const char *pattern, const char *options = "");
	/** The error of the last compile or search, or a null str. */
	const str &geterr() const { return _error; }

	/**
	 * Search `s` for the expression. False without a match, for a null `s`, or on an error
	 * (invalid UTF-8, PCRE2's limits; see geterr).
	 */
	matchresult search(const str &s, int options = 0);
	/** Like search, but the match must span all of `s`. */
	matchresult match(const str &s, int options = 0);
	/** The same in `len` bytes at `p`. at() has no string to take from then. */
	matchresult search_cstr(const char *p, size_t len, int options = 0);
	matchresult match_cstr(const char *p, size_t len, int options = 0);
	/**
	 * The same in `len` bytes at `p`, with options of PCRE2. False on errors only; success()
	 * tells whether it was found. at() has no string to take from then.
	 */
	bool _exec(const char *p, size_t len, int options);

	/** Was it found by the last search? */
	bool success() const { return _found > 0; }
	/** And did group `n` take part? */
	bool success(ptrdiff_t n) const { return start(n) >= 0; }
	operator truth() const { return success() ? &rrxx::is_found : 0; }

	/** Group `n` (0: all of it); a null str when it took no part, or there is none. */
	str at(ptrdiff_t n) const;
	str operator[](ptrdiff_t n) const { return at(n); }
	/** Offsets of group `n` in the string, and its length; -1 where at() is null. */
	int start(ptrdiff_t n) const;
	int end(ptrdiff_t n) const;
	int len(ptrdiff_t n) const;

	/** There is no more to study: a null str. */
	str study() { return str(); }
	/** Forget the results, and the string they are from. */
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

/** An expression that is right from the start: a bad one panics. */
class rxx : public rrxx
{
public:
	rxx(const char *pattern, const char *options = "");
	rxx(const rrxx &x) : rrxx(x) {}
};

/** Search `s`; then ask `x` for the groups. As a condition: was it found? */
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

/** The same with an expression that is not changed by it, or is there only once. */
inline rxx
operator/(const str &s, const rxx &x)
{
	rxx once(x);

	once.search(s);
	return once;
}

/** What s / pattern is; s / pattern / options searches again, with options. */
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
 * Cut `expr` at every `pattern` into `*out`, which is emptied before; NULL only counts. The last
 * of at most `lim` fields is the rest. An empty field at the end is left out unless `emptylast`;
 * an empty `expr` has no field. An expression that finds nothing between two characters cuts
 * there. Returns the number of fields; 0 on an error of the expression.
 */
int split(vec<str> *out, rxx pattern, str expr, size_t lim = (size_t)-1, bool emptylast = false);

/** The elements of `v` with `sep` between them; "" when there are none. */
str join(const str &sep, const vec<str> &v);

#endif
