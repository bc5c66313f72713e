/* SPDX-License-Identifier: MIT */
/*
 * syscalls.h: of the system calls in which a thread can wait, those that a signal handler cuts
 * short though it was installed with SA_RESTART (signal(7)), and what they are called.
 */
#ifndef MELYINT_BASE_SYSCALLS_H
#define MELYINT_BASE_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>

enum { MELYINT_CALL_ARGS = 6 };

/* call: a number of the kernel's; -1: none, or not known, which counts as one of them. args: what
 * it was called with; descriptors are of this process. */
bool melyint_call_is_cut_short(long call, const uint64_t args[MELYINT_CALL_ARGS]);
/* The name of one of them, or of some others in which threads are found; NULL when not known. */
const char *melyint_call_name(long call);

#endif
