/* SPDX-License-Identifier: MIT */
/*
 * mely/io.h: descriptors, timers, signals, children and blocking work, each as events of a color
 * that the program chooses.
 *
 * Watchers are named by 64-bit ids: a slot and a generation, never a pointer and never reused,
 * so that a late stop of a watcher that is gone is harmless. 0 is no watcher.
 *
 * Exact stop: after a stop returns to a handler of the watcher's color, the watcher's handler
 * does not run, even if its event was queued already. From elsewhere -EINPROGRESS says that the
 * handler is running, or about to, on another core; it runs at most that once.
 */
#ifndef MELY_IO_H
#define MELY_IO_H

#include <mely/base.h>
#include <mely/event.h>
#include <mely/color.h>
#include <sys/types.h>

MELY_BEGIN_DECLS

typedef uint64_t mely_watch;

/* ---- watchers of every kind ---------------------------------------------------------------- */

/**
 * Stop a descriptor's watcher, a timer, a watcher of a signal or a child, or blocking work. Any
 * thread; does not block.
 *
 *   0             the handler will not run. Always so in a handler of the watcher's color, the
 *                 watcher's own handler included, except for work that has begun. For work: fn
 *                 has not run and will not run either.
 *   -EINPROGRESS  the handler runs on another core now; it runs at most this once more. For work:
 *                 fn runs or has run; handler runs when fn has returned. In both cases done (may
 *                 be NULL) is posted to done_color when the handler has ended.
 *   -EALREADY     as -EINPROGRESS, but an earlier stop has left its event there; done is not
 *                 posted
 *   -ENOENT       the watcher has ended, or was stopped before, and its handler does not run (in
 *                 the handler of a child or of work, which run once: it is the last to run)
 *   -EINVAL       rt is NULL, or done is given without done_color
 *   -ECHILD       the process was forked and the runtime not renewed (mely_runtime_renew)
 *
 * done must not be queued, and done and done_color must stay valid until the handler of done is
 * entered.
 */
MELY_API int mely_watch_stop(struct mely_runtime *rt, mely_watch watch,
    struct mely_color *done_color, struct mely_event *done);

/**
 * Suspend (0) or resume (not 0) a watcher without stopping it. Any thread; does not block. After a
 * suspension returns to a handler of the watcher's color, the handler does not run until the
 * watcher is resumed; after one from elsewhere it may run once more. Nothing is lost meanwhile:
 * a descriptor that is ready, a timer that was due, a signal that came or a child that ended posts
 * its event when the watcher is resumed; a repeating timer counts the missed turns as overruns.
 * Suspending a suspended watcher, or resuming one that is not, does nothing.
 *
 * 0, or
 *   -ENOENT  the watcher has ended or was stopped
 *   -EINVAL  rt is NULL, or watch is blocking work, which cannot be suspended
 *   -ECHILD  the process was forked and the runtime not renewed
 */
MELY_API int mely_watch_enable(struct mely_runtime *rt, mely_watch watch, int on);

/* ---- descriptors --------------------------------------------------------------------------- */

enum mely_fd_flags {
	MELY_FD_READ = 1,  /**< watch for reading (or, with the next, for writing: exactly one) */
	MELY_FD_WRITE = 2,
	MELY_FD_EDGE = 4,  /**< edge-triggered: an event per change, no second check */
	MELY_FD_SUSPENDED = 8 /**< made suspended; mely_watch_enable resumes it */
};

/** What made a descriptor ready (mely_fd_ready). */
enum mely_fd_readiness {
	MELY_READY_READ = 1,
	MELY_READY_WRITE = 2,
	MELY_READY_HANGUP = 4, /**< the peer is gone, or will send no more */
	MELY_READY_ERROR = 8
};

/**
 * Watch one direction of a descriptor: each time it is ready, handler runs with arg as an event of
 * color. Level-triggered unless MELY_FD_EDGE: after the handler the descriptor is looked at
 * again, unless the handler said mely_fd_drained. At most one event per watcher is queued. Each
 * direction of a descriptor can have one watcher, with its own color. The descriptor should be
 * non-blocking; stop the watcher before closing it, or use mely_fd_close.
 *
 * Any thread. 0, -EINVAL, -EEXIST (that direction has a watcher), -EPERM (epoll can not watch
 * it, a regular file for instance), -ENOMEM, -ENOSPC, -EBADF, -ESHUTDOWN, -ECHILD.
 */
