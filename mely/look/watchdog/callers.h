/* SPDX-License-Identifier: MIT */
/*
 * callers.h: where another core's thread is: it is sent a signal, and its signal handler writes
 * down the return addresses on its stack. The protocol is NOTE(backtrace) in callers.c.
 */
#ifndef MELYINT_LOOK_WATCHDOG_CALLERS_H
#define MELYINT_LOOK_WATCHDOG_CALLERS_H

#include "look/report.h"
#include "base/syscalls.h"

enum { MELYINT_FRAMES = 64 };

struct melyint_frame {
	uintptr_t pc;    /* exact, or a return address */
	uintptr_t start; /* of its function; 0: not known */
	bool exact;
};

/* A core's stack, as its thread has written it down. */
struct melyint_backtrace {
	_Atomic int stage;    /* A of NOTE(backtrace); the monitor, and the thread of the core */
	int frames_count;     /* what follows: the thread, then the monitor */
	struct melyint_frame frames[MELYINT_FRAMES];
};

/* With a runtime; before the first thread is started. 0 or -ENOMEM. */
int melyint_backtrace_new(struct mely_runtime *rt);
void melyint_backtrace_free(struct mely_runtime *rt);
/* A run begins: put the signal handler in place. */
void melyint_backtrace_begin(struct mely_runtime *rt);

/* What the system says of a thread. */
struct melyint_thread_state {
	char state;         /* as in /proc: R, S, D...; '?' */
	bool signal_blocked;
	long call;          /* the system call it waits in; -1: none, or not known */
	uint64_t args[MELYINT_CALL_ARGS]; /* what that was called with */
};

enum { MELYINT_WHY = 80 };

/* Ask core's thread for its backtrace. Monitor. False: it will not come, and why. */
bool melyint_backtrace_ask(struct melyint_core *core, char why[MELYINT_WHY],
    struct melyint_thread_state *state);
/* Is it there? Monitor. */
bool melyint_backtrace_taken(struct melyint_core *core);
/* Whether it came or not: nothing is wanted any more. Monitor. False: it is being written. */
bool melyint_backtrace_forget(struct melyint_core *core);

/* "symbol+0x12 < other+0x34 ..." up to the function fn, if that is on the stack. Monitor, once it
 * has been taken. */
void melyint_backtrace_add(struct melyint_core *core, void (*fn)(void *arg),
    struct melyint_line *line);

/* In the child of a fork. */
void melyint_backtrace_reset(struct melyint_core *core);

#endif
