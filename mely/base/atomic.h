/* SPDX-License-Identifier: MIT */
/*
 * atomic.h: the only way to an atomic. The memory order is a mandatory word of every call; there
 * is no sequentially consistent default. Every use says in a comment what it pairs with.
 */
#ifndef MELYINT_BASE_ATOMIC_H
#define MELYINT_BASE_ATOMIC_H

#include <stdatomic.h>
#include <stdbool.h>

#ifdef MELYINT_SIM /* compiled for the simulation: each is an interleaving point */
#include "access.h"
#else
#define MELY_LOAD(p, order) atomic_load_explicit((p), memory_order_##order)
#define MELY_STORE(p, v, order) atomic_store_explicit((p), (v), memory_order_##order)
#define MELY_EXCHANGE(p, v, order) atomic_exchange_explicit((p), (v), memory_order_##order)
#define MELY_ADD(p, v, order) atomic_fetch_add_explicit((p), (v), memory_order_##order)
#define MELY_SUB(p, v, order) atomic_fetch_sub_explicit((p), (v), memory_order_##order)
#define MELY_OR(p, v, order) atomic_fetch_or_explicit((p), (v), memory_order_##order)
#define MELY_AND(p, v, order) atomic_fetch_and_explicit((p), (v), memory_order_##order)
#define MELY_CAS(p, expected, desired, order) \
	atomic_compare_exchange_strong_explicit((p), (expected), (desired), \
	    memory_order_##order, memory_order_relaxed)

/* A fence of its own, where a store and a load after it must not pass each other. ThreadSanitizer
 * does not know fences: code for it must do without. */
#define MELY_FENCE(order) atomic_thread_fence(memory_order_##order)

/* A counter with a single writer: a plain addition that readers may see at any time. */
#define MELY_COUNT(p, n) \
	atomic_store_explicit((p), atomic_load_explicit((p), memory_order_relaxed) + (n), \
	    memory_order_relaxed)
#endif

#endif
