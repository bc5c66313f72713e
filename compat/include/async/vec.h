/* SPDX-License-Identifier: MIT */
/*
 * vec.h, dialect "async": vectors.
 *
 * vec<T, N> is an array that grows, and a queue: elements can be removed at both ends. The first N
 * elements are stored in the vector itself. It grows by copying the elements to a larger memory
 * block, which invalidates pointers into it. T may be an array type: vec<int[3]> has elements of
 * type array<int, 3>.
 *
 * One color at a time uses a vector. It owns its elements.
 */
#ifndef MELYCOMPAT_ASYNC_VEC_H
#define MELYCOMPAT_ASYNC_VEC_H

#include "array.h"
#include "misuse.h"
#include "msb.h"

#include <new>

#pragma GCC system_header

/** Decides how far vectors grow; programs derive their own class. */
class MELYCOMPAT_API vec_resizer_t {
public:
	vec_resizer_t() {}
	virtual ~vec_resizer_t();

	/**
	 * The number of elements to make room for in a vector that has room for `nalloc` and needs
	 * `nwanted`; a smaller result counts as `nwanted`. `objid` is vec_obj_id_t of the element
	 * type.
	 */
	virtual size_t resize(u_int nalloc, u_int nwanted, int objid) = 0;
};

/**
 * Use `resizer` from now on; it is deleted when another one replaces it. NULL: the default, which
 * chooses the power of two above both numbers. Call it in main, before amain.
 */
MELYCOMPAT_API void set_vec_resizer(vec_resizer_t *resizer);

/** The result of the current resizer; at least `nwanted`. */
MELYCOMPAT_API size_t vec_resize_fn(u_int nalloc, u_int nwanted, int objid);

/** The number of an element type for vec_resizer_t; programs specialise it. */
template <class T> struct vec_obj_id_t {
	vec_obj_id_t() {}
	int operator()() const { return 0; }
};

namespace melycompat {

/* The storage of the first N elements. */
template <class E, size_t N> class vec_inline {
protected:
	E *inline_base() { return reinterpret_cast<E *>(space); }

private:
	char space[N * sizeof(E)] __attribute__((aligned(__alignof__(E))));
};

template <class E> class vec_inline<E, 0> {
protected:
	E *inline_base() { return NULL; }
};

}

