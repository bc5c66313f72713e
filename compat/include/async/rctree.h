/* SPDX-License-Identifier: MIT */
/*
 * rctree.h, dialect "async": sorted trees that hold handles of counted objects.
 *
 *     struct job { rctree_entry_t<job> link; };
 *     rctree_t<int, job, &job::link> jobs;
 *     jobs.insert(7, New refcounted<job>());
 *
 * The tree holds the keys, not the objects. Several objects may have one key; they keep the order
 * of their insertion. A tree keeps its objects alive. By one entry an object is in at most one
 * tree; inserting it again, or naming an object that is not in the tree, ends the program. A tree
 * cannot be copied; its destructor drops the handles. One color at a time uses a tree.
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

	/** Insert an object that is in no tree, behind those with the same key. */
	void
	insert(const K &key, ptr<T> elm)
	{
		node *n = New node(key, elm);

		(elm->*field).enter(n);
		_nodes.insert(n);
	}

	/** Remove an object of this tree. */
	void remove(ptr<T> elm) { drop(node_of(elm)); }

	/** The first object with a key or null. */
	ptr<T> operator[](const K &key) { return elm_of(_nodes[key]); }
	ptr<const T> operator[](const K &key) const { return elm_of(_nodes[key]); }

	/** The objects in order; null at the end. */
	ptr<T> first() const { return elm_of(_nodes.first()); }
	ptr<T> last() const { return elm_of(_nodes.last()); }
	static ptr<T> next(ptr<T> elm) { return elm_of(nodes::next(node_of(elm))); }
	static ptr<T> prev(ptr<T> elm) { return elm_of(nodes::prev(node_of(elm))); }

	/** The tree itself: the top object, and those above and below an object; or null. */
	ptr<T> root() const { return elm_of(_nodes.root()); }
	static ptr<T> up(ptr<T> elm) { return elm_of(nodes::up(node_of(elm))); }
	static ptr<T> left(ptr<T> elm) { return elm_of(nodes::left(node_of(elm))); }
	static ptr<T> right(ptr<T> elm) { return elm_of(nodes::right(node_of(elm))); }

	/** A traversal in postorder; see itree. */
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

	/** The first object for which cb returns 0, or null; see itree. */
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

	/** Call cb with each object in order; it may remove that object. */
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

	/* Drop the handle only after the tree has forgotten the object. */
	void
	drop(node *n)
	{
		_nodes.remove(n);
		(n->elm->*field).leave();
		delete n;
	}
};

#endif
