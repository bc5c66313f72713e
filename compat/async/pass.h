/* SPDX-License-Identifier: MIT */
/*
 * pass.h: passes of color 0, in amain and in acheck.
 */
#ifndef MELYCOMPAT_ASYNC_PASS_H
#define MELYCOMPAT_ASYNC_PASS_H

#include <ctime>
#include <mely/runtime.h>

/** The time of the pass: tsnow of async.h, under a name that no program has. Color 0 stores it. */
extern "C" timespec melycompat_async_tsnow;

namespace melycompat {

/** See acheck. */
void pass_by_hand();

/** In amain: from now on color 0 is the runtime's. */
void passes_start(mely_runtime *rt);

/** Do not wait, look again and again; SFS_OPTIONS with a b says so from the start. Color 0. */
void passes_busy(bool on);

/** Color 0's clock shows the time as of now. */
void clock_refresh();

}

#endif
