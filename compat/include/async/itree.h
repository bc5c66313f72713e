/* SPDX-License-Identifier: MIT */
/*
 * itree.h, dialect "async": sorted trees of elements that carry their own links.
 *
 *     struct event { int when; itree_entry<event> link; };
 *     itree<int, event, &event::when, &event::link> events;
 *
 *     itree         by a member
 *     itree_core    by a comparison of two elements
 *
 * Several elements may have one key; they keep the order of their insertion. The key of an element
 * must not change while it is in a tree. The tree does not own its elements and cannot be copied.
 * The caller ensures that an element is in at most one tree per link, and leaves it before it dies.
 * A copy of an element is in no tree. One color at a time uses a tree. Operations on single
 * elements take logarithmic time.
 */
#ifndef MELYCOMPAT_ASYNC_ITREE_H
#define MELYCOMPAT_ASYNC_ITREE_H

#include "callback.h"
#include "keyfunc.h"

#pragma GCC system_header

namespace melycompat {

enum tree_color { tree_none, tree_red, tree_black };

}

/** The position of an element in a tree: its parent and children. */
template <class T> struct itree_entry {
	T *parent;
	T *child[2]; /* with smaller keys, with greater ones */
	melycompat::tree_color color; /* none: it is in no tree */

	itree_entry() { leave(); }
	itree_entry(const itree_entry &) { leave(); }
	itree_entry &operator=(const itree_entry &) { return *this; }

	T *up() const { return parent; }
	T *left() const { return child[0]; }
	T *right() const { return child[1]; }

	/** For the tree only. */
	void
	leave()
	{
		parent = child[0] = child[1] = NULL;
		color = melycompat::tree_none;
	}
};

/**
 * A red-black tree: no red element has a red child, and all paths down from an element have equal
 * numbers of black elements. C compares two elements.
 */
