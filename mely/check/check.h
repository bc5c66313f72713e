/* SPDX-License-Identifier: MIT */
/*
 * check.h: the color checker's hooks in the runtime. Only libmely-check has them, which is
 * compiled with MELYINT_COLOR_CHECK; in every other build they are nothing.
 *
 * NOTE(colorcheck)
 *   ThreadSanitizer finds accesses that nothing orders, between what it takes for threads. The
 *   checker makes it take each color for one (a fiber: check/fiber.h), and tells it of the orders
 *   that the interface promises and of no other (edges: check/edge.h):
 *     A. Events of one color follow one another: they run on the color's one fiber.
 *     B. A post comes before its event: the poster releases an edge of that event's own, the
 *        event acquires it. Not one word per event's memory, which pools use again: what earlier
 *        posters have released there would be acquired, too.
 *     C. What hands over later than it is called promises: a watcher's start before its events, a
 *        join's reports before the joined event, a stop or a cancel before its completion, helper
 *        work before its completion.
 *     D. All before mely_run comes before everything in it, and that before all after it.
 *   The runtime's own code orders nothing. It is not instrumented; of what it calls, much is
 *   known to ThreadSanitizer all the same (locks, descriptors, memory). So it runs as a fiber of
 *   its own, one per thread, on which all of that is ignored: a public call switches to it and
 *   back (enter, leave), a core is always on it, but for the time of a handler.
 *   Stacks: colors that shared a core's stack would be seen to share their locals. A batch runs
 *   on the stack of its color.
 */
#ifndef MELYINT_CHECK_CHECK_H
#define MELYINT_CHECK_CHECK_H

#include "base/compiler.h"

struct mely_color;
struct mely_event;
struct mely_runtime;
struct melyint_core;
struct melyint_watch;

#ifdef MELYINT_COLOR_CHECK

#include <stdbool.h>

/* Where a thread was when it entered the runtime. */
struct melyint_check_where {
	void *program;
	void *entered;
	bool inside;
};

/* From the program, or from the runtime itself, to the runtime; and back. Any thread. */
void melyint_check_enter(struct melyint_check_where *where);
void melyint_check_leave(const struct melyint_check_where *where);
/* This thread is one of the runtime's own from here on (until the end). */
void melyint_check_thread(bool begins);
/* This thread is a core from here on, which works on nobody's behalf (until it ends). */
void melyint_check_attend(bool begins);
/* Around a fork, in the thread that forks. In the child ThreadSanitizer gives up when there were
 * more threads or fibers, and so do we. */
void melyint_check_fork(bool begins, bool child);
/* A program function that belongs to no color, on the thread and on behalf of its caller. */
void melyint_check_out(void);
void melyint_check_in(void);
/* After a system call that ThreadSanitizer does not see: signals that came in it are due. */
void melyint_check_signals(void);
/* Around a signal handler of the runtime's own, which may come on any fiber. */
void *melyint_check_signal_begin(void);
void melyint_check_signal_end(void *fiber);

/* B: ev is about to be posted. A pooled event's memory has no past. */
void melyint_check_posted(struct mely_event *ev, bool pooled);
/* What was posted is not; all that is known of its memory goes. */
void melyint_check_unposted(struct mely_event *ev);
/* ev is the caller's again without having run: it comes after the post. */
void melyint_check_taken_back(struct mely_event *ev);
/* C: what is done so far comes before an event that somebody else will post. */
void melyint_check_promise(struct mely_event *ev);
/* The batch of core is to be run. */
void melyint_check_batch(struct melyint_core *core);
/* ev is the next event of the batch; then its handler's call. */
void melyint_check_next(struct mely_event *ev);
void melyint_check_call(void (*fn)(void *arg), void *arg);
/* What follows is posted on behalf of the color that ran last (or of nobody). */
void melyint_check_for_last(bool last);

/* C: a watcher is made; its event runs the program's handler; a stop said that it is over. */
void melyint_check_watch_made(struct melyint_watch *w);
void melyint_check_watch_call(struct melyint_watch *w);
void melyint_check_watch_over(struct melyint_watch *w);
void melyint_check_watch_gone(struct melyint_watch *w);
/* Helper work, on a helper thread. */
void melyint_check_work_call(struct melyint_watch *w, const char *name);

