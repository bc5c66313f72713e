/* SPDX-License-Identifier: MIT */
/*
 * syscalls.h: of the system calls in which a thread can wait, those that a signal handler cuts
 * short though it was installed with SA_RESTART (signal(7)), and what they are called.
 */
#ifndef MELYINT_SYSCALLS_H
#define MELYINT_SYSCALLS_H

#include <stdbool.h>

/* call: a number of the kernel's; -1: none, or not known, which counts as one of them */
bool melyint_call_is_cut_short(long call);
/* The name of one of them, or of some others in which threads are found; NULL when not known. */
const char *melyint_call_name(long call);

#endif
