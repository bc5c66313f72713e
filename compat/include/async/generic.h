/* SPDX-License-Identifier: MIT */
/*
 * generic.h, dialect "async": small templates that programs expect in the global namespace. With
 * `using namespace std`, min, max and auto_ptr are ambiguous, as in the originals.
 */
#ifndef MELYCOMPAT_ASYNC_GENERIC_H
#define MELYCOMPAT_ASYNC_GENERIC_H

#include "sysconf.h"

#pragma GCC system_header

/** The smaller and the larger of two values of one type, by value; the first if they are equal. */
template <class T> inline T
min(T a, T b)
{
	return b < a ? b : a;
}

template <class T> inline T
max(T a, T b)
{
	return a < b ? b : a;
}

namespace melycompat {
/** T itself, but prevents argument deduction. */
template <class T> struct identity {
	typedef T type;
};
}

/** An implicit conversion, written out: implicit_cast<T>(x). */
template <class T> inline T
implicit_cast(typename melycompat::identity<T>::type x)
{
	return x;
}

/** Passes a temporary auto_ptr on, as in C++98. */
template <class T> struct auto_ptr_ref {
	explicit auto_ptr_ref(T *p) : _p(p) {}
	T *_p;
};

/**
 * Owns an object: its destructor deletes the object. A copy takes the object over and leaves the
 * original empty. One thread at a time.
 */
template <class T> class auto_ptr
{
public:
	typedef T element_type;

	explicit auto_ptr(T *p = 0) : _p(p) {}
	auto_ptr(auto_ptr &from) : _p(from.release()) {}
	template <class U> auto_ptr(auto_ptr<U> &from) : _p(from.release()) {}
	auto_ptr(auto_ptr_ref<T> from) : _p(from._p) {}
	~auto_ptr() { delete _p; }

	auto_ptr &
	operator=(auto_ptr &from)
	{
		reset(from.release());
		return *this;
	}
	template <class U> auto_ptr &
	operator=(auto_ptr<U> &from)
	{
		reset(from.release());
		return *this;
	}
	auto_ptr &
	operator=(auto_ptr_ref<T> from)
	{
		reset(from._p);
		return *this;
	}

	T &operator*() const { return *_p; }
	T *operator->() const { return _p; }
	T *get() const { return _p; }

	/** Release the object to the caller, which owns it from now on. */
	T *
	release()
	{
		T *p = _p;

		_p = 0;
		return p;
	}
	/** Delete the object and take over another one. */
	void
	reset(T *p = 0)
	{
		if (p != _p)
			delete _p;
		_p = p;
	}

	template <class U> operator auto_ptr_ref<U>() { return auto_ptr_ref<U>(release()); }
	template <class U> operator auto_ptr<U>() { return auto_ptr<U>(release()); }

private:
	T *_p;
};

#endif
