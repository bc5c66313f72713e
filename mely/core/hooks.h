/* SPDX-License-Identifier: MIT */
/*
 * hooks.h: where the runtime enters functions of the program, and where it reports to its observers
 * and to the color checker. A seam: room look defines what the observers do (NOTE(observe) in
 * look/trace/observe.h), room check what the color checker does (NOTE(colorcheck) in
 * check/check.c). Without the color checker its hooks are empty, and without observers theirs are
 * one test.
 */
#ifndef MELYINT_CORE_HOOKS_H
#define MELYINT_CORE_HOOKS_H

#include <stdbool.h>

#include "base/clock.h"
#include "base/probes.h"
#include "core/core.h"

struct melyint_watch;

/* ---- functions of the program ---------------------------------------------------------------- */

/*
 * Every handler is entered in melyint_run_handler; the other three say on behalf of what. w: the
 * watcher whose event or helper work runs fn(arg); it may end in fn. color: a released one, whose
 * release function may be NULL.
 */
#ifdef MELYINT_COLOR_CHECK
void melyint_run_handler(void (*fn)(void *arg), void *arg);
void melyint_run_watcher(struct melyint_watch *w, void (*fn)(void *arg), void *arg);
void melyint_run_work(struct melyint_watch *w, const char *name, void (*fn)(void *arg), void *arg);
void melyint_run_release(struct mely_color *color, void (*fn)(void *arg), void *arg);
/* run(core) runs the batch of core: on the stack of the batch's color. */
void melyint_run_batch(struct melyint_core *core, void (*run)(struct melyint_core *core));
#else
MELY_INLINE void
melyint_run_handler(void (*fn)(void *arg), void *arg)
{
	fn(arg);
}

MELY_INLINE void
melyint_run_watcher(struct melyint_watch *w, void (*fn)(void *arg), void *arg)
{
	(void)w;
	melyint_run_handler(fn, arg);
}

MELY_INLINE void
melyint_run_work(struct melyint_watch *w, const char *name, void (*fn)(void *arg), void *arg)
{
	(void)w, (void)name;
	melyint_run_handler(fn, arg);
}

MELY_INLINE void
melyint_run_release(struct mely_color *color, void (*fn)(void *arg), void *arg)
{
	(void)color;
	if (fn != NULL)
		melyint_run_handler(fn, arg);
}

/* run(core) runs the batch of core. */
MELY_INLINE void
melyint_run_batch(struct melyint_core *core, void (*run)(struct melyint_core *core))
{
	run(core);
}
#endif

/* ---- observers: traces and probes ------------------------------------------------------------ */

#ifdef MELYINT_SIM
#define MELYINT_OBSERVED(probe) 0
#else
/* The number of traces that are on in this process. Any thread, under the trace lock. */
extern _Atomic unsigned melyint_observing;
/* Is there an observer? relaxed: seen sooner or later */
#define MELYINT_OBSERVED(probe) \
	MELY_UNLIKELY(MELY_LOAD(&melyint_observing, relaxed) != 0 || MELY_PROBE_WANTED(probe))
#endif

/* Owner, between batches: find out whether there are observers. A of NOTE(observe). */
void melyint_observe_look(struct melyint_core *core);

/* Behind MELYINT_OBSERVED. ev is about to be posted; self: the calling core, which may be of
 * another runtime, or NULL. */
void melyint_observe_post(struct melyint_core *self, struct mely_color *color,
    struct mely_event *ev);
/* The thief has taken a color, which no other core can have yet: number i of the `of` colors that
 * it took in the time since began_ticks. */
void melyint_observe_steal(struct melyint_core *thief, const struct melyint_core *victim,
    const struct mely_color *color, uint64_t began_ticks, uint32_t i, uint32_t of, bool balance);
void melyint_observe_sleep(struct melyint_core *core, uint64_t timeout_ns);
void melyint_observe_awake(struct melyint_core *core);
void melyint_observe_wake(struct melyint_core *self, const struct melyint_core *core);
void melyint_observe_poll(struct melyint_core *self);
void melyint_observe_polled(struct melyint_core *self, const struct melyint_core *of, int found);

