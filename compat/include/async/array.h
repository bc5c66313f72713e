/* SPDX-License-Identifier: MIT */
/*
 * array.h, dialect "async": arrays that are values.
 *
 * array<T, n> is T[n] in a struct: it can be copied, assigned, returned and stored in containers.
 * It does not have a constructor, so array<int, 3> a = {{1, 2, 3}}; initialises it. The elements of
 * an array<T[m], n> are array<T, m>.
 *
 * toarray(T) is T itself, or array<U, n> if T is U[n]. In a template, write typename before it.
 */
#ifndef MELYCOMPAT_ASYNC_ARRAY_H
#define MELYCOMPAT_ASYNC_ARRAY_H

#include "misuse.h"

#pragma GCC system_header

template <class T, size_t n> class array;

namespace melycompat {

template <class T> struct array_value {
	typedef T type;
};

template <class T, size_t n> struct array_value<T[n]> {
	typedef array<T, n> type;
};

}

#define toarray(...) melycompat::array_value<__VA_ARGS__>::type

template <class T, size_t n> class array {
public:
	typedef typename toarray(T) elm_t;
	typedef elm_t value_type;
	typedef elm_t *iterator;
	typedef const elm_t *const_iterator;
	enum { nelm = n };

	/** The elements. Public only for the initialisation; programs use the methods. */
	elm_t a[n];

	/** The number of elements. */
	static size_t size() { return n; }

	/** The begin and the end of the elements. */
	elm_t *base() { return a; }
	const elm_t *base() const { return a; }
	elm_t *lim() { return a + n; }
	const elm_t *lim() const { return a + n; }
	iterator begin() { return a; }
	const_iterator begin() const { return a; }
	iterator end() { return a + n; }
	const_iterator end() const { return a + n; }

	/** An element; an index out of range ends the program. */
	elm_t &
	operator[](size_t i)
	{
		if (i >= n)
			container_misused("array: index out of range");
		return a[i];
	}
	const elm_t &
	operator[](size_t i) const
	{
		if (i >= n)
			container_misused("array: index out of range");
		return a[i];
	}
};

#endif
