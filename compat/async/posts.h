/* SPDX-License-Identifier: MIT */
/*
 * posts.h: events of color 0.
 */
#ifndef MELYCOMPAT_ASYNC_POSTS_H
#define MELYCOMPAT_ASYNC_POSTS_H

#include "../src/job.h"

namespace melycompat {

/** Is a color, as the program gave it, color 0? */
bool is_main(int color);

/** Post to color 0. Any thread. */
void posts_add(const job &j, bool head);

/** In amain: make a fork hold the lock of the queue. */
void posts_fork_safely();

/** In acheck: run what has been posted by now. False: there was nothing. */
bool posts_run();

/** Is there something? A hint, for acheck before it waits. */
bool posts_waiting();

/** In color 0: call a job of any color, or post it to its color; then free it. */
void call_or_post(const job &j);

/** The color that runs on this thread when it is not the runtime's to know: in acheck. */
extern __thread int color_in_acheck;
enum { NO_COLOR = -42 };

/** In acheck: call a job and free it, in its color as far as get_current_color can tell. */
void call_here(const job &j);

}

#endif
