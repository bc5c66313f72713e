/* SPDX-License-Identifier: MIT */
/*
 * misuse.h: faults of the program that the library can see. Developer builds examine the arguments
 * of public calls and abort with one line, "mely: misuse: ...". Release builds compile the
 * examinations to nothing; there NULL is -EINVAL, and rt->misuses counts the posts to released
 * colors, which have no effect. Every build ends the program with such a line for a handler without
 * a function: F of NOTE(handlers). Any thread.
 */
#ifndef MELYINT_COLOR_MISUSE_H
#define MELYINT_COLOR_MISUSE_H

#include "core/core.h"

#ifdef MELY_DEVELOPER
/* call: the public function, for the line. An argument that is NULL, not initialised, or that
 * belongs to a runtime which was freed, does not return. */
void melyint_examine_runtime(const char *call, const struct mely_runtime *rt);
void melyint_examine_color(const char *call, const struct mely_color *color);
void melyint_examine_handler(const char *call, const struct mely_handler *handler);
void melyint_examine_event(const char *call, const struct mely_event *ev);

/* ev is about to be initialised: it must not be queued. */
void melyint_examine_init(const struct mely_event *ev);

/* ev is an embedded event in a color-queue: it must be QUEUED. */
void melyint_examine_queued(const struct mely_event *ev);

/* A core took ev from a color-queue or its batch, and it is not PRIVATE: it must be cancelled. */
void melyint_examine_taken(const struct mely_event *ev);

/* The runtime's cores exist from now on, or will be freed now. */
void melyint_runtime_known(const struct mely_runtime *rt);
void melyint_runtime_unknown(const struct mely_runtime *rt);
#else
#define melyint_examine_runtime(call, rt) ((void)0)
#define melyint_examine_color(call, color) ((void)0)
#define melyint_examine_handler(call, handler) ((void)0)
#define melyint_examine_event(call, ev) ((void)0)
#define melyint_examine_init(ev) ((void)0)
#define melyint_examine_queued(ev) ((void)0)
#define melyint_examine_taken(ev) ((void)0)
#define melyint_runtime_known(rt) ((void)0)
#define melyint_runtime_unknown(rt) ((void)0)
#endif

/*
 * The color of a post is released: may the event be appended all the same? Events of the color
 * itself may post to it until the last one has ended, and so may the library. Any other post is
 * misuse: developer builds abort, release builds count it. The owner's lock is held.
 */
bool melyint_released_admits(const struct mely_color *color, const struct mely_event *ev,
    bool internal);

#endif
