/* SPDX-License-Identifier: MIT */
/*
 * async.h, dialect "async": the event loop of libasync, and what nearly every program needs with it.
 *
 * A callback belongs to a color: 0 unless cwrap or cpwrap gave it another one. Those of one color
 * never overlap, so that a program without colors is a program of one thread.
 */
#ifdef MELYCOMPAT_DIALECT_MELY
#error "async.h and mely.h are two dialects: a source file includes one of them"
#endif
#ifndef _ASYNC_ASYNC_H_
#define _ASYNC_ASYNC_H_

#include "sysconf.h"

#include "generic.h"

/* What programs get with it, a line for each part: */
#include "amisc.h"
#include "keyfunc.h"
#include "vec.h"

#endif
