/* SPDX-License-Identifier: MIT */
/*
 * opnew.h, dialect "async": the names by which programs of the family allocate. Any thread.
 */
#ifndef MELYCOMPAT_ASYNC_OPNEW_H
#define MELYCOMPAT_ASYNC_OPNEW_H

#include <new>

#include "sysconf.h"

#pragma GCC system_header

using std::nothrow;

/** New T(...): new; std::bad_alloc is thrown when there is no memory. */
#define New new
/** ntNew T(...): NULL when there is no memory. */
#define ntNew new (std::nothrow)
/** vNew T(...): the object takes care of itself, and nobody keeps its address. */
#define vNew (void)new

/** So many bytes, to be freed with operator delete; throws std::bad_alloc. */
inline void *
opnew(size_t size)
{
	return operator new(size);
}

/** End the life of an object in place; what it was. */
template <class T> inline T
destroy_return(T &x)
{
	T was(x);

	x.~T();
	return was;
}

#endif
