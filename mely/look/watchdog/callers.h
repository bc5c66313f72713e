/* SPDX-License-Identifier: MIT */
/*
 * callers.h: backtraces of other cores' threads. The monitor sends a signal, whose handler writes
 * down the return addresses on the stack: NOTE(backtrace) in callers.c.
 */
#ifndef MELYINT_LOOK_WATCHDOG_CALLERS_H
#define MELYINT_LOOK_WATCHDOG_CALLERS_H

#include "look/report.h"
#include "base/syscalls.h"

enum { MELYINT_FRAMES = 64 };

struct melyint_frame {
	uintptr_t pc;    /* exact, or a return address */
	uintptr_t start; /* of its function; 0: unknown */
	bool exact;
};

/* A core's stack, written by its thread. */
struct melyint_backtrace {
	_Atomic int stage;    /* A of NOTE(backtrace); the monitor, and the thread of the core */
	int frames_count;     /* this and frames: the thread, then the monitor */
	struct melyint_frame frames[MELYINT_FRAMES];
};

/* When a runtime is made. 0 or -ENOMEM. */
int melyint_backtrace_new(struct mely_runtime *rt);
void melyint_backtrace_free(struct mely_runtime *rt);
/* A run begins: install the signal handler. */
void melyint_backtrace_begin(struct mely_runtime *rt);

/* What /proc says about a thread. */
struct melyint_thread_state {
	char state;         /* as in /proc: R, S, D...; '?' */
	bool signal_blocked;
	long call;          /* the system call it waits in; -1: none, or unknown */
	uint64_t args[MELYINT_CALL_ARGS]; /* of the call */
};

enum { MELYINT_WHY = 80 };

/* Request a backtrace from core's thread. Monitor. False: impossible, and why. */
bool melyint_backtrace_ask(struct melyint_core *core, char why[MELYINT_WHY],
    struct melyint_thread_state *state);
/* Whether the thread has written it. Monitor. */
bool melyint_backtrace_taken(struct melyint_core *core);
/* Withdraw the request, or release a backtrace that was read. Monitor. False: the thread is
 * writing. */
bool melyint_backtrace_forget(struct melyint_core *core);

/* Add "symbol+0x12 < other+0x34 ..." up to the function fn, if that is on the stack. Monitor, after
 * melyint_backtrace_taken. */
void melyint_backtrace_add(struct melyint_core *core, void (*fn)(void *arg),
    struct melyint_line *line);

/* Add a place in the code: "function+0x12", "file+0x1234" if the function is not exported, or an
 * address. exact: pc is not a return address. Waits for a dlopen that is under way. */
void melyint_line_add_code(struct melyint_line *line, uintptr_t pc, bool exact);

/* In the child of a fork. */
void melyint_backtrace_reset(struct melyint_core *core);

#endif
