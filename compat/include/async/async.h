/* SPDX-License-Identifier: MIT */
/*
 * async.h, dialect "async": the event loop of libasync, and the headers that nearly every program
 * uses with it.
 *
 * A callback has a color: 0 unless cwrap or cpwrap gives it another. Callbacks of one color never
 * overlap, so a program without colors behaves like a program with one thread. Callbacks of every
 * color may call the functions marked "any thread"; call the others in color 0 and in main.
 *
 * Nothing runs and no thread starts before amain or acheck; the program may fork first.
 *
 * Color 0 runs in passes, in this order: callbacks of lazycb, the wait, signals and children,
 * descriptors from the lowest up (reading before writing), timers by their times, callbacks of
 * yieldcb. A callback that an earlier one of the pass disables is not called. Callbacks of other
 * colors are separate events.
 */
#ifdef MELYCOMPAT_DIALECT_MELY
#error "async.h and mely.h are two dialects: a source file includes one of them"
#endif
#ifndef _ASYNC_ASYNC_H_
#define _ASYNC_ASYNC_H_

#include "sysconf.h"

#include "generic.h"
#include "callback.h"
#include "init.h"

#include "asock.h" /* selop */

#pragma GCC system_header

/** The maximum number of workers: the length of arrays indexed by get_current_proc(). */
#define MAX_THREADS 64
/** Non-negative colors are reduced modulo this. */
#define MAX_COLORS 32764

/* ---- the loop ---- */

/**
 * Start the workers and run events. Does not return: a program ends by exit in a callback. Call it
 * once, in main; a second call ends the program.
 */
void amain() __attribute__((noreturn));

/**
 * Run one pass of color 0: wait for the first event, unless one is due, and call its callback. Call
 * it in main instead of amain (then callbacks of all colors run in it, one after another), or in a
 * callback of color 0, inside which other callbacks of color 0 then run.
 */
void acheck();

/* ---- events of colors ---- */

/**
 * Post a callback to its color, behind all earlier posts to that color. Any thread. NULL does
 * nothing. The event holds a reference until the callback returns.
 */
void cpucb_tail(cbv::ptr cb);
/** Like cpucb_tail, but ahead of the posts of cpucb_tail and behind those of cpucb. */
void cpucb(cbv::ptr cb);

/** The color that runs on this thread, or -42. Any thread. */
int get_current_color();
/** The number of this worker, from 0; MAX_THREADS on a thread that is not a worker. */
unsigned get_current_proc();
/** The number of workers, fixed before main. Any thread. */
int task_get_nthreads();
#define async_get_nthreads task_get_nthreads

/* ---- descriptors ---- */

/**
 * fdcb(fd, op, cb): call cb, in its color, each time fd is ready for reading or writing; a hang-up
 * or an error makes both ready. cb replaces the previous callback; NULL removes it. A descriptor
 * that the system cannot wait for, such as a file, is always ready. Any thread; a dropped callback
 * of another color may still be running. Close fd only after removing its callbacks. Ends the
 * program if fd is not open; in color 0, if it still is not when the running callbacks are over.
 */
void _fdcb(int fd, selop op, cbv::ptr cb, const char *file = NULL, int line = -1);
/* A function, for wrap(fdcb, fd, op, cb). */
inline void
fdcb(int fd, selop op, cbv::ptr cb)
{
	_fdcb(fd, op, cb);
}
#define fdcb(fd, op, cb) _fdcb(fd, op, cb, __FILE__, __LINE__)

/* ---- timers ---- */

struct timecb_t; /**< names an armed timer; not an address to dereference */

/**
 * Call cb, in its color, at a time of CLOCK_REALTIME, or after a delay by that clock; never early,
 * also by time(NULL). Timers of equal time run in the order armed; a delay of 0 runs before all
 * others. tv_nsec and ns may be any number. Any thread.
 */
timecb_t *timecb(const timespec &when, cbv cb);
timecb_t *timecb(time_t when, cbv cb);
timecb_t *delaycb(time_t s, u_int32_t ns, cbv cb);
timecb_t *delaycb(time_t s, cbv cb);

/**
 * Disarm a timer and drop its callback, also if the timer has expired but the callback has not been
 * called. NULL does nothing. The program aborts if the timer was removed, or if its callback has
 * been called or makes this call. Any thread; a callback of another color may be running now.
 */
