/* SPDX-License-Identifier: MIT */
/*
 * rclist.h, dialect "async": lists that hold handles of counted objects.
 *
 *     struct job { rclist_entry_t<job> link; };
 *     rclist_t<job, &job::link> jobs;
 *     jobs.insert_head(New refcounted<job>());
 *
 * An object does not go away while it is in a list. By one entry it is in one list at most; to put
 * it in once more, or to name one that is not in, ends the program. A list is not copied; its end
 * drops the handles. It is used by one color at a time.
 */
#ifndef MELYCOMPAT_ASYNC_RCLIST_H
#define MELYCOMPAT_ASYNC_RCLIST_H

#include "list.h"
#include "rcentry.h"

#pragma GCC system_header

namespace melycompat {

/* The list of both rclist_t and rctailq_t: E is the type of their entries. */
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

	/** Put in an object, which is in no list, at an end. */
	void insert_head(ptr<T> elm) { _nodes.insert_head(enter(elm)); }
	void insert_tail(ptr<T> elm) { _nodes.insert_tail(enter(elm)); }

	/** The same, behind or in front of one that is in this list. */
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

	/** Take an object out of this list and return it. */
	ptr<T>
	remove(ptr<T> elm)
	{
		drop(node_of(elm));
		return elm;
	}

	/** The first object, and the one behind another; null at the end. */
	ptr<T> first() const { return elm_of(_nodes.first); }
	static ptr<T> next(ptr<T> elm) { return elm_of(nodes::next(node_of(elm))); }

	/** Call cb with each object; it may take that one out. */
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

	/* The object may go away only when the list knows nothing of it. */
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
