/* SPDX-License-Identifier: MIT */
/*
 * threadmask.h: which signals the library's threads block. Any thread.
 */
#ifndef MELYINT_BASE_THREADMASK_H
#define MELYINT_BASE_THREADMASK_H

#include <signal.h>
#include <stddef.h>

#include "base/compiler.h"

/* The signal mask of the library's threads: all but those that their own faults raise. A fault that
 * is blocked ends the program without its handler, and without a trace. */
MELY_INLINE void
melyint_thread_mask(sigset_t *mask)
{
	static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
	size_t i;

	sigfillset(mask);
	for (i = 0; i < sizeof own / sizeof own[0]; i++)
		sigdelset(mask, own[i]);
}

#endif
