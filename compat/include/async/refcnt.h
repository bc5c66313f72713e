/* SPDX-License-Identifier: MIT */
/*
 * refcnt.h, dialect "async": reference-counted objects and their handles.
 *
 *     ref<T> r = New refcounted<T>(arguments of T);   never null
 *     ptr<T> p = r;                                   or null
 *
 * The last handle to go deletes the object, on the thread that drops it. A handle of T converts to
 * T *, and to a handle of every type that T * converts to. Two handles are equal if they count the
 * same object, even if their types differ.
 *
 * Counts are atomic: any thread may copy and drop handles of one object. A single handle is like an
 * int: no thread may change it while another uses it.
 */
#ifndef MELYCOMPAT_ASYNC_REFCNT_H
#define MELYCOMPAT_ASYNC_REFCNT_H

#include <stddef.h>

#include <new>

#include "../melycompat/link.h"
#include "opnew.h"

#pragma GCC system_header /* variadic templates in C++98 */

template <class R, class B1, class B2, class B3> class callback;
template <class T> class ref;
template <class T> class ptr;

/** The ways in which refcounted holds its object; see refcounted. */
enum reftype { scalar, vsize, vbase };

template <class T, reftype V = scalar> class refcounted;

/** The count. A class whose objects create handles of themselves (mkref) has it as virtual base. */
class refcount
{
public:
	refcount() : _count(0) {}
	/** A copy is another object, with its own handles. */
	refcount(const refcount &) : _count(0) {}
	refcount &operator=(const refcount &) { return *this; }
	virtual ~refcount() {}

	/** Count a new handle. Any thread that has a handle, or knows that none exists. */
	void
	refcount_inc()
	{
		/* Without a handle, no other thread can create one now. */
		if (__atomic_load_n(&_count, __ATOMIC_RELAXED) == 0)
			__atomic_store_n(&_count, 1u, __ATOMIC_RELAXED);
		else
			__atomic_fetch_add(&_count, 1u, __ATOMIC_RELAXED);
	}

	/** Drop a handle; the last one finalizes the object. */
	void
	refcount_dec()
	{
		/* Release pairs with acquire, both here: other threads' accesses to the object
		 * come before its end. The only handle needs no atomic subtraction. */
		if (__atomic_load_n(&_count, __ATOMIC_ACQUIRE) == 1) {
			__atomic_store_n(&_count, 0u, __ATOMIC_RELAXED);
			refcount_call_finalize();
		} else if (__atomic_sub_fetch(&_count, 1u, __ATOMIC_ACQ_REL) == 0) {
			refcount_call_finalize();
		}
	}

	/** The number of handles; other threads may have changed it already. */
	unsigned
	refcount_getcnt() const
	{
		return __atomic_load_n(&_count, __ATOMIC_RELAXED);
	}

protected:
	/**
	 * Called each time the count becomes 0. A class with this base may define its own
	 * finalize(), which need not be virtual: it is called instead, and may delete the object.
	 */
	void finalize() { delete this; }

	/* Does nothing while the constructor or destructor of the object runs: handles inside them
	 * do not delete the object. */
	virtual void refcount_call_finalize() {}

private:
	unsigned _count;
};

/* Argument forwarding. */
#if __cplusplus >= 201103L
#define MELYC_GIVEN(A) A &&
#define MELYC_GIVE(A, a) static_cast<A &&>(a)
#else
#define MELYC_GIVEN(A) const A &
#define MELYC_GIVE(A, a) a
#endif

