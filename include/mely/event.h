/* SPDX-License-Identifier: MIT */
/*
 * mely/event.h: handlers, events, posting and cancelling.
 *
 * An event is a handler, its argument and a color. Events of one color run one after another;
 * events of different colors may run in parallel. Two tail posts, or two head posts, of one thread
 * to one color run in the order posted, and so do those of the handlers of one color, whichever
 * threads run them. Posts of different producers have no order. All that a handler did before a
 * post is visible to the posted event, and all that an event did is visible to the next event of
 * its color; nothing more is promised.
 *
 * Pointers to a runtime, color, handler and event must point to initialised objects; the errors
 * -EINVAL for NULL and -ECHILD after a fork are those of mely/base.h.
 *
 * Lifetimes. A handler must stay valid until the function of the last event that names it is
 * entered. An embedded event belongs to the library from a successful post until its handler is
 * entered, or a cancel returns 0, or a stop hands it back. arg is never touched; it must stay valid
 * for as long as the handler needs it. A color must not be released before the post, unless one of
 * its own events posts.
 */
#ifndef MELY_EVENT_H
#define MELY_EVENT_H

#include <mely/base.h>

MELY_BEGIN_DECLS

/** Lowest and highest priority of a handler; values outside are clipped. 0 is ordinary. */
#define MELY_PRIORITY_MIN (-16)
#define MELY_PRIORITY_MAX 15

/**
 * A handler: a function and what the program knows of it. It is static (MELY_HANDLER, or an
 * initialiser that names fields and leaves the others 0) or filled in with mely_handler_init. When
 * the function of the last event that names it is entered, the handler is the program's again. It
 * is not const: the library keeps its measurements in the private fields. Set time, penalty and
 * priority before the first post. One handler may serve several runtimes.
 */
struct mely_handler {
	void (*fn)(void *arg);
	const char *name;    /**< for statistics and reports; not copied; may be NULL */
	uint32_t time_ns;    /**< usual running time of one event, ns; 0: unknown */
	uint32_t penalty;    /**< stealing penalty, >= 1; 0: unknown */
	int32_t priority;    /**< MELY_PRIORITY_MIN .. MELY_PRIORITY_MAX */
	MELY_ATOMIC(uint32_t) _measured_ns;
	MELY_ATOMIC(uint32_t) _away_ns;
	MELY_ATOMIC(uint32_t) _number;
	MELY_ATOMIC(uint32_t) _weight[6];
	void *_reserved;
	/** Called with the argument of an event or of work that a stop drops, instead of fn: it
	 *  frees what the argument owns. On the thread in mely_run, mely_run_once_for or
	 *  mely_runtime_free; NULL: the argument owns nothing. A hand-back function (mely_config)
	 *  gets the event instead. */
	void (*drop)(void *arg);
};

/** Static initialiser: struct mely_handler h = MELY_HANDLER(fn); named after the function. */
#define MELY_HANDLER(function) {(function), #function, 0, 0, 0, 0, 0, 0, {0}, 0, 0}

