/* SPDX-License-Identifier: MIT */
/*
 * callback.h, dialect "async": callbacks and the factories that make them.
 *
 * callback<R, B1, B2, B3> is called with up to three arguments and returns R. It is counted, and
 * is held by a callback<...>::ref, which is never null, or a callback<...>::ptr: cb(x), (*cb)(x)
 * and cb->trigger(x) are the same. A factory binds the first arguments of a function, up to five,
 * and leaves the last ones, up to three, to the call:
 *
 *     wrap(f, a...)                                 color 0, priority 0, time left 0
 *     cwrap(f, a..., color)
 *     cpwrap(f, a..., color, priority)
 *     wrap_timeleft(f, a..., timeleft)
 *     cwrap_timeleft(f, a..., color, timeleft)
 *     cpwrap_timeleft(f, a..., color, priority, timeleft)
 *
 * f is a pointer to a function, or an object and one of its methods. The object is a C *, which
 * is to live long enough, or a ref<C>, ptr<C> or refcounted<C> *, which is kept alive. How many
 * arguments f has, and nothing else, says which of the arguments are bound: cwrap(f, 1) of a
 * void f(int) is a callback<void, int> of color 1. A bound argument is kept as the type that f
 * declares, so that one declared const T & is a reference to what the caller passed.
 *
 * A factory returns the address of a new object that no handle counts yet: it is good for a ref or
 * a ptr, and is lost when none takes it. Any thread may make, copy, call and drop callbacks. The
 * color matters to the runtime alone: who calls a callback calls a function.
 */
#ifndef MELYCOMPAT_ASYNC_CALLBACK_H
#define MELYCOMPAT_ASYNC_CALLBACK_H

/* Headers that work with or without callbacks ask for this name. */
#define _CALLBACK_H_INCLUDED_ 1

#include "../melycompat/method.h"
#include "refcnt.h"

#pragma GCC system_header /* variadic templates in C++98 */

class str;

namespace melycompat {

/** The parts of a callback that do not depend on its type: what the runtime looks at. */
class notes
{
public:
	/** As given to the factory, before it is reduced modulo MAX_COLORS. */
	int getcolor() const { return _color; }
	int getprio() const { return _prio; }
	/** In cycles; for stealing only. */
	int get_timeleft() const { return _timeleft; }
	/** The function that is called; of a method, as far as the compiler's ABI tells. */
	void *getfaddr() const { return _faddr; }

	notes() : _faddr(NULL), _color(0), _prio(0), _timeleft(0) {}
	notes(void *faddr, int color, int prio, int timeleft)
	    : _faddr(faddr), _color(color), _prio(prio), _timeleft(timeleft)
	{
	}

private:
	void *_faddr;
	int _color, _prio, _timeleft;
};

/* How a factory takes an argument of type T: not at all, where it would be bound to a variable of
 * the caller's for writing. */
template <class T> struct bindable {
	typedef const T &type;
};
template <class T> struct bindable<T &> {
};
template <class T> struct bindable<const T &> {
	typedef const T &type;
};

}

template <class R, class B1 = void, class B2 = void, class B3 = void>
class callback : public virtual refcount, public melycompat::notes
{
public:
	typedef ::ref<callback> ref;
	typedef ::ptr<callback> ptr;

	virtual R operator()(B1, B2, B3) = 0;
	R
	trigger(typename melycompat::passed<B1>::type b1, typename melycompat::passed<B2>::type b2,
	    typename melycompat::passed<B3>::type b3)
	{
		return (*this)(b1, b2, b3);
	}

protected:
	callback() {}
	callback(const melycompat::notes &n) : melycompat::notes(n) {}
};

template <class R, class B1, class B2>
class callback<R, B1, B2, void> : public virtual refcount, public melycompat::notes
{
public:
	typedef ::ref<callback> ref;
	typedef ::ptr<callback> ptr;

	virtual R operator()(B1, B2) = 0;
	R
	trigger(typename melycompat::passed<B1>::type b1, typename melycompat::passed<B2>::type b2)
	{
		return (*this)(b1, b2);
	}

protected:
	callback() {}
	callback(const melycompat::notes &n) : melycompat::notes(n) {}
};

template <class R, class B1>
class callback<R, B1, void, void> : public virtual refcount, public melycompat::notes
{
public:
	typedef ::ref<callback> ref;
	typedef ::ptr<callback> ptr;

	virtual R operator()(B1) = 0;
	R trigger(typename melycompat::passed<B1>::type b1) { return (*this)(b1); }

protected:
	callback() {}
	callback(const melycompat::notes &n) : melycompat::notes(n) {}
};

template <class R>
class callback<R, void, void, void> : public virtual refcount, public melycompat::notes
{
public:
	typedef ::ref<callback> ref;
	typedef ::ptr<callback> ptr;

	virtual R operator()() = 0;
	R trigger() { return (*this)(); }

protected:
	callback() {}
	callback(const melycompat::notes &n) : melycompat::notes(n) {}
};

/* ---- what is said once for each number of bound arguments ---- */

#define MELYC_BINDABLE bindable
#include "../melycompat/bound.h"

