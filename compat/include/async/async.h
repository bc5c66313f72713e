/* SPDX-License-Identifier: MIT */
/*
 * async.h, dialect "async": the event loop of libasync, and what nearly every program needs with
 * it.
 *
 * A callback belongs to a color: 0 unless cwrap or cpwrap gave it another one. Those of one color
 * never overlap, so that a program without colors is a program of one thread. What is said to be
 * for any thread may be called in callbacks of all colors; the rest in color 0 and in main.
 *
 * Nothing runs and no thread is started before amain or acheck; the program may fork first.
 *
 * What is ready in color 0 runs in passes, and a pass has an order: callbacks of lazycb, then the
 * wait, then signals and children, descriptors from the lowest up (reading before writing), timers
 * by their times, callbacks of yieldcb. One that has been disabled by an earlier one of the pass is
 * not called. Callbacks of other colors are events of their own.
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
#include "rwfd.h"

#pragma GCC system_header

/** Most workers that a program can have: arrays by get_current_proc() are of this length. */
#define MAX_THREADS 64
/** Colors from 0 up are reduced modulo this. */
#define MAX_COLORS 32764

/* ---- the loop ---- */

/**
 * Start the workers and run events for good: a program ends by exit in a callback. Called by main,
 * once; a second call ends the program.
 */
void amain() __attribute__((noreturn));

/**
 * One pass of color 0: waits for what comes first, unless something is due, and calls it. In main
 * instead of amain (callbacks of all colors then run here, one after another), or in a callback
 * of color 0, where it makes other callbacks of color 0 run inside that one.
 */
void acheck();

/* ---- events of colors ---- */

/**
 * Post a callback to its color: behind all that was posted to the color. Any thread. NULL does
 * nothing. The event has a reference until the callback has returned.
 */
void cpucb_tail(cbv::ptr cb);
/** The same, before all that cpucb_tail posted to the color and behind what cpucb did. */
void cpucb(cbv::ptr cb);

/** The color that runs on this thread; -42 when none does. Any thread. */
int get_current_color();
/** The number of this worker, from 0; MAX_THREADS when this thread is none. Any thread. */
unsigned get_current_proc();
/** The number of workers, known from the start. Any thread. */
int task_get_nthreads();
#define async_get_nthreads task_get_nthreads

/* ---- descriptors ---- */

enum selop { selread = 0, selwrite = 1 };

/**
 * fdcb(fd, op, cb): from now on call cb, in its color, whenever fd is ready for reading or writing;
 * a hang-up or an error is both. It takes the place of the one before; NULL leaves none. What the
 * system can not wait for, a file for instance, is always ready. Any thread; a callback of another
 * color that is dropped may be running now. Close fd only after it has no callbacks. Ends the
 * program when fd is not open.
 */
void _fdcb(int fd, selop op, cbv::ptr cb, const char *file = NULL, int line = -1);
/* As a function, for wrap(fdcb, fd, op, cb). */
inline void
fdcb(int fd, selop op, cbv::ptr cb)
{
	_fdcb(fd, op, cb);
}
#define fdcb(fd, op, cb) _fdcb(fd, op, cb, __FILE__, __LINE__)

/* ---- timers ---- */

struct timecb_t; /**< the name of an armed timer; not the address of anything */

/**
 * Call cb, in its color, when CLOCK_REALTIME has reached a time, or after a delay by that clock;
 * never early, not by time(NULL) either. Timers of one time run in the order in which they were
 * armed; a delay of 0 comes before all others. tv_nsec and ns may be any number. Any thread.
 */
timecb_t *timecb(const timespec &when, cbv cb);
timecb_t *timecb(time_t when, cbv cb);
timecb_t *delaycb(time_t s, u_int32_t ns, cbv cb);
timecb_t *delaycb(time_t s, cbv cb);

/**
 * Disarm a timer and drop its callback, also when the time has come and it has not been called
 * yet. NULL does nothing; a timer that has been called, calls this or was removed ends the program
 * by abort. Any thread; one of another color may be running now.
 */
