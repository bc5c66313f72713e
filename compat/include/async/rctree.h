/* SPDX-License-Identifier: MIT */
/*
 * rctree.h, dialect "async": sorted trees that hold handles of counted objects.
 *
 *     struct job { rctree_entry_t<job> link; };
 *     rctree_t<int, job, &job::link> jobs;
 *     jobs.insert(7, New refcounted<job>());
 *
 * The key is not in the object but in the tree. Several objects may have one key; they stay in the
 * order in which they were put in. An object does not go away while it is in a tree. By one entry
 * it is in one tree at most; to put it in once more, or to name one that is not in, ends the
 * program. A tree is not copied; its end drops the handles. It is used by one color at a time.
 */
#ifndef MELYCOMPAT_ASYNC_RCTREE_H
#define MELYCOMPAT_ASYNC_RCTREE_H

#include "itree.h"
#include "rcentry.h"

#pragma GCC system_header

template <class T> struct rctree_entry_t : melycompat::rc_entry {};

template <class K, class T, rctree_entry_t<T> T::*field, class C = compare<K> > class rctree_t {
public:
	rctree_t() {}
	~rctree_t() { clear(); }

	/** Drop all. */
	void
	clear()
	{
		while (_nodes.root() != NULL)
			drop(_nodes.root());
	}
	void deleteall() { clear(); }

	/** Put in an object, which is in no tree, behind those with the same key. */
	void
	insert(const K &key, ptr<T> elm)
	{
		node *n = New node(key, elm);

		(elm->*field).enter(n);
		_nodes.insert(n);
	}

	/** Take an object out of this tree. */
	void remove(ptr<T> elm) { drop(node_of(elm)); }

	/** The first object with a key or null. */
	ptr<T> operator[](const K &key) { return elm_of(_nodes[key]); }
	ptr<const T> operator[](const K &key) const { return elm_of(_nodes[key]); }

	/** The objects in the order of their keys; null at the end. */
	ptr<T> first() const { return elm_of(_nodes.first()); }
	ptr<T> last() const { return elm_of(_nodes.last()); }
	static ptr<T> next(ptr<T> elm) { return elm_of(nodes::next(node_of(elm))); }
	static ptr<T> prev(ptr<T> elm) { return elm_of(nodes::prev(node_of(elm))); }

	/** The tree as such: the object on top, and those above and below an object; or null. */
	ptr<T> root() const { return elm_of(_nodes.root()); }
	static ptr<T> up(ptr<T> elm) { return elm_of(nodes::up(node_of(elm))); }
	static ptr<T> left(ptr<T> elm) { return elm_of(nodes::left(node_of(elm))); }
	static ptr<T> right(ptr<T> elm) { return elm_of(nodes::right(node_of(elm))); }

	/** An object and all below it, each behind those below it; see itree. */
	static ptr<T>
	min_postorder(ptr<T> elm)
	{
		return elm_of(elm == NULL ? NULL : nodes::min_postorder(node_of(elm)));
	}
	static ptr<T>
	next_postorder(ptr<T> elm)
	{
		return elm_of(nodes::next_postorder(node_of(elm)));
	}

	/** The first object of which cb says 0, or null; see itree. */
	ptr<T>
	search(typename callback<int, ptr<T> >::ref cb) const
	{
		node *found = NULL;

		for (node *n = _nodes.root(); n != NULL;) {
			int side = (*cb)(n->elm);

			if (side == 0)
				found = n;
			n = side > 0 ? nodes::right(n) : nodes::left(n);
		}
		return elm_of(found);
	}

	/** Call cb with each object in their order; it may take that one out. */
	void
	traverse(typename callback<void, ptr<T> >::ref cb)
	{
		node *next;

		for (node *n = _nodes.first(); n != NULL; n = next) {
			next = nodes::next(n);
			(*cb)(n->elm);
		}
	}

private:
	struct node {
		const K key;
		ptr<T> elm;
		itree_entry<node> link;

		node(const K &k, const ptr<T> &of) : key(k), elm(of) {}
	};
	typedef itree<const K, node, &node::key, &node::link, C> nodes;

	nodes _nodes;

	rctree_t(const rctree_t &);
	rctree_t &operator=(const rctree_t &);

	static node *
	node_of(const ptr<T> &elm)
	{
		return static_cast<node *>((elm->*field).node());
	}

	static ptr<T>
	elm_of(node *n)
	{
		if (n != NULL)
			return n->elm;
		return NULL;
	}

	/* The object may go away only when the tree knows nothing of it. */
	void
	drop(node *n)
	{
		_nodes.remove(n);
		(n->elm->*field).leave();
		delete n;
	}
};

#endif
