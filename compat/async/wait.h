/* SPDX-License-Identifier: MIT */
/*
 * wait.h: what color 0 waits for: an epoll set of its own with its descriptors, a timer and an
 * eventfd. libmely watches the set as a whole; acheck waits for it itself.
 *
 * The first acheck or amain creates it. Before that, and in the child of a fork, it does not exist,
 * and changes do nothing: the other parts know enough to create it again.
 */
#ifndef MELYCOMPAT_ASYNC_WAIT_H
#define MELYCOMPAT_ASYNC_WAIT_H

#include <cstdint>
#include <sys/epoll.h>
#include <vector>

namespace melycompat {

/** Make it, if it is not there; true: it was not, and is to be filled. Color 0. */
bool wait_open();
bool wait_is_open();
/** Create it again, empty, with its old number. Color 0. */
void wait_renew();
/** As if it had not been made. Color 0. */
void wait_close();
/** Its descriptor, for libmely. */
int wait_fd();

/**
 * Watch fd for these epoll events; 0: stop watching. Returns 0, or 1 if fd was not watched before,
 * or a negative error: -EPERM for a descriptor that epoll cannot wait for. Any thread.
 */
int wait_watch(int fd, uint32_t events);

/** Be ready when CLOCK_REALTIME is so far; UINT64_MAX: never. Any thread. */
void wait_until(uint64_t due_ns);

/** Something is due: a pass is to come soon. Any thread. */
void wait_soon();
/** Only if acheck is waiting. Any thread. */
void wait_nudge();
/** Wake it in any case. In the handler of a signal. */
void wait_from_signal();

/** The result of a wait. */
struct wait_found {
	std::vector<epoll_event> ready; /* data.fd */
	bool timer = false;             /* the time of wait_until has passed */
};

/** Look, and wait for something if nothing is there and block is set. Color 0. */
void wait_for(wait_found *found, bool block);

/** The pass event of the runtime, for wait_soon; in amain. */
void wait_passes_begin(void (*pass_soon)());

}

#endif
