/* SPDX-License-Identifier: MIT */
/*
 * refcnt.h, dialect "async": objects that are counted, and the handles that count.
 *
 *     ref<T> r = New refcounted<T>(arguments of T);   never null
 *     ptr<T> p = r;                                   or null
 *
 * An object goes away with the last of its handles, on the thread that drops it. Handles convert
 * to those of whatever T * converts to, and to T *. Two of them are equal when they count the same
 * object, whatever their types.
 *
 * Counts are atomic: any thread may copy and drop handles of one object. One handle is like an int:
 * not to be changed by one thread while another looks.
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

/** How refcounted holds its object; see there. */
enum reftype { scalar, vsize, vbase };

template <class T, reftype V = scalar> class refcounted;

/** What counts. A class whose objects make handles of themselves (mkref) has it as virtual base. */
class refcount
{
public:
	refcount() : _count(0) {}
	/** A copy is another object, and has handles of its own. */
	refcount(const refcount &) : _count(0) {}
	refcount &operator=(const refcount &) { return *this; }
	virtual ~refcount() {}

	/** As for a new handle. Any thread that has one, or knows that there is none. */
	void
	refcount_inc()
	{
		/* Where there is no handle, nobody else can make one now. */
		if (__atomic_load_n(&_count, __ATOMIC_RELAXED) == 0)
			__atomic_store_n(&_count, 1u, __ATOMIC_RELAXED);
		else
			__atomic_fetch_add(&_count, 1u, __ATOMIC_RELAXED);
	}

	/** As when a handle goes; of the last one the object is finalized. */
	void
	refcount_dec()
	{
		/* Release pairs with acquire, both here: what other threads did with the object
		 * comes before its end. One that is alone needs no atomic subtraction. */
		if (__atomic_load_n(&_count, __ATOMIC_ACQUIRE) == 1) {
			__atomic_store_n(&_count, 0u, __ATOMIC_RELAXED);
			refcount_call_finalize();
		} else if (__atomic_sub_fetch(&_count, 1u, __ATOMIC_ACQ_REL) == 0) {
			refcount_call_finalize();
		}
	}

	/** How many handles there are; with several threads, were. */
	unsigned
	refcount_getcnt() const
	{
		return __atomic_load_n(&_count, __ATOMIC_RELAXED);
	}

protected:
	/**
	 * Called each time the count comes to 0. A class with this base may have a finalize() of
	 * its own, which need not be virtual: it is called instead, and deletes the object or not.
	 */
	void finalize() { delete this; }

	/* Nothing to end while the object is under construction or in its destructor: handles of
	 * it that come and go there leave it alone. */
	virtual void refcount_call_finalize() {}

private:
	unsigned _count;
};

/* How arguments are handed on. */
#if __cplusplus >= 201103L
#define MELYC_GIVEN(A) A &&
#define MELYC_GIVE(A, a) static_cast<A &&>(a)
#else
#define MELYC_GIVEN(A) const A &
#define MELYC_GIVE(A, a) a
#endif

namespace melycompat {

/** Report a ref of nothing and end the program by SIGSEGV. */
MELYCOMPAT_API void null_ref() __asm__("melycompat_null_ref") __attribute__((noreturn, cold));

/** What a literal 0 converts to, and nothing else. */
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

/** What ptr, ref and bssptr have in common. It has no constructor, for the sake of bssptr. */
template <class T> class handle : public calls<handle<T>, T>
{
public:
	typedef T type;

	T *get() const { return _object; }
	T *operator->() const { return _object; }
	typename pointed<T>::type operator*() const { return *_object; }
	operator T *() const { return _object; }

	/** One handle more, that nobody has; what it gives is for Xplug. Not of a null handle. */
	void *
	Xleak() const
	{
		_count->refcount_inc();
		return _count;
	}
	/** One of those less: of this object, or by what Xleak gave, in a callback perhaps. */
	void Xplug() const { _count->refcount_dec(); }
	static void Xplug(void *leaked) { static_cast< ::refcount *>(leaked)->refcount_dec(); }

	T *_object;
	::refcount *_count; /**< what counts the object; NULL: the handle is null */

protected:
	void
	take(T *object, ::refcount *count)
	{
		_object = object;
		_count = count;
		if (count)
			count->refcount_inc();
	}

	/* The old object goes last: it may look at this handle. */
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

/** A handle of a T. Made of a null handle, it ends the program. */
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

/* refcount, as a base that depends on T: what T declares anew is looked up in T. */
template <class T> struct count_of {
	typedef ::refcount type;
};

}

/** A handle of an object by its address. T has refcount as a virtual base. */
template <class T> inline ref<T>
mkref(T *object)
{
	typedef typename melycompat::if_counted<__is_base_of(refcount, T), refcount>::type counted;

	return ref<T>(object, (counted *)object); /* a private base as well */
}

template <class T, reftype V> inline ref<T>
mkref(refcounted<T, V> *object)
{
	return object;
}

/**
 * A ptr for global variables, and for those alone: neither constructed nor destroyed. It is null
 * when the program starts, also for what runs before main, and holds its object to the very end.
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

/* What refcounted derives from: the class, or something that holds what cannot be derived from. */
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
 * A counted T, to be made by New alone: New refcounted<T>(arguments of T). The address it gives is
 * good for nothing but a ptr or a ref. In C++98 arguments are passed on as const.
 *
 * scalar  derives from T, and so gets at its protected members (or is its friend);
 * vbase   has a T: for classes whose virtual bases have no default constructor;
 * vsize   is followed by more bytes: see there.
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

/** A T, made without arguments, and behind it room for more: what a C array at its end needs. */
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

	/* As it was allocated: the compiler does not know its size. */
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
