/* SPDX-License-Identifier: MIT */
/*
 * lazy.h: callbacks that are called when the loop passes by. Color 0.
 */
#ifndef MELYCOMPAT_ASYNC_LAZY_H
#define MELYCOMPAT_ASYNC_LAZY_H

namespace melycompat {

/** In a pass, before its wait: call the due callbacks of lazycb. */
void lazies_run();

/** In a pass, at its end: those of yieldcb. */
void yields_run();

}

#endif