/* ---- bound functions and methods; O is what holds the object ---- */

#define MELYC_BOUND(n) \
template <class R MELYC_CLASSES_##n, class... B> \
class bound_function_##n : public callback<R, B...> \
{ \
	typedef R (*function)(MELYC_TYPES_##n B...); \
\
public: \
	bound_function_##n(const notes &with, function f MELYC_PARAMETERS_##n) \
	    : callback<R, B...>(with), _f(f) MELYC_KEEP_##n \
	{ \
	} \
	R operator()(B... b) { return _f(MELYC_KEPT_##n b...); } \
\
private: \
	function _f; \
	MELYC_MEMBERS_##n \
}; \
\
template <class O, class M, class R MELYC_CLASSES_##n, class... B> \
class bound_method_##n : public callback<R, B...> \
{ \
public: \
	bound_method_##n(const notes &with, const O &object, M m MELYC_PARAMETERS_##n) \
	    : callback<R, B...>(with), _object(object), _m(m) MELYC_KEEP_##n \
	{ \
	} \
	R operator()(B... b) { return ((*_object).*_m)(MELYC_KEPT_##n b...); } \
\
private: \
	O _object; \
	M _m; \
	MELYC_MEMBERS_##n \
};

namespace melycompat {
MELYC_ALL_BOUND
}

/* ---- factories ---- */

/* The ways to give an object: template parameters, parameter, what holds it, its address. */
#define MELYC_CLASS_pointer class C
#define MELYC_OBJECT_pointer C *object
#define MELYC_HOLDER_pointer C *
#define MELYC_ADDRESS_pointer object

#define MELYC_CLASS_const_pointer class C
#define MELYC_OBJECT_const_pointer const C *object
#define MELYC_HOLDER_const_pointer const C *
#define MELYC_ADDRESS_const_pointer object

#define MELYC_CLASS_handle class C
#define MELYC_OBJECT_handle const melycompat::handle<C> &object
#define MELYC_HOLDER_handle ::ref<C>
#define MELYC_ADDRESS_handle object.get()

#define MELYC_CLASS_const_handle class C
#define MELYC_OBJECT_const_handle const melycompat::handle<const C> &object
#define MELYC_HOLDER_const_handle ::ref<const C>
#define MELYC_ADDRESS_const_handle object.get()

#define MELYC_CLASS_counted class C, reftype V
#define MELYC_OBJECT_counted refcounted<C, V> *object
#define MELYC_HOLDER_counted ::ref<C>
#define MELYC_ADDRESS_counted object->refcounted_object()

#define MELYC_METHOD(name, n, kind, constness) \
template <MELYC_CLASS_##kind, class R MELYC_CLASSES_##n, class... B> \
inline refcounted<melycompat::bound_method_##n<MELYC_HOLDER_##kind, \
    R (C::*)(MELYC_TYPES_##n B...) constness, R, MELYC_TYPES_##n B...> > * \
name(MELYC_OBJECT_##kind, R (C::*m)(MELYC_TYPES_##n B...) constness MELYC_PARAMETERS_##n \
    MELYC_TRAIL_##name) \
{ \
	return New refcounted<melycompat::bound_method_##n<MELYC_HOLDER_##kind, \
	    R (C::*)(MELYC_TYPES_##n B...) constness, R, MELYC_TYPES_##n B...> >( \
	    melycompat::notes(melycompat::method_address(MELYC_ADDRESS_##kind, m), \
	    MELYC_NOTES_##name), (MELYC_HOLDER_##kind)(object), m MELYC_PASS_##n); \
}

#define MELYC_FACTORY(name, n) \
template <class R MELYC_CLASSES_##n, class... B> \
inline refcounted<melycompat::bound_function_##n<R, MELYC_TYPES_##n B...> > * \
name(R (*f)(MELYC_TYPES_##n B...) MELYC_PARAMETERS_##n MELYC_TRAIL_##name) \
{ \
	return New refcounted<melycompat::bound_function_##n<R, MELYC_TYPES_##n B...> >( \
	    melycompat::notes((void *)f, MELYC_NOTES_##name), f MELYC_PASS_##n); \
} \
MELYC_METHOD(name, n, pointer, ) \
MELYC_METHOD(name, n, const_pointer, const) \
MELYC_METHOD(name, n, handle, ) \
MELYC_METHOD(name, n, handle, const) \
MELYC_METHOD(name, n, const_handle, const) \
MELYC_METHOD(name, n, counted, ) \
MELYC_METHOD(name, n, counted, const)

MELYC_ALL_FACTORIES

/** wrap, for use at namespace scope. */
#define gwrap wrap

typedef callback<void>::ref cbv;
typedef callback<void, int>::ref cbi;
typedef callback<void, str>::ref cbs;
typedef callback<void, bool>::ref cbb;

/** Callbacks that do nothing; there before any constructor of the program runs. */
extern MELYCOMPAT_API cbv cbv_null;
extern MELYCOMPAT_API cbi cbi_null;
extern MELYCOMPAT_API cbs cbs_null;
extern MELYCOMPAT_API cbb cbb_null;

#endif
