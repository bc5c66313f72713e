/* SPDX-License-Identifier: MIT */
/*
 * spare.h: give the memory of a burst of events, ids or watchers back by itself, within ten seconds
 * of its end: a step of the monitor. Without a monitor, mely_trim does, but for watchers.
 */
#ifndef MELYINT_LOOK_WATCHDOG_SPARE_H
#define MELYINT_LOOK_WATCHDOG_SPARE_H

#include "core/core.h"

#ifdef MELYINT_SIM /* has no monitor */
#define melyint_spare_new(rt) ((void)(rt), 0)
#define melyint_spare_free(rt) ((void)(rt))
#define melyint_spare_renew(rt) ((void)(rt), 0)
#else

/* When a runtime is made, after its monitor; and in the child of a fork. 0 or a negative errno. */
int melyint_spare_new(struct mely_runtime *rt);
void melyint_spare_free(struct mely_runtime *rt);
int melyint_spare_renew(struct mely_runtime *rt);

#endif

#endif
