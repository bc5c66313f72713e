/* SPDX-License-Identifier: MIT */
/*
 * mely.h, dialect "mely": the interface of programs for the Mely runtime of 2010, and for
 * libasync-smp: events are callbacks, each with a color. Two events of one color never overlap;
 * events of different colors may.
 *
 * Programs include it as "mely.h" and link libmely-compat and libmely; mely-compat-config prints
 * the flags. docs/porting.md says what differs from the original.
 *
 * Any thread may call these functions, before and after amain, unless a comment says otherwise.
 * Nothing runs before amain: earlier posts, timers and descriptor callbacks wait for it. No thread
 * starts before amain either, so the program may fork first.
 */
#ifdef MELYCOMPAT_DIALECT_ASYNC
#error "async.h and mely.h are two dialects: a source file includes one of them"
#endif
#ifndef _ASYNC_ASYNC_H_
#define _ASYNC_ASYNC_H_
#define MELYCOMPAT_DIALECT_MELY 1

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "../melycompat/link.h"
#include "callback.h"

#pragma GCC system_header

/** The maximum number of workers: the length of arrays indexed by get_current_proc(). */
#define MAX_THREADS 64
/** Non-negative colors are reduced modulo this. */
#define MAX_COLORS 32764

/* ---- events ---- */

/**
 * Post a callback to its color, behind all earlier posts to that color. After the call the runtime
 * deletes the callback if its auto-free flag is true. NULL does nothing.
 */
MELYCOMPAT_API void cpucb_tail(cbv cb) MELYCOMPAT_MELY(cpucb_tail);

/** Like cpucb_tail, but ahead of the posts of cpucb_tail and behind those of cpucb. */
MELYCOMPAT_API void cpucb(cbv cb) MELYCOMPAT_MELY(cpucb);

/* ---- descriptors ---- */

enum selop { selread = 0, selwrite = 1 };

/**
 * Append a callback to the queue of (fd, op). The head of the queue is called each time fd is
 * ready, one call at a time, until it calls fdcb_finished(true). NULL drops the whole queue and
 * frees its callbacks; a callback that is running is freed after it returns.
 */
MELYCOMPAT_API void fdcb(int fd, selop op, cbv cb) MELYCOMPAT_MELY(fdcb);

/** In a callback of a descriptor: true removes it from the queue after it returns. */
MELYCOMPAT_API void fdcb_finished(bool finished) MELYCOMPAT_MELY(fdcb_finished);

/* ---- timers ---- */

struct timecb_t; /**< a pointer to it names an armed timer, and is not an address */

/** Post cb at a time of CLOCK_REALTIME, or after a delay by that clock. Never early. */
MELYCOMPAT_API timecb_t *timecb(const timespec &when, cbv cb) MELYCOMPAT_MELY(timecb);
MELYCOMPAT_API timecb_t *delaycb(time_t sec, u_int32_t nsec, cbv cb) MELYCOMPAT_MELY(delaycb);

/**
 * Disarm a timer and free its callback, also if the timer has expired but the callback has not been
 * called. NULL does nothing. The program ends if the timer was removed before, or if its callback
 * has been called or makes this call.
 */
MELYCOMPAT_API void timecb_remove(timecb_t *timer) MELYCOMPAT_MELY(timecb_remove);

/* ---- where am I ---- */

/** The color that runs on this thread, or -42. */
MELYCOMPAT_API int get_current_color() MELYCOMPAT_MELY(get_current_color);
/** The number of this worker, from 0; MAX_THREADS on a thread that is not a worker. */
MELYCOMPAT_API unsigned get_current_proc() MELYCOMPAT_MELY(get_current_proc);
/** The number of workers, fixed before main. */
MELYCOMPAT_API int task_get_nthreads() MELYCOMPAT_MELY(task_get_nthreads);
#define async_get_nthreads task_get_nthreads

/* ---- the life of the program ---- */

