/* SPDX-License-Identifier: MIT */
/*
 * wait.cc: the epoll set of color 0.
 *
 * NOTE(blocked)
 *   acheck may wait while other threads post to color 0. It sets `blocked`, then checks for work; a
 *   poster adds work, then reads `blocked`. All four accesses are sequentially consistent, so at
 *   least one side sees the other, and few posts need a write to the eventfd.
 *
 * NOTE(fork)
 *   The child of a fork shares the set, with the parent's descriptors in it, so it must not change
 *   it. A handler of pthread_atfork therefore closes the child's descriptor of the set.
 */
#include "wait.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mely/runtime.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "../src/say.h"
#include "posts.h"
#include "../src/quiet.h"

namespace melycompat {

namespace {

/* Color 0 stores them when it creates them, and in the child of a fork; -1: none. */
std::atomic<int> epoll_set{-1}, timer{-1}, wake{-1};

std::atomic<bool> soon;    /* a pass has been requested */
std::atomic<bool> blocked; /* NOTE(blocked) */
std::atomic<void (*)()> pass_soon;

size_t watched_max = 64; /* size of the buffer for ready descriptors; color 0 */

/* relaxed, all three: users got the descriptors from color 0 another way, or need no order */
int
get(const std::atomic<int> &fd)
{
	return fd.load(std::memory_order_relaxed);
}

void
drop(std::atomic<int> &fd)
{
	int old = fd.exchange(-1, std::memory_order_relaxed);

	if (old >= 0)
		close(old);
}

/* NOTE(fork). */
void
in_child()
{
	wait_close();
	pass_soon.store(nullptr, std::memory_order_relaxed);
	blocked.store(false, std::memory_order_relaxed);
}

int
made(int fd, const char *what)
{
	if (fd < 0)
		die("%s: %s", what, std::strerror(errno));
	return fd;
}

void
write_wake()
{
	const uint64_t one = 1;
	quiet unseen; /* a write by any thread does not order anything */

	/* If the counter is full, the write fails, but the eventfd is readable anyway. */
	if (write(get(wake), &one, sizeof one) < 0)
		return;
}

void
watch_own()
{
	if (wait_watch(get(timer), EPOLLIN) < 0 || wait_watch(get(wake), EPOLLIN) < 0)
		die("cannot watch the loop's own descriptors");
}

/* Remove the set's own descriptors from the ready ones. */
void
sort_out(wait_found *found)
{
	uint64_t count;
	size_t kept = 0;

	for (const epoll_event &ev : found->ready) {
		if (ev.data.fd == get(timer))
			found->timer = true;
		else if (ev.data.fd != get(wake))
			found->ready[kept++] = ev;
		else if (read(get(wake), &count, sizeof count) < 0)
			continue; /* another thread has read it */
	}
	found->ready.resize(kept);
}

}

bool
wait_is_open()
{
	return get(epoll_set) >= 0;
}

int
wait_fd()
{
	return get(epoll_set);
}

bool
wait_open()
{
	static bool before;

	if (wait_is_open())
		return false;
	if (!before)
		(void)pthread_atfork(nullptr, nullptr, in_child);
	before = true;
	timer.store(made(timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC),
	    "timerfd_create"), std::memory_order_relaxed);
	wake.store(made(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd"),
	    std::memory_order_relaxed);
	epoll_set.store(made(epoll_create1(EPOLL_CLOEXEC), "epoll_create1"),
	    std::memory_order_relaxed);
	watch_own();
	return true;
}

void
wait_renew()
{
	int set = made(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");

	/* Atomically: other threads use the number of the set meanwhile. */
	(void)made(dup3(set, get(epoll_set), O_CLOEXEC), "dup3");
	close(set);
	watch_own();
}

void
wait_close()
{
	drop(epoll_set);
	drop(timer);
	drop(wake);
}

int
wait_watch(int fd, uint32_t events)
{
	epoll_event ev = {};
	int set = get(epoll_set);

	if (set < 0)
		return 0;
	ev.events = events;
	ev.data.fd = fd;
	if (events == 0)
		return epoll_ctl(set, EPOLL_CTL_DEL, fd, &ev) < 0 ? -errno : 0;
	if (epoll_ctl(set, EPOLL_CTL_MOD, fd, &ev) == 0)
		return 0;
	if (errno == ENOENT && epoll_ctl(set, EPOLL_CTL_ADD, fd, &ev) == 0)
		return 1;
	return -errno;
}

void
wait_until(uint64_t due_ns)
{
	itimerspec setting = {};

	if (get(timer) < 0)
		return;
	if (due_ns != UINT64_MAX) {
		setting.it_value.tv_sec = static_cast<time_t>(due_ns / 1000000000);
		/* A time of 0 would disarm the timer. */
		setting.it_value.tv_nsec = static_cast<long>(due_ns % 1000000000) |
		    static_cast<long>(due_ns == 0);
	}
	/* A change of the clock makes the timer readable; the pass then checks the due timers
	 * again. */
	if (timerfd_settime(get(timer), TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &setting,
	    nullptr) < 0 && errno != ECANCELED)
		die("timerfd_settime: %s", std::strerror(errno));
}

void
wait_soon()
{
	/* seq_cst: NOTE(blocked); one request per pass is enough */
	if (soon.exchange(true, std::memory_order_seq_cst))
		return;
	/* acquire: pairs with the release in wait_passes_begin */
	void (*post)() = pass_soon.load(std::memory_order_acquire);
	if (post != nullptr)
		post();
	wait_nudge();
}

void
wait_nudge()
{
	/* seq_cst: NOTE(blocked) */
	if (blocked.load(std::memory_order_seq_cst))
		write_wake();
}

void
wait_from_signal()
{
	write_wake();
}

void
wait_for(wait_found *found, bool block)
{
	int n, timeout = 0;

	if (block) {
		blocked.store(true, std::memory_order_seq_cst); /* NOTE(blocked) */
		if (!soon.load(std::memory_order_seq_cst) && !posts_waiting())
			timeout = -1;
	}
	found->ready.resize(watched_max);
	/* An event of another color may call exit meanwhile. */
	if (timeout != 0)
		mely_wait_begin();
	n = epoll_wait(get(epoll_set), found->ready.data(), static_cast<int>(watched_max),
	    timeout);
	if (timeout != 0)
		mely_wait_end();
	blocked.store(false, std::memory_order_relaxed); /* one nudge too many does no harm */
	/* relaxed: whatever was due before the wait runs in this pass */
	soon.store(false, std::memory_order_relaxed);
	found->ready.resize(n > 0 ? static_cast<size_t>(n) : 0);
	if (found->ready.size() == watched_max)
		watched_max *= 2;
	sort_out(found);
}

void
wait_passes_begin(void (*post)())
{
	pass_soon.store(post, std::memory_order_release); /* pairs with wait_soon's acquire */
	if (soon.load(std::memory_order_seq_cst))
		post();
}

}