namespace melycompat {

/** Report a ref constructed from a null pointer and end the program by SIGSEGV. */
MELYCOMPAT_API void null_ref() __asm__("melycompat_null_ref") __attribute__((noreturn, cold));

/** A type that only a literal 0 converts to. */
struct nothing;

/* T for a parameter, without a reference to a reference. */
template <class T> struct passed {
	typedef const T &type;
};
template <class T> struct passed<T &> {
	typedef T &type;
};

/* operator() of handles of callbacks; H is the handle. */
template <class H, class T> class calls
{
};
template <class H, class R> class calls<H, callback<R, void, void, void> >
{
public:
	R operator()() const { return (*static_cast<const H *>(this)->_object)(); }
};
template <class H, class R, class B1> class calls<H, callback<R, B1, void, void> >
{
public:
	R
	operator()(typename passed<B1>::type b1) const
	{
		return (*static_cast<const H *>(this)->_object)(b1);
	}
};
template <class H, class R, class B1, class B2> class calls<H, callback<R, B1, B2, void> >
{
public:
	R
	operator()(typename passed<B1>::type b1, typename passed<B2>::type b2) const
	{
		return (*static_cast<const H *>(this)->_object)(b1, b2);
	}
};
template <class H, class R, class B1, class B2, class B3> class calls<H, callback<R, B1, B2, B3> >
{
public:
	R
	operator()(typename passed<B1>::type b1, typename passed<B2>::type b2,
	    typename passed<B3>::type b3) const
	{
		return (*static_cast<const H *>(this)->_object)(b1, b2, b3);
	}
};

/* void has no objects to refer to. */
template <class T> struct pointed {
	typedef T &type;
};
template <> struct pointed<void> {
	typedef void type;
};
template <> struct pointed<const void> {
	typedef void type;
};

/** The common base of ptr, ref and bssptr. It has no constructor, because bssptr must have none. */
template <class T> class handle : public calls<handle<T>, T>
{
public:
	typedef T type;

	T *get() const { return _object; }
	T *operator->() const { return _object; }
	typename pointed<T>::type operator*() const { return *_object; }
	operator T *() const { return _object; }

	/** Count one more handle than exist; pass the result to Xplug. Not for a null handle. */
	void *
	Xleak() const
	{
		_count->refcount_inc();
		return _count;
	}
	/** Drop a handle counted by Xleak: of this object, or by the result of Xleak. */
	void Xplug() const { _count->refcount_dec(); }
	static void Xplug(void *leaked) { static_cast< ::refcount *>(leaked)->refcount_dec(); }

	T *_object;
	::refcount *_count; /**< the count of the object; NULL: the handle is null */

protected:
	void
	take(T *object, ::refcount *count)
	{
		_object = object;
		_count = count;
		if (count)
			count->refcount_inc();
	}

	/* Drop the old object last: its destructor may use this handle. */
	void
	retake(T *object, ::refcount *count)
	{
		::refcount *old = _count;

		take(object, count);
		if (old)
			old->refcount_dec();
	}

	void
	drop()
	{
		if (_count)
			_count->refcount_dec();
	}
};

template <class T, class U> inline bool
operator==(const handle<T> &a, const handle<U> &b)
{
	return a._count == b._count;
}

template <class T, class U> inline bool
operator!=(const handle<T> &a, const handle<U> &b)
{
	return a._count != b._count;
}

}

/** A handle of a T, or null. */
template <class T> class ptr : public melycompat::handle<T>
{
	typedef melycompat::handle<T> handle;

public:
	typedef ::ref<T> ref;

	ptr() { this->take(NULL, NULL); }
	ptr(melycompat::nothing *) { this->take(NULL, NULL); }
	ptr(const ptr &p) : handle() { this->take(p._object, p._count); }
	template <class U> ptr(const melycompat::handle<U> &p) { this->take(p._object, p._count); }
	template <class U, reftype V>
	ptr(refcounted<U, V> *p)
	{
		this->take(p ? p->refcounted_object() : NULL, p ? p->refcounted_count() : NULL);
	}
	~ptr() { this->drop(); }

	ptr &
	operator=(melycompat::nothing *)
	{
		this->retake(NULL, NULL);
		return *this;
	}
	ptr &
	operator=(const ptr &p)
	{
		this->retake(p._object, p._count);
		return *this;
	}
	template <class U> ptr &
	operator=(const melycompat::handle<U> &p)
	{
		this->retake(p._object, p._count);
		return *this;
	}
	template <class U, reftype V> ptr &
	operator=(refcounted<U, V> *p)
	{
		return *this = ptr(p);
	}

	/** A new object. */
	template <class... A> static ptr
	alloc(MELYC_GIVEN(A)... a)
	{
		return New refcounted<T>(MELYC_GIVE(A, a)...);
	}
};

/** A handle of a T. Constructing it from a null handle ends the program. */
template <class T> class ref : public melycompat::handle<T>
{
	typedef melycompat::handle<T> handle;

public:
	typedef ::ptr<T> ptr;

	ref(const ref &p) : handle() { this->take(p._object, p._count); }
	template <class U> ref(const melycompat::handle<U> &p) { this->take(p._object, known(p)); }
	template <class U, reftype V>
	ref(refcounted<U, V> *p)
	{
		this->take(known(p)->refcounted_object(), p->refcounted_count());
	}
	~ref() { this->drop(); }

	ref &
	operator=(const ref &p)
	{
		this->retake(p._object, p._count);
		return *this;
	}
	template <class U> ref &
	operator=(const melycompat::handle<U> &p)
	{
		this->retake(p._object, known(p));
		return *this;
	}
	template <class U, reftype V> ref &
	operator=(refcounted<U, V> *p)
	{
		return *this = ref(p);
	}

	/** A new object. */
	template <class... A> static ref
	alloc(MELYC_GIVEN(A)... a)
	{
		return New refcounted<T>(MELYC_GIVE(A, a)...);
	}

private:
	ref(T *object, refcount *count) { this->take(object, count); }
	template <class U> friend ref<U> mkref(U *object);

	template <class U> static refcount *
	known(const melycompat::handle<U> &p)
	{
		return known(p._count);
	}
	template <class P> static P *
	known(P *p)
	{
		if (__builtin_expect(p == NULL, 0))
			melycompat::null_ref();
		return p;
	}
};

namespace melycompat {

template <bool IS_COUNTED, class R> struct if_counted {
};
template <class R> struct if_counted<true, R> {
	typedef R type;
};

/* refcount, as a base that depends on T, so lookups find the names that T redeclares. */
template <class T> struct count_of {
	typedef ::refcount type;
};

}

