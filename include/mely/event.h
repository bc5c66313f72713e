/* SPDX-License-Identifier: MIT */
/*
 * mely/event.h: handlers, events, posting and cancelling.
 *
 * An event is a handler, its argument and a color. Events of one color run one after another in
 * the order posted; events of different colors may run in parallel. All that a handler did
 * before a post is visible to the posted event, and all that an event did is visible to the next
 * event of its color; nothing more is promised.
 */
#ifndef MELY_EVENT_H
#define MELY_EVENT_H

#include <mely/base.h>

MELY_BEGIN_DECLS

/** Lowest and highest priority of a handler; values outside are clipped. 0 is ordinary. */
#define MELY_PRIORITY_MIN (-16)
#define MELY_PRIORITY_MAX 15

/**
 * A handler: a function and what the program knows of it. Static (MELY_HANDLER) or filled in
 * with mely_handler_init; it must outlive every event that names it: when the function of the
 * last one is entered, the handler is the program's again. Not const: the library keeps what it
 * measures in the private fields. Time and penalty are set before the first event is posted. One
 * handler may serve several runtimes.
 */
struct mely_handler {
	void (*fn)(void *arg);
	const char *name;    /**< for people; may be NULL */
	uint32_t time_ns;    /**< usual running time of one event, ns; 0: not known */
	uint32_t penalty;    /**< stealing penalty, >= 1; 0: not known */
	int32_t priority;    /**< MELY_PRIORITY_MIN .. MELY_PRIORITY_MAX */
	MELY_ATOMIC(uint32_t) _measured_ns;
	MELY_ATOMIC(uint32_t) _away_ns;
	MELY_ATOMIC(uint32_t) _number;
	MELY_ATOMIC(uint32_t) _weight[6];
	void *_reserved;
};

/** Static initialiser: struct mely_handler h = MELY_HANDLER(fn); named after the function. */
#define MELY_HANDLER(function) {(function), #function, 0, 0, 0, 0, 0, 0, {0}, 0}

