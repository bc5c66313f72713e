/* SPDX-License-Identifier: MIT */
/*
 * stall.h: report and count handlers that run for longer than their limit: a step of the monitor,
 * NOTE(stall) in stall.c. Another thing is stuck.h: after a few ms, other cores do the polling of a
 * core that does not return from a handler.
 */
#ifndef MELYINT_LOOK_WATCHDOG_STALL_H
#define MELYINT_LOOK_WATCHDOG_STALL_H

#include "core/core.h"

#ifdef MELYINT_SIM /* has no monitor */
#define melyint_stall_new(rt) ((void)(rt), 0)
#define melyint_stall_free(rt) ((void)(rt))
#define melyint_stall_renew(rt) ((void)(rt), 0)
#define melyint_stall_begin(rt) ((void)(rt))
#define melyint_stall_attend(core) ((void)(core))
#define melyint_stall_end(rt) ((void)(rt))
#define melyint_stall_fork() ((void)0)
#else

/* When a runtime is made, after its monitor; and in the child of a fork. 0 or a negative errno. */
int melyint_stall_new(struct mely_runtime *rt);
void melyint_stall_free(struct mely_runtime *rt);
int melyint_stall_renew(struct mely_runtime *rt);
/* A run begins; before its threads start. */
void melyint_stall_begin(struct mely_runtime *rt);
/* The calling thread begins to attend core. Under the core's lock. */
void melyint_stall_attend(struct melyint_core *core);
/* A run ends and the monitor thread has ended: report how many lines were not shown. */
void melyint_stall_end(struct mely_runtime *rt);
/* In the child of a fork: its thread has another id. */
void melyint_stall_fork(void);

#endif

#endif
