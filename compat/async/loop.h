/* SPDX-License-Identifier: MIT */
/*
 * loop.h: what the other parts of dialect "async" use of its loop.
 */
#ifndef MELYCOMPAT_ASYNC_LOOP_H
#define MELYCOMPAT_ASYNC_LOOP_H

#include <mely/io.h>

#include "../src/job.h"

namespace melycompat {

/** Does this thread run color 0, or may it: is it in main before amain? */
bool main_is_here();

/** Call fn(arg) in color 0, behind what was posted to it; acheck does it, too. Any thread. */
void main_post(void (*fn)(void *arg), void *arg);

/**
 * Call fn(arg) on a helper thread of a class, then done(arg) in color 0, where acheck does it,
 * too. Any thread, also before amain. 0, or the error of mely_work.
 */
int main_work(mely_work_class work_class, void (*fn)(void *arg), void (*done)(void *arg),
    void *arg);

}

#endif
