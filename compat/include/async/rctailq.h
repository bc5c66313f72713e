/* SPDX-License-Identifier: MIT */
/*
 * rctailq.h, dialect "async": rctailq_t<T, &T::link>, a queue that holds handles of counted
 * objects. It is an rclist_t with entries of another type, so an object can be in both.
 */
#ifndef MELYCOMPAT_ASYNC_RCTAILQ_H
#define MELYCOMPAT_ASYNC_RCTAILQ_H

#include "rclist.h"

#pragma GCC system_header

template <class T> struct rctailq_entry_t : melycompat::rc_entry {};

template <class T, rctailq_entry_t<T> T::*field> class rctailq_t
    : public melycompat::rc_list<T, rctailq_entry_t<T>, field> {
};

#endif
