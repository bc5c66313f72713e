/* SPDX-License-Identifier: MIT */
/*
 * watch.h: what descriptors, timers, signals, children and blocking work have in common: a record
 * named by an id, whose embedded event runs the program's handler in the program's color, and
 * which can be stopped exactly: NOTE(exact stop) in watch.c.
 *
 * A record is under its guard: the lock of the descriptor for a descriptor's watcher, a lock of the
 * record itself for all others. Both locks are in memory that stays until the runtime is freed. So
 * a thread with only an id may take the guard that it finds there, and then check that the id
 * still names the record (melyint_watch_hold).
 *
 * Order of locks: a poller's hold, or the lock of the signals, before a guard; a guard before the
 * lock of a class of work, the lock of the slots and the locks of cores.
 */
#ifndef MELYINT_IO_WATCH_H
#define MELYINT_IO_WATCH_H

#include <mely/mely.h>
#include <sys/types.h>

#include "base/atomic.h"
#include "base/lock.h"
#include "io/bycolor.h"

struct melyint_io;
struct melyint_fd;

#define MELYINT_WATCH_MAGIC 0x6d577463u /* "mWtc" */

enum melyint_kind {
	MELYINT_KIND_FD = 1,
	MELYINT_KIND_CHILD, /* a descriptor's watcher, on a pidfd */
	MELYINT_KIND_TIMER,
	MELYINT_KIND_SIGNAL,
	MELYINT_KIND_WORK,
	MELYINT_KIND_DRAIN /* closing.c */
};

enum melyint_stage {
	MELYINT_STAGE_REST = 0,
	MELYINT_STAGE_QUEUED,
	MELYINT_STAGE_RUNNING
};

/* fd.c, child.c */
struct melyint_watch_fd {
	struct melyint_fd *record;
	uint8_t direction;          /* 0 read, 1 write */
	uint8_t ready;              /* enum mely_fd_readiness found since the handler last began */
	bool edge;
	bool again;                 /* check once more when the handler has ended */
	bool stale;                 /* `ready` may be: E of NOTE(readiness) */
	bool ended;                 /* the child has: its handler runs, and no descriptor refers to
	                             * the record any more */
	uint32_t round;             /* of its poller when the handler last ended; even: none */
	uint32_t runs;              /* of the handler, when it is level-triggered */
	pid_t pid;                  /* of a child */
};

/* timer.c */
struct melyint_watch_timer {
	struct mely_event message;  /* to its core: arm or disarm */
	/* under the poller's hold: the heap of armed.c; wall-clock timers of its core */
	struct melyint_watch *left, *right, *up;
	uint32_t rank;
	struct melyint_watch *next;
	struct melyint_watch **link;
	uint64_t due_ns;            /* monotonic; wall-clock with wall */
	uint64_t armed_ns;          /* the monotonic time for which it is armed */
	uint64_t repeat_ns;
	uint64_t overruns;
	uint16_t core;              /* whose poller has it */
	uint16_t aside;             /* refs of threads that have dropped the guard to yield */
	bool armed;
	bool messaged;
	bool wall;
	bool over;                  /* a one-shot timer that has fired */
	bool again;                 /* to be posted: fired while its handler ran, or taken back when
	                             * it was suspended */
};

/* signal.c */
struct melyint_watch_signal {
	struct melyint_watch *next; /* watchers of the signal; under the lock of the signals */
	struct melyint_watch **link;
	int signum;
	bool again;                 /* came while the event was in flight, or suspended */
};

/* work.c */
struct melyint_watch_work {
	void (*fn)(void *arg);
	struct melyint_watch *next; /* waiting work of the class; under the lock of the class */
	struct melyint_watch **link;
	uint8_t work_class;
	bool waiting;               /* under the lock of the class */
};

