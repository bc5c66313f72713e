/* SPDX-License-Identifier: MIT */
/*
 * handback.h: what a stop leaves over.
 */
#ifndef MELYINT_LIFE_HANDBACK_H
#define MELYINT_LIFE_HANDBACK_H

#include "core/core.h"

/* Hand every queued event back to the program, or drop it. All cores parked; one thread. */
void melyint_handback_all(struct mely_runtime *rt);
/* Wait for the core threads to end (runtime.c). */
void melyint_cores_join(struct mely_runtime *rt);

#endif
