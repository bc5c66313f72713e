/* SPDX-License-Identifier: MIT */
/*
 * mely/mely.h: includes every public header. Mely runs event-driven programs on many cores without
 * locks in the program: events of one color run one after another, events of different colors run
 * in parallel.
 */
#ifndef MELY_MELY_H
#define MELY_MELY_H

#include <mely/base.h>
#include <mely/event.h>
#include <mely/color.h>
#include <mely/runtime.h>
#include <mely/io.h>
#include <mely/live.h>
#include <mely/stats.h>
#include <mely/trace.h>

#endif