/**
 * Start the workers and run events, until stop_hw_counters has been called once for each worker.
 * Then call the registered exit handler and return; without a handler the process exits.
 */
MELYCOMPAT_API void amain() MELYCOMPAT_MELY(amain);
/** Stop one worker: all of them stop after as many calls as there are workers. */
MELYCOMPAT_API void stop_hw_counters() MELYCOMPAT_MELY(stop_hw_counters);

/** The exit handler that amain calls before it returns; there is one at a time. */
MELYCOMPAT_API void register_atexit_handler(void (*fn)(void))
    MELYCOMPAT_MELY(register_atexit_handler);
/** A time in microseconds that amain prints, in seconds, at its end. */
MELYCOMPAT_API void save_bench_time(unsigned long usec) MELYCOMPAT_MELY(save_bench_time);
/** A readable name for the callbacks of a function; not copied. */
MELYCOMPAT_API void register_EH_name(void *function, const char *name)
    MELYCOMPAT_MELY(register_EH_name);
/** Print a line about each worker on standard error; true: from the thread of the worker. */
MELYCOMPAT_API void dump_current_state(bool on_workers) MELYCOMPAT_MELY(dump_current_state);
/** Restart the counts of dump_current_state. */
MELYCOMPAT_API void reset_runtime_stats() MELYCOMPAT_MELY(reset_runtime_stats);

/* The original declares these functions and does not define them; here they do nothing. */
MELYCOMPAT_API void register_atempty_handler(void (*fn)(void))
    MELYCOMPAT_MELY(register_atempty_handler);
MELYCOMPAT_API void register_task_avg_duration(void *function, unsigned long cycles)
    MELYCOMPAT_MELY(register_task_avg_duration);

MELYCOMPAT_API void melycompat_init(int workers) MELYCOMPAT_MELY(init);

#ifdef NB_THREADS
#define MELYC_WORKERS NB_THREADS
#else
#define MELYC_WORKERS 0
#endif

/** Prepares the library before main: ignores SIGPIPE and determines the number of workers. */
static class async_init
{
public:
	async_init() { melycompat_init(MELYC_WORKERS); }
} async_init __attribute__((unused));

#undef MELYC_WORKERS

/* ---- macros ---- */

#undef DEBUG
#define DEBUG(...)
#define PRINT_ALERT(msg, args...) \
	fprintf(stderr, "(%s,%d) " msg, __FUNCTION__, __LINE__, ##args);
#define DEBUG_TMP(msg, args...) \
	fprintf(stderr, "(%s,%d) " msg, __FUNCTION__, __LINE__, ##args)
#define PANIC(msg, args...) \
	{ \
		PRINT_ALERT(msg, ##args) \
		exit(1); \
	}
#define reset_threads_queue() PANIC("reset_threads_queue does not exist\n")

#if defined(__x86_64__) || defined(__i386__)
#define rdtscll(val) \
	do { \
		unsigned rdtscll_low_, rdtscll_high_; \
		__asm__ __volatile__("rdtsc" : "=a"(rdtscll_low_), "=d"(rdtscll_high_)); \
		(val) = (unsigned long long)rdtscll_high_ << 32 | rdtscll_low_; \
	} while (0)
#else /* nanoseconds */
#define rdtscll(val) \
	do { \
		timespec rdtscll_; \
		clock_gettime(CLOCK_MONOTONIC, &rdtscll_); \
		(val) = rdtscll_.tv_sec * 1000000000ull + rdtscll_.tv_nsec; \
	} while (0)
#endif

#ifndef CACHE_LINE_SIZE
#define CACHE_LINE_SIZE 64
#endif
#define PADDING_SIZE CACHE_LINE_SIZE
/** A type with a member val, padded so that neighbours share no cache line of this size. */
#define PAD_TYPE(type, size) \
	union { \
		type val; \
		char padding[(size) + sizeof(type) / (size) * (size)]; \
	}
#define PAD(type) PAD_TYPE(type, CACHE_LINE_SIZE)

#endif
