/* SPDX-License-Identifier: MIT */
/*
 * callback.h, dialect "async": callbacks and the factories that make them.
 *
 * callback<R, B1, B2, B3> is called with up to three arguments and returns R. It has a reference
 * count; the handles are callback<...>::ref, which is never null, and callback<...>::ptr. cb(x),
 * (*cb)(x) and cb->trigger(x) mean the same. A factory binds the first arguments of a function, up
 * to five, and leaves the last ones, up to three, to the call:
 *
 *     wrap(f, a...)                                 color 0, priority 0, time left 0
 *     cwrap(f, a..., color)
 *     cpwrap(f, a..., color, priority)
 *     wrap_timeleft(f, a..., timeleft)
 *     cwrap_timeleft(f, a..., color, timeleft)
 *     cpwrap_timeleft(f, a..., color, priority, timeleft)
 *
 * f is a pointer to a function, or an object and one of its methods. The object is a C *, which
 * must outlive the callback, or a ref<C>, ptr<C> or refcounted<C> *, which the callback keeps
 * alive. Only the number of arguments of f decides which arguments are bound: for void f(int),
 * cwrap(f, 1) is a callback<void, int> of color 1. A bound argument is stored as the type that f
 * declares, so an argument declared const T & is a reference to the caller's object.
 *
 * A factory returns the address of a new object that no handle counts yet: store it in a ref or a
 * ptr, or it leaks. Any thread may create, copy, call and drop callbacks. The color matters only to
 * the runtime: calling a callback is an ordinary function call.
 */
#ifndef MELYCOMPAT_ASYNC_CALLBACK_H
#define MELYCOMPAT_ASYNC_CALLBACK_H

/* Headers that work with or without callbacks test this name. */
#define _CALLBACK_H_INCLUDED_ 1

#include "../melycompat/method.h"
#include "refcnt.h"

#pragma GCC system_header /* variadic templates in C++98 */

class str;

namespace melycompat {

/** The parts of a callback that do not depend on its type; the runtime reads them. */
class notes
{
public:
	/** As given to the factory, not reduced modulo MAX_COLORS. */
	int getcolor() const { return _color; }
	int getprio() const { return _prio; }
	/** In cycles; for stealing only. */
	int get_timeleft() const { return _timeleft; }
	/** The address of the function; for a method, if the compiler's ABI gives it. */
	void *getfaddr() const { return _faddr; }
	/** Without effect, for code that tame generates; traces name the function. */
	void set_gdb_info(const char *, const void *) {}

	notes() : _faddr(NULL), _color(0), _prio(0), _timeleft(0) {}
	notes(void *faddr, int color, int prio, int timeleft)
	    : _faddr(faddr), _color(color), _prio(prio), _timeleft(timeleft)
	{
	}

private:
	void *_faddr;
	int _color, _prio, _timeleft;
};

/* The type by which a factory accepts an argument of type T. It rejects arguments that would bind a
 * caller's variable to a non-const reference. */
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

/* ---- repeated for each number of bound arguments ---- */

#define MELYC_BINDABLE bindable
#include "../melycompat/bound.h"

/* ---- bound functions and methods; O is the type that holds the object ---- */

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

/* The ways to pass an object: template parameters, parameter, holder, address. */
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

/** Callbacks that do nothing; they exist before any constructor of the program runs. */
extern MELYCOMPAT_API cbv cbv_null;
extern MELYCOMPAT_API cbi cbi_null;
extern MELYCOMPAT_API cbs cbs_null;
extern MELYCOMPAT_API cbb cbb_null;

#endif
