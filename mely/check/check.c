/* SPDX-License-Identifier: MIT */
/*
 * check.c: the color checker's hooks of core/hooks.h: where each thread is, and its ways from the
 * runtime into functions of the program and back. In libmely-check only (MELYINT_COLOR_CHECK).
 *
 * NOTE(colorcheck)
 *   ThreadSanitizer finds accesses that nothing orders, between what it believes to be threads. The
 *   checker presents each color as a thread (a fiber: check/fiber.h) and reports to it the orders
 *   that the interface promises, and no others (edges: check/edge.h):
 *     A. Events of one color follow one another: they run on the color's one fiber.
 *     B. A post comes before its event: the poster releases an edge that belongs to that event
 *        alone, and the event acquires it. An edge tied to the event's memory, which pools use
 *        again, would also pass on what earlier posters have released there.
 *     C. Promises handed over later than the call: a watcher's start comes before its events, the
 *        reports to a join before the joined event, a stop or a cancel before its completion,
 *        helper work before its completion.
 *     D. What precedes mely_run comes before everything in it, and that before what follows it.
 *   The runtime's own code orders nothing. It is not instrumented, but ThreadSanitizer knows much
 *   of what it calls (locks, descriptors, memory) and must ignore it. So it runs as a separate
 *   fiber, one per thread: a public call switches to that fiber and back (enter, leave); a core is
 *   always on it, except while a handler runs. A batch runs on the stack of its color: on a shared
 *   stack, ThreadSanitizer would see colors share their locals.
 *
 * Keys of edges: an event's address; else an address plus an offset that no event has (edge.h).
 */
#include "core/hooks.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "check/edge.h"
#include "check/fiber.h"
#include "io/state.h"
#include "io/poller.h"
#include "io/kinds.h"
#include "check/tsan.h"
#include "io/watch.h"

/* This thread. */
static MELY_TLS struct {
	void *runtime;                 /* the runtime's fiber; NULL: not needed so far */
	bool ignored;                  /* ThreadSanitizer ignores what that fiber does */
	void *program;                 /* the fiber on behalf of which the runtime works, or NULL */
	void *entered;                 /* the program's fiber that called the runtime */
	bool inside;                   /* on the runtime's fiber */
	bool own;                      /* the event in hand is the library's */
	void (*run)(struct melyint_core *core); /* the batch */
	bool last_known;
	bool tls_known;
	struct melyint_colorfiber *color; /* of the running batch */
	struct melyint_edge *post;     /* of the event in hand */
	struct mely_event *event;      /* that event, when it is an embedded one of the program's */
	void (*handler)(void *arg);    /* its function */
	const void *pass;              /* in mely_run_once_for: where what runs is collected */
	long last;            /* what the color of the last batch has done */
	struct melyint_check_where outside; /* of a thread of the runtime's own */
} here;

static bool forked; /* set in the child, while it has one thread */

/* Is ThreadSanitizer there, and does this process still check? */
MELY_INLINE bool
on(void)
{
	return __tsan_create_fiber != NULL && !forked;
}

MELY_INLINE void
go_to(void *fiber)
{
	__tsan_switch_to_fiber(fiber, MELYINT_TSAN_NO_SYNC);
}

/* ---- the runtime's fiber --------------------------------------------------------------------- */

static pthread_key_t thread_key;
static _Atomic int runtime_fibers; /* their number; any thread */

/* ThreadSanitizer ignores what the current fiber does (until the end). */
static void
ignore(bool begins)
{
	if (begins) {
		AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
		AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
		AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
	} else {
		AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
		AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
		AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
	}
}

/* The thread ends; it is on its own fiber. */
static void
thread_ends(void *fiber)
{
	void *own = __tsan_get_current_fiber();

	if (!on())
		return;
	go_to(fiber);
	ignore(false);
	go_to(own);
	melyint_fiber_end(fiber);
	MELY_SUB(&runtime_fibers, 1, relaxed); /* a count */
	here.runtime = NULL;
	here.ignored = false;
}

static void
make_thread_key(void)
{
	if (pthread_key_create(&thread_key, thread_ends) != 0)
		melyint_bug(__FILE__, __LINE__, "no thread key for the color checker");
}

static void
begin_runtime_fiber(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	here.ignored = true;
	__tsan_set_fiber_name(here.runtime, MELYINT_RUNTIME_FIBER);
	ignore(true);
	MELY_ADD(&runtime_fibers, 1, relaxed); /* a count */
	(void)pthread_once(&once, make_thread_key);
	(void)pthread_setspecific(thread_key, here.runtime); /* without memory it is not freed */
}

