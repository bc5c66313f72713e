/* SPDX-License-Identifier: MIT */
/*
 * watch.h: the one callback for each direction of a descriptor.
 */
#ifndef MELYCOMPAT_ASYNC_WATCH_H
#define MELYCOMPAT_ASYNC_WATCH_H

#include <cstdint>
#include <mely/runtime.h>
#include <vector>

#include <sys/epoll.h>

#include "../src/job.h"

namespace melycompat {

/** Where a program called fdcb, for a message. */
struct fdcb_call {
	const char *file;
	int line;
};

/** End the program because of such a call. */
void fdcb_fails(int fd, const fdcb_call &by, int error) __attribute__((noreturn, cold));

/**
 * Set the callback of (fd, for writing?); NULL: none. 0, or the error of watching. If color 0 finds
 * fd closed, and again after its current callbacks, the program ends. Any thread.
 */
int watch_set(int fd, bool write, const job *j, const fdcb_call &by);

/** A moment, for watch_run: what is registered later is not called for what was ready then. */
uint64_t watch_moment();

/**
 * In a pass: call the callbacks of these ready descriptors, found at moment. True: the wait set
 * must be created again.
 */
bool watch_run(std::vector<epoll_event> *ready, uint64_t moment);

/** Are there descriptors that are always ready? Then a pass does not wait. Any thread. */
bool watch_always();

/** The wait set has been made: fill it. */
void watch_fill();

/** In amain: make a fork hold the locks of the descriptors. */
void watch_fork_safely();

/** In amain: callbacks of other colors become the runtime's. */
void watch_start(mely_runtime *rt);

}

#endif
