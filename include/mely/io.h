/* SPDX-License-Identifier: MIT */
/*
 * mely/io.h: descriptors, timers, signals, children and blocking work, each as events of a color
 * that the program chooses.
 *
 * Watchers. The program names a watcher of any kind by a 64-bit id: a slot and a generation, never
 * a pointer and never used twice, so that a late stop of a watcher that has ended is harmless. 0
 * is never an id. A call that starts a watcher stores the id before the handler can run; after an
 * error the stored value means nothing.
 *
 * Lifetimes. A watcher refers to its color and to its struct mely_handler, and passes arg on
 * untouched. All three must stay valid until the watcher has ended, which is the earliest of
 *   - a stop of the watcher returns 0 or, for the handler, -EINPROGRESS; while the function still
 *     runs after -EINPROGRESS, arg must stay valid for it, and the color until it has ended
 *   - the function returns from its last call: a timer that does not repeat, a child, work
 *   - the event of mely_color_close runs
 *   - mely_run returns after mely_stop, which ends all watchers. Work that was handed back
 *     (mely_config.handback) has ended then, too
 * Work that has begun ends only when its handler has returned, or when it is handed back.
 *
 * Exact stop. After a stop returns to a handler of the watcher's color, the watcher's handler does
 * not run, even if its event was queued already: handlers of one color never run at the same time.
 * A stop from elsewhere may find the handler running; then it returns -EINPROGRESS, and can report
 * the end (mely_watch_stop).
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
 * Stop a descriptor's watcher, a timer, a watcher of a signal or a child, or blocking work.
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
 * done must not be queued; done and done_color must stay valid until the handler of done is
 * entered. If a stop of the runtime hands the work back, done is posted after that.
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -EINPROGRESS, -EALREADY, -ENOENT, -EINVAL,
 * -ECHILD.
 */
MELY_API int mely_watch_stop(struct mely_runtime *rt, mely_watch watch,
    struct mely_color *done_color, struct mely_event *done);

/**
 * Suspend (0) or resume (not 0) a watcher without stopping it. After a suspension returns to a
 * handler of the watcher's color, the handler does not run until the watcher is resumed; after one
 * from elsewhere it may run once more. Nothing is lost meanwhile: a descriptor that is ready, a
 * timer that was due, a signal that came or a child that ended posts its event when the watcher is
 * resumed; a repeating timer counts the missed turns as overruns.
 * Suspending a suspended watcher, or resuming one that is not, does nothing.
 *
 * 0, or
 *   -ENOENT  the watcher has ended or was stopped
 *   -EINVAL  rt is NULL; or watch is blocking work, or of mely_drain_watch, which cannot be
 *            suspended
 *   -ECHILD  the process was forked and the runtime not renewed
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -ENOENT, -EINVAL, -ECHILD.
 */
MELY_API int mely_watch_enable(struct mely_runtime *rt, mely_watch watch, int on);

/* ---- descriptors --------------------------------------------------------------------------- */

enum mely_fd_flags {
	MELY_FD_READ = 1,  /**< watch for reading; exactly one of this and MELY_FD_WRITE */
	MELY_FD_WRITE = 2, /**< watch for writing */
	MELY_FD_EDGE = 4,  /**< edge-triggered: an event per change, no second check */
	MELY_FD_SUSPENDED = 8 /**< made suspended; mely_watch_enable resumes it */
};

/** What made a descriptor ready (mely_fd_ready). */
enum mely_fd_readiness {
	MELY_READY_READ = 1,
	MELY_READY_WRITE = 2,
	MELY_READY_HANGUP = 4, /**< the peer has closed, or will send no more */
	MELY_READY_ERROR = 8
};

/**
 * Watch one direction of a descriptor: each time it is ready, handler runs with arg as an event of
 * color. Level-triggered unless MELY_FD_EDGE: after the handler the library checks the descriptor
 * again, unless the handler called mely_fd_drained. At most one event per watcher is queued. Each
 * direction of a descriptor can have one watcher, with its own color. The descriptor should be
 * non-blocking: what made it ready may be gone by then, and a read says EAGAIN. Without
 * MELY_FD_EDGE that happens only when other code than the handler has read it, or when the kernel
 * takes readiness back (select(2), BUGS). The descriptor stays the program's; stop its watchers
 * before closing it, or close it with mely_fd_close.
 *
 * Before mely_run readiness is kept until mely_run. 0, or
 *   -EINVAL     color, handler, its function or watch is NULL, or flags are not valid
 *   -EBADF      fd is not an open descriptor
 *   -EEXIST     that direction of fd has a watcher
 *   -EPERM      epoll cannot watch fd: a regular file, for instance
 *   -ELOOP      fd is an epoll descriptor, nested too deep
 *   -ENOMEM, -ENOSPC  no memory; no room for more watches in the kernel
 *   -ESHUTDOWN  the runtime is stopping, or the color is being closed (mely_color_close)
 *   -ECHILD     the process was forked and the runtime not renewed
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -EINVAL, -EBADF, -EEXIST, -EPERM, -ELOOP, -ENOMEM,
 * -ENOSPC, -ESHUTDOWN, -ECHILD.
 */
