/* SPDX-License-Identifier: MIT */
/*
 * access.h: the atomics of mely/base/atomic.h in a simulation (-DMELYINT_SIM). Every macro first
 * calls sim_access, where another virtual thread may run; nothing comes between that call and the
 * operation. Each place in the source has a record in the section sim_sites, so a hunt can list the
 * places it never reached.
 */
#ifndef SIM_ACCESS_H
#define SIM_ACCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_kind { SIM_LOAD, SIM_STORE, SIM_RMW, SIM_CAS, SIM_COUNT, SIM_FENCE };

/* bits */
enum sim_order {
	SIM_relaxed = 0, SIM_acquire = 1, SIM_release = 2, SIM_acq_rel = 3, SIM_seq_cst = 7
};

struct sim_site {
	const char *file;
	uint32_t line;
	uint8_t kind;  /* enum sim_kind */
	uint8_t order; /* enum sim_order */
	uint8_t size;  /* bytes of the word */
	uint8_t unused;
	uint64_t hits;
	uint64_t unused_too;
};

/* The virtual thread is about to touch p here: an interleaving point. */
void sim_access(struct sim_site *site, const void *p);
/* After a compare and exchange, which counts as a relaxed load when it failed. */
void sim_access_cas(const struct sim_site *site, const void *p, bool done);
/* A pause in a spin: other threads run first. */
void sim_relax(void);

#define SIM_POINT_AT(p, what, how, id) \
	static struct sim_site sim_site_##id \
	    __attribute__((section("sim_sites"), used, aligned(32))) = \
	    {__FILE__, __LINE__, (what), SIM_##how, sizeof *(p), 0, 0, 0}; \
	sim_access(&sim_site_##id, (const void *)(uintptr_t)(p))

#define SIM_LOAD_(p, order, id) \
	({ \
		SIM_POINT_AT(p, SIM_LOAD, order, id); \
		atomic_load_explicit((p), memory_order_##order); \
	})
/* Evaluate the value first: it may contain interleaving points. */
#define SIM_STORE_(p, v, order, id) \
	({ \
		__auto_type sim_value_##id = (v); \
		SIM_POINT_AT(p, SIM_STORE, order, id); \
		atomic_store_explicit((p), sim_value_##id, memory_order_##order); \
	})
#define SIM_RMW_(op, p, v, order, id) \
	({ \
		__auto_type sim_value_##id = (v); \
		SIM_POINT_AT(p, SIM_RMW, order, id); \
		op((p), sim_value_##id, memory_order_##order); \
	})
#define SIM_CAS_(p, expected, desired, order, id) \
	({ \
		__auto_type sim_value_##id = (desired); \
		SIM_POINT_AT(p, SIM_CAS, order, id); \
		bool sim_done_##id = atomic_compare_exchange_strong_explicit((p), (expected), \
		    sim_value_##id, memory_order_##order, memory_order_relaxed); \
		sim_access_cas(&sim_site_##id, (const void *)(uintptr_t)(p), sim_done_##id); \
		sim_done_##id; \
	})
/* Between the load and the store: a counter with two writers loses a count. */
#define SIM_COUNT_(p, n, id) \
	({ \
		__auto_type sim_value_##id = \
		    atomic_load_explicit((p), memory_order_relaxed) + (n); \
		SIM_POINT_AT(p, SIM_COUNT, relaxed, id); \
		atomic_store_explicit((p), sim_value_##id, memory_order_relaxed); \
	})
/* A fence touches no word. */
#define SIM_FENCE_(order, id) \
	({ \
		SIM_POINT_AT((const char *)NULL, SIM_FENCE, order, id); \
	})
#define SIM_ID_(macro, id, ...) macro(__VA_ARGS__, id)
#define SIM_ID(macro, id, ...) SIM_ID_(macro, id, __VA_ARGS__)

#define MELY_LOAD(p, order) SIM_ID(SIM_LOAD_, __COUNTER__, p, order)
#define MELY_STORE(p, v, order) SIM_ID(SIM_STORE_, __COUNTER__, p, v, order)
#define MELY_EXCHANGE(p, v, order) \
	SIM_ID(SIM_RMW_, __COUNTER__, atomic_exchange_explicit, p, v, order)
#define MELY_ADD(p, v, order) \
	SIM_ID(SIM_RMW_, __COUNTER__, atomic_fetch_add_explicit, p, v, order)
#define MELY_SUB(p, v, order) \
	SIM_ID(SIM_RMW_, __COUNTER__, atomic_fetch_sub_explicit, p, v, order)
#define MELY_OR(p, v, order) SIM_ID(SIM_RMW_, __COUNTER__, atomic_fetch_or_explicit, p, v, order)
#define MELY_AND(p, v, order) \
	SIM_ID(SIM_RMW_, __COUNTER__, atomic_fetch_and_explicit, p, v, order)
#define MELY_CAS(p, expected, desired, order) \
	SIM_ID(SIM_CAS_, __COUNTER__, p, expected, desired, order)
#define MELY_COUNT(p, n) SIM_ID(SIM_COUNT_, __COUNTER__, p, n)
#define MELY_FENCE(order) SIM_ID(SIM_FENCE_, __COUNTER__, order)

#endif
