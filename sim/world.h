/* SPDX-License-Identifier: MIT */
/*
 * world.h: a running program: its runtimes, colors and events, and the state of the checks. One
 * world at a time.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <mely/mely.h>

#include "engine.h"
#include "order.h"
#include "program.h"

enum {
	WORLD_POSTS = 512,
	WORLD_PRODUCERS = PROGRAM_COLORS + PROGRAM_THREADS + 1
};

/* The kind of an event. */
enum handler_kind {
	HANDLER_POST,
	HANDLER_EVENT,
	HANDLER_TIMER,
	HANDLER_STOPPED,
	HANDLER_DONE,
	HANDLER_FD,
	HANDLER_SPREAD,
	HANDLER_CLOSED,
	HANDLER_DRAINED,
	HANDLER_KINDS
};

enum post_state { POST_NEW, POST_MADE, POST_RAN, POST_HANDED_BACK, POST_CANCELLED, POST_REFUSED };

/* One post of an event. */
struct post {
	struct world *world;
	uint8_t state;          /* enum post_state */
	bool head, made;        /* made: the call has returned 0 */
	bool vague;             /* a head that a cancel concerns: not counted among the heads */
	uint8_t color, script;
	int8_t item;            /* embedded event, or -1 */
	uint8_t producer;
	bool ordered;           /* its place in the order of its producer is known */
	bool work;              /* of blocking work */
	bool work_begun, work_ended; /* the function, on a helper */
	bool perhaps_dropped;   /* work: a close overlapped its call */
	uint32_t closes;        /* work: of its color, when it was submitted */
	uint32_t number;        /* of all posts, in the order begun */
	uint32_t made_at;       /* moment */
	uint32_t mark_call;     /* it counts under the mark of this call; 0: perhaps not */
	struct sim_word data;   /* written before the post, read by the event */
};

/* The high-water mark of a color. */
struct world_mark {
	struct mely_event *drained;
	bool ever;              /* one was set */
	bool sure;              /* the next two are those of the last call */
	bool tells;
	uint32_t at_most;
	uint32_t calls, setting;/* calls that set it, ever begun and running */
	uint32_t refused, told; /* posts; events that the color has drained */
	uint32_t owed_at, told_at; /* moments: the last refused post that calls for a report began;
	                         * the last report */
};

struct world_color {
	struct world *world;
	struct mely_color *color;  /* NULL: known only by its id */
	struct mely_color *object; /* its memory, or NULL */
	struct mely_runtime *rt;
	uint32_t id;
	bool running;
	bool releasing;            /* mely_color_release has not returned */
	bool released, freed;
	struct mely_event *closed; /* of mely_color_close */
	uint32_t closes;        /* calls of mely_color_close, ever begun */
	bool closing;           /* closed has not ended */
	bool close_inside;      /* a handler of its runtime has begun it */
	uint32_t posting;       /* running calls that name it */
	uint32_t held;          /* timers and completions that may still name it */
	uint32_t pins;          /* running calls that move it in its queue */
	uint32_t pin_calls;     /* ever begun */
	int pinned;             /* core + 1 to which it is certainly pinned; 0: none */
	uint32_t since_pin;     /* events begun since */
	struct world_mark mark;
	struct sim_word data;   /* every event of the color writes it */
	uint32_t waits;         /* handlers its core has run since it began to wait */
	uint32_t last[WORLD_PRODUCERS][2]; /* post number that ran last, tails and heads */
	uint32_t heads_waiting; /* posted, the call has returned, not begun */
	uint32_t heads_due;     /* of these, posted before its last event ended */
	uint32_t ended_at;      /* moment */
};

struct world_event {
	struct world *world;
	struct mely_event *event; /* in the library's memory, so that its fields are checked */
	struct post *post;      /* the pending post, if known */
	uint32_t posting, cancelling; /* running calls */
	uint32_t calls;         /* ever begun */
	uint32_t posted, ran, cancelled, handed_back;
	int running;            /* color + 1 in which its handler runs; 0: it does not */
	uint32_t posted_before; /* posted, when that began */
	bool last_runs;         /* no other post had begun by then */
	struct mely_event *done;/* of a cancel that was too late */
	bool done_out;          /* given to a cancel, or posted and not run */
	bool done_posted;
	struct world_runtime *done_runtime; /* that it is posted to */
	bool done_inside;       /* a handler of done_runtime made the cancel */
	bool done_vague;        /* it may have been dropped itself */
	uint8_t done_color;
	uint32_t colors;        /* a bit for each that it may refer to */
	uint32_t pleas;         /* cancels that were too late: each may have dropped one */
	uint32_t plea_posted;   /* posted, when done was given */
	uint32_t dropped;
};

