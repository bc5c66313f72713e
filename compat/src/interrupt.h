/* SPDX-License-Identifier: MIT */
/*
 * interrupt.h: SIGINT in a program of dialect "mely".
 */
#ifndef MELYCOMPAT_INTERRUPT_H
#define MELYCOMPAT_INTERRUPT_H

#include <mely/runtime.h>

namespace melycompat {

/** In amain: make SIGINT print a line for each worker and end the program with status 1. */
void interrupt_watch(mely_runtime *rt);

}

#endif
