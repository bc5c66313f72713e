/* SPDX-License-Identifier: MIT */
/*
 * rcentry.h, dialect "async": the entry of a counted object in a container that holds a handle of
 * it: rclist_t, rctailq_t, rctree_t. The object only has a pointer to the container's node.
 */
#ifndef MELYCOMPAT_ASYNC_RCENTRY_H
#define MELYCOMPAT_ASYNC_RCENTRY_H

#include "misuse.h"
#include "refcnt.h"

#pragma GCC system_header

namespace melycompat {

class rc_entry {
	void *_node;

public:
	rc_entry() : _node(NULL) {}
	rc_entry(const rc_entry &) : _node(NULL) {}
	rc_entry &operator=(const rc_entry &) { return *this; }
	~rc_entry()
	{
		if (_node != NULL)
			container_misused("an object died in a container that holds it");
	}

	/** Is the object in a container by this entry? */
	bool is_in_list() const { return _node != NULL; }

	/** For the container only. */
	void
	enter(void *node)
	{
		if (_node != NULL)
			container_misused("an object was inserted twice");
		_node = node;
	}
	void leave() { _node = NULL; }
	void *
	node() const
	{
		if (_node == NULL)
			container_misused("an object is not in the container");
		return _node;
	}
};

}

#endif
