/* SPDX-License-Identifier: MIT */
/*
 * post.h: callbacks posted to their colors. Any thread.
 */
#ifndef MELYCOMPAT_POST_H
#define MELYCOMPAT_POST_H

#include <mely/runtime.h>

#include "job.h"

namespace melycompat {

/** Post to the tail or the head of the job's color; held before amain. */
void post(const job &j, bool head, int timeleft_cycles);

/** In amain: post the held callbacks to the runtime, in order. */
void post_held(mely_runtime *rt);

/** Before amain, on the main thread: pass the held callbacks to run. False: there were none. */
bool held_run(void (*run)(const job &j));

/** Post an internal event of the library, with the color and priority of a job. */
int post_for(mely_runtime *rt, const job &j, void (*fn)(void *arg), void *arg);

}

#endif