void timecb_remove(timecb_t *timer);

/* ---- the rest of the loop: color 0 ---- */

/**
 * Call cb when the process has got a signal, once for any number of them since the last time. NULL:
 * the default action again. The signal is unblocked; sa_flags are those of sigaction. The callback
 * it had is returned. One for SIGCHLD takes the place of the loop's own, which feeds chldcb.
 */
cbv::ptr sigcb(int sig, cbv::ptr cb, int sa_flags = 0);

/**
 * Call cb with the status of waitpid when the child pid has ended. NULL, or another one for the
 * same child, drops it. The loop reaps all children, whether they have a callback or not: call this
 * before the callback that forked returns. With a z in the environment's SFS_OPTIONS it leaves the
 * others alone, and cb is called at once for a child that has ended before.
 */
void chldcb(pid_t pid, cbi::ptr cb);

struct lazycb_t;
struct yieldcb_t;

/** Call cb about every min_s seconds, by whole seconds, when the loop passes by anyway. */
lazycb_t *lazycb(time_t min_s, cbv cb);
/** Stop that and drop the callback; NULL does nothing. */
void lazycb_remove(lazycb_t *lazy);

/** Call cb once, at the end of this pass or the next one; no pass is begun for it. */
yieldcb_t *yieldcb(cbv cb);
/** Not any more. NULL does nothing; one that has been called ends the program by abort. */
void yieldcb_remove(yieldcb_t *yield);

/* ---- clocks ---- */

/**
 * CLOCK_REALTIME as of when the pass began; with force, as of now. In colors other than 0 always as
 * of now. Any thread.
 */
time_t sfs_get_timenow(bool force = false);
timespec sfs_get_tsnow(bool force = false);

/** The same, for programs that read variables; color 0. */
extern timespec tsnow;
extern const time_t &timenow;

/* ---- before main ---- */

/**
 * Each source file has an object of this. The first one ignores SIGPIPE, raises the soft limit of
 * descriptors towards the hard one and says in the environment what they were (FDLIM_HARD,
 * FDLIM_SOFT); the last one writes out what is left for standard error.
 */
INIT(async_init);

/* ---- how the originals chose between select, epoll and kqueue ---- */

namespace sfs_core {

enum select_policy_t { SELECT_NONE, SELECT_STD, SELECT_EPOLL, SELECT_KQUEUE };

/** 0 for what there is, SELECT_STD and SELECT_EPOLL, which are the same; else -1. */
int set_select_policy(select_policy_t policy);
/** With true, color 0 does not wait but looks again and again. In main or color 0. */
void set_busywait(bool on);
/** Does nothing. */
void set_compact_interval(u_int interval);

}

/** The version of sfslite that programs find: of the calls here, there is none that it lacks. */
#define SFSLITE_VERSION_MAJOR 1
#define SFSLITE_VERSION_MINOR 2
#define SFSLITE_VERSION_PATCHLEVEL 9
#define SFSLITE_VERSION_PRE 113
#define SFSLITE_PATCHLEVEL_STR "1.2.9.113"
/** Is it this version or a later one? For #if. */
#define SFSLITE_AT_VERSION(major, minor, patch, pre) \
	(SFSLITE_VERSION_MAJOR != (major) ? SFSLITE_VERSION_MAJOR > (major) : \
	    SFSLITE_VERSION_MINOR != (minor) ? SFSLITE_VERSION_MINOR > (minor) : \
	    SFSLITE_VERSION_PATCHLEVEL != (patch) ? SFSLITE_VERSION_PATCHLEVEL > (patch) : \
	    SFSLITE_VERSION_PRE >= (pre))

/* What programs get with it, a line for each part: */
#include "amisc.h"
#include "aproc.h"
#include "asock.h"
#include "ifchg.h"
#include "keyfunc.h"
#include "litetime.h"
#include "str2file.h"
#include "vec.h"

/* Once more: a header of the system that came on the way may have its own. */
#undef NULL
#define NULL 0

#endif
