/* SPDX-License-Identifier: MIT */
/* keyfunc.cc: the hash of a string. keyfunc.h only declares it, to do without str.h. */
#include "keyfunc.h"

#include "str.h"

hash_t
hashfn<str>::operator()(const str &a) const
{
	return hash_bytes(a.cstr(), a.len());
}
