/* SPDX-License-Identifier: MIT */
/*
 * held.h: a callback as the parts of the library that know no types hold it: one reference in a
 * plain pointer. Any thread.
 */
#ifndef MELYCOMPAT_HELD_H
#define MELYCOMPAT_HELD_H

#include "../include/async/callback.h"

namespace melycompat {

/** A reference to a callback, to be dropped once. */
void *hold(const callback<void>::ref &cb);

/** The same, the reference being that of cb, which is good for nothing but its destructor then. */
inline void *
hold(callback<void>::ref &&cb)
{
	callback<void> *object = cb.get();

	if (__builtin_expect(cb._count != object, 0))
		return hold(static_cast<const callback<void>::ref &>(cb));
	cb._object = NULL;
	cb._count = NULL;
	return object;
}

/** Its callback: to be called, and with the color and the rest. */
inline callback<void> *
callback_of(void *held)
{
	return static_cast<callback<void> *>(held);
}

/** Give the reference back; with the last one the callback and what is bound go away, here. */
inline void
drop(void *held)
{
	callback_of(held)->refcount_dec();
}

}

#endif
