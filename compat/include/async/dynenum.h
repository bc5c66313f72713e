/* SPDX-License-Identifier: MIT */
/*
 * dynenum.h: enumerations that know the names of their values at run time. The constructor fills an
 * object, which never changes after that, so any color may look up names.
 */
#ifndef MELYCOMPAT_ASYNC_DYNENUM_H
#define MELYCOMPAT_ASYNC_DYNENUM_H

#include "str.h"
#include "vec.h"

#pragma GCC system_header

/** A base class: the constructor of the derived class calls init. */
class dynamic_enum_t
{
public:
	/** `def_val` is the value of unknown names. */
	dynamic_enum_t(int def_val = 0, bool want_warning = true)
	    : _def_val(def_val), _want_warning(want_warning)
	{
	}
	virtual ~dynamic_enum_t() {}

	/** Store the value of `s`, or the default, in `*vp` (may be NULL). Returns whether the name
	 * is known. */
	bool lookup(const str &s, int *vp) const;
	/** The value of `s`, or the default; with `dowarn`, warn reports an unknown name. */
	int lookup(const str &s, bool dowarn = true) const;
	int operator[](const str &s) const { return lookup(s, _want_warning); }

protected:
	struct pair_t {
		const char *n;
		int v;
	};

	/**
	 * Add the names of `pairs`, which ends with a NULL name. With `check`, panic if the default
	 * is not the value of one of them.
	 */
	void init(const pair_t pairs[], bool check = false);
	/** The name of the enumeration in messages. */
	virtual str enum_name() const { return "anonymous"; }

	int _def_val;
	bool _want_warning;

private:
	void warn_not_found(const str &s) const;

	struct entry_t {
		str name;
		int value;

		entry_t(const str &n, int v) : name(n), value(v) {}
	};
	vec<entry_t> _entries;
};

typedef dynamic_enum_t dynenum_t;

#endif