void timecb_remove(timecb_t *timer);

/* ---- the rest of the loop: color 0 ---- */

/**
 * Call cb after a signal arrives, once for any number of signals since the last call. NULL restores
 * the default action. The signal is unblocked; sa_flags are those of sigaction. Returns the
 * previous callback. A callback for SIGCHLD replaces the loop's own, which serves chldcb.
 */
cbv::ptr sigcb(int sig, cbv::ptr cb, int sa_flags = 0);

/**
 * Call cb with the status of waitpid after the child pid ends. NULL, or another callback for that
 * child, drops cb. The loop reaps all children, with and without a callback: call this before the
 * callback that forked returns. With a z in the environment variable SFS_OPTIONS the loop reaps
 * only children with a callback, and cb is called at once for a child that has already ended.
 */
void chldcb(pid_t pid, cbi::ptr cb);

struct lazycb_t;
struct yieldcb_t;

/** Call cb about every min_s seconds, in whole seconds, in a pass that runs anyway. */
lazycb_t *lazycb(time_t min_s, cbv cb);
/** Stop the calls and drop the callback; NULL does nothing. */
void lazycb_remove(lazycb_t *lazy);

/** Call cb once, at the end of this pass or the next; does not start a pass. */
yieldcb_t *yieldcb(cbv cb);
/** Cancel the call. NULL does nothing; the program aborts if it was called already. */
void yieldcb_remove(yieldcb_t *yield);

/* ---- clocks ---- */

/**
 * CLOCK_REALTIME at the start of the pass; with force, the current time. In colors other than 0
 * always the current time. Any thread.
 */
time_t sfs_get_timenow(bool force = false);
timespec sfs_get_tsnow(bool force = false);

/**
 * These times as variables; color 0. Only if the program defines MELYCOMPAT_TIMENOW: libasync had
 * them, sfslite does not, and programs for it have such names of their own.
 */
#ifdef MELYCOMPAT_TIMENOW
extern timespec tsnow __asm__("melycompat_async_tsnow");
extern const time_t &timenow __asm__("melycompat_async_timenow");
#endif

/* ---- before main ---- */

/**
 * Each source file has an object of this type. The first constructor ignores SIGPIPE, raises the
 * soft limit of descriptors towards the hard limit, and stores the original limits in the
 * environment (FDLIM_HARD, FDLIM_SOFT); the last destructor writes the rest of standard error.
 */
INIT(async_init);

/* ---- the originals' choice between select, epoll and kqueue ---- */

namespace sfs_core {

enum select_policy_t { SELECT_NONE, SELECT_STD, SELECT_EPOLL, SELECT_KQUEUE };

/** 0 for SELECT_STD and SELECT_EPOLL, which have the same effect; else -1. */
int set_select_policy(select_policy_t policy);
/** With true, color 0 polls without waiting. In main or color 0. */
void set_busywait(bool on);
/** Does nothing. */
void set_compact_interval(u_int interval);
/** With true, the loop reaps only children with a callback, like a z in SFS_OPTIONS; see chldcb. */
void set_zombie_collect(bool on);

}

/** The version of sfslite that programs see; these headers have all of its calls. */
#define SFSLITE_VERSION_MAJOR 1
#define SFSLITE_VERSION_MINOR 2
#define SFSLITE_VERSION_PATCHLEVEL 9
#define SFSLITE_VERSION_PRE 113
#define SFSLITE_PATCHLEVEL_STR "1.2.9.113"
/** Whether the version is at least this one. For #if. */
#define SFSLITE_AT_VERSION(major, minor, patch, pre) \
	(SFSLITE_VERSION_MAJOR != (major) ? SFSLITE_VERSION_MAJOR > (major) : \
	    SFSLITE_VERSION_MINOR != (minor) ? SFSLITE_VERSION_MINOR > (minor) : \
	    SFSLITE_VERSION_PATCHLEVEL != (patch) ? SFSLITE_VERSION_PATCHLEVEL > (patch) : \
	    SFSLITE_VERSION_PRE >= (pre))

/* Programs rely on async.h to include these: */
#include "amisc.h"
#include "ifchg.h"
#include "litetime.h"
#include "sfs_bundle.h"
#include "sfs_const.h"

/* Again, because a system header included above may redefine it. */
#undef NULL
#define NULL 0

#endif