template <class T, size_t N = 0> class vec
    : private melycompat::vec_inline<typename toarray(T), N> {
public:
	typedef typename toarray(T) elm_t;
	typedef elm_t value_type;
	typedef elm_t *iterator;
	typedef const elm_t *const_iterator;

	vec() { forget(); }
	vec(const vec &v)
	{
		forget();
		*this += v;
	}
	template <size_t M> vec(const vec<T, M> &v)
	{
		forget();
		*this += v;
	}
	~vec()
	{
		destroy(_first, _last);
		release();
	}

	vec &
	operator=(const vec &v)
	{
		if (&v != this) {
			clear();
			*this += v;
		}
		return *this;
	}
	template <size_t M> vec &
	operator=(const vec<T, M> &v)
	{
		clear();
		return *this += v;
	}

	/** Append the elements of a vector, which may be this one. */
	template <size_t M> vec &
	operator+=(const vec<T, M> &v)
	{
		size_t n = v.size();

		reserve(n);
		/* Read v only after reserve, which may have moved its elements. */
		for (size_t i = 0; i < n; i++)
			construct(v.base()[i]);
		return *this;
	}

	/* ---- room ---- */

	/** Make room for n more elements. */
	void
	reserve(size_t n)
	{
		if (n <= size_t(_lim - _last))
			return;
		move(n);
	}

	/** Remove elements at the end, or append default ones; new ints are uninitialised. */
	void
	setsize(size_t n)
	{
		size_t have = size();

		if (n <= have) {
			popn_back(have - n);
			return;
		}
		reserve(n - have);
		for (elm_t *end = _first + n; _last < end; _last++)
			new (static_cast<void *>(_last)) elm_t;
	}

	/** Remove all elements and free the memory. */
	void
	clear()
	{
		destroy(_first, _last);
		release();
		forget();
	}

	/* ---- elements ---- */

	size_t size() const { return size_t(_last - _first); }
	bool empty() const { return _first == _last; }

	/** The begin and the end of the elements; valid until the vector changes. */
	elm_t *base() { return _first; }
	const elm_t *base() const { return _first; }
	elm_t *lim() { return _last; }
	const elm_t *lim() const { return _last; }
	iterator begin() { return _first; }
	const_iterator begin() const { return _first; }
	iterator end() { return _last; }
	const_iterator end() const { return _last; }

	/**
	 * An element. With CHECK_BOUNDS defined, an index out of range ends the program; otherwise
	 * the index is not checked.
	 */
	elm_t &
	operator[](size_t i)
	{
		check(i);
		return _first[i];
	}
	const elm_t &
	operator[](size_t i) const
	{
		check(i);
		return _first[i];
	}
	elm_t &at(size_t i) { return (*this)[i]; }
	const elm_t &at(size_t i) const { return (*this)[i]; }

	/** The first and the last element. Here and below, an empty vector ends the program. */
	elm_t &
	front()
	{
		need(1);
		return *_first;
	}
	const elm_t &
	front() const
	{
		need(1);
		return *_first;
	}
	elm_t &
	back()
	{
		need(1);
		return _last[-1];
	}
	const elm_t &
	back() const
	{
		need(1);
		return _last[-1];
	}

	/* ---- both ends ---- */

	/** Append a default element and return it. */
	elm_t &
	push_back()
	{
		reserve(1);
		new (static_cast<void *>(_last)) elm_t;
		return *_last++;
	}

	/** Append a copy and return it. */
	elm_t &
	push_back(const elm_t &x)
	{
		if (_last == _lim) {
			/* x may be an element of this vector, which is about to move. */
			elm_t copy(x);

			reserve(1);
			return construct(copy);
		}
		return construct(x);
	}

	/**
	 * Append an element constructed from the arguments and return it. The arguments must not
	 * refer to elements of this vector.
	 */
#if __cplusplus >= 201103L
	template <class... A> elm_t &
	emplace_back(A &&...a)
	{
		reserve(1);
		new (static_cast<void *>(_last)) elm_t(static_cast<A &&>(a)...);
		return *_last++;
	}
#else
	template <class... A> elm_t &
	emplace_back(const A &...a)
	{
		reserve(1);
		new (static_cast<void *>(_last)) elm_t(a...);
		return *_last++;
	}
#endif

	/** Remove the last or the first element and return it. */
	elm_t
	pop_back()
	{
		need(1);
		elm_t x(_last[-1]);

		popn_back(1);
		return x;
	}
	elm_t
	pop_front()
	{
		need(1);
		elm_t x(*_first);

		popn_front(1);
		return x;
	}

	/** Remove n elements at the end or at the beginning. */
	void
	popn_back(size_t n)
	{
		need(n);
		destroy(_last - n, _last);
		_last -= n;
	}
	void
	popn_front(size_t n)
	{
		need(n);
		destroy(_first, _first + n);
		_first += n;
	}

	/* ---- as a whole ---- */

	/** Exchange the contents of two vectors. */
	void
	swap(vec &v)
	{
		if (N == 0) {
			exchange(_base, v._base);
			exchange(_lim, v._lim);
			exchange(_first, v._first);
			exchange(_last, v._last);
		} else {
			vec copy(v);

			v = *this;
			*this = copy;
		}
	}

	/** Reverse the order. */
	void
	reverse()
	{
		for (elm_t *p = _first, *q = _last; p < q && p < --q; p++)
			exchange(*p, *q);
	}

private:
	typedef melycompat::vec_inline<elm_t, N> place;

	/* Memory from _base to _lim; elements from _first to _last. */
	elm_t *_base, *_lim, *_first, *_last;

	void
	forget()
	{
		_base = _first = _last = place::inline_base();
		_lim = _base + N;
	}

	void
	release()
	{
		if (_base != place::inline_base())
			::operator delete(_base);
	}

	void
	need(size_t n) const
	{
		if (n > size())
			container_misused("vec: too few elements");
	}

	void
	check(size_t i) const
	{
#ifdef CHECK_BOUNDS
		if (i >= size())
			container_misused("vec: index out of range");
#else
		(void)i;
#endif
	}

	elm_t &
	construct(const elm_t &x)
	{
		new (static_cast<void *>(_last)) elm_t(x);
		return *_last++;
	}

	static void
	destroy(elm_t *p, elm_t *end)
	{
		for (; p < end; p++)
			p->~elm_t();
	}

	template <class X> static void
	exchange(X &a, X &b)
	{
		X c(a);

		a = b;
		b = c;
	}

	/*
	 * Move the elements so that n more fit: to the beginning of the memory if it is more than
	 * twice the size needed, so that a queue does not grow without bound; else to a larger
	 * block.
	 */
	void
	move(size_t n)
	{
		size_t have = size(), room = size_t(_lim - _base);

		if (n > UINT_MAX / 2 || have > UINT_MAX / 2)
			container_misused("vec: too many elements");
		if (have + n <= room / 2) {
			relocate(_base);
			return;
		}
		room = vec_resize_fn(u_int(room), u_int(have + n), vec_obj_id_t<T>()());
		if (room > size_t(-1) / sizeof(elm_t))
			container_misused("vec: too many elements");
		elm_t *to = static_cast<elm_t *>(::operator new(room * sizeof(elm_t)));
		elm_t *from = _base;

		relocate(to);
		if (from != place::inline_base())
			::operator delete(from);
		_base = to;
		_lim = to + room;
	}

	/* The old place and the new one do not overlap. */
	void
	relocate(elm_t *to)
	{
		elm_t *p = _first, *end = _last;

		_first = _last = to;
		for (; p < end; p++) {
			construct(*p);
			p->~elm_t();
		}
	}
};

template <class T> inline void
swap(vec<T> &a, vec<T> &b)
{
	a.swap(b);
}

#endif