void
melyint_check_enter(struct melyint_check_where *where)
{
	*where = (struct melyint_check_where){here.program, here.entered, here.inside};
	if (!on() || here.inside)
		return;
	here.entered = here.program = __tsan_get_current_fiber();
	if (here.runtime == NULL)
		here.runtime = melyint_fiber_new(NULL);
	melyint_fiber_leave_for(here.runtime);
	here.inside = true;
	if (!here.ignored)
		begin_runtime_fiber();
}

void
melyint_check_leave(const struct melyint_check_where *where)
{
	if (on() && !where->inside)
		melyint_fiber_leave_for(here.entered);
	here.program = where->program;
	here.entered = where->entered;
	here.inside = where->inside;
}

void
melyint_check_thread(bool begins)
{
	if (begins)
		melyint_check_enter(&here.outside);
	else
		melyint_check_leave(&here.outside);
	here.program = NULL;
}

void
melyint_check_attend(bool begins)
{
	here.program = begins ? NULL : here.entered;
}

/* Not on the runtime's fiber: that may be the second thread that makes ThreadSanitizer give up, and
 * the thread that holds locks at a fork must exist afterwards. */
void
melyint_check_fork(bool begins, bool child)
{
	if (!on())
		return;
	if (begins && here.runtime != NULL && here.entered == NULL) {
		(void)pthread_setspecific(thread_key, NULL);
		thread_ends(here.runtime);
	}
	ignore(begins);
	/* relaxed: the child has one thread */
	if (child && (MELY_LOAD(&runtime_fibers, relaxed) != 0 || melyint_colorfiber_any()))
		forked = true;
}

void
melyint_check_signals(void)
{
	if (on())
		melyint_fiber_let_signals_in();
}

void *
melyint_check_signal_begin(void)
{
	void *fiber = NULL;

	if (on() && here.runtime != NULL) {
		fiber = __tsan_get_current_fiber();
		go_to(here.runtime);
		ignore(true); /* once more: a handler on that fiber does not inherit it */
	}
	return fiber;
}

void
melyint_check_signal_end(void *fiber)
{
	if (fiber != NULL) {
		ignore(false);
		go_to(fiber);
	}
}

void
melyint_check_out(void)
{
	if (!on())
		return;
	here.inside = false;
	go_to(here.entered);
}

void
melyint_check_in(void)
{
	if (!on())
		return;
	melyint_fiber_leave_for(here.runtime);
	here.inside = true;
}

static void
know_tls(void)
{
	if (!here.tls_known)
		melyint_tls_share();
	here.tls_known = true;
}

/* ---- posts ----------------------------------------------------------------------------------- */

void
melyint_check_posted(struct mely_event *ev, bool pooled)
{
	if (!on() || !here.inside)
		return;
	if (pooled)
		melyint_edge_set(ev, here.program);
	else
		melyint_edge_add(ev, here.program);
}

void
melyint_check_unposted(struct mely_event *ev)
{
	if (on() && here.inside)
		melyint_edge_set(ev, NULL);
}

void
melyint_check_taken_back(struct mely_event *ev)
{
	struct melyint_edge *edge;

	if (!on() || !here.inside)
		return;
	edge = melyint_edge_take(ev);
	melyint_edge_follow(edge, here.program);
	melyint_edge_free(edge);
}

void
melyint_check_promise(struct mely_event *ev)
{
	if (on() && here.inside && ev != NULL)
		melyint_edge_add(ev, here.program);
}

