/* SPDX-License-Identifier: MIT */
/*
 * lazy.h: callbacks that are called when the loop passes by. Color 0.
 */
#ifndef MELYCOMPAT_ASYNC_LAZY_H
#define MELYCOMPAT_ASYNC_LAZY_H

namespace melycompat {

/** In a pass, before its wait: those of lazycb whose time has come. */
void lazies_run();

/** In a pass, at its end: those of yieldcb. */
void yields_run();

}

#endif