struct world_timer {
	struct world *world;
	mely_watch id;
	bool started;           /* the id is valid */
	bool busy;              /* a call about it is running */
	bool running, repeats;
	bool pushed;            /* mely_timer_again: it may run for the old time or the new */
	bool exact;             /* a handler of its color has pushed it last: for the new alone */
	uint8_t color;
	uint32_t closes;        /* of its color, when it was started */
	uint32_t ran;           /* since it was started */
	uint64_t due_ps;        /* not before */
	bool awaited;           /* it must run at late_ps or soon after */
	uint64_t late_ps, looked_ps;
	uint32_t looks;         /* checks that found it late behind a busy core */
	struct mely_event *done; /* of a stop; in the timer's color */
	bool done_out;          /* a stop has promised it, or is about to */
	uint32_t stops;
};

/* An event counter of the program's, watched for reading. */
struct world_fd {
	struct world *world;
	int fd;
	mely_watch id;
	bool started, busy, running; /* like those of a timer */
	bool perhaps_closed;    /* a close overlapped the call that started it, or another one */
	bool edge;
	uint8_t color;
	uint32_t closes;
};

struct world_runtime {
	struct world *world;
	struct mely_runtime *rt;
	unsigned stealing;      /* the bits given last */
	int runner;             /* virtual thread */
	bool stopping;          /* a stop has been requested, or is about to be */
	bool once_stop;         /* to the runner: stop it */
	bool running;           /* between the begin of mely_run and its end */
	uint32_t outside, outside_begun; /* posts from elsewhere: running, ever begun */
	bool lenient;           /* a stop discarded, or overlapped a post from elsewhere */
	uint32_t stops;         /* calls of mely_stop that have not returned */
	uint32_t runs;
	uint64_t drain_from_ps, drain_to_ps; /* the deadline of a drain is between them; 0: none */
	uint64_t drain_late_ps; /* when all threads first waited after it; 0: not yet */
	uint64_t idle_sleeps;   /* of its cores, when all of them fell asleep; 0: not yet */
	uint32_t idle_wakes;    /* how often all of them have fallen asleep again since */
	uint32_t idle_moment;   /* of the last handler before that */
};

struct world {
	const struct program *program;
	struct world_runtime runtime[PROGRAM_RUNTIMES];
	struct world_color color[PROGRAM_COLORS];
	struct world_event event[PROGRAM_EVENTS];
	struct world_timer timer[PROGRAM_TIMERS];
	struct world_fd fd[PROGRAM_FDS];
	uint64_t worked_ns;
	uint32_t snapshots;
	uint32_t spread_posted, spread_ended; /* events to many ids */
	int answers, answer[PROGRAM_ANSWERS]; /* virtual threads */
	bool threads_over;      /* those that are not cores have ended */
	int posts_max;
	struct mely_handler handler[HANDLER_KINDS][PROGRAM_HANDLERS];
	struct post post[WORLD_POSTS];
	int posts;
	uint32_t numbers, moments;
	bool switches_stealing; /* an operation does */
	uint64_t behind_since_ps[PROGRAM_RUNTIMES]; /* worthy work beside a sleeper; 0: none */
};

extern struct world world;

/* Run the program under a schedule; the outcome names a failure. */
void world_run(const struct program *program, uint64_t schedule, struct sim_outcome *outcome);

/* ---- operations: operation.c ----------------------------------------------------------------- */

/* Do script, as an event of color (-1: a thread, with number producer). */
void world_script(int script, int color, int producer);
/* The color as an object: by a call, where only its id is known. */
struct mely_color *world_color_of(struct world_color *wc);
void world_handler(void *arg);
void world_event_handler(void *arg);
void world_timer_handler(void *arg);
void world_done_handler(void *arg);
void world_handback(void *ctx, const struct mely_handback *left);

/* The actor of an operation. */
struct doer {
	int color;              /* -1: a thread that is not a core */
	int producer;
	bool left;              /* the hand-back function */
};

/* NULL: no more posts, or not to this color. */
struct post *world_new_post(const struct doer *doer, const struct op *op, bool head, int item);
/* Does the runtime of the color refuse posts from outside now? */
bool world_refuses(const struct doer *doer, const struct world_color *wc);
/* A post was admitted. refused: the runtime was stopping when the call began, in this run. */
void world_admitted(const struct doer *doer, const struct world_color *wc, bool refused,
    uint32_t runs);
/* The errors with which a post may be refused; any other fails the run. */
void world_refused(const struct doer *doer, struct world_color *wc, int error);
struct world_runtime *world_runtime_of(const struct world_color *wc);

