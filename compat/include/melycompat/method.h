/* SPDX-License-Identifier: MIT */
/*
 * melycompat/method.h: binding functions and methods, for the factories of both dialects.
 */
#ifndef MELYCOMPAT_METHOD_H
#define MELYCOMPAT_METHOD_H

#include <stddef.h>

#include "link.h"

#pragma GCC system_header

namespace melycompat {

/** T itself, without deduction: arguments convert to the declared type. */
template <class T> struct same {
	typedef T type;
};

/* A pointer to a method, by the Itanium C++ ABI: a function, or the offset in the object's
 * virtual table, marked in the lowest bit of one of the two words. */
template <class C, class M> inline void *
method_address(C *object, M method)
{
	union {
		M method;
		struct {
			size_t function;
			ptrdiff_t adjust;
		} word;
	} u = {method};
#if defined(__arm__) || defined(__aarch64__)
	bool is_virtual = (u.word.adjust & 1) != 0;
	ptrdiff_t adjust = u.word.adjust >> 1;
	size_t offset = u.word.function;
#else
	bool is_virtual = (u.word.function & 1) != 0;
	ptrdiff_t adjust = u.word.adjust;
	size_t offset = u.word.function - 1;
#endif
	if (sizeof(M) != sizeof u.word || !is_virtual || object == 0)
		return (void *)u.word.function;
	const char *base = (const char *)object + adjust;
	/* Silences a warning of g++ about objects smaller than a pointer; none reach this line. */
	__asm__("" : "+r"(base));
	const char *vtable = *(const char *const *)base;
	return *(void *const *)(vtable + offset);
}

}

#endif
