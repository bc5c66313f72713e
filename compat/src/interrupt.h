/* SPDX-License-Identifier: MIT */
/*
 * interrupt.h: what SIGINT does in a program of dialect "mely".
 */
#ifndef MELYCOMPAT_INTERRUPT_H
#define MELYCOMPAT_INTERRUPT_H

#include <mely/runtime.h>

namespace melycompat {

/** In amain: from now on SIGINT prints a line for each worker and ends the program, status 1. */
void interrupt_watch(mely_runtime *rt);

}

#endif