void
melyint_check_for_last(bool last)
{
	void *fiber = here.program;

	if (!on() || !here.inside || (last && !here.last_known))
		return;
	if (last) {
		here.program = melyint_fiber_new(NULL);
		melyint_edge_acquire(&here.last, here.program);
	} else if (fiber != NULL) {
		here.program = NULL;
		melyint_fiber_end(fiber);
	}
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Call fn(arg) as fiber, on behalf of function. ThreadSanitizer learns of a function when it calls
 * one that is instrumented: of a handler that calls only others, such as those of a library, it
 * would know nothing but its caller. */
static void
call_as(void *fiber, void (*function)(void *arg), void (*fn)(void *arg), void *arg)
{
	here.inside = false;
	here.program = NULL;
	go_to(fiber);
	melyint_frame_begin(function);
	fn(arg);
	if (!on())
		return;
	__tsan_func_exit();
	melyint_fiber_leave_for(here.runtime);
	here.inside = true;
}

/* The color has read the embedded event on behalf of its handler: a write that does not come after
 * this read uses the event again too early. Uses the address alone: the event may have ended. */
static void
read_event(void *fiber, struct mely_event *ev, void (*fn)(void *arg))
{
	go_to(fiber);
	melyint_frame_begin(fn);
	__tsan_read_range(ev, sizeof *ev);
	__tsan_func_exit();
	melyint_fiber_leave_for(here.runtime);
}

/* Run the event in hand, of the handler with this function, as its color. */
static void
call_in_color(void (*function)(void *arg), void (*fn)(void *arg), void *arg)
{
	void *fiber = here.color->fiber;

	melyint_edge_follow(here.post, fiber);
	melyint_edge_free(here.post);
	here.post = NULL;
	if (here.event != NULL)
		read_event(fiber, here.event, here.handler);
	here.event = NULL;
	call_as(fiber, function, fn, arg);
}

void
melyint_check_next(struct mely_event *ev)
{
	if (!on())
		return;
	melyint_edge_free(here.post);
	here.post = melyint_edge_take(ev);
	here.own = melyint_watch_is_ours(ev->_handler) || melyint_poller_is_inner(ev->_handler) ||
	    melyint_timer_is_message(ev->_handler);
	here.event = here.own || (ev->_flags & MELYINT_EV_POOLED) ? NULL : ev;
	here.handler = ev->_handler->fn;
	here.program = NULL;
}

void
melyint_run_handler(void (*fn)(void *arg), void *arg)
{
	if (!on() || here.own || here.color == NULL)
		fn(arg);
	else
		call_in_color(here.handler, fn, arg);
}

static void
run_batch(void *core)
{
	here.run(core);
}

void
melyint_run_batch(struct melyint_core *core, void (*run)(struct melyint_core *core))
{
	struct mely_color *color = core->batch.color;
	struct melyint_colorfiber *outer = here.color, *cf;

	if (!on() || color == &core->self_color) {
		here.color = NULL;
		run(core);
		here.color = outer;
		here.last_known = false;
		return;
	}
	know_tls();
	cf = here.color = melyint_colorfiber_get(color);
	here.run = run;
	melyint_stack_call(&cf->stack, run_batch, core);
	if (!on())
		return;
	melyint_edge_free(here.post);
	here.post = NULL;
	here.program = NULL;
	melyint_edge_release(&here.last, cf->fiber);
	here.last_known = true;
	if (here.pass != NULL)
		melyint_edge_add(here.pass, cf->fiber);
	here.color = outer;
	melyint_colorfiber_put(cf);
}

/* ---- watchers and helpers -------------------------------------------------------------------- */

void
melyint_check_watch_made(struct melyint_watch *w)
{
	if (!on() || !here.inside)
		return;
	melyint_edge_set(MELYINT_KEY(w, MELYINT_KEY_STARTED), here.program);
	melyint_edge_set(MELYINT_KEY(w, MELYINT_KEY_OVER), NULL);
}

void
melyint_check_watch_gone(struct melyint_watch *w)
{
	if (!on() || !here.inside)
		return;
	melyint_edge_set(MELYINT_KEY(w, MELYINT_KEY_STARTED), NULL);
	melyint_edge_set(MELYINT_KEY(w, MELYINT_KEY_OVER), NULL);
}

void
melyint_check_watch_over(struct melyint_watch *w)
{
	if (on() && here.inside)
		melyint_edge_follow_key(MELYINT_KEY(w, MELYINT_KEY_OVER), here.program);
}

void
melyint_run_watcher(struct melyint_watch *w, void (*fn)(void *arg), void *arg)
{
	if (!on() || here.color == NULL) {
		fn(arg);
		return;
	}
	melyint_edge_follow_key(MELYINT_KEY(w, MELYINT_KEY_STARTED), here.color->fiber);
	call_in_color(fn, fn, arg);
	if (!on())
		return;
	melyint_edge_set(MELYINT_KEY(w, MELYINT_KEY_OVER), here.color->fiber);
	/* The completion of its stop is posted after it. */
	here.program = here.color->fiber;
}

struct call {
	void *fiber;
	void (*fn)(void *arg);
	void *arg;
};

static void
run_call(void *arg)
{
	const struct call *call = arg;

	call_as(call->fiber, call->fn, call->fn, call->arg);
}

void
melyint_run_work(struct melyint_watch *w, const char *name, void (*fn)(void *arg), void *arg)
{
	struct call call = {NULL, fn, arg};
	struct melyint_stack stack;
	char label[64];

	if (!on() || !here.inside) {
		fn(arg);
		return;
	}
	know_tls();
	melyint_stack_make(&stack);
	call.fiber = melyint_fiber_new(&stack);
	(void)snprintf(label, sizeof label, "helper work (%s)", name);
	__tsan_set_fiber_name(call.fiber, label);
	melyint_edge_follow_key(MELYINT_KEY(w, MELYINT_KEY_STARTED), call.fiber);
	melyint_stack_call(&stack, run_call, &call);
	melyint_edge_set(MELYINT_KEY(w, MELYINT_KEY_STARTED), call.fiber);
	melyint_edge_add(MELYINT_KEY(w->io->rt, MELYINT_KEY_WORKED), call.fiber);
	melyint_fiber_end(call.fiber);
	melyint_stack_free(&stack);
}

/* ---- colors ---------------------------------------------------------------------------------- */

void
melyint_check_released(struct mely_color *color)
{
	if (on() && here.inside)
		melyint_edge_set(MELYINT_KEY(color, MELYINT_KEY_RELEASED), here.program);
}

void
melyint_check_named(struct mely_color *color, const char *name)
{
	if (on() && here.inside)
		melyint_colorfiber_name(color, name);
}

/* On the core that ran its last event, or, when it was idle, on the thread that released it. */
void
melyint_run_release(struct mely_color *color, void (*fn)(void *arg), void *arg)
{
	struct melyint_edge *released;
	struct melyint_colorfiber *cf;
	void *program = here.program;

	if (!on() || !here.inside) {
		if (fn != NULL)
			fn(arg);
		return;
	}
	released = melyint_edge_take(MELYINT_KEY(color, MELYINT_KEY_RELEASED));
	if (program != NULL) {
		cf = melyint_colorfiber_find(color);
		if (cf != NULL)
			melyint_colorfiber_end(cf, program);
		melyint_check_out();
		if (fn != NULL)
			fn(arg);
		melyint_check_in();
	} else {
		struct call call = {NULL, fn, arg};

		cf = melyint_colorfiber_get(color);
		call.fiber = cf->fiber;
		melyint_edge_follow(released, cf->fiber);
		if (fn != NULL)
			melyint_stack_call(&cf->stack, run_call, &call);
		if (on())
			melyint_colorfiber_end(cf, NULL);
	}
	melyint_edge_free(released);
}

/* ---- runs ------------------------------------------------------------------------------------ */

void
melyint_check_run_begin(struct mely_runtime *rt)
{
	static bool said; /* twice does no harm */

	if (__tsan_create_fiber == NULL && !said)
		melyint_say("color check: the program was not compiled with -fsanitize=thread: "
		    "nothing is checked");
	said = true;
	if (on() && here.inside)
		melyint_edge_set(MELYINT_KEY(rt, MELYINT_KEY_RUN), here.program);
}

void
melyint_check_run_end(struct mely_runtime *rt)
{
	if (!on() || !here.inside)
		return;
	melyint_colorfiber_end_all(rt, here.entered);
	melyint_edge_follow_key(MELYINT_KEY(rt, MELYINT_KEY_WORKED), here.entered);
}

void
melyint_check_exit(struct mely_runtime *rt)
{
	if (on() && here.inside)
		melyint_colorfiber_end_idle(rt, here.entered);
}

bool
melyint_check_waited(void)
{
	return on() && here.inside && melyint_fiber_waited(here.runtime);
}

void
melyint_check_report(struct mely_runtime *rt, bool begins)
{
	if (on() && begins) {
		melyint_edge_follow_key(MELYINT_KEY(rt, MELYINT_KEY_RUN), here.entered);
		melyint_check_out();
	} else if (on()) {
		melyint_check_in();
		melyint_edge_add(MELYINT_KEY(rt, MELYINT_KEY_WORKED), here.entered);
	}
}

void
melyint_check_pass(struct mely_runtime *rt, bool begins)
{
	if (!on() || !here.inside)
		return;
	here.pass = begins ? MELYINT_KEY(rt, MELYINT_KEY_PASSED) : NULL;
	if (!begins)
		melyint_edge_follow_key(MELYINT_KEY(rt, MELYINT_KEY_PASSED), here.entered);
}
