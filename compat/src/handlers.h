/* SPDX-License-Identifier: MIT */
/*
 * handlers.h: a handler of libmely for each function that callbacks call, so that the runtime
 * measures, names and counts them one by one. Any thread.
 */
#ifndef MELYCOMPAT_HANDLERS_H
#define MELYCOMPAT_HANDLERS_H

#include <mely/event.h>

namespace melycompat {

/**
 * The handler with trampoline fn for callbacks of the function at faddr with a priority. The same
 * one each time; lasts for good.
 */
mely_handler *handler_for(void (*fn)(void *arg), void *faddr, int priority);

/** The name that handlers made for faddr from now on get. Not copied. */
void handler_name(void *faddr, const char *name);

/** Any priority as one of the few of libmely: the order of two is kept, or they become equal. */
int priority_level(int priority);

}

#endif
