/* SPDX-License-Identifier: MIT */
/*
 * qtailq.h, dialect "async": qtailq_t<T>, a queue that owns copies of its elements. Elements do not
 * move. One color at a time uses a queue.
 */
#ifndef MELYCOMPAT_ASYNC_QTAILQ_H
#define MELYCOMPAT_ASYNC_QTAILQ_H

#include "list.h"
#include "misuse.h"
#include "opnew.h"

#pragma GCC system_header

template <class T> class qtailq_t {
public:
	/** An element and its link in a queue. */
	struct slot {
		T value;
		tailq_entry<slot> link;

		explicit slot(const T &v) : value(v) {}
	};

	qtailq_t() : _size(0) {}
	qtailq_t(const qtailq_t &from) : _size(0) { copy(from); }
	~qtailq_t() { clear(); }

	qtailq_t &
	operator=(const qtailq_t &from)
	{
		if (&from != this) {
			clear();
			copy(from);
		}
		return *this;
	}

	/** Drop all elements. */
	void
	clear()
	{
		while (_slots.first != NULL)
			remove(_slots.first);
	}

	size_t size() const { return _size; }
	bool empty() const { return _size == 0; }

	/** Insert a copy at an end; returns its address. */
	T *
	insert_head(const T &v)
	{
		slot *s = New slot(v);

		_slots.insert_head(s);
		_size++;
		return &s->value;
	}
	T *
	insert_tail(const T &v)
	{
		slot *s = New slot(v);

		_slots.insert_tail(s);
		_size++;
		return &s->value;
	}

	/** Remove the first element and return it; an empty queue ends the program. */
	T
	pop_head()
	{
		if (_slots.first == NULL)
			container_misused("qtailq_t: the queue is empty");
		T v(_slots.first->value);

		remove(_slots.first);
		return v;
	}

	/** The elements by their slots: the first, the next ones; NULL at the end. */
	slot *first() const { return _slots.first; }
	static slot *next(const slot *s) { return slots::next(s); }

	/** Drop an element. */
	void
	remove(slot *s)
	{
		_slots.remove(s);
		_size--;
		delete s;
	}

	/** Call cb with each element; it may drop that one. */
	void
	traverse(typename callback<void, T *>::ref cb)
	{
		slot *next;

		for (slot *s = _slots.first; s != NULL; s = next) {
			next = slots::next(s);
			(*cb)(&s->value);
		}
	}

private:
	typedef tailq<slot, &slot::link> slots;

	slots _slots;
	size_t _size;

	void
	copy(const qtailq_t &from)
	{
		for (slot *s = from.first(); s != NULL; s = next(s))
			insert_tail(s->value);
	}
};

#endif