/* A color is released; its release function is due. */
void melyint_check_released(struct mely_color *color);
void melyint_check_release_call(struct mely_color *color, void (*fn)(void *arg), void *arg);
void melyint_check_named(struct mely_color *color, const char *name);

/* D. */
void melyint_check_run_begin(struct mely_runtime *rt);
void melyint_check_run_end(struct mely_runtime *rt);
/* The same of what the cores have run that an exit has parked. */
void melyint_check_exit(struct mely_runtime *rt);
/* D, around the program's function for reports, which is of no color. */
void melyint_check_report(struct mely_runtime *rt, bool begins);
/* Around a pass of mely_run_once_for: what it runs comes before its return. */
void melyint_check_pass(struct mely_runtime *rt, bool on);

#else

#include "sched/run.h"

struct melyint_check_where {
	char unused;
};

#define MELYINT_NO_HOOK(name, type) MELY_INLINE void name(type unused) { (void)unused; }
MELYINT_NO_HOOK(melyint_check_enter, struct melyint_check_where *)
MELYINT_NO_HOOK(melyint_check_leave, const struct melyint_check_where *)
MELYINT_NO_HOOK(melyint_check_thread, int)
MELYINT_NO_HOOK(melyint_check_attend, int)
MELYINT_NO_HOOK(melyint_check_unposted, struct mely_event *)
MELYINT_NO_HOOK(melyint_check_taken_back, struct mely_event *)
MELYINT_NO_HOOK(melyint_check_promise, struct mely_event *)
MELYINT_NO_HOOK(melyint_check_next, struct mely_event *)
MELYINT_NO_HOOK(melyint_check_for_last, int)
MELYINT_NO_HOOK(melyint_check_watch_made, struct melyint_watch *)
MELYINT_NO_HOOK(melyint_check_watch_over, struct melyint_watch *)
MELYINT_NO_HOOK(melyint_check_watch_gone, struct melyint_watch *)
MELYINT_NO_HOOK(melyint_check_released, struct mely_color *)
MELYINT_NO_HOOK(melyint_check_run_begin, struct mely_runtime *)
MELYINT_NO_HOOK(melyint_check_run_end, struct mely_runtime *)
MELYINT_NO_HOOK(melyint_check_exit, struct mely_runtime *)
#define melyint_check_report(rt, begins) ((void)(rt))
#undef MELYINT_NO_HOOK

/* Macros, that the type of a watcher need not be known here. */
#define melyint_check_watch_call(w) ((w)->fn((w)->arg))
#define melyint_check_work_call(w, name) ((void)(name), (w)->u.work.fn((w)->arg))

MELY_INLINE void
melyint_check_fork(int begins, int child)
{
	(void)begins;
	(void)child;
}

MELY_INLINE void
melyint_check_signals(void)
{
}

MELY_INLINE void *
melyint_check_signal_begin(void)
{
	return NULL;
}

MELY_INLINE void
melyint_check_signal_end(void *fiber)
{
	(void)fiber;
}

MELY_INLINE void
melyint_check_out(void)
{
}

MELY_INLINE void
melyint_check_in(void)
{
}

MELY_INLINE void
melyint_check_posted(struct mely_event *ev, int pooled)
{
	(void)ev;
	(void)pooled;
}

MELY_INLINE void
melyint_check_batch(struct melyint_core *core)
{
	melyint_batch_run(core);
}

MELY_INLINE void
melyint_check_call(void (*fn)(void *arg), void *arg)
{
	fn(arg);
}

MELY_INLINE void
melyint_check_release_call(struct mely_color *color, void (*fn)(void *arg), void *arg)
{
	(void)color;
	if (fn != NULL)
		fn(arg);
}

MELY_INLINE void
melyint_check_named(struct mely_color *color, const char *name)
{
	(void)color;
	(void)name;
}

MELY_INLINE void
melyint_check_pass(struct mely_runtime *rt, int on)
{
	(void)rt;
	(void)on;
}

#endif

#endif
