/* SPDX-License-Identifier: MIT */
/*
 * parseopt.h: files of options, one per line, and a table of the options allowed. An object is for
 * one color at a time.
 */
#ifndef MELYCOMPAT_ASYNC_PARSEOPT_H
#define MELYCOMPAT_ASYNC_PARSEOPT_H

#include <stddef.h>
#include <sys/types.h>

#include "amisc.h"
#include "ihash.h"

#pragma GCC system_header

namespace melycompat {
struct option;

/* Parse all of `s` as a number; with `wide`, one that fits in 64 bits only without a sign. */
bool number_of(const char *s, int base, bool wide, int64_t *value)
    __asm__("melycompat_async_number_of");
}

/**
 * Convert all of `s` to a number in `*resp`; `base` as for strtoll(3), which also skips blanks at
 * the start, and stops at the limits of 64 bits. A T that is smaller gets the low bits, as in an
 * assignment. False, with `*resp` unchanged, if `s` is null or not a number. Any thread.
 */
template <class T> inline bool
convertint(const char *s, T *resp, int base = 0)
{
	int64_t value;

	if (!melycompat::number_of(s, base, sizeof(T) == 8 && T(-1) > T(0), &value))
		return false;
	*resp = T(value);
	return true;
}

template <class T> inline bool
convertint(const str &s, T *resp, int base = 0)
{
	return convertint(s.cstr(), resp, base);
}

/** The number at the start of s, as strtoll(3). */
inline int64_t
strtoi64(const char *s, char **end = 0, int base = 0)
{
	return strtoll(s, end, base);
}

/** Convert to lower case: into dest, which must be large enough, or into a new string. */
inline void
mytolower(char *dest, const char *s)
{
	do
		*dest++ = (char)tolower((unsigned char)*s);
	while (*s++ != 0);
}

inline str
mytolower(const str &s)
{
	mstr lower(s.len());

	for (size_t i = 0; i < s.len(); i++)
		lower[i] = (char)tolower((unsigned char)s[i]);
	return lower;
}

/**
 * Splits a file into words, line by line. Blanks separate words. "..." keeps blanks and newlines in
 * a word, and \ quotes the next character. A \ at the end of a line continues the line, and the
 * word that it is in, without the blanks at the start of the next line. A line is a comment if # is
 * its very first character and it does not continue another one.
 */
class parseargs
{
public:
	/** Read `file`, or descriptor `fd` under that name, and close the descriptor. Blocks. */
	parseargs(str file, int fd = -1);
	virtual ~parseargs();

	/**
	 * Store the words of the next nonempty line, and its number in `*linep`. False at the end,
	 * and after an error from which error() returned.
	 */
	bool getline(vec<str> *args, int *linep = 0);

protected:
	/** Called for an error in the file. Does not return, unless a program overrides it. */
	virtual void error(str message);

	str filename;
	int lineno;

private:
	bool to_words();
	bool word(str *out);
	void blanks();
	bool fail(const char *message);

	str _text;
	const char *_next;
	const char *_end;
	bool _failed;

	parseargs(const parseargs &);
	parseargs &operator=(const parseargs &);
};

/** Receives the words of a line, "file:line", and a flag to set to true if the words are wrong. */
typedef callback<void, vec<str>, str, bool *>::ref confcb;

enum {
	CONFTAB_VERBOSE = 0x1,        /* run reports each line and its effect */
	CONFTAB_APPLY_DEFAULTS = 0x2, /* run sets options missing in the file to their defaults */
};

/**
 * A table of options. The first word of a line, in either case, selects the option to set. A third
 * word that begins with # is a comment, unless a callback gets the line. Variables must outlive the
 * table. Messages about wrong values go to stderr through warn.
 */
class conftab
{
public:
	typedef enum { OK = 0, ERROR = 1, UNKNOWN = 2 } status_t;

	conftab();
	~conftab();

	/** Call `cb` for a line of this name. */
	conftab &add(const str &name, confcb cb);
	/** Call `cb` with the single argument of the line. */
	conftab &ads(const str &name, cbs cb);
	/** Store the single argument in `*p`. */
	conftab &add(const str &name, str *p);
	conftab &add(const str &name, str *p, const str &fallback);
	/** A boolean: 1, true, yes, on; 0, false, no, off. */
	conftab &add(const str &name, bool *p);
	conftab &add(const str &name, bool *p, bool fallback);
	/** An integer of any type, from `lo` to `hi`. */
	template <class T> conftab &add(const str &name, T *p, long long lo, long long hi)
	{
		return add_number(name, number_for(p, lo, hi), false, 0);
	}
	template <class T> conftab &
	add(const str &name, T *p, long long lo, long long hi, long long fallback)
	{
		return add_number(name, number_for(p, lo, hi), true, fallback);
	}
	/** A floating-point number. */
	conftab &add(const str &name, double *p);
	conftab &add(const str &name, double *p, double lo, double hi);
	conftab &add(const str &name, double *p, double lo, double hi, double fallback);
	/** Ignore lines of this name. */
	conftab &ignore(const str &name);

	/**
	 * Execute the line with the words `av` (number `line` of `file`). False if its first word
	 * is not in the table. Sets `*error` if the rest is wrong.
	 */
	bool match(const vec<str> &av, const str &file, int line, bool *error);
	/**
	 * Execute all lines of `file` (or of `fd`; if `file` is null, none). False if a line was
	 * wrong or unknown; `*status` says which. A file that cannot be read is fatal.
	 */
	bool run(const str &file, u_int opts = 0, int fd = -1, status_t *status = 0);

	/** Report the current values: through warn, or appended to `*out`, one per line. */
	void report();
	void report(vec<str> *out);
	/** Mark all options as not set: the next run applies all defaults again. */
	void reset();
	/** Set the options that were not set to their defaults. */
	void apply_defaults();

	/* Sets an integer variable of any type. */
	struct number {
		long long lo, hi;

		number(long long from, long long to) : lo(from), hi(to) {}
		virtual ~number() {}
		virtual void set(long long value) = 0;
		virtual long long get() const = 0;
	};

private:
	template <class T> struct number_as : number {
		T *to;

		number_as(T *p, long long from, long long upto) : number(from, upto), to(p) {}
		void set(long long value) { *to = (T)value; }
		long long get() const { return (long long)*to; }
	};
	template <class T> static number *number_for(T *p, long long lo, long long hi)
	{
		return new number_as<T>(p, lo, hi);
	}
	conftab &add_number(const str &name, number *n, bool has_default, long long fallback);
	conftab &insert(melycompat::option *o);
	melycompat::option *find(const str &name) const;

	vec<melycompat::option *> _options;

	conftab(const conftab &);
	conftab &operator=(const conftab &);
};

#endif
