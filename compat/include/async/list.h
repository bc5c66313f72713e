/* SPDX-License-Identifier: MIT */
/*
 * list.h, dialect "async": lists of elements that carry their own links.
 *
 *     struct job { list_entry<job> link; };
 *     list<job, &job::link> jobs;
 *
 *     list     from the front only
 *     tailq    at both ends, and in front of and behind an element
 *     dllist   that too, and backwards
 *
 * A list does not own its elements and cannot be copied. The caller ensures that an element is in
 * at most one list per link, and leaves it before it dies. A copy of an element is in no list. One
 * color at a time uses a list.
 */
#ifndef MELYCOMPAT_ASYNC_LIST_H
#define MELYCOMPAT_ASYNC_LIST_H

#include "callback.h"
#include "sysconf.h"

#pragma GCC system_header

namespace melycompat {

/* A copy of an element does not copy its place in a list. */
template <class T> struct list_link {
	T *next;
	T **pprev; /* the pointer to this element; NULL: it is in no list */

	list_link() : next(NULL), pprev(NULL) {}
	list_link(const list_link &) : next(NULL), pprev(NULL) {}
	list_link &operator=(const list_link &) { return *this; }
};

/* The common part of the containers with a static next and a first. */
template <class L, class T> inline void
list_traverse(T *p, typename callback<void, T *>::ref &cb)
{
	while (p != NULL) {
		T *next = L::next(p);

		(*cb)(p);
		p = next;
	}
}

}

/* ---- list ---- */

template <class T> struct list_entry : melycompat::list_link<T> {};

template <class T, list_entry<T> T::*field> class list {
public:
	/** The first element or NULL. To be read only. */
	T *first;

	list() : first(NULL) {}

	/** Forget all elements without touching them: do not remove them afterwards. */
	void clear() { first = NULL; }

	/** Insert an element that is in no list at the front. */
	void
	insert_head(T *elm)
	{
		(elm->*field).next = first;
		(elm->*field).pprev = &first;
		if (first != NULL)
			(first->*field).pprev = &(elm->*field).next;
		first = elm;
	}

	/** Remove an element and return it; no effect if it is in no list. */
	static T *
	remove(T *elm)
	{
		list_entry<T> &link = elm->*field;

		if (link.pprev == NULL)
			return elm;
		*link.pprev = link.next;
		if (link.next != NULL)
			(link.next->*field).pprev = link.pprev;
		link.next = NULL;
		link.pprev = NULL;
		return elm;
	}

	/** The element behind this one or NULL. */
	static T *next(const T *elm) { return (elm->*field).next; }

	/** Call cb with each element; it may remove and delete that element. */
	void
	traverse(typename callback<void, T *>::ref cb) const
	{
		melycompat::list_traverse<list>(first, cb);
	}

	/** Exchange the elements with those of another list. */
	void
	swap(list &other)
	{
		T *elm = first;

		first = other.first;
		other.first = elm;
		if (first != NULL)
			(first->*field).pprev = &first;
		if (other.first != NULL)
			(other.first->*field).pprev = &other.first;
	}

private:
	list(const list &);
	list &operator=(const list &);
};

/* ---- tailq ---- */

template <class T> struct tailq_entry : melycompat::list_link<T> {};

template <class T, tailq_entry<T> T::*field> class tailq {
public:
	/** The first element or NULL, and what points at the end. To be read only. */
	T *first;
	T **plast;

	tailq() : first(NULL), plast(&first) {}

	/** Forget all elements without touching them: do not remove them afterwards. */
	void
	clear()
	{
		first = NULL;
		plast = &first;
	}

	/** Insert an element that is in no list at an end. */
	void insert_head(T *elm) { insert_at(elm, &first); }
	/** The last element stays where it is. */
	void
	insert_tail(T *elm)
	{
		if (plast != &(elm->*field).next)
			insert_at(elm, plast);
	}

	/** Insert an element that is in no list behind or before one of this list. */
	void insert_after(T *place, T *elm) { insert_at(elm, &(place->*field).next); }
	void insert_before(T *place, T *elm) { insert_at(elm, (place->*field).pprev); }

	/** Remove an element and return it; no effect if it is in no list. */
	T *
	remove(T *elm)
	{
		tailq_entry<T> &link = elm->*field;

		if (link.pprev == NULL)
			return elm;
		*link.pprev = link.next;
		if (link.next != NULL)
			(link.next->*field).pprev = link.pprev;
		else
			plast = link.pprev;
		link.next = NULL;
		link.pprev = NULL;
		return elm;
	}

	/** The element behind this one or NULL. */
	static T *next(const T *elm) { return (elm->*field).next; }

	/** Call cb with each element; it may remove and delete that element. */
	void
	traverse(typename callback<void, T *>::ref cb) const
	{
		melycompat::list_traverse<tailq>(first, cb);
	}

private:
	tailq(const tailq &);
	tailq &operator=(const tailq &);

	void
	insert_at(T *elm, T **place)
	{
		(elm->*field).next = *place;
		(elm->*field).pprev = place;
		if (*place != NULL)
			((*place)->*field).pprev = &(elm->*field).next;
		else
			plast = &(elm->*field).next;
		*place = elm;
	}
};

/* ---- dllist ---- */

template <class T> struct dllist_entry {
	T *next;
	T *prev;
	bool linked;

	dllist_entry() : next(NULL), prev(NULL), linked(false) {}
	dllist_entry(const dllist_entry &) : next(NULL), prev(NULL), linked(false) {}
	dllist_entry &operator=(const dllist_entry &) { return *this; }
};

template <class T, dllist_entry<T> T::*field> class dllist {
public:
	/** The first and the last element or NULL. To be read only. */
	T *first;
	T *last;

	dllist() : first(NULL), last(NULL) {}

	/** Forget all elements without touching them: do not remove them afterwards. */
	void clear() { first = last = NULL; }

	/** Insert an element that is in no list at an end. */
	void insert_head(T *elm) { insert_between(NULL, elm, first); }
	void insert_tail(T *elm) { insert_between(last, elm, NULL); }

	/** Insert an element that is in no list behind or before one of this list. */
	void insert_after(T *place, T *elm) { insert_between(place, elm, next(place)); }
	void insert_before(T *place, T *elm) { insert_between(prev(place), elm, place); }

	/** Remove an element and return it; no effect if it is in no list. */
	T *
	remove(T *elm)
	{
		dllist_entry<T> &link = elm->*field;

		if (!link.linked)
			return elm;
		behind(link.prev) = link.next;
		before(link.next) = link.prev;
		link.next = link.prev = NULL;
		link.linked = false;
		return elm;
	}

	/** The element behind this one, or before it, or NULL. */
	static T *next(const T *elm) { return (elm->*field).next; }
	static T *prev(const T *elm) { return (elm->*field).prev; }

	/** Call cb with each element; it may remove and delete that element. */
	void
	traverse(typename callback<void, T *>::ref cb) const
	{
		melycompat::list_traverse<dllist>(first, cb);
	}

private:
	dllist(const dllist &);
	dllist &operator=(const dllist &);

	/* The pointer to the element behind elm, or before it; NULL stands for the ends. */
	T *&behind(T *elm) { return elm != NULL ? (elm->*field).next : first; }
	T *&before(T *elm) { return elm != NULL ? (elm->*field).prev : last; }

	void
	insert_between(T *before_it, T *elm, T *behind_it)
	{
		(elm->*field).prev = before_it;
		(elm->*field).next = behind_it;
		(elm->*field).linked = true;
		behind(before_it) = elm;
		before(behind_it) = elm;
	}
};

#endif
