/* SPDX-License-Identifier: MIT */
/*
 * syscalls.h: the system calls in which a thread can wait: their names, and which of them a signal
 * handler cuts short although it was installed with SA_RESTART (signal(7)). Any thread.
 */
#ifndef MELYINT_BASE_SYSCALLS_H
#define MELYINT_BASE_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>

enum { MELYINT_CALL_ARGS = 6 };

/* Does a signal handler cut the call short? call is the kernel's number; -1, for no call or an
 * unknown one, counts as cut short. args are its arguments, with descriptors of this process. */
bool melyint_call_is_cut_short(long call, const uint64_t args[MELYINT_CALL_ARGS]);
/* The name of a call in the table; NULL when it is not there. */
const char *melyint_call_name(long call);

#endif
