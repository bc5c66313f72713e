/* SPDX-License-Identifier: MIT */
/*
 * parseopt.h: files of options, one a line, and a table of what may be in them. An object is for
 * one color at a time.
 */
#ifndef MELYCOMPAT_ASYNC_PARSEOPT_H
#define MELYCOMPAT_ASYNC_PARSEOPT_H

#include <stddef.h>
#include <sys/types.h>

#include "callback.h"
#include "str.h"
#include "str2file.h"
#include "vec.h"

#pragma GCC system_header

namespace melycompat {
struct option;

/* The number that all of `s` is, as `*negative` and its distance from 0. */
bool number_of(const str &s, int base, bool *negative, unsigned long long *distance)
    __asm__("melycompat_async_number_of");
}

/**
 * The number that all of `s` writes goes to `*resp`; `base` as of strtol(3). False, and nothing
 * happens to `*resp`, when `s` is null, no number, or one that T does not hold. Any thread.
 */
template <class T> inline bool
convertint(const str &s, T *resp, int base = 0)
{
	unsigned long long distance;
	bool negative;

	if (!melycompat::number_of(s, base, &negative, &distance))
		return false;
	T value = (T)(negative ? 0 - distance : distance);
	if (negative && distance != 0) {
		if (!(value < T(1)) || value == T(0) || (unsigned long long)value != 0 - distance)
			return false;
	} else if (!(value >= T(0)) || (unsigned long long)value != distance)
		return false;
	*resp = value;
	return true;
}

/** The number that s begins with, as strtoll(3). */
inline int64_t
strtoi64(const char *s, char **end = 0, int base = 0)
{
	return strtoll(s, end, base);
}

/** In lower case: to dest, which has the room, or as a new string. */
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
 * The words of a file, line by line. Blanks separate words; a line that begins with # is a
 * comment; "..." keeps blanks in a word; \ takes the character after it as it is, and at the end
 * of a line the next line belongs to this one.
 */
class parseargs
{
public:
	/** Read `file`, or descriptor `fd`, which is closed then, under that name. Blocks. */
	parseargs(str file, int fd = -1);
	virtual ~parseargs();

	/**
	 * The words of the next line that has any, and its number to `*linep`. False at the end,
	 * and after an error that error() came back from.
	 */
	bool getline(vec<str> *args, int *linep = 0);

protected:
	/** Something is wrong with the file. Does not come back, unless a program's own does. */
	virtual void error(str message);

	const str file;
	int lineno;

private:
	bool word(str *out);
	void blanks();

	str _text;
	const char *_next;
	const char *_end;
	bool _failed;

	parseargs(const parseargs &);
	parseargs &operator=(const parseargs &);
};

/** Gets the words of a line, "file:line", and what to set to true if they are wrong. */
typedef callback<void, vec<str>, str, bool *>::ref confcb;

enum {
	CONFTAB_VERBOSE = 0x1,        /* run says what it reads and what comes of it */
	CONFTAB_APPLY_DEFAULTS = 0x2, /* run sets what the file does not to its default */
};

/**
 * A table of options: what is set by which first word of a line, in either case. Variables must
 * live as long as the table is used. A message about a wrong value goes to stderr by warn.
 */
class conftab
{
public:
	typedef enum { OK = 0, ERROR = 1, UNKNOWN = 2 } status_t;

	conftab();
	~conftab();

	/** A line of this name calls `cb`. */
	conftab &add(const str &name, confcb cb);
	/** `cb` gets the one other word of such a line. */
	conftab &ads(const str &name, cbs cb);
	/** Its one other word goes to `*p`. */
	conftab &add(const str &name, str *p);
	conftab &add(const str &name, str *p, const str &fallback);
	/** A truth: 1, true, yes, on; 0, false, no, off. */
	conftab &add(const str &name, bool *p);
	conftab &add(const str &name, bool *p, bool fallback);
	/** A number, of any integer type, from `lo` to `hi`. */
	template <class T> conftab &add(const str &name, T *p, long long lo, long long hi)
	{
		return add_number(name, number_for(p, lo, hi), false, 0);
	}
	template <class T> conftab &
	add(const str &name, T *p, long long lo, long long hi, long long fallback)
	{
		return add_number(name, number_for(p, lo, hi), true, fallback);
	}
	/** A number with a fraction. */
	conftab &add(const str &name, double *p);
	conftab &add(const str &name, double *p, double lo, double hi);
	conftab &add(const str &name, double *p, double lo, double hi, double fallback);
	/** Nothing happens at a line of this name. */
	conftab &ignore(const str &name);

	/**
	 * Do what the line of words `av` (its number `line` in `file`) says. False when its first
	 * word is not in the table. `*error` becomes true when the rest of it is wrong.
	 */
	bool match(const vec<str> &av, const str &file, int line, bool *error);
	/**
	 * Do so with all lines of `file` (or of `fd`; a null `file`: of none). False when a line
	 * was wrong or of no known name; `*status` tells which. A file that cannot be read is
	 * fatal.
	 */
	bool run(const str &file, u_int opts = 0, int fd = -1, status_t *status = 0);

	/** Say what the options are now: by warn, or as a line each behind what is in `*out`. */
	void report();
	void report(vec<str> *out);
	/** Nothing is set: the next run applies all defaults again. */
	void reset();
	/** Set what was not set to its default. */
	void apply_defaults();

	/* How an integer variable of any type is set. */
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
