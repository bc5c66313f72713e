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

/** In a pass: call the callbacks of the signals that have arrived. */
void signals_run();

/** See chldcb. */
void child_set(pid_t pid, cbi::ptr cb);

/** See set_zombie_collect. */
void children_keep(bool on);

/** After SIGCHLD: reap children, and call their callbacks. */
void children_run();

}

#endif
