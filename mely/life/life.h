/* SPDX-License-Identifier: MIT */
/*
 * life.h: what the files of this room call in one another.
 */
#ifndef MELYINT_LIFE_LIFE_H
#define MELYINT_LIFE_LIFE_H

#include "core/core.h"

/* ---- cycle.c --------------------------------------------------------------------------------- */

/* One pass of core 0 on this thread, as mely_run_once_for with no time. */
int melyint_run_pass(struct mely_runtime *rt);
/* Wait for the threads of the cores to end. */
void melyint_cores_join(struct mely_runtime *rt);

/* ---- handback.c ------------------------------------------------------------------------------ */

/* Hand every queued event back to the program, or drop it. One thread; all cores are parked. */
bool melyint_handback_all(struct mely_runtime *rt);

/* ---- fork.c ---------------------------------------------------------------------------------- */

/* Before the first runtime of the process is on the list of runtimes. */
void melyint_fork_prepare(void);

/* ---- exit.c ---------------------------------------------------------------------------------- */

/* On the way out of a run: waits for melyint_exit_release when the process is exiting. */
void melyint_exit_hold(void);
/* Does this thread exit, and run the program's exit functions? */
bool melyint_exits_here(void);
/* An exit function wants to join the threads of its runs: let them go. */
void melyint_exit_release(void);
/* The core whose handler has called exit, or NULL. */
const struct melyint_core *melyint_exit_core(void);

/* ---- topo.c ---------------------------------------------------------------------------------- */

/* Set cores_count; set the processing unit and the core set of each core. 0, a negative errno. */
int melyint_topo_count(struct mely_runtime *rt);
int melyint_topo_place(struct mely_runtime *rt);
void melyint_topo_free(struct mely_runtime *rt);

/* Bind the calling thread to its core's processing unit, if cores are pinned. A failure is reported
 * in a line, and the thread runs unpinned. */
void melyint_topo_bind(struct melyint_core *core);

/* ---- quota.c --------------------------------------------------------------------------------- */

/*
 * The processors that the CPU quota of the control groups allows, rounded up; 0: no limit. root is
 * where the cgroup file systems are mounted; self is the file that names the groups of the process.
 * Tests give others.
 */
int melyint_topo_quota(const char *root, const char *self);

#endif
