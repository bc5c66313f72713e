/* SPDX-License-Identifier: MIT */
/*
 * monitor.h: the one background thread of a running runtime, "mely/mon", for what has to work also
 * when every core is in a handler. What it does is a list of steps, each asked for by whoever
 * needs it; without any there is no thread. The protocol is NOTE(monitor) in monitor.c.
 */
#ifndef MELYINT_LOOK_WATCHDOG_MONITOR_H
#define MELYINT_LOOK_WATCHDOG_MONITOR_H

#include <signal.h>

#include "core/core.h"

#define MELYINT_STEP_NEVER UINT64_MAX /* until its descriptor is ready, or somebody wakes it */
#define MELYINT_STEP_OVER 0           /* take it off the list; look does not touch it again */

/* Embedded where it is needed. Set before it is added, then the monitor's thread's alone. */
struct melyint_step {
	/*
	 * On the monitor's thread, when a run begins, when fd is ready (revents, else 0), when the
	 * time it asked for has come, and after every melyint_monitor_wake. May change fd and
	 * events, add steps, and take core locks for a short while. now_ns is the monotonic clock.
	 * Returns when it is to be called again at the latest, in that clock, or one of the above.
	 */
	uint64_t (*look)(struct melyint_step *step, uint64_t now_ns);
	int fd;              /* to wait for; -1: none */
	short events;        /* of poll(2) */
	short revents;
	bool while_awake;    /* its time counts while some core is awake; it is not woken else */
	uint64_t due_ns;     /* the monitor's */
	uint64_t period_ns;  /* from its last look to that; the monitor's */
	struct melyint_step *next; /* the monitor's */
};

#ifdef MELYINT_SIM /* no such thread there */
#define melyint_monitor_new(rt) ((void)(rt), 0)
#define melyint_monitor_free(rt) ((void)(rt))
#define melyint_monitor_add(rt, step) ((void)(rt), (void)(step), -ENOSYS)
#define melyint_monitor_wake(rt) ((void)(rt))
#define melyint_monitor_start(rt) ((void)(rt))
#define melyint_monitor_join(rt) ((void)(rt))
#define melyint_monitor_halt(rt) ((void)(rt))
#define melyint_monitor_renew(rt) ((void)(rt), 0)
#define melyint_monitor_awake(core) MELY_STORE(&(core)->hint.busy, 1, relaxed)
#else

struct melyint_monitor {
	_Atomic bool resting;       /* it waits until a core awakes: C of NOTE(monitor); anyone */
	_Atomic bool stopping;      /* it is to end; whoever ends the run */
	_Atomic uint64_t period_ns; /* the shortest of the steps' that are looked at while awake;
	                             * the monitor */
	_Atomic(struct melyint_step *) coming; /* added, and not yet seen by it; anyone */
	_Atomic int wakefd;         /* -1 until the first step is added; under life_lock */
	int timerfd;                /* the same */
	bool started;               /* under life_lock */
	pthread_t thread;           /* under life_lock */
	pthread_mutex_t turn;       /* held by the thread while it looks */
	bool halted;                /* under turn: the process exits, it looks at nothing more */
	/* the thread's */
	struct mely_runtime *rt;    /* constant */
	struct melyint_step *steps;
	struct pollfd *polls;
	size_t polls_room;
};

/* With a runtime. 0 or -ENOMEM. */
int melyint_monitor_new(struct mely_runtime *rt);
void melyint_monitor_free(struct mely_runtime *rt);

/*
 * Add a step; while the runtime runs it is looked at soon. Any thread, under no lock of the
 * library. 0 or a negative errno: then it was not added.
 */
int melyint_monitor_add(struct mely_runtime *rt, struct melyint_step *step);

/* Have every step looked at, except those that look only while cores are awake. Any thread, also
 * in a signal handler. One write; nothing where no step was ever added. */
void melyint_monitor_wake(struct mely_runtime *rt);

/* A run begins: start the thread if there are steps. Under life_lock. Without the thread it runs as
 * well; a line says so. */
void melyint_monitor_start(struct mely_runtime *rt);
/* A run ends, the cores are parked: wait for the thread's end. */
void melyint_monitor_join(struct mely_runtime *rt);
/* The process exits: no step runs any more, from now on. Any thread. */
void melyint_monitor_halt(struct mely_runtime *rt);
/* In the child of a fork: there is no thread, and nothing is added. 0 or a negative errno. */
int melyint_monitor_renew(struct mely_runtime *rt);

void melyint_monitor_rouse(struct mely_runtime *rt);

/* Owner, or who attends the core: it is busy from now on. B of NOTE(monitor) */
MELY_INLINE void
melyint_monitor_awake(struct melyint_core *core)
{
	/* seq_cst, both: pairs with monitor.c:rest, of the two at least one sees the other */
	MELY_STORE(&core->hint.busy, 1, seq_cst);
	if (MELY_UNLIKELY(MELY_LOAD(&core->rt->look.monitor->resting, seq_cst)))
		melyint_monitor_rouse(core->rt);
}

#endif

/* The signals of a thread of the library: all blocked but those that its own faults raise. */
void melyint_thread_mask(sigset_t *mask);

#endif