/* An observed batch. Owner's, on the stack of the batch. */
struct melyint_observed {
	struct melyint_ring *ring;  /* core->sampling.ring; NULL: there are probes only */
	uint64_t color;
	unsigned flags;
	uint32_t number;            /* of the running handler */
	uint64_t began_ticks;       /* of the running handler, for probes */
	uint64_t event;             /* the address of the next event, as a name for it */
	uint64_t event_ticks;       /* when it was taken off the batch */
};

/* Owner: an observed batch begins; it ends. */
void melyint_observe_batch(struct melyint_core *core, struct melyint_observed *observed);
void melyint_observe_batch_end(struct melyint_core *core, struct melyint_observed *observed);
/* Owner: observed->event of handler number is about to run; it has run. */
void melyint_observe_begin(struct melyint_core *core, struct melyint_observed *observed,
    uint32_t number);
void melyint_observe_end(struct melyint_core *core, struct melyint_observed *observed);
/* Owner: the running handler posts ev to its own color. */
void melyint_observe_own(struct melyint_core *core, struct mely_event *ev);

/* Owner: ev is the next event of an observed batch. Called before ev is given back: with its next
 * post it has another time, and its handler may end. */
MELY_INLINE void
melyint_observe_next(struct melyint_observed *observed, const struct mely_event *ev)
{
	observed->event = (uint64_t)(uintptr_t)ev;
	observed->event_ticks = observed->ring != NULL ? melyint_ticks() : 0;
}

/* A color has a name, or no longer has one (NULL). */
void melyint_trace_named(struct mely_runtime *rt, const struct mely_color *color,
    const char *name);

/* ---- observers: the monitor ------------------------------------------------------------------ */

#ifdef MELYINT_SIM /* it has no monitor */
#define melyint_monitor_awake(core) MELY_STORE(&(core)->hint.busy, 1, relaxed)
#define melyint_age_saw(core, stamp_ticks) ((void)(core), (void)(stamp_ticks))
#define melyint_age_count(core) ((void)(core))
#else
/* Owner, or the thread that begins to attend the core: it is busy from now on. B of NOTE(monitor)
 * */
void melyint_monitor_awake(struct melyint_core *core);

void melyint_age_saw_slow(struct melyint_core *core, uint64_t stamp_ticks);
void melyint_age_count_slow(struct melyint_core *core);

/* Owner: an event with an exact stamp is about to run. B of NOTE(age) */
MELY_INLINE void
melyint_age_saw(struct melyint_core *core, uint64_t stamp_ticks)
{
	if (core->fixed.aging != NULL)
		melyint_age_saw_slow(core, stamp_ticks);
}

/* Owner, in no handler, about once a millisecond. C of NOTE(age) */
MELY_INLINE void
melyint_age_count(struct melyint_core *core)
{
	if (core->fixed.aging != NULL)
		melyint_age_count_slow(core);
}
#endif

/* ---- the color checker ----------------------------------------------------------------------- */

#ifdef MELYINT_COLOR_CHECK

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
/* This thread is a core from here on, which works on behalf of no color (until it ends). */
void melyint_check_attend(bool begins);
/* Around a fork, in the thread that forks. In the child ThreadSanitizer gives up when the parent
 * had more threads or fibers, and so do we. */
void melyint_check_fork(bool begins, bool child);
/* A function of the program that belongs to no color, on the thread and on behalf of its caller. */
void melyint_check_out(void);
void melyint_check_in(void);
/* After a system call that ThreadSanitizer does not see: signals that came in it are due. */
void melyint_check_signals(void);
/* Around a signal handler of the runtime's own, which may come on any fiber. */
void *melyint_check_signal_begin(void);
void melyint_check_signal_end(void *fiber);

