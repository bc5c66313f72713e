/* SPDX-License-Identifier: MIT */
/*
 * union.h, dialect "async": unions of types with constructors. The members of a union are
 *
 *     union_entry_base _base;
 *     union_entry<T> one;
 *     union_entry<U> other;
 *
 * The class that contains the union calls _base.init() in its constructor and _base.destroy() in
 * its destructor. one.select() makes a T the value; *one and one->member then refer to that T, and
 * one converts to its address. If TUNION_DEBUG is defined as nonzero, each access checks which
 * member is selected. One color at a time.
 */
#ifndef MELYCOMPAT_ASYNC_UNION_H
#define MELYCOMPAT_ASYNC_UNION_H

#include <new>

#include "misuse.h"

#pragma GCC system_header

class union_entry_base;
template <class T> class union_entry;

namespace melycompat {

/** The operations on the value of a union whose type is unknown. */
struct union_ops {
	void (*destroy)(union_entry_base *value);
	void (*copy)(union_entry_base *fresh, const union_entry_base *from);
	void (*assign)(union_entry_base *value, const union_entry_base *from);
};

}

/** The value of a union, whatever its type: common to all members. */
class union_entry_base
{
public:
	/** Start without a value. Call this first, as the union has no constructor. */
	void init() { _ops = NULL; }
	/** Start with a copy of another union's value, if it has one. Call this first. */
	void
	init(const union_entry_base &from)
	{
		_ops = NULL;
		if (from._ops != NULL)
			from._ops->copy(this, &from);
		_ops = from._ops;
	}
	/** Destroy the value; the union then has none. */
	void
	destroy()
	{
		const melycompat::union_ops *ops = _ops;

		_ops = NULL;
		if (ops != NULL)
			ops->destroy(this);
	}
	/** Copy another union's value: with operator= if the types are equal. */
	void
	assign(const union_entry_base &from)
	{
		if (_ops != NULL && _ops == from._ops) {
			_ops->assign(this, &from);
		} else {
			destroy();
			init(from);
		}
	}

protected:
	const melycompat::union_ops *_ops; /**< those of the value's type; NULL: no value */
};

template <class T> class union_entry : public union_entry_base
{
public:
	/** Make a T the value, unless it already is one; constructed without arguments, or 0. */
	void
	select()
	{
		if (!constructed()) {
			destroy();
			new (static_cast<void *>(_value)) T();
			_ops = &ops;
		}
	}
	/** Is the value a T? */
	bool constructed() const { return _ops == &ops; }
	/** Treat the value, of another type with the same layout, as a T. */
	void Xstompcast() { _ops = &ops; }

	T *addr() { return static_cast<T *>(checked()); }
	const T *addr() const { return static_cast<const T *>(checked()); }
	T &operator*() { return *addr(); }
	const T &operator*() const { return *addr(); }
	T *operator->() { return addr(); }
	const T *operator->() const { return addr(); }
	operator T *() { return addr(); }
	operator const T *() const { return addr(); }

private:
	void *
	checked() const
	{
#if TUNION_DEBUG
		if (!constructed())
			container_misused("union_entry: another type is selected");
#endif
		return const_cast<char *>(_value);
	}

	static void *
	value_of(union_entry_base *entry)
	{
		return static_cast<union_entry *>(entry)->_value;
	}
	static const T &
	value_of(const union_entry_base *entry)
	{
		const void *value = static_cast<const union_entry *>(entry)->_value;

		return *static_cast<const T *>(value);
	}
	static void
	destroy_value(union_entry_base *entry)
	{
		static_cast<T *>(value_of(entry))->~T();
	}
	static void
	copy_value(union_entry_base *fresh, const union_entry_base *from)
	{
		new (value_of(fresh)) T(value_of(from));
	}
	static void
	assign_value(union_entry_base *entry, const union_entry_base *from)
	{
		*static_cast<T *>(value_of(entry)) = value_of(from);
	}

	static const melycompat::union_ops ops;

	char _value[sizeof(T)] __attribute__((aligned(__alignof__(T))));
};

template <class T> const melycompat::union_ops union_entry<T>::ops = {
	union_entry<T>::destroy_value,
	union_entry<T>::copy_value,
	union_entry<T>::assign_value,
};

/** The state without a value, as a member. */
template <> class union_entry<void> : public union_entry_base
{
public:
	void select() { destroy(); }
	bool constructed() const { return _ops == NULL; }
};

#endif