/* ---- operation_event.c ----------------------------------------------------------------------- */

void world_do_event_post(const struct doer *doer, const struct op *op, bool head);
void world_do_cancel(const struct doer *doer, const struct op *op);
/* The color that runs here, for an event that does not name it. */
int world_this_color(void);
/* One more post of the event has ended. No more posts can end than were begun. */
void world_event_ended(struct world_event *we, const char *how);

/* ---- operation_timer.c ----------------------------------------------------------------------- */

void world_do_timer_start(const struct doer *doer, const struct op *op);
void world_do_timer_again(const struct doer *doer, const struct op *op);
void world_do_timer_stop(const struct doer *doer, struct world_timer *wt);
void world_stopped_handler(void *arg);
void world_stopped_back(struct world_timer *wt);

/* ---- operation_close.c ----------------------------------------------------------------------- */

void world_do_close(const struct doer *doer, const struct op *op);
void world_closed_handler(void *arg);
void world_closed_back(struct world_color *wc);
/* Has the color been open since mark? */
uint32_t world_open_mark(const struct world_color *wc);
bool world_open_since(const struct world_color *wc, uint32_t mark);

/* ---- operation_mark.c ------------------------------------------------------------------------ */

/* What is known when a post begins. call 0: nothing. */
struct world_mark_post {
	uint32_t call, moment, numbers, waiting;
};

void world_do_mark(const struct op *op);
/* A post begins, and was admitted, or refused with -EAGAIN. */
struct world_mark_post world_mark_begin(const struct world_color *wc);
void world_mark_admitted(const struct doer *doer, const struct world_color *wc,
    struct post *post, struct world_mark_post before);
void world_mark_refused(const struct doer *doer, struct world_color *wc,
    struct world_mark_post before);
void world_drained_handler(void *arg);
void world_drained_back(struct world_color *wc);
/* All threads wait, and the runtime of the color runs. */
void world_marks_told(int color);
/* idle: as above, for the colors of runtimes that run. Else: no runtime runs. */
void world_marks_probe(bool idle);

/* ---- operation_io.c -------------------------------------------------------------------------- */

void world_do_work(const struct doer *doer, const struct op *op);
void world_do_fd(const struct doer *doer, const struct op *op);
void world_do_fd_stop(const struct doer *doer, struct world_fd *wf);
void world_do_spread(const struct doer *doer, const struct op *op);
void world_fd_handler(void *arg);
void world_spread_handler(void *arg);
void world_fds_open(void);
void world_fds_close(void);

/* ---- checks: invariant.c --------------------------------------------------------------------- */

/* An event of a color begins and ends. post: NULL for timers, completions, and where two threads
 * posted one event at the same time. */
void check_begin(int color, struct post *post);
/* The number of posts of an embedded event that have not ended in any way. */
uint32_t check_outstanding(const struct world_event *we);
/* A cancel of it is about to start. */
void check_vague(struct post *post);
/* post will not run: it was cancelled or handed back. */
void check_gone(struct post *post);
/* A color may have left its queue and returned since. */
void check_left(void);
/* A call of a post has returned 0. */
void check_posted(struct post *post);
void check_end(int color);
/* Check the queues of all cores whose locks are free. */
void check_structure(void);
/* Take a snapshot of rt, with colors: it must be well formed, whatever else runs. */
void check_snapshot(struct mely_runtime *rt, uint32_t how);
/* All threads wait, until until_ps. */
void check_still(uint64_t until_ps);
/* All threads wait without a deadline. */
void check_idle(void);
/* All runtimes have been freed. */
void check_over(void);

/* ---- promises: promise.c --------------------------------------------------------------------- */

/* An event of a color begins. */
void promise_begin(int color);
/* The handler of a timer or a descriptor begins. */
void promise_watcher(int color);
/* A call that pins a color begins (the result is for its end) and ends, with core + 1 or 0. */
uint32_t promise_pin(struct world_color *wc);
void promise_pinned(struct world_color *wc, uint32_t call, int pinned);
/* All threads wait, until until_ps. */
void promise_still(uint64_t until_ps);
/* A post by doer's color (-1: a thread) begins, and ends. */
void promise_post(int by, const struct world_color *wc, int step);
/* Stop it. */
void promise_stop(struct world_runtime *wr, enum mely_stop_mode mode);
/* inside: a handler has posted it, in the runtime that hands it back. */
void promise_handed_back(const struct world_runtime *wr, bool inside);

/* The library's own state, for messages. */
void world_dump(void);

#endif