/* B of NOTE(colorcheck): ev is about to be posted. The memory of a pooled event has no past. */
void melyint_check_posted(struct mely_event *ev, bool pooled);
/* The post was refused: forget all that is known of the event's memory. */
void melyint_check_unposted(struct mely_event *ev);
/* ev is the caller's again without having run: it comes after the post. */
void melyint_check_taken_back(struct mely_event *ev);
/* C: what is done so far comes before an event that another thread will post. */
void melyint_check_promise(struct mely_event *ev);
/* ev is the next event of the batch. */
void melyint_check_next(struct mely_event *ev);
/* What follows is posted on behalf of the color that ran last (or of none). */
void melyint_check_for_last(bool last);

/* C: a watcher is made; a stop reported its end; its memory is given back. */
void melyint_check_watch_made(struct melyint_watch *w);
void melyint_check_watch_over(struct melyint_watch *w);
void melyint_check_watch_gone(struct melyint_watch *w);

/* A color is released; it has a name. */
void melyint_check_released(struct mely_color *color);
void melyint_check_named(struct mely_color *color, const char *name);

/* D. */
void melyint_check_run_begin(struct mely_runtime *rt);
void melyint_check_run_end(struct mely_runtime *rt);
/* Like the end of a run, for what the cores that an exit has parked have run. */
void melyint_check_exit(struct mely_runtime *rt);
/* Did this thread of the runtime wait here until a report of the checker was written? Meanwhile
 * handlers make no progress. */
bool melyint_check_waited(void);
/* D, around the program's function for reports, which is of no color. */
void melyint_check_report(struct mely_runtime *rt, bool begins);
/* Around a pass of mely_run_once_for: what it runs comes before its return. */
void melyint_check_pass(struct mely_runtime *rt, bool on);

#else

struct melyint_check_where {
	char unused;
};

#define MELYINT_NO_HOOK(name, type) MELY_INLINE void name(type unused) { (void)unused; }
#define MELYINT_NO_HOOK2(name, type, type2) \
	MELY_INLINE void name(type unused, type2 unused2) { (void)unused, (void)unused2; }
MELYINT_NO_HOOK(melyint_check_enter, struct melyint_check_where *)
MELYINT_NO_HOOK(melyint_check_leave, const struct melyint_check_where *)
MELYINT_NO_HOOK(melyint_check_thread, bool)
MELYINT_NO_HOOK(melyint_check_attend, bool)
MELYINT_NO_HOOK2(melyint_check_fork, bool, bool)
MELYINT_NO_HOOK(melyint_check_signal_end, void *)
MELYINT_NO_HOOK2(melyint_check_posted, struct mely_event *, bool)
MELYINT_NO_HOOK(melyint_check_unposted, struct mely_event *)
MELYINT_NO_HOOK(melyint_check_taken_back, struct mely_event *)
MELYINT_NO_HOOK(melyint_check_promise, struct mely_event *)
MELYINT_NO_HOOK(melyint_check_next, struct mely_event *)
MELYINT_NO_HOOK(melyint_check_for_last, bool)
MELYINT_NO_HOOK(melyint_check_watch_made, struct melyint_watch *)
MELYINT_NO_HOOK(melyint_check_watch_over, struct melyint_watch *)
MELYINT_NO_HOOK(melyint_check_watch_gone, struct melyint_watch *)
MELYINT_NO_HOOK(melyint_check_released, struct mely_color *)
MELYINT_NO_HOOK2(melyint_check_named, struct mely_color *, const char *)
MELYINT_NO_HOOK(melyint_check_run_begin, struct mely_runtime *)
MELYINT_NO_HOOK(melyint_check_run_end, struct mely_runtime *)
MELYINT_NO_HOOK(melyint_check_exit, struct mely_runtime *)
MELYINT_NO_HOOK2(melyint_check_report, struct mely_runtime *, bool)
MELYINT_NO_HOOK2(melyint_check_pass, struct mely_runtime *, bool)
MELY_INLINE bool
melyint_check_waited(void)
{
	return false;
}
#undef MELYINT_NO_HOOK
#undef MELYINT_NO_HOOK2

MELY_INLINE void
melyint_check_out(void)
{
}

MELY_INLINE void
melyint_check_in(void)
{
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

#endif

#endif
