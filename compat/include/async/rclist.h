/* SPDX-License-Identifier: MIT */
/*
 * rclist.h, dialect "async": lists that hold handles of counted objects.
 *
 *     struct job { rclist_entry_t<job> link; };
 *     rclist_t<job, &job::link> jobs;
 *     jobs.insert_head(New refcounted<job>());
 *
 * A list keeps its objects alive. By one entry an object is in at most one list; inserting it
 * again, or naming an object that is not in the list, ends the program. A list cannot be copied;
 * its destructor drops the handles. One color at a time uses a list.
 */
#ifndef MELYCOMPAT_ASYNC_RCLIST_H
#define MELYCOMPAT_ASYNC_RCLIST_H

#include "list.h"
#include "rcentry.h"

#pragma GCC system_header

namespace melycompat {

/* The common list of rclist_t and rctailq_t: E is the type of the entries. */
template <class T, class E, E T::*field> class rc_list {
public:
	rc_list() {}
	~rc_list() { clear(); }

	/** Drop all. */
	void
	clear()
	{
		while (_nodes.first != NULL)
			drop(_nodes.first);
	}

	bool empty() const { return _nodes.first == NULL; }

	/** Insert an object that is in no list at an end. */
	void insert_head(ptr<T> elm) { _nodes.insert_head(enter(elm)); }
	void insert_tail(ptr<T> elm) { _nodes.insert_tail(enter(elm)); }

	/** Insert an object that is in no list behind or before one of this list. */
	void
	insert_after(ptr<T> place, ptr<T> elm)
	{
		_nodes.insert_after(node_of(place), enter(elm));
	}
	void
	insert_before(ptr<T> place, ptr<T> elm)
	{
		_nodes.insert_before(node_of(place), enter(elm));
	}

	/** Remove an object of this list and return it. */
	ptr<T>
	remove(ptr<T> elm)
	{
		drop(node_of(elm));
		return elm;
	}

	/** The first object, and the one behind another; null at the end. */
	ptr<T> first() const { return elm_of(_nodes.first); }
	static ptr<T> next(ptr<T> elm) { return elm_of(nodes::next(node_of(elm))); }

	/** Call cb with each object; it may remove that object. */
	void
	traverse(typename callback<void, ptr<T> >::ref cb)
	{
		node *next;

		for (node *n = _nodes.first; n != NULL; n = next) {
			next = nodes::next(n);
			(*cb)(n->elm);
		}
	}

private:
	struct node {
		ptr<T> elm;
		tailq_entry<node> link;

		explicit node(const ptr<T> &of) : elm(of) {}
	};
	typedef tailq<node, &node::link> nodes;

	nodes _nodes;

	rc_list(const rc_list &);
	rc_list &operator=(const rc_list &);

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

	static node *
	enter(const ptr<T> &elm)
	{
		node *n = New node(elm);

		(elm->*field).enter(n);
		return n;
	}

	/* Drop the handle only after the list has forgotten the object. */
	void
	drop(node *n)
	{
		_nodes.remove(n);
		(n->elm->*field).leave();
		delete n;
	}
};

}

template <class T> struct rclist_entry_t : melycompat::rc_entry {};

template <class T, rclist_entry_t<T> T::*field> class rclist_t
    : public melycompat::rc_list<T, rclist_entry_t<T>, field> {
};

#endif
