/* SPDX-License-Identifier: MIT */
/*
 * monitor.h: the one background thread of a running runtime, "mely/mon", for what has to work even
 * while each core is in a handler. It runs a list of steps, which other files add; without a step
 * there is no thread. The protocol is NOTE(monitor) in monitor.c.
 */
#ifndef MELYINT_LOOK_WATCHDOG_MONITOR_H
#define MELYINT_LOOK_WATCHDOG_MONITOR_H

#include <signal.h>

#include "core/hooks.h"

#define MELYINT_STEP_NEVER UINT64_MAX /* call it when its descriptor is ready, or on a wake */
#define MELYINT_STEP_OVER 0           /* remove it from the list; look does not touch it again */

/* Embedded in its owner. Set before it is added; then only the monitor thread uses it. */
struct melyint_step {
	/*
	 * Called on the monitor thread: when a run begins, when fd is ready (revents, else 0), at
	 * the time that its last call returned, and after each melyint_monitor_wake. It may change
	 * fd and events, add steps, and take core locks for a short time. now_ns is the monotonic
	 * clock. Returns the latest time of its next call in that clock, or one of the above.
	 */
	uint64_t (*look)(struct melyint_step *step, uint64_t now_ns);
	int fd;              /* to wait for; -1: none */
	short events;        /* of poll(2) */
	short revents;
	bool while_awake;    /* call it only while a core is awake */
	bool afterwards;     /* with while_awake: and once after the last has fallen asleep */
	uint64_t sleeps;     /* of cores, before its last call; the monitor's */
	uint64_t due_ns;     /* the monitor's */
	uint64_t period_ns;  /* from its last call to due_ns; the monitor's */
	struct melyint_step *next; /* the monitor's */
};

#ifdef MELYINT_SIM /* has no such thread */
#define melyint_monitor_new(rt) ((void)(rt), 0)
#define melyint_monitor_free(rt) ((void)(rt))
#define melyint_monitor_add(rt, step) ((void)(rt), (void)(step), -ENOSYS)
#define melyint_monitor_wake(rt) ((void)(rt))
#define melyint_monitor_start(rt) ((void)(rt))
#define melyint_monitor_join(rt) ((void)(rt))
#define melyint_monitor_halt(rt) ((void)(rt))
#define melyint_monitor_renew(rt) ((void)(rt), 0)
#else

struct melyint_monitor {
	_Atomic bool resting;       /* waits until a core awakes: C of NOTE(monitor); any thread */
	_Atomic bool stopping;      /* has to end; the thread that ends the run */
	_Atomic uint64_t period_ns; /* the shortest of the steps with while_awake; the monitor */
	_Atomic(struct melyint_step *) coming; /* added, not yet taken; any thread */
	_Atomic int wakefd;         /* -1 until the first step is added; under life_lock */
	int timerfd;                /* likewise */
	bool started;               /* under life_lock */
	pthread_t thread;           /* under life_lock */
	pthread_mutex_t turn;       /* the thread holds it while it calls steps */
	bool halted;                /* under turn: the process exits, no step is called */
	/* the thread */
	struct mely_runtime *rt;    /* constant */
	struct melyint_step *steps;
	struct pollfd *polls;
	size_t polls_room;
};

/* When a runtime is made. 0 or -ENOMEM. */
int melyint_monitor_new(struct mely_runtime *rt);
void melyint_monitor_free(struct mely_runtime *rt);

/*
 * Add a step; while the runtime runs it is called soon. Any thread that holds no lock of the
 * library. 0, or a negative errno: the step was not added.
 */
int melyint_monitor_add(struct mely_runtime *rt, struct melyint_step *step);

/* Call each step that is not while_awake. Any thread, also in a signal handler. One write(2);
 * nothing if no step was ever added. */
void melyint_monitor_wake(struct mely_runtime *rt);

/* A run begins: start the thread if there are steps. Under life_lock. If it cannot be started, a
 * line says so, and the run goes on without it. */
void melyint_monitor_start(struct mely_runtime *rt);
/* A run ends and the cores are parked: wait until the thread has ended. */
void melyint_monitor_join(struct mely_runtime *rt);
/* The process exits: from now on no step is called. Any thread. */
void melyint_monitor_halt(struct mely_runtime *rt);
/* In the child of a fork: there is no thread and no step. 0 or a negative errno. */
int melyint_monitor_renew(struct mely_runtime *rt);

#endif

#endif
