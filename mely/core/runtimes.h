/* SPDX-License-Identifier: MIT */
/*
 * runtimes.h: the list of all runtimes of the process, for forks, exits and names of files.
 */
#ifndef MELYINT_CORE_RUNTIMES_H
#define MELYINT_CORE_RUNTIMES_H

#include "core/core.h"

void melyint_runtimes_add(struct mely_runtime *rt);
void melyint_runtimes_remove(struct mely_runtime *rt);

/* Call fn on each runtime, with the list locked. */
void melyint_runtimes_each(void (*fn)(struct mely_runtime *rt));

/* Lock the list; returns its first runtime, which leads to the others by next. */
struct mely_runtime *melyint_runtimes_lock(void);
void melyint_runtimes_unlock(void);

/* A run or a trace begins: park the cores before an exit goes on. Defined by life/exit.c. */
void melyint_exit_prepare(void);

#endif
