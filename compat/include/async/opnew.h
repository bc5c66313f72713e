/* SPDX-License-Identifier: MIT */
/*
 * opnew.h, dialect "async": the names that programs of the family use to allocate. Any thread.
 */
#ifndef MELYCOMPAT_ASYNC_OPNEW_H
#define MELYCOMPAT_ASYNC_OPNEW_H

#include <new>

#include "sysconf.h"

#pragma GCC system_header

using std::nothrow;

/** New T(...): new; throws std::bad_alloc without memory. */
#define New new
/** ntNew T(...): NULL without memory. */
#define ntNew new (std::nothrow)
/** vNew T(...): for an object that manages itself; the address is dropped. */
#define vNew (void)new

/** Allocate memory for operator delete; throws std::bad_alloc. */
inline void *
opnew(size_t size)
{
	return operator new(size);
}

/** Destroy an object in place and return its value. */
template <class T> inline T
destroy_return(T &x)
{
	T was(x);

	x.~T();
	return was;
}

#endif
