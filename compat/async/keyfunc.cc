/* SPDX-License-Identifier: MIT */
/* keyfunc.cc: the hash of a string, which keyfunc.h only declares, so that it can stand below. */
#include "keyfunc.h"

#include "str.h"

hash_t
hashfn<str>::operator()(const str &a) const
{
	return hash_bytes(a.cstr(), a.len());
}