MELY_API int mely_fd_watch(struct mely_color *color, int fd, unsigned flags,
    struct mely_handler *handler, void *arg, mely_watch *watch) MELY_MUST_CHECK;

/**
 * Stop both watchers of a descriptor and close it. In a handler of the color of its watchers, which
 * is the same for both, or from any thread when it has no watcher. Blocks for as long as close(2)
 * does. 0, -EINVAL (rt is NULL), -EBADF, -ECHILD, or another error of close(2); the descriptor is
 * closed all the same, except after -EBADF, -EINVAL and -ECHILD.
 *
 * Threads: any. Colors: own. Blocks: may. Errors: -EINVAL, -EBADF, -ECHILD, others.
 */
MELY_API int mely_fd_close(struct mely_runtime *rt, int fd);

/** In the handler of a descriptor's watcher: what is ready (enum mely_fd_readiness). Else 0.
 *  Threads: handler. Colors: own. Blocks: no. Errors: none. */
MELY_API unsigned mely_fd_ready(void);

/**
 * In the handler of a level-triggered watcher: everything has been read (or the last write said
 * EAGAIN). The library then does not check again, which saves a system call. Elsewhere it does
 * nothing.
 *
 * Threads: handler. Colors: own. Blocks: no. Errors: none.
 */
MELY_API void mely_fd_drained(void);

/* ---- timers -------------------------------------------------------------------------------- */

enum mely_timer_flags {
	MELY_TIMER_WALL = 1 /**< when_ns is wall-clock time (ns since 1970) and follows its jumps */
};

/**
 * Start a timer: handler runs with arg as an event of color after when_ns from now (with
 * MELY_TIMER_WALL: at the wall-clock time when_ns), and then every repeat_ns, or once when that is
 * 0. Never early; late by at most about a millisecond more than the color has to wait. A repeating
 * timer does not pile up: at most one event of it is queued, and the library counts the turns
 * that it missed (mely_timer_overruns). A timer that does not repeat ends when its handler has
 * returned, unless that called mely_timer_again.
 *
 * A timer that is due before mely_run fires when mely_run begins. 0, or
 *   -EINVAL     color, handler, its function or timer is NULL, or flags are not valid
 *   -ENOMEM     no memory
 *   -ESHUTDOWN  the runtime is stopping, or the color is being closed (mely_color_close)
 *   -ECHILD     the process was forked and the runtime not renewed
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -EINVAL, -ENOMEM, -ESHUTDOWN, -ECHILD.
 */
MELY_API int mely_timer_start(struct mely_color *color, uint64_t when_ns, uint64_t repeat_ns,
    unsigned flags, struct mely_handler *handler, void *arg, mely_watch *timer) MELY_MUST_CHECK;

/**
 * Give a timer a new time, from now (with MELY_TIMER_WALL: a wall-clock time), and a new period.
 * Cheap: a time that moves later changes one record. In a handler of the timer's color an event
 * that was queued for the old time does not run, from elsewhere it may run once.
 * 0, -ENOENT (it has ended or was stopped), -EINVAL (rt is NULL), -ECHILD.
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -ENOENT, -EINVAL, -ECHILD.
 */
MELY_API int mely_timer_again(struct mely_runtime *rt, mely_watch timer, uint64_t when_ns,
    uint64_t repeat_ns);

/** In a repeating timer's handler: how many turns were missed since it last ran. Else 0.
 *  Threads: handler. Colors: own. Blocks: no. Errors: none. */
MELY_API uint64_t mely_timer_overruns(void);

/* ---- signals and children ------------------------------------------------------------------ */

/**
 * Watch a signal: handler runs with arg as an event of color when the process gets signum. Signals
 * that come before the handler runs are one event. A signal belongs to the first runtime that
 * watches it; several watchers of one runtime may share it. The first watcher replaces the
 * signal's disposition (sigaction(2)), the last one restores it. It changes no signal mask: a
 * signal that every thread of the program blocks stays pending, and handler does not run. The
 * threads of cores block all signals, apart from the one in mely_run.
 *
 * Before mely_run a signal is kept until mely_run. 0, or
 *   -EINVAL     color, handler, its function or watch is NULL; or signum is not a signal, or one
 *               that cannot be caught, or one that a fault raises (SIGSEGV, SIGFPE and so on)
 *   -EBUSY      another runtime has the signal
 *   -ENOMEM, -EMFILE, -ENFILE, -ENOSPC  no memory, no descriptor, or no room in the kernel
 *   -ESHUTDOWN  the runtime is stopping, or the color is being closed (mely_color_close)
 *   -ECHILD     the process was forked and the runtime not renewed
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -EINVAL, -EBUSY, -ENOMEM, -EMFILE, -ENFILE,
 * -ENOSPC, -ESHUTDOWN, -ECHILD.
 */
MELY_API int mely_signal_watch(struct mely_color *color, int signum,
    struct mely_handler *handler, void *arg, mely_watch *watch) MELY_MUST_CHECK;