template <class T, itree_entry<T> T::*field, class C = compare<T> > class itree_core {
public:
	itree_core() : _root(NULL) {}
	explicit itree_core(const C &c) : _root(NULL), _compare(c) {}

	/** Forget all elements without touching them: do not remove them afterwards. */
	void clear() { _root = NULL; }

	/** Delete all elements. Their destructors may remove them from the tree. */
	void
	deleteall()
	{
		while (_root != NULL) {
			T *elm = _root;

			remove(elm);
			delete elm;
		}
	}
	void deleteall_correct() { deleteall(); }

	/** Insert an element that is in no tree, behind those that compare equal. */
	void
	insert(T *elm)
	{
		T *up = NULL;
		int side = 0;

		for (T *p = _root; p != NULL; p = at(p).child[side]) {
			up = p;
			side = _compare(*elm, *p) >= 0;
		}
		at(elm).parent = up;
		at(elm).color = melycompat::tree_red;
		if (up == NULL)
			_root = elm;
		else
			at(up).child[side] = elm;
		settle(elm);
	}

	/** Remove an element; no effect if it is in no tree. */
	void
	remove(T *elm)
	{
		itree_entry<T> &gone = at(elm);
		melycompat::tree_color lost = gone.color;
		T *heir, *up;

		if (lost == melycompat::tree_none)
			return;
		if (gone.child[0] == NULL || gone.child[1] == NULL) {
			heir = gone.child[gone.child[0] == NULL];
			up = gone.parent;
			replace(elm, heir);
		} else {
			T *taker = end_of(gone.child[1], 0);

			heir = at(taker).child[1];
			up = at(taker).parent == elm ? taker : at(taker).parent;
			lost = at(taker).color;
			replace(taker, heir);
			replace(elm, taker);
			at(taker).color = gone.color;
			adopt(taker, 0, gone.child[0]);
			adopt(taker, 1, gone.child[1]);
		}
		gone.leave();
		if (lost == melycompat::tree_black)
			refill(heir, up);
	}

	/** The elements in order; NULL at the end. */
	T *first() const { return _root == NULL ? NULL : end_of(_root, 0); }
	T *last() const { return _root == NULL ? NULL : end_of(_root, 1); }
	static T *next(const T *elm) { return beside(elm, 1); }
	static T *prev(const T *elm) { return beside(elm, 0); }

	/** The tree itself: the root, and the parent and children of an element; or NULL. */
	T *root() const { return _root; }
	static T *up(const T *elm) { return at(elm).parent; }
	static T *left(const T *elm) { return at(elm).child[0]; }
	static T *right(const T *elm) { return at(elm).child[1]; }

	/**
	 * The first element for which cb returns 0, or NULL. cb says whether the element sought
	 * comes before its argument (negative), is its argument (0), or comes behind it (positive).
	 */
	T *
	search(typename callback<int, const T *>::ref cb) const
	{
		T *found = NULL;

		for (T *p = _root; p != NULL;) {
			int side = (*cb)(p);

			if (side == 0)
				found = p;
			p = at(p).child[side > 0];
		}
		return found;
	}

	/** Call cb with each element in order; it may remove and delete that element. */
	void
	traverse(typename callback<void, T *>::ref cb)
	{
		T *next;

		for (T *elm = first(); elm != NULL; elm = next) {
			next = itree_core::next(elm);
			(*cb)(elm);
		}
	}

	/** Call a method of each element; it may remove and delete that element. */
	void
	traverse(void (T::*fn)())
	{
		T *next;

		for (T *elm = first(); elm != NULL; elm = next) {
			next = itree_core::next(elm);
			(elm->*fn)();
		}
	}

	/**
	 * A traversal in postorder of an element and all below it: the first element, then the next
	 * ones. NULL at the end of the whole tree.
	 */
	static T *
	min_postorder(const T *elm)
	{
		T *p = const_cast<T *>(elm), *down;

		while (p != NULL && (down = at(p).child[at(p).child[0] == NULL]) != NULL)
			p = down;
		return p;
	}
	static T *
	next_postorder(const T *elm)
	{
		T *p = at(elm).parent;

		if (p == NULL || at(p).child[1] == elm || at(p).child[1] == NULL)
			return p;
		return min_postorder(at(p).child[1]);
	}

protected:
	C &comparison() { return _compare; }
	const C &comparison() const { return _compare; }

private:
	T *_root;
	C _compare;

	itree_core(const itree_core &);
	itree_core &operator=(const itree_core &);

	static itree_entry<T> &at(T *elm) { return elm->*field; }
	static const itree_entry<T> &at(const T *elm) { return elm->*field; }

	static bool red(const T *elm) { return elm && at(elm).color == melycompat::tree_red; }
	static void blacken(T *elm) { at(elm).color = melycompat::tree_black; }
	static void redden(T *elm) { at(elm).color = melycompat::tree_red; }

	/* The outermost of the elements below elm on one side, or elm itself. */
	static T *
	end_of(T *elm, int side)
	{
		while (at(elm).child[side] != NULL)
			elm = at(elm).child[side];
		return elm;
	}

	/* The neighbor in the order, on one side. */
	static T *
	beside(const T *elm, int side)
	{
		T *p = at(elm).child[side];

		if (p != NULL)
			return end_of(p, !side);
		for (p = at(elm).parent; p != NULL && at(p).child[side] == elm; p = at(p).parent)
			elm = p;
		return p;
	}

	static void
	adopt(T *up, int side, T *elm)
	{
		at(up).child[side] = elm;
		if (elm != NULL)
			at(elm).parent = up;
	}

	/* Replace elm with `by`, or nothing, below its parent. */
	void
	replace(T *elm, T *by)
	{
		T *up = at(elm).parent;

		if (up != NULL) {
			adopt(up, at(up).child[1] == elm, by);
			return;
		}
		_root = by;
		if (by != NULL)
			at(by).parent = NULL;
	}

	/* Rotate elm down to one side; its child on the other side replaces it. */
	void
	rotate(T *elm, int side)
	{
		T *rising = at(elm).child[!side];
		T *between = at(rising).child[side];

		replace(elm, rising);
		adopt(rising, side, elm);
		adopt(elm, !side, between);
	}

	/* elm is red and so may be its parent. */
	void
	settle(T *elm)
	{
		while (red(at(elm).parent)) {
			T *up = at(elm).parent, *top = at(up).parent;
			int side = at(top).child[1] == up;

			if (red(at(top).child[!side])) {
				blacken(up);
				blacken(at(top).child[!side]);
				redden(top);
				elm = top;
				continue;
			}
			if (at(up).child[!side] == elm) {
				rotate(up, side);
				up = elm;
			}
			blacken(up);
			redden(top);
			rotate(top, !side);
			break;
		}
		blacken(_root);
	}

	/* The paths through elm, a child of up or missing there, lack a black element. */
	void
	refill(T *elm, T *up)
	{
		while (up != NULL && !red(elm)) {
			int side = at(up).child[1] == elm;
			T *other = at(up).child[!side];

			if (red(other)) {
				blacken(other);
				redden(up);
				rotate(up, side);
				other = at(up).child[!side];
			}
			if (!red(at(other).child[0]) && !red(at(other).child[1])) {
				redden(other);
				elm = up;
				up = at(elm).parent;
				continue;
			}
			if (!red(at(other).child[!side])) {
				blacken(at(other).child[side]);
				redden(other);
				rotate(other, !side);
				other = at(up).child[!side];
			}
			at(other).color = at(up).color;
			blacken(up);
			blacken(at(other).child[!side]);
			rotate(up, side);
			return;
		}
		if (elm != NULL)
			blacken(elm);
	}
};

namespace melycompat {

/* The comparison of two elements by a member. */
template <class K, class V, K V::*key, class C> struct member_compare {
	C by_key;

	member_compare() {}
	explicit member_compare(const C &c) : by_key(c) {}
	int operator()(const V &a, const V &b) const { return by_key(a.*key, b.*key); }
};

}

template <class K, class V, K V::*key, itree_entry<V> V::*field, class C = compare<K> >
class itree : public itree_core<V, field, melycompat::member_compare<K, V, key, C> > {
	typedef melycompat::member_compare<K, V, key, C> order;
	typedef itree_core<V, field, order> core;

public:
	itree() {}
	explicit itree(const C &c) : core(order(c)) {}

	/** The first element with this key or NULL. */
	V *
	operator[](const K &k) const
	{
		V *p = lower_bound(k);

		return p != NULL && core::comparison().by_key(k, p->*key) == 0 ? p : NULL;
	}

	/** The first element whose key is not less than k, or greater than k; or NULL. */
	V *lower_bound(const K &k) const { return first_behind(k, 1); }
	V *upper_bound(const K &k) const { return first_behind(k, 0); }

private:
	/* The first element to whose key k compares as less than `limit`. */
	V *
	first_behind(const K &k, int limit) const
	{
		V *found = NULL;

		for (V *p = core::root(); p != NULL;) {
			if (core::comparison().by_key(k, p->*key) < limit) {
				found = p;
				p = core::left(p);
			} else {
				p = core::right(p);
			}
		}
		return found;
	}
};

#endif
