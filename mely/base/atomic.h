/* SPDX-License-Identifier: MIT */
/*
 * atomic.h: the only access to atomics. Every call names its memory order; there is no sequentially
 * consistent default. A comment at every use names its partner.
 */
#ifndef MELYINT_BASE_ATOMIC_H
#define MELYINT_BASE_ATOMIC_H

#include <stdatomic.h>
#include <stdbool.h>

#ifdef MELYINT_SIM /* in the simulation each is an interleaving point */
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

/* A fence between a store and a later load. ThreadSanitizer executes it, but sees no order in it,
 * and gcc warns of that. So a fence may order atomics only: if plain data relied on one, the
 * sanitizer would report it. */
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan"
#endif
#define MELY_FENCE(order) atomic_thread_fence(memory_order_##order)

/* Add to a counter that has a single writer and any readers: no read-modify-write. */
#define MELY_COUNT(p, n) \
	atomic_store_explicit((p), atomic_load_explicit((p), memory_order_relaxed) + (n), \
	    memory_order_relaxed)
#endif

/* For assertions and their witnesses alone: relaxed, and in the simulation not an interleaving
 * point, so that developer and release builds have the same schedules. */
#define MELY_PEEK(p) atomic_load_explicit((p), memory_order_relaxed)
#define MELY_POKE(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)

#endif