/**
 * Watch a child process: handler runs once with arg, as an event of color, when the child pid has
 * ended; in it mely_child_status gives the status as waitpid(2) does. The library reaps this child
 * just before the handler, and no other. A stopped watcher leaves the child to the program.
 *
 * 0, or
 *   -EINVAL     color, handler, its function or watch is NULL, or pid is not positive
 *   -ESRCH      pid is not a child of this process, or was reaped
 *   -ENOMEM, -EMFILE, -ENFILE, -ENOSPC  no memory, no descriptor, or no room in the kernel
 *   -ESHUTDOWN  the runtime is stopping, or the color is being closed (mely_color_close)
 *   -ECHILD     the process was forked and the runtime not renewed
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -EINVAL, -ESRCH, -ENOMEM, -EMFILE, -ENFILE,
 * -ENOSPC, -ESHUTDOWN, -ECHILD.
 */
MELY_API int mely_child_watch(struct mely_color *color, pid_t pid, struct mely_handler *handler,
    void *arg, mely_watch *watch) MELY_MUST_CHECK;

/**
 * In the handler of a child: its wait status; -1 when it is lost, because the program has reaped
 * the child itself or ignores SIGCHLD. Elsewhere it means nothing.
 *
 * Threads: handler. Colors: own. Blocks: no. Errors: none.
 */
MELY_API int mely_child_status(void);

/* ---- blocking work ------------------------------------------------------------------------- */

enum mely_work_class {
	MELY_WORK_FILES = 0, /**< file and directory calls */
	MELY_WORK_NAMES,     /**< name resolution */
	MELY_WORK_USER       /**< whatever else blocks or takes long */
};

/**
 * Run fn(arg) on a helper thread of the class; then handler runs with arg as an event of color.
 * fn sees all that the caller did before; handler sees all that fn did. fn runs in no color: it may
 * post events, but touches no data of a color except what arg hands over. Waiting work is
 * unbounded unless the program bounds it. id may be NULL.
 *
 * Before mely_run fn may run; the event of handler is held until mely_run. While the runtime
 * drains, its handlers may still submit work. 0, or
 *   -EINVAL     color, handler, its function or fn is NULL, or work_class is not valid
 *   -ENOMEM     no memory
 *   -EAGAIN     the class has no helper thread and none could be made
 *   -ESHUTDOWN  the runtime is stopping, and the caller is not one of its handlers or what waits
 *               is being discarded; or the color is being closed
 *   -ECHILD     the process was forked and the runtime not renewed
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -EINVAL, -ENOMEM, -EAGAIN, -ESHUTDOWN, -ECHILD.
 */
MELY_API int mely_work(struct mely_color *color, enum mely_work_class work_class,
    void (*fn)(void *arg), struct mely_handler *handler, void *arg,
    mely_watch *id) MELY_MUST_CHECK;

/* ---- closing ------------------------------------------------------------------------------- */

/**
 * Close a color: stop all its watchers and timers, drop its work that has not begun, and post
 * closed to it when all have ended: when no handler of theirs runs or will run, and fn of its work
 * has returned. In a handler of the color (the usual place) none of its watchers' handlers runs
 * after the call, but work that has begun ends as ever, its handler included, before closed is
 * posted.
 *
 * The color itself stays: events that the program has posted run, and so do later ones. Until
 * closed has been posted, calls that would start something in the color fail with ESHUTDOWN;
 * handlers that run after the call should start nothing in it. Descriptors stay open: close(2) them
 * in the handler of closed, or with mely_fd_close before the call. What the arguments of dropped
 * work own is the program's to free, in the handler of closed at the earliest. For a color object,
 * follow with mely_color_release in that handler to free its memory.
 *
 * closed must not be queued, and is the library's until its handler is entered. A drain waits for
 * it. When a discard cuts it short, closed is handed back, or held for the next run, as any event.
 *
 * 0, or
 *   -EALREADY  the color is being closed already, or closed is queued
 *   -EINVAL    color or closed is NULL
 *   -ECHILD    the process was forked and the runtime not renewed
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -EALREADY, -EINVAL, -ECHILD.
 */
MELY_API int mely_color_close(struct mely_color *color, struct mely_event *closed);

/* ---- the end of a run ---------------------------------------------------------------------- */

/**
 * handler runs once, with arg, as an event of color, when a drain begins: when the first mely_stop
 * of a run is for MELY_STOP_DRAIN. By then every watcher and timer of the runtime has been stopped,
 * so the handler is the place to close an idle connection (mely_color_close). The drain waits for
 * it. When a discard begins, or the drain is cut short, it does not run: the second case hands it
 * back as an event that is left over. mely_watch_stop takes it back. watch may be NULL.
 *
 * *handler must last as for a watcher. 0, or
 *   -EINVAL     color, handler or its function is NULL
 *   -ENOMEM     no memory
 *   -ESHUTDOWN  a stop has begun, or the color is being closed
 *   -ECHILD     the process was forked and the runtime not renewed
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -EINVAL, -ENOMEM, -ESHUTDOWN, -ECHILD.
 */
MELY_API int mely_drain_watch(struct mely_color *color, struct mely_handler *handler, void *arg,
    mely_watch *watch) MELY_MUST_CHECK;

MELY_END_DECLS

#endif
