/* SPDX-License-Identifier: MIT */
/*
 * dynenum.cc: names of values.
 */
#include "dynenum.h"

#include "err.h"

bool
dynamic_enum_t::lookup(const str &s, int *vp) const
{
	for (size_t i = 0; s && i < _entries.size(); i++)
		if (_entries[i].name == s) {
			if (vp != nullptr)
				*vp = _entries[i].value;
			return true;
		}
	if (vp != nullptr)
		*vp = _def_val;
	return false;
}

int
dynamic_enum_t::lookup(const str &s, bool dowarn) const
{
	int value;

	if (!lookup(s, &value) && dowarn)
		warn_not_found(s);
	return value;
}

void
dynamic_enum_t::init(const pair_t pairs[], bool check)
{
	bool has_default = false;

	_entries.clear();
	for (; pairs->n != nullptr; pairs++) {
		_entries.push_back(entry_t(pairs->n, pairs->v));
		has_default = has_default || pairs->v == _def_val;
	}
	if (check && !has_default)
		panic << "enum " << enum_name() << ": the default " << _def_val
		      << " is none of its values\n";
}

void
dynamic_enum_t::warn_not_found(const str &s) const
{
	warn << "enum " << enum_name() << ": no value \"" << (s ? s : str("(null)")) << "\"\n";
}
