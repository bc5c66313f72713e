/* SPDX-License-Identifier: MIT */
/*
 * runtimes.h: the runtimes of this process, for the child of a fork and for exit.
 */
#ifndef MELYINT_LIFE_RUNTIMES_H
#define MELYINT_LIFE_RUNTIMES_H

#include "core/core.h"

void melyint_runtimes_add(struct mely_runtime *rt);
void melyint_runtimes_remove(struct mely_runtime *rt);
/* Call fn on each runtime, with the list locked. */
void melyint_runtimes_each(void (*fn)(struct mely_runtime *rt));

/* A run begins: see to it that cores are parked before an exit goes on. */
void melyint_exit_prepare(void);
/* On the way out of mely_run: does not return when the process is exiting. */
void melyint_exit_hold(void);

#endif