/** MELY_HANDLER with annotations: usual time in ns, penalty, priority; 0 where unknown. */
#define MELY_HANDLER_WITH(function, time, pen, prio) \
	{(function), #function, (time), (pen), (prio), 0, 0, 0, {0}, 0, 0}

/**
 * Fill in a handler at run time, without annotations. No event may name it yet. name is not copied;
 * it may be NULL. Does nothing when handler is NULL. fn must not be NULL: a post of the handler
 * then ends the program (mely/base.h).
 *
 * Threads: any. Colors: any. Blocks: no. Errors: none.
 */
MELY_API void mely_handler_init(struct mely_handler *handler, void (*fn)(void *arg),
    const char *name);

/** A limit for mely_handler_set_stall: the handler is never reported. */
#define MELY_STALL_NEVER UINT32_MAX

/**
 * Set the time after which a call of this handler is reported and counted as a stall, in
 * milliseconds. 0: the limit of the runtime again (mely_config.stall_ms); MELY_STALL_NEVER: no
 * limit. The limit is that of every handler with this function and this name, in every runtime
 * whose stall_ms is not 0, and takes effect when the runtime next looks for stalls. handler need be
 * valid during the call only; NULL does nothing.
 *
 * Threads: any. Colors: any. Blocks: no. Errors: none.
 */
MELY_API void mely_handler_set_stall(struct mely_handler *handler, uint32_t ms);

/**
 * An event that lives in the program's own struct: posting it allocates nothing and cannot fail for
 * want of memory. It belongs to the program again as soon as its handler is entered, so the handler
 * may post it again or free it. While it is queued, do not move, copy, free or initialise it.
 * 56 bytes.
 */
struct mely_event {
	struct mely_event *_next;
	struct mely_event *_prev;
	struct mely_handler *_handler;
	void *_arg;
	MELY_ATOMIC(struct mely_color *) _color;
	uint32_t _time;
	MELY_ATOMIC(uint16_t) _state;
	uint16_t _flags;
	uint64_t _stamp;
};

/** Static initialiser: struct mely_event ev = MELY_EVENT(&handler, arg); */
#define MELY_EVENT(handler, arg) {NULL, NULL, (handler), (arg), NULL, 0, 0, 0, 0}

/**
 * Make ev an event of handler with argument arg, also to give an event that is not queued another
 * handler or argument. ev must not be queued. Does nothing when ev is NULL. handler must not be
 * NULL: a post of the event then ends the program, as one of a handler without a function does.
 *
 * Threads: any. Colors: any. Blocks: no. Errors: none.
 */
MELY_API void mely_event_init(struct mely_event *ev, struct mely_handler *handler, void *arg);

/**
 * Give this event its own time in ns, instead of its handler's; 0: the handler's again. No thread
 * may post the event meanwhile. Has no effect on an event that is queued, and none when ev is NULL.
 *
 * Threads: any. Colors: any. Blocks: no. Errors: none.
 */
MELY_API void mely_event_set_time(struct mely_event *ev, uint32_t time_ns);

/**
 * 1 while ev is queued, 0 otherwise (and for NULL). In a handler of its color the answer is exact;
 * elsewhere it is a hint.
 *
 * Threads: any. Colors: any. Blocks: no. Errors: none.
 */
MELY_API int mely_event_pending(const struct mely_event *ev);

/* ---- posting ------------------------------------------------------------------------------ */

/*
 * A signal handler of sigaction(2) must not post, nor call anything else of the library: the signal
 * may interrupt the library while it holds a lock. It can write to an eventfd that the program
 * watches (mely_fd_watch); mely_signal_watch does that for the program.
 *
 * A post to a runtime that does not run waits until mely_run starts. mely_post and its kin take an
 * event from a pool of the library; mely_event_post and its kin take an event of the program. A
 * name with _id takes a runtime and the id of a color; one without takes the color itself, which
 * saves the look-up.
 */

/**
 * Post an event of the library to a color, behind everything already posted to it. 0, or
 *   -ENOMEM     there is no memory for the event
 *   -EAGAIN     the color is at its high-water mark (mely_color_set_high_water)
 *   -ESHUTDOWN  the runtime is stopping and the caller is not a handler of it
 *   -EINVAL     color or handler is NULL, or the color was released and the caller is not one of
 *               its events
 *   -ECHILD     after a fork
 * On an error nothing was posted.
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -ENOMEM, -EAGAIN, -ESHUTDOWN, -EINVAL, -ECHILD.
 */
MELY_API int mely_post(struct mely_color *color, struct mely_handler *handler, void *arg);

/**
 * mely_post at the head of the color: before every tail post that has not begun to run, and after
 * the head posts made before. Errors as mely_post.
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -ENOMEM, -EAGAIN, -ESHUTDOWN, -EINVAL, -ECHILD.
 */
MELY_API int mely_post_head(struct mely_color *color, struct mely_handler *handler,
    void *arg);

/**
 * mely_post of an event that should run for time_ns, rather than for its handler's time. Errors as
 * mely_post.
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -ENOMEM, -EAGAIN, -ESHUTDOWN, -EINVAL, -ECHILD.
 */
MELY_API int mely_post_timed(struct mely_color *color, struct mely_handler *handler,
    void *arg, uint32_t time_ns);

/**
 * mely_post and mely_post_head to the color with this id. The first use of an id makes its color.
 * Errors as mely_post; -ENOMEM also when there is no memory for the color; -EINVAL when rt is NULL.
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -ENOMEM, -EAGAIN, -ESHUTDOWN, -EINVAL, -ECHILD.
 */
MELY_API int mely_post_id(struct mely_runtime *rt, uint32_t color, struct mely_handler *handler,
    void *arg);
MELY_API int mely_post_head_id(struct mely_runtime *rt, uint32_t color,
    struct mely_handler *handler, void *arg);

/**
 * Post an embedded event to a color, at the tail or at the head. When two threads post the same
 * event at the same time, one of them wins. Errors as mely_post, but never ENOMEM, and
 *   -EALREADY   the event is queued already; it stays where it is
 *   -EINVAL     also for an event of zeroes, which was never initialised
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -EALREADY, -EAGAIN, -ESHUTDOWN, -EINVAL, -ECHILD.
 */
MELY_API int mely_event_post(struct mely_color *color, struct mely_event *ev);
MELY_API int mely_event_post_head(struct mely_color *color, struct mely_event *ev);

/**
 * mely_event_post to the color with this id. Errors as mely_event_post; -ENOMEM when there is no
 * memory for a color that did not exist; -EINVAL when rt is NULL. The color then lives as long as
 * the runtime: mely_trim leaves it.
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -ENOMEM, -EALREADY, -EAGAIN, -ESHUTDOWN, -EINVAL,
 * -ECHILD.
 */
MELY_API int mely_event_post_id(struct mely_runtime *rt, uint32_t color, struct mely_event *ev);

/* ---- cancelling --------------------------------------------------------------------------- */

/**
 * Cancel a posted embedded event.
 *
 *   0             It does not run; it is the program's again. Always so in a handler of the color
 *                 that it was posted to, when it has not run.
 *   -ENOENT       It is not queued: it was never posted, has run, or the caller is its handler.
 *   -EINPROGRESS  Another core has taken it to run, and runs it once more or not at all. After that
 *                 the library posts done to done_color. ev and done_color must stay valid until
 *                 done's handler is entered; without done, the program must learn otherwise when
 *                 ev is free.
 *   -EALREADY     done is queued already; nothing was cancelled.
 *   -EBUSY        ev is itself the done of another cancel, which the library has yet to post; or
 *                 a core was about to run it when the process forked, and this is the child:
 *                 initialise it again.
 *   -EINVAL       ev is NULL, or done is given without done_color.
 *
 * done may be NULL. The library touches done and done_color only after -EINPROGRESS. An event that
 * has run still refers to the color that it was last posted to: when that color's memory goes,
 * initialise the event again before a cancel.
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -ENOENT, -EINPROGRESS, -EALREADY, -EBUSY, -EINVAL.
 */
MELY_API int mely_event_cancel(struct mely_event *ev, struct mely_color *done_color,
    struct mely_event *done);

/* ---- fork and join ------------------------------------------------------------------------ */

/**
 * A join counter: it posts one event when a number of parties have reported, without atomics in the
 * program. It is embedded in a struct of the program, and must stay valid until the last report has
 * returned. Its color and its event must stay valid until that event's handler is entered.
 */
struct mely_join {
	MELY_ATOMIC(uint32_t) _left;
	struct mely_color *_color;
	struct mely_event *_event;
};

/**
 * Prepare join: the count'th mely_join_done posts ev to color. No party may report meanwhile. 0, or
 *   -EINVAL  count is 0, or an argument is NULL
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -EINVAL.
 */
MELY_API int mely_join_init(struct mely_join *join, uint32_t count, struct mely_color *color,
    struct mely_event *ev);

/**
 * Expect count more reports. Only before the last expected report can come; in practice, a party
 * that has not reported itself may call it. Does nothing when join is NULL.
 *
 * Threads: any. Colors: any. Blocks: no. Errors: none.
 */
MELY_API void mely_join_add(struct mely_join *join, uint32_t count);

/**
 * Report. All that the caller did before is visible to the joined event. Returns 1 when this was
 * the last report and the event was posted, 0 when reports are missing, or
 *   -EALREADY  the last report, but the event is queued already
 *   -ECHILD    the last report, after a fork
 *   -EINVAL    join is NULL
 *
 * Threads: any. Colors: any. Blocks: no. Errors: -EALREADY, -ECHILD, -EINVAL.
 */
MELY_API int mely_join_done(struct mely_join *join);

/* ---- where am I --------------------------------------------------------------------------- */

/** The color whose handler runs on this thread; NULL outside handlers. An object stays valid until
 *  its release function is called. A color by id is valid until the handler returns, and as long as
 *  an event waits in it; and until the runtime is freed once one of these has been done with it:
 *  an embedded event was posted to it, a watcher, timer, work or join made, a name, mark or pin
 *  given, done or drained_color named, or its id given to mely_color_of_id. To post to a color
 *  later, keep its id (mely_color_id), not this pointer.
 *  Threads: any. Colors: any. Blocks: no. Errors: none. */
MELY_API struct mely_color *mely_current_color(void);
/** The runtime whose handler runs on this thread; NULL outside handlers.
 *  Threads: any. Colors: any. Blocks: no. Errors: none. */
MELY_API struct mely_runtime *mely_current_runtime(void);
/** The number of the core that this thread is, from 0; -1 outside handlers.
 *  Threads: any. Colors: any. Blocks: no. Errors: none. */
MELY_API int mely_current_core(void);

MELY_END_DECLS

#endif
