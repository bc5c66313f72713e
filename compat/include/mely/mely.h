/* SPDX-License-Identifier: MIT */
/*
 * mely.h, dialect "mely": the interface of the programs written for the Mely runtime of 2010, and
 * so of libasync-smp: events are callbacks, each with a color. Two events of one color never
 * overlap, events of different colors may.
 *
 * Programs include it as "mely.h" and link libmely-compat and libmely; mely-compat-config prints
 * the flags. docs/porting.md says what differs from the original.
 *
 * Unless said otherwise a function here may be called from any thread, before amain and after.
 * Nothing runs before amain: what is posted, armed or watched earlier waits for it, and no thread
 * is started, so that the program may fork first.
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

/** Most workers that a program can have: arrays by get_current_proc() are of this length. */
#define MAX_THREADS 64
/** Colors from 0 up are reduced modulo this. */
#define MAX_COLORS 32764

/* ---- events ---- */

/**
 * Post a callback to its color: behind all that was posted to the color. The runtime deletes it
 * after it has been called, when its auto-free flag is true then. NULL does nothing.
 */
MELYCOMPAT_API void cpucb_tail(cbv cb) MELYCOMPAT_MELY(cpucb_tail);

/** The same, before all that cpucb_tail posted to the color and behind what cpucb did. */
MELYCOMPAT_API void cpucb(cbv cb) MELYCOMPAT_MELY(cpucb);

/* ---- descriptors ---- */

enum selop { selread = 0, selwrite = 1 };

/**
 * Append a callback to the queue of (fd, op). The first of the queue is called each time that fd
 * is ready, one call at a time, until it says fdcb_finished(true). NULL drops the whole queue and
 * frees its callbacks; the one that runs, if any, is freed when it has returned.
 */
MELYCOMPAT_API void fdcb(int fd, selop op, cbv cb) MELYCOMPAT_MELY(fdcb);

/** In a callback of a descriptor: is it to be taken off the queue when it returns? */
MELYCOMPAT_API void fdcb_finished(bool finished) MELYCOMPAT_MELY(fdcb_finished);

/* ---- timers ---- */

struct timecb_t; /**< the name of an armed timer; not the address of anything */

/** Post cb when CLOCK_REALTIME has reached a time, or after a delay by that clock. Never early. */
MELYCOMPAT_API timecb_t *timecb(const timespec &when, cbv cb) MELYCOMPAT_MELY(timecb);
MELYCOMPAT_API timecb_t *delaycb(time_t sec, u_int32_t nsec, cbv cb) MELYCOMPAT_MELY(delaycb);

/**
 * Disarm a timer and free its callback, also when the time has come and the callback has not been
 * called yet. NULL does nothing; a timer that has been removed before, or whose callback has been
 * called or calls this, ends the program.
 */
MELYCOMPAT_API void timecb_remove(timecb_t *timer) MELYCOMPAT_MELY(timecb_remove);

/* ---- where am I ---- */

/** The color that runs on this thread; -42 when none does. */
MELYCOMPAT_API int get_current_color() MELYCOMPAT_MELY(get_current_color);
/** The number of this worker, from 0; MAX_THREADS when this thread is none. */
MELYCOMPAT_API unsigned get_current_proc() MELYCOMPAT_MELY(get_current_proc);
/** The number of workers, known from the start. */
MELYCOMPAT_API int task_get_nthreads() MELYCOMPAT_MELY(task_get_nthreads);
#define async_get_nthreads task_get_nthreads

/* ---- the life of the program ---- */

/**
 * Start the workers and run events. Comes back when stop_hw_counters has been called once for each
 * worker and an exit handler is registered, which it has called; without one the process exits.
 */
MELYCOMPAT_API void amain() MELYCOMPAT_MELY(amain);
/** One worker is to stop: when as many calls have been made as there are workers, all do. */
MELYCOMPAT_API void stop_hw_counters() MELYCOMPAT_MELY(stop_hw_counters);

/** What amain calls before it comes back; there is one. */
MELYCOMPAT_API void register_atexit_handler(void (*fn)(void))
    MELYCOMPAT_MELY(register_atexit_handler);
/** A time in microseconds that amain prints, in seconds, when it is over. */
MELYCOMPAT_API void save_bench_time(unsigned long usec) MELYCOMPAT_MELY(save_bench_time);
/** A name for the callbacks of a function, for people; not copied. */
MELYCOMPAT_API void register_EH_name(void *function, const char *name)
    MELYCOMPAT_MELY(register_EH_name);
/** A line about each worker on standard error; with true, from its own thread. */
MELYCOMPAT_API void dump_current_state(bool on_workers) MELYCOMPAT_MELY(dump_current_state);
/** What dump_current_state counts begins anew. */
MELYCOMPAT_API void reset_runtime_stats() MELYCOMPAT_MELY(reset_runtime_stats);

/* The original declares these and has them nowhere; here they do nothing. */
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

/** Prepares the library before main: ignores SIGPIPE, and finds out how many workers there are. */
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
#define reset_threads_queue() PANIC("reset_threads_queue is not there\n")

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
/** A type with a member val of a type, padded so that neighbours share no line of this size. */
#define PAD_TYPE(type, size) \
	union { \
		type val; \
		char padding[(size) + sizeof(type) / (size) * (size)]; \
	}
#define PAD(type) PAD_TYPE(type, CACHE_LINE_SIZE)

#endif
