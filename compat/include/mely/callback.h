/* SPDX-License-Identifier: MIT */
/*
 * callback.h, dialect "mely": callbacks and the factories that make them.
 *
 * callback<R, B1, B2, B3> is called with up to three arguments and returns R. A factory binds the
 * first arguments of a function, up to five, and leaves the last ones, up to three, to the call:
 *
 *     wrap(f, a...)                                 color 0, priority 0, time left 0
 *     cwrap(f, a..., color)
 *     cpwrap(f, a..., color, priority)
 *     wrap_timeleft(f, a..., timeleft)
 *     cwrap_timeleft(f, a..., color, timeleft)
 *     cpwrap_timeleft(f, a..., color, priority, timeleft)
 *
 * f is a pointer to a function, or an object and one of its non-const methods. Only the number of
 * arguments of f decides which arguments are bound: for void f(int), cwrap(f, 1) is a
 * callback<void, int> of color 1. A bound argument is stored as the type that f declares, so an
 * argument declared const T & is a reference to the caller's object.
 */
#ifndef MELYCOMPAT_MELY_CALLBACK_H
#define MELYCOMPAT_MELY_CALLBACK_H

#include "../melycompat/call.h"

#pragma GCC system_header /* variadic templates in C++98 */

template <class R, class B1 = void, class B2 = void, class B3 = void>
class callback : public melycompat::call
{
public:
	virtual R operator()(B1, B2, B3) = 0;

protected:
	callback(void *faddr, int color, int prio, int timeleft)
	    : melycompat::call(faddr, color, prio, timeleft)
	{
	}
};

template <class R, class B1, class B2>
class callback<R, B1, B2, void> : public melycompat::call
{
public:
	virtual R operator()(B1, B2) = 0;

protected:
	callback(void *faddr, int color, int prio, int timeleft)
	    : melycompat::call(faddr, color, prio, timeleft)
	{
	}
};

template <class R, class B1>
class callback<R, B1, void, void> : public melycompat::call
{
public:
	virtual R operator()(B1) = 0;

protected:
	callback(void *faddr, int color, int prio, int timeleft)
	    : melycompat::call(faddr, color, prio, timeleft)
	{
	}
};

template <class R>
class callback<R, void, void, void> : public melycompat::call
{
public:
	virtual R operator()() = 0;

protected:
	callback(void *faddr, int color, int prio, int timeleft)
	    : melycompat::call(faddr, color, prio, timeleft)
	{
	}
};

/* ---- what is said once for each number of bound arguments ---- */

#define MELYC_BINDABLE same
#include "../melycompat/bound.h"

/* ---- bound functions and methods ---- */

#define MELYC_BOUND(n) \
template <class R MELYC_CLASSES_##n, class... B> \
class bound_function_##n : public callback<R, B...> \
{ \
	typedef R (*function)(MELYC_TYPES_##n B...); \
\
public: \
	bound_function_##n(function f MELYC_PARAMETERS_##n, int color, int prio, int timeleft) \
	    : callback<R, B...>((void *)f, color, prio, timeleft), _f(f) MELYC_KEEP_##n \
	{ \
	} \
	R operator()(B... b) { return _f(MELYC_KEPT_##n b...); } \
\
private: \
	function _f; \
	MELYC_MEMBERS_##n \
}; \
\
template <class C, class R MELYC_CLASSES_##n, class... B> \
class bound_method_##n : public callback<R, B...> \
{ \
	typedef R (C::*method)(MELYC_TYPES_##n B...); \
\
public: \
	bound_method_##n(C *object, method m MELYC_PARAMETERS_##n, int color, int prio, \
	    int timeleft) \
	    : callback<R, B...>(method_address(object, m), color, prio, timeleft), \
	      _object(object), _m(m) MELYC_KEEP_##n \
	{ \
	} \
	R operator()(B... b) { return (_object->*_m)(MELYC_KEPT_##n b...); } \
\
private: \
	C *_object; \
	method _m; \
	MELYC_MEMBERS_##n \
};

namespace melycompat {
MELYC_ALL_BOUND
}

/* ---- factories ---- */

#define MELYC_FACTORY(name, n) \
template <class R MELYC_CLASSES_##n, class... B> \
inline melycompat::bound_function_##n<R, MELYC_TYPES_##n B...> * \
name(R (*f)(MELYC_TYPES_##n B...) MELYC_PARAMETERS_##n MELYC_TRAIL_##name) \
{ \
	return new melycompat::bound_function_##n<R, MELYC_TYPES_##n B...>( \
	    f MELYC_PASS_##n, MELYC_NOTES_##name); \
} \
\
template <class C, class R MELYC_CLASSES_##n, class... B> \
inline melycompat::bound_method_##n<C, R, MELYC_TYPES_##n B...> * \
name(C *object, R (C::*m)(MELYC_TYPES_##n B...) MELYC_PARAMETERS_##n MELYC_TRAIL_##name) \
{ \
	return new melycompat::bound_method_##n<C, R, MELYC_TYPES_##n B...>( \
	    object, m MELYC_PASS_##n, MELYC_NOTES_##name); \
}

MELYC_ALL_FACTORIES

typedef callback<void> *cbv;
typedef callback<void, int> *cbi;
#define CBV_PTR_TYPE cbv

#endif
