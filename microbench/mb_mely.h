/* SPDX-License-Identifier: MIT */
/*
 * mb_mely.h: what our own microbenchmarks share on top of mb.h: counters that another thread
 * reads, and a runtime that runs while a side thread measures.
 */
#ifndef MB_MELY_H
#define MB_MELY_H

#ifndef __cplusplus
#include <stdatomic.h>
#endif

#include <mely/mely.h>

#include "mb.h"

/* Counters of different colors are two cache lines apart: processors fetch lines in pairs. */
#ifdef __cplusplus
#define MB_APART alignas(128)
#else
#define MB_APART _Alignas(128)
#endif

/*
 * Increment a counter. Only the events of one color write it, so a plain load and store suffice;
 * relaxed, because the measuring thread needs only a recent value (pairs with mb_counted).
 */
static inline void
mb_count(MELY_ATOMIC(uint64_t) *counter)
{
#ifdef __cplusplus
	__atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + 1,
	    __ATOMIC_RELAXED);
#else
	atomic_store_explicit(counter,
	    atomic_load_explicit(counter, memory_order_relaxed) + 1, memory_order_relaxed);
#endif
}

static inline uint64_t
mb_counted(const MELY_ATOMIC(uint64_t) *counter)
{
	/* Relaxed: pairs with mb_count, see there. */
#ifdef __cplusplus
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
#else
	return atomic_load_explicit(counter, memory_order_relaxed);
#endif
}

#ifdef __cplusplus
extern "C" {
#endif

/* The call must succeed; err is what it returned. */
static inline void
mb_must(int err, const char *what)
{
	if (__builtin_expect(err < 0, 0))
		mb_fail(what, -err);
}

/* A zeroed array at a multiple of align; fatal without memory. free() gives it back. */
void *mb_array(size_t count, size_t size, size_t align);

/* The color id of number i: dense from 1 up, or scattered over all 32 bits. */
static inline uint32_t
mb_color_id(int i, bool scattered)
{
	uint32_t n = (uint32_t)i + 1;

	/* Odd, so no two numbers share an id. */
	return scattered ? n * 2654435761u : n;
}

/* Move a color id to a core without pinning it: pin it there, then unpin it. */
void mb_color_start_on(struct mely_runtime *rt, uint32_t id, int core);

/*
 * The work of a run of counting colors: count for a window of time or, with --events, until each
 * counter has reached its share.
 */
struct mb_work {
	uint64_t limit;         /* of one counter; without --events, beyond reach */
	uint64_t events;        /* --events: of all counters */
	struct mb_fixed *fixed; /* --events */
};

void mb_work_init(struct mb_work *work, const struct mb_options *opt, int counters);

/* Increment a counter; false at its last event. */
static inline bool
mb_work_count(struct mb_work *work, MELY_ATOMIC(uint64_t) *counter)
{
	mb_count(counter);
	if (__builtin_expect(mb_counted(counter) != work->limit, 1))
		return true;
	mb_fixed_done(work->fixed);
	return false;
}

/* Its name in a report; NULL: the plain variant. */
const char *mb_work_variant(const struct mb_options *opt, bool objects);

/* A runtime with this number of cores; 0: its default. */
struct mely_runtime *mb_runtime_new(int cores);

/* The number of cores that mb_runtime_new(cores) makes. */
int mb_runtime_cores(int cores);

/* Run rt on this thread until side(ctx) returns on another thread; then free rt. */
void mb_runtime_run(struct mely_runtime *rt, void (*side)(void *ctx), void *ctx);

/* What is counted: counters 0 to count - 1, as read(NULL, i) reads them. */
struct mb_counters {
	int count;
	uint64_t (*read)(void *ctx, int i);
};

/*
 * Call start, run rt while the work is measured, free both. With --events start is called in a
 * handler, so that the clock does not count the start of the runtime.
 */
void mb_work_run(struct mb_work *work, struct mely_runtime *rt, const struct mb_options *opt,
    void (*start)(void), const struct mb_counters *counters, struct mb_sample *out);

#ifdef __cplusplus
}
#endif

#endif
