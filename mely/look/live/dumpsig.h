/* SPDX-License-Identifier: MIT */
/*
 * dumpsig.h: signals that ask for a dump.
 *
 * NOTE(dumpsig)
 *   A. The signal's handler only adds to an eventfd, which the monitor thread of the runtime that
 *      claimed the signal waits for. So nothing that a handler may not do is done in it, and it
 *      works with every core in a handler of the program.
 *   B. The eventfd of a signal is made once and stays open as long as the process: a handler that
 *      runs on another thread while the claim is given up still writes to what it took it for.
 *   C. The child of a fork shares the eventfd. Its handler sees another process number and does
 *      nothing, until a renewed runtime claims the signal again, with an eventfd of its own.
 *   D. The core threads block signals, and a program may block them on its own; so the monitor
 *      thread unblocks this one. Each run has a thread of its own.
 */
#ifndef MELYINT_LOOK_LIVE_DUMPSIG_H
#define MELYINT_LOOK_LIVE_DUMPSIG_H

#include "look/live/serve.h"

/* Install the handler. 0 and the eventfd; -EBUSY when a runtime or the program has the signal. */
int melyint_dumpsig_claim(int signo, int *eventfd);
/* Give it back: what was there before returns, unless the program has put something else there. */
void melyint_dumpsig_release(int signo);
/* Around a fork. Nothing else is locked by who holds it. */
void melyint_dumpsig_lock(void);
void melyint_dumpsig_unlock(void);
/* D of NOTE(dumpsig). The monitor thread, under live->lock. */
void melyint_dumpsig_here(struct melyint_live *live);

#endif