/** The same with annotations: usual time in ns, penalty, priority; 0 where not known. */
#define MELY_HANDLER_WITH(function, time, pen, prio) \
	{(function), #function, (time), (pen), (prio), 0, 0, 0, {0}, 0}

/** Fill in a handler at run time without annotations. Any thread; name is not copied. */
MELY_API void mely_handler_init(struct mely_handler *handler, void (*fn)(void *arg),
    const char *name);

/** A limit for mely_handler_set_stall: the handler is never reported. */
#define MELY_STALL_NEVER UINT32_MAX

/**
 * A call of this handler that has run for ms milliseconds is reported and counted as a stall
 * (mely_config.stall_ms is the limit of all others); 0: that limit again; MELY_STALL_NEVER: it may
 * run for as long as it likes. Counts for every handler of the same function and name, in every
 * runtime whose stall_ms is not 0, from the next look on. Any thread, handlers included.
 */
MELY_API void mely_handler_set_stall(struct mely_handler *handler, uint32_t ms);

/**
 * An event that lives in the caller's own struct: posting it allocates nothing and can not fail
 * for want of memory. It is the caller's again the moment its handler is entered, so the handler
 * may post it again or free it. 56 bytes.
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

/** Static initialiser of an embedded event. */
#define MELY_EVENT(handler, arg) {NULL, NULL, (handler), (arg), NULL, 0, 0, 0, 0}

/**
 * Make ev an event of handler with argument arg. Any thread; ev must not be queued. Also the way
 * to give a finished event another handler or argument.
 */
MELY_API void mely_event_init(struct mely_event *ev, struct mely_handler *handler, void *arg);

/**
 * A time of its own for this event in ns, instead of its handler's; 0: the handler's again. Any
 * thread, while nobody posts the event; on one that is queued it has no effect.
 */
MELY_API void mely_event_set_time(struct mely_event *ev, uint32_t time_ns);

/** Is ev queued now? Any thread; only a hint unless asked in a handler of its color. */
MELY_API int mely_event_pending(const struct mely_event *ev);

/* ---- posting ------------------------------------------------------------------------------ */

/**
 * Post an event of the library's own (from a pool) to the color with this id, behind everything
 * already posted to it. Any thread, also one that is no core; before mely_run it is held until
 * mely_run. Does not block. The handler must outlive the event; arg is passed on untouched.
 *
 * 0, or
 *   -ENOMEM     no memory for the event or the color
 *   -EAGAIN     the color is at its high-water mark (mely_color_set_high_water)
 *   -ESHUTDOWN  the runtime is stopping and the caller is no handler of it
 *   -ECHILD     the process was forked and the runtime not renewed (mely_runtime_renew)
 */
MELY_API int mely_post_id(struct mely_runtime *rt, uint32_t color, struct mely_handler *handler,
    void *arg);

/**
 * The same at the head of the color: before every tail post that has not begun to run; heads
 * among themselves in the order posted.
 */
MELY_API int mely_post_head_id(struct mely_runtime *rt, uint32_t color,
    struct mely_handler *handler, void *arg);

/** The same to a color by its object: no look-up. Errors as mely_post_id. */
MELY_API int mely_post(struct mely_color *color, struct mely_handler *handler, void *arg);
MELY_API int mely_post_head(struct mely_color *color, struct mely_handler *handler,
    void *arg);

/** mely_post of an event that is expected to run for time_ns rather than handler's time. */
MELY_API int mely_post_timed(struct mely_color *color, struct mely_handler *handler,
    void *arg, uint32_t time_ns);

/**
 * Post an embedded event to a color, at the tail or the head. Any thread. Errors as mely_post_id
 * without -ENOMEM, and
 *   -EALREADY   the event is queued already (it stays where it is)
 * Two threads may post the same event at the same time; one of them wins.
 */
MELY_API int mely_event_post(struct mely_color *color, struct mely_event *ev);
MELY_API int mely_event_post_head(struct mely_color *color, struct mely_event *ev);

/**
 * The same to a color by id; -ENOMEM is possible when the id was never used before. The id's
 * memory then stays as long as the runtime (mely_trim leaves it).
 */
MELY_API int mely_event_post_id(struct mely_runtime *rt, uint32_t color, struct mely_event *ev);

/* ---- cancelling --------------------------------------------------------------------------- */

/**
 * Cancel a posted embedded event. Any thread; does not wait.
 *
 *   0             it will not run; it is the caller's again. Always so in a handler of the color
 *                 that the event was posted to, when the event had not run.
 *   -ENOENT       it is not queued: it was never posted, or has run, or runs now (its own handler)
 *   -EINPROGRESS  another core has already taken it to run. It may run once more or not at all;
 *                 when that is over done (may be NULL) is posted to done_color. ev must stay
 *                 valid until then.
 *   -EALREADY     done is queued already (nothing was cancelled)
 */
MELY_API int mely_event_cancel(struct mely_event *ev, struct mely_color *done_color,
    struct mely_event *done);

/* ---- fork and join ------------------------------------------------------------------------ */

/**
 * A join counter: post one event when count others have reported. No atomics in the program.
 * Embedded; must live until its event has been posted.
 */
struct mely_join {
	MELY_ATOMIC(uint32_t) _left;
	struct mely_color *_color;
	struct mely_event *_event;
};

/** Prepare join: the count'th mely_join_done posts ev to color. count >= 1. Any thread. */
MELY_API int mely_join_init(struct mely_join *join, uint32_t count, struct mely_color *color,
    struct mely_event *ev);

/** Expect more reports. Only before the last expected one can have come (in practice: from a
 *  party that has not itself reported yet). */
MELY_API void mely_join_add(struct mely_join *join, uint32_t count);

/**
 * Report. All that the caller did before is visible to the joined event. Any thread. Returns 1
 * when this was the last report and the event has been posted, 0 when others are missing, or a
 * negative error of mely_event_post.
 */
MELY_API int mely_join_done(struct mely_join *join);

/* ---- where am I --------------------------------------------------------------------------- */

/** The color that runs on this thread now; NULL outside handlers. */
MELY_API struct mely_color *mely_current_color(void);
/** The runtime whose handler runs on this thread; NULL outside handlers. */
MELY_API struct mely_runtime *mely_current_runtime(void);
/** Number of the core this thread is, from 0; -1 outside handlers. */
MELY_API int mely_current_core(void);

MELY_END_DECLS

#endif
