/* SPDX-License-Identifier: MIT */
/*
 * stall.h: handlers that run for longer than their limit are reported, and counted. A step of the
 * monitor; the protocol is NOTE(stall) in stall.c. Not to be taken for stuck.h, whose few ms say
 * from when on other cores do the looking of one that does not come back.
 */
#ifndef MELYINT_LOOK_WATCHDOG_STALL_H
#define MELYINT_LOOK_WATCHDOG_STALL_H

#include "core/core.h"

#ifdef MELYINT_SIM /* no monitor there */
#define melyint_stall_new(rt) ((void)(rt), 0)
#define melyint_stall_free(rt) ((void)(rt))
#define melyint_stall_renew(rt) ((void)(rt), 0)
#define melyint_stall_begin(rt) ((void)(rt))
#define melyint_stall_attend(core) ((void)(core))
#define melyint_stall_end(rt) ((void)(rt))
#define melyint_stall_fork() ((void)0)
#else

/* With a runtime, once its monitor is there; and in the child of a fork. 0 or a negative errno. */
int melyint_stall_new(struct mely_runtime *rt);
void melyint_stall_free(struct mely_runtime *rt);
int melyint_stall_renew(struct mely_runtime *rt);
/* A run begins; before its threads are started. */
void melyint_stall_begin(struct mely_runtime *rt);
/* A thread, the caller, begins to attend core; under its lock. */
void melyint_stall_attend(struct melyint_core *core);
/* The end of a run, the monitor's thread is no more: say how much was not shown. */
void melyint_stall_end(struct mely_runtime *rt);
/* In the child of a fork, whose thread is another one to the system. */
void melyint_stall_fork(void);

#endif

#endif