struct melyint_watch {
	_Alignas(MELY_CACHE_LINE) struct mely_event ev; /* runs the trampoline */
	struct mely_handler handler;/* a copy of the program's, with the trampoline as function */
	_Atomic(struct melyint_lock *) guard; /* set when taken; any thread */
	_Atomic uint32_t gen;       /* odd: taken; written under the guard, read by any thread */
	uint32_t magic;             /* MELYINT_WATCH_MAGIC; set once */
	uint32_t slot;              /* set once */
	struct melyint_lock own;
	uint32_t next_free;         /* slots.c */
	/* under the guard */
	uint8_t kind;               /* enum melyint_kind */
	uint8_t stage;              /* enum melyint_stage */
	bool stopped;
	bool off;                   /* suspended: its event is not posted */
	bool cancelling;            /* `over` will be posted */
	uint8_t refs;               /* what still refers to the record */
	struct melyint_io *io;
	struct mely_color *color;
	struct mely_handler *user;
	void (*fn)(void *arg);      /* the program's function */
	void *arg;
	struct mely_color *done_color;
	struct mely_event *done;    /* posted when the handler has ended; NULL: none */
	struct melyint_mates mates; /* under the lock of the slots: bycolor.c */
	struct mely_event over;     /* posted when a cancel that could not be exact has ended */
	union {
		struct melyint_watch_fd fd;
		struct melyint_watch_timer timer;
		struct melyint_watch_signal signal;
		struct melyint_watch_work work;
	} u;
};

/* The record to make. */
struct melyint_watch_ask {
	enum melyint_kind kind;
	struct mely_color *color;
	struct mely_handler *handler;
	void *arg;
	void (*trampoline)(void *arg);
	struct melyint_lock *guard; /* held; NULL: the record's own */
	bool late;                  /* accepted while closing, too */
};

/* Take a slot and fill in its record, which is returned under its guard. 0, -ENOMEM, -ESHUTDOWN. */
int melyint_watch_new(struct melyint_io *io, const struct melyint_watch_ask *ask,
    struct melyint_watch **watch);
mely_watch melyint_watch_id(const struct melyint_watch *w);

/* The record of an id, under its guard, or NULL when the id is stale. */
struct melyint_watch *melyint_watch_hold(struct melyint_io *io, mely_watch id);
/* As melyint_watch_hold, but NULL also when the record is of another kind or was stopped. */
struct melyint_watch *melyint_watch_hold_live(struct melyint_io *io, mely_watch id,
    enum melyint_kind kind);
/* Is this a record whose guard the calling thread holds? For assertions. */
MELY_INLINE bool
melyint_watch_guarded(const struct melyint_watch *w)
{
	return w->magic == MELYINT_WATCH_MAGIC && melyint_lock_held(MELY_PEEK(&w->guard));
}

/* Take the guard of a record that stays: the caller has a ref. */
void melyint_watch_guard(struct melyint_watch *w);
/* Drop the guard. Frees the record if it was stopped and has no refs. */
void melyint_watch_drop(struct melyint_watch *w);

/* Under the guard, in REST and not stopped: post the event. */
void melyint_watch_post(struct melyint_watch *w);
/* Under the guard: take a queued event back if no core has taken it. True: in REST now. */
bool melyint_watch_unpost(struct melyint_watch *w);
/* Under the guard, not stopped: NOTE(exact stop). 0, or as melyint_watch_await. */
int melyint_watch_stop(struct melyint_watch *w, struct mely_color *done_color,
    struct mely_event *done);
/* Under the guard: post done when the handler, which runs or will run, has ended. done may be NULL.
 * -EINPROGRESS; -EALREADY: another event waits for that end. */
int melyint_watch_await(struct melyint_watch *w, struct mely_color *done_color,
    struct mely_event *done);
/* Under the guard: a stop that is too late to prevent anything. As melyint_watch_await while the
 * handler runs and the caller is not in it; else -ENOENT. */
int melyint_watch_stop_late(struct melyint_watch *w, struct mely_color *done_color,
    struct mely_event *done);

/* The trampoline's first step. True: run the program's handler; the guard is held. */
bool melyint_watch_enter(struct melyint_watch *w);
/* The trampoline's last step, under the guard. True: not stopped, in REST, the guard still held.
 * False: stopped meanwhile; the guard is dropped, the record may be freed. */
bool melyint_watch_leave(struct melyint_watch *w);

/* Is this the handler of a record's event or of the end of a cancel? Of the latter? */
bool melyint_watch_is_ours(const struct mely_handler *handler);
bool melyint_watch_is_over(const struct mely_handler *handler);
/* With the cores parked, under the guard, which this drops: a queued event of the stopped record
 * will not run. over: it is the event that ends a cancel. Posts done. */
void melyint_watch_lost(struct melyint_watch *w, bool over);

#endif