MELY_API int mely_fd_watch(struct mely_color *color, int fd, unsigned flags,
    struct mely_handler *handler, void *arg, mely_watch *watch) MELY_MUST_CHECK;

/**
 * Stop both watchers of a descriptor and close it. To be called in a handler of the color of its
 * watchers (both the same color), or when it has none. 0 or a negative error of close.
 */
MELY_API int mely_fd_close(struct mely_runtime *rt, int fd);

/** In the handler of a descriptor's watcher: what is ready (enum mely_fd_readiness). Else 0. */
MELY_API unsigned mely_fd_ready(void);

/**
 * In the handler of a level-triggered watcher: everything has been read (or the last write said
 * EAGAIN), so that no second look is needed; saves a system call.
 */
MELY_API void mely_fd_drained(void);

/* ---- timers -------------------------------------------------------------------------------- */

enum mely_timer_flags {
	MELY_TIMER_WALL = 1 /**< when is wall-clock time (ns since 1970) and follows clock jumps */
};

/**
 * A timer: handler runs with arg as an event of color after when_ns from now (with MELY_TIMER_WALL:
 * at the wall-clock time when_ns), and then every repeat_ns, or once when that is 0. Never early;
 * late by at most about a millisecond more than the color has to wait. A repeating timer does not
 * pile up: at most one event of it is queued; missed turns are counted (mely_timer_overruns).
 * Any thread. 0, -EINVAL, -ENOMEM, -ESHUTDOWN, -ECHILD.
 */
MELY_API int mely_timer_start(struct mely_color *color, uint64_t when_ns, uint64_t repeat_ns,
    unsigned flags, struct mely_handler *handler, void *arg, mely_watch *timer);

/** Set a live timer anew, from now. In a handler of its color. 0, -ENOENT. Cheap. */
MELY_API int mely_timer_again(struct mely_runtime *rt, mely_watch timer, uint64_t when_ns,
    uint64_t repeat_ns);

/** In a repeating timer's handler: turns missed since it last ran. */
MELY_API uint64_t mely_timer_overruns(void);

/* ---- signals and children ------------------------------------------------------------------ */

/**
 * handler runs as an event of color when the process gets signum. A signal belongs to the first
 * runtime that asks (-EBUSY for another); several watchers of one runtime may share it. Any
 * thread. 0, -EINVAL, -EBUSY, -ENOMEM, -EMFILE, -ESHUTDOWN, -ECHILD.
 */
MELY_API int mely_signal_watch(struct mely_color *color, int signum,
    struct mely_handler *handler, void *arg, mely_watch *watch);

/**
 * handler runs once, as an event of color, when the child pid has ended; in it mely_child_status
 * gives the status as waitpid does. The child is reaped, no other is. 0, -EINVAL, -ESRCH, -ENOMEM,
 * -EMFILE, -ESHUTDOWN, -ECHILD.
 */
MELY_API int mely_child_watch(struct mely_color *color, pid_t pid, struct mely_handler *handler,
    void *arg, mely_watch *watch);

/** In the handler of a child: its wait status. */
MELY_API int mely_child_status(void);

/* ---- blocking work ------------------------------------------------------------------------- */

enum mely_work_class {
	MELY_WORK_FILES = 0, /**< file and directory calls */
	MELY_WORK_NAMES,     /**< name resolution */
	MELY_WORK_USER       /**< whatever else blocks or takes long */
};

/**
 * Run fn(arg) on a helper thread of the class; then handler runs with arg as an event of color.
 * fn sees all that the caller did before; handler sees all that fn did. fn must not post
 * embedded events of the color's data, but may mely_post_id. Waiting work is unbounded unless the
 * program bounds it. Any thread. 0, -EINVAL, -ENOMEM, -ESHUTDOWN, -ECHILD, -EAGAIN (no thread
 * could be made and none exists). id may be NULL.
 */
MELY_API int mely_work(struct mely_color *color, enum mely_work_class work_class,
    void (*fn)(void *arg), struct mely_handler *handler, void *arg, mely_watch *id);

MELY_END_DECLS

#endif
