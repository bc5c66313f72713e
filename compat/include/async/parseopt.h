/* SPDX-License-Identifier: MIT */
/*
 * parseopt.h: files of options, one per line, and a table of the options allowed. An object is for
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

/* Parse all of `s` as a number, into `*negative` and the absolute value. */
bool number_of(const str &s, int base, bool *negative, unsigned long long *distance)
    __asm__("melycompat_async_number_of");
}

/**
 * Parse all of `s` as a number into `*resp`; `base` as for strtol(3). False, with `*resp`
 * unchanged, if `s` is null, not a number, or out of range for T. Any thread.
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
 * Splits a file into words, line by line. Blanks separate words; a line that begins with # is a
 * comment; "..." keeps blanks in a word; \ quotes the next character, and at the end of a line
 * continues the line.
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

/** Receives the words of a line, "file:line", and a flag to set to true if the words are wrong. */
typedef callback<void, vec<str>, str, bool *>::ref confcb;

enum {
	CONFTAB_VERBOSE = 0x1,        /* run reports each line and its effect */
	CONFTAB_APPLY_DEFAULTS = 0x2, /* run sets options missing in the file to their defaults */
};

/**
 * A table of options. The first word of a line, in either case, selects the option to set.
 * Variables must outlive the table. Messages about wrong values go to stderr through warn.
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