/** A handle of the object at an address. T must have refcount as a virtual base. */
template <class T> inline ref<T>
mkref(T *object)
{
	typedef typename melycompat::if_counted<__is_base_of(refcount, T), refcount>::type counted;

	return ref<T>(object, (counted *)object); /* also accepts a private base */
}

template <class T, reftype V> inline ref<T>
mkref(refcounted<T, V> *object)
{
	return object;
}

/**
 * A ptr for global variables only: it is neither constructed nor destroyed. It is null when the
 * program starts, also for code that runs before main, and holds its object until the process ends.
 */
template <class T> class bssptr : public melycompat::handle<T>
{
public:
	typedef ::ref<T> ref;
	typedef ::ptr<T> ptr;

	bssptr &
	operator=(melycompat::nothing *)
	{
		this->retake(NULL, NULL);
		return *this;
	}
	bssptr &
	operator=(const bssptr &p)
	{
		this->retake(p._object, p._count);
		return *this;
	}
	template <class U> bssptr &
	operator=(const melycompat::handle<U> &p)
	{
		this->retake(p._object, p._count);
		return *this;
	}
	template <class U, reftype V> bssptr &
	operator=(refcounted<U, V> *p)
	{
		return *this = ptr(p);
	}
};

namespace melycompat {

/* The base of refcounted: the class, or a holder of a type that cannot be a base. */
template <class T> struct held {
	T _held;

	held() : _held() {}
	template <class A> explicit held(const A &a) : _held(a) {}
};

#if __cplusplus >= 201103L
#define MELYC_IS_BASE(T) (__is_class(T) && !__is_final(T))
#else
#define MELYC_IS_BASE(T) __is_class(T)
#endif

template <class T, bool IS_BASE = MELYC_IS_BASE(T)> struct inherited {
	typedef held<T> type;
	static T *object(type *p) { return &p->_held; }
};
template <class T> struct inherited<T, true> {
	typedef T type;
	static T *object(type *p) { return p; }
};

template <bool B> struct truth {
};

}

/**
 * A counted T. Create it only with New: New refcounted<T>(arguments of T), and use the address only
 * for a ptr or a ref. C++98 passes the arguments on as const.
 *
 * scalar  derives from T, and so reaches its protected members (or is its friend);
 * vbase   contains a T: for classes whose virtual bases have no default constructor;
 * vsize   has room for more bytes behind it: see below.
 */
template <class T> class refcounted<T, scalar>
    : private virtual melycompat::count_of<T>::type, private melycompat::inherited<T>::type
{
	typedef melycompat::inherited<T> inherited;
	typedef typename inherited::type base;

public:
	refcounted() : base() {}
	template <class A, class... B>
	explicit refcounted(MELYC_GIVEN(A) a, MELYC_GIVEN(B)... b)
	    : base(MELYC_GIVE(A, a), MELYC_GIVE(B, b)...)
	{
	}

	T *refcounted_object() { return inherited::object(this); }
	::refcount *refcounted_count() { return this; }

private:
	refcounted(const refcounted &);
	refcounted &operator=(const refcounted &);

	void
	refcount_call_finalize()
	{
		end(melycompat::truth<MELYC_IS_BASE(T) && __is_base_of(::refcount, T)>());
	}
	void end(melycompat::truth<true>) { this->finalize(); }
	void end(melycompat::truth<false>) { delete this; }
};

template <class T> class refcounted<T, vbase> : private refcount
{
public:
	refcounted() : _held() {}
	template <class A, class... B>
	explicit refcounted(MELYC_GIVEN(A) a, MELYC_GIVEN(B)... b)
	    : _held(MELYC_GIVE(A, a), MELYC_GIVE(B, b)...)
	{
	}

	T *refcounted_object() { return &_held; }
	::refcount *refcounted_count() { return this; }

private:
	void refcount_call_finalize() { delete this; }

	T _held;
};

/** A T, constructed without arguments, and room behind it, as for a C array at its end. */
template <class T> class refcounted<T, vsize> : private refcount
{
public:
	/** n bytes behind the T, from tptr() + 1 on, not initialised. For a ptr or ref, as New. */
	static refcounted *
	alloc(size_t n)
	{
		return new (opnew(offset() + sizeof(T) + n)) refcounted;
	}

	T *tptr() { return reinterpret_cast<T *>(reinterpret_cast<char *>(this) + offset()); }

	T *refcounted_object() { return tptr(); }
	::refcount *refcounted_count() { return this; }

	/* The size at the allocation differs from sizeof, so delete without a size. */
	static void operator delete(void *memory) { ::operator delete(memory); }

private:
	refcounted() { new (static_cast<void *>(tptr())) T; }
	~refcounted() { tptr()->~T(); }

	static size_t
	offset()
	{
		return (sizeof(refcounted) + __alignof__(T) - 1) / __alignof__(T) * __alignof__(T);
	}

	void refcount_call_finalize() { delete this; }
};

#endif
