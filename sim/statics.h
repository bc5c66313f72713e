/* SPDX-License-Identifier: MIT */
/*
 * statics.h: the library's variables that are not in a runtime. Each virtual thread has a copy of
 * the thread-local ones (MELY_TLS), and each run begins with the first values of those that outlive
 * a runtime (MELY_LASTING).
 */
#ifndef SIM_STATICS_H
#define SIM_STATICS_H

#include <stddef.h>

#include "engine.h"

struct sim_statics {
	size_t tls_size;             /* 0: not kept yet */
	char tls_clean[SIM_TLS_MAX]; /* values when a thread begins */
};

extern struct sim_statics sim_statics;

/* Before each run; the first keeps the values. */
void sim_statics_begin(void);

#endif
