/* SPDX-License-Identifier: MIT */
/*
 * signals.h: signals and children. Color 0.
 */
#ifndef MELYCOMPAT_ASYNC_SIGNALS_H
#define MELYCOMPAT_ASYNC_SIGNALS_H

#include <sys/types.h>

#include "callback.h"

namespace melycompat {

/** See sigcb. */
cbv::ptr signal_set(int sig, cbv::ptr cb, int flags);

/** From now on SIGCHLD is the loop's. */
void signals_start();

/** If a child has ended, it is as if SIGCHLD came. */
void signal_child_ended();

/** In a pass: call what signals have come for. */
void signals_run();

/** See chldcb. */
void child_set(pid_t pid, cbi::ptr cb);

/** SIGCHLD has come: reap, and call. */
void children_run();

}

#endif
