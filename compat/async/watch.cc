/* SPDX-License-Identifier: MIT */
/*
 * watch.cc: descriptors and their callbacks.
 *
 * NOTE(slots)
 *   A slot is one direction of a descriptor, with its callback or without. A lock guards everything
 *   of a descriptor. It is not held while a callback runs; the call holds its own reference. The
 *   child of a fork can still set and drop callbacks, so a fork takes the locks.
 *   A. Callbacks of color 0 are in its wait set (wait.h). A pass checks the slot again before each
 *      call, so it does not call a callback that an earlier one has dropped. Nor does it call one
 *      that was set for a descriptor after the wait: what was ready may have been an older
 *      descriptor of that number.
 *   B. libmely watches for the callbacks of other colors and posts an event to the color. The event
 *      carries the number of the watch; if the slot has changed meanwhile, the event finds another
 *      number and does nothing.
 *   C. Before amain there are no workers, and acheck calls all callbacks: A. amain starts with B.
 *   D. Programs close descriptors without notice. So each fdcb updates the system's set, even if
 *      nothing seems to have changed.
 *   E. A descriptor that was closed before its callback was dropped or replaced cannot be removed
 *      from the set: its number is a STRAY. If a child keeps the descriptor open, it may stay ready
 *      permanently, under a number that another descriptor has now. So the library asks poll
 *      whether a stray is really ready, and if not, creates the set again.
 *   F. The originals look at a descriptor when they wait, so a program may call fdcb for a number
 *      that is closed, and open or drop it before the next wait. So an event of color 0, which runs
 *      after the callbacks of this pass, tries again.
 */
#include "watch.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mely/io.h>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <set>

#include "../src/fdlocks.h"
#include "../src/handlers.h"
#include "../src/loop.h"
#include "../src/post.h"
#include "../src/quiet.h"
#include "../src/say.h"
#include "counted.h"
#include "loop.h"
#include "posts.h"
#include "wait.h"

namespace melycompat {

static_assert(sizeof(void *) == 8, "descriptor and number have to fit into a pointer");

namespace {

enum {
	FD_BITS = 22,
	BLOCK_BITS = 8,
	BLOCK = 1 << BLOCK_BITS,
	BLOCKS = 1 << (FD_BITS - BLOCK_BITS)
};

constexpr uint32_t FAULT = EPOLLHUP | EPOLLERR;

struct slot {
	job j = {};          /* callback NULL: the slot is empty */
	uint64_t moment = 0; /* when the empty slot was filled */
	uint64_t number = 0; /* B of NOTE(slots) */
	mely_watch watch = 0;
	bool watched = false; /* by libmely */
	bool always = false;  /* epoll cannot wait for it: its event posts itself again */
};

struct descriptor {
	slot slots[2];         /* for reading, for writing */
	bool in_set = false;   /* A of NOTE(slots) */
	bool always = false;   /* epoll cannot wait for it */
	bool stray = false;    /* E of NOTE(slots) */
};

fd_locks locks;

/* A block is made when one of its descriptors is first used, and stays. */
std::atomic<descriptor *> blocks[BLOCKS];
std::mutex blocks_lock;

std::mutex always_lock;
std::set<int> *always;             /* under always_lock; NULL: there has never been one */
std::atomic<int> always_count;

std::atomic<uint64_t> moments{1};
uint64_t passes; /* color 0 */

descriptor *
block_new(int block)
{
	guard locked(blocks_lock);
	descriptor *d = blocks[block].load(std::memory_order_relaxed); /* under the lock */

	if (d == nullptr) {
		d = new descriptor[BLOCK];
		/* release: pairs with the acquire in descriptor_of */
		blocks[block].store(d, std::memory_order_release);
	}
	return d;
}

descriptor &
descriptor_of(int fd)
{
	/* acquire: pairs with the release in block_new */
	descriptor *d = blocks[fd >> BLOCK_BITS].load(std::memory_order_acquire);

	if (d == nullptr)
		d = block_new(fd >> BLOCK_BITS);
	return d[fd & (BLOCK - 1)];
}

/* C of NOTE(slots). */
bool
in_pass(const job &j)
{
	return is_main(j.color) || runtime() == nullptr;
}

bool
wanted(const slot &s)
{
	return s.j.callback != nullptr && in_pass(s.j);
}

void
set_always(descriptor &d, int fd, bool on)
{
	if (d.always == on)
		return;
	d.always = on;
	guard locked(always_lock);
	if (always == nullptr)
		always = new std::set<int>;
	if (on)
		always->insert(fd);
	else
		always->erase(fd);
	always_count.store(static_cast<int>(always->size()), std::memory_order_relaxed);
}

/* Make the wait set match the slots. Under the lock. Returns 0 or a negative errno. */
int
update_set(descriptor &d, int fd)
{
	uint32_t events = (wanted(d.slots[0]) ? static_cast<uint32_t>(EPOLLIN) : 0u) |
	    (wanted(d.slots[1]) ? static_cast<uint32_t>(EPOLLOUT) : 0u);
	int error;

	if (!wait_is_open() || (events == 0 && !d.in_set && !d.always))
		return 0;
	error = wait_watch(fd, events);
	d.stray |= d.in_set && error != 0;
	error = error > 0 ? 0 : error;
	d.in_set = events != 0 && error == 0;
	set_always(d, fd, events != 0 && error == -EPERM);
	if (d.always)
		wait_soon();
	return events == 0 || d.always ? 0 : error;
}

/* F of NOTE(slots): a number that was closed when fdcb was called. */
struct closed_number {
	int fd;
	fdcb_call by;
};

void
try_again(void *arg)
{
	std::unique_ptr<closed_number> closed(static_cast<closed_number *>(arg));
	guard locked(locks.of(closed->fd));
	int error = update_set(descriptor_of(closed->fd), closed->fd);

	locked.unlock();
	if (error != 0)
		fdcb_fails(closed->fd, closed->by, error);
}

/* ---- other colors: B of NOTE(slots) ---- */

void
run_colored(void *arg)
{
	uint64_t word = reinterpret_cast<uint64_t>(arg);
	int fd = static_cast<int>(word >> 1 & ((1 << FD_BITS) - 1)), write = word & 1;
	descriptor &d = descriptor_of(fd);
	slot &s = d.slots[write];
	guard locked(locks.of(fd));

	if (!s.watched || s.number != word >> (FD_BITS + 1))
		return;
	job j = job_again(s.j);
	locked.unlock();
	take(j.callback);
	j.ops->posted(j.callback);
	locked.lock();
	if (s.watched && s.always && s.number == word >> (FD_BITS + 1) &&
	    post_for(runtime(), s.j, run_colored, arg) == -ENOMEM)
		die("out of memory for an event");
}

/* Under the lock. */
void
stop(slot &s)
{
	if (s.watched && !s.always)
		/* Its event may be queued already: B. */
		(void)mely_watch_stop(runtime(), s.watch, nullptr, nullptr);
	s.watched = false;
	s.number++;
}

/* Under the lock. Returns 0 or a negative errno. */
int
start(slot &s, int fd, int write)
{
	uint64_t word = s.number << (FD_BITS + 1) | static_cast<uint64_t>(fd) << 1 |
	    static_cast<uint64_t>(write);
	int error = mely_fd_watch(color_object(runtime(), s.j.color), fd,
	    write ? MELY_FD_WRITE : MELY_FD_READ,
	    handler_for(run_colored, s.j.faddr, s.j.priority), reinterpret_cast<void *>(word),
	    &s.watch);

	s.always = error == -EPERM;
	if (s.always)
		error = post_for(runtime(), s.j, run_colored, reinterpret_cast<void *>(word));
	s.watched = error == 0;
	return error;
}

/* ---- passes ---- */

/* E of NOTE(slots). */
bool
is_ready(int fd, int write)
{
	pollfd look = {fd, static_cast<short>(write ? POLLOUT : POLLIN), 0};

	return poll(&look, 1, 0) != 0;
}

/* False: there was no callback to call. */
bool
run_main(int fd, int write, uint64_t moment)
{
	descriptor &d = descriptor_of(fd);
	slot &s = d.slots[write];
	guard locked(locks.of(fd));

	if (!wanted(s) || s.moment > moment || (d.stray && !is_ready(fd, write)))
		return false;
	job j = job_again(s.j);
	locked.unlock();
	take(j.callback);
	call_here(j);
	return true;
}

/* E of NOTE(slots). */
bool
is_stray(int fd)
{
	descriptor &d = descriptor_of(fd);
	guard locked(locks.of(fd));

	return d.stray;
}

void
add_always(std::vector<epoll_event> *ready)
{
	guard locked(always_lock);

	for (int fd : *always) {
		epoll_event ev = {};

		ev.events = EPOLLIN | EPOLLOUT;
		ev.data.fd = fd;
		ready->push_back(ev);
	}
}

template <class F> void
for_each(F f)
{
	for (int block = 0; block < BLOCKS; block++) {
		/* acquire: pairs with the release in block_new */
		descriptor *d = blocks[block].load(std::memory_order_acquire);

		for (int i = 0; d != nullptr && i < BLOCK; i++) {
			int fd = block * BLOCK + i;
			guard locked(locks.of(fd));
			f(d[i], fd);
		}
	}
}

/* In the order in which they nest. */
void
before_fork()
{
	quiet unseen;

	locks.take_all();
	always_lock.lock();
	blocks_lock.lock();
}

void
after_fork()
{
	quiet unseen;

	blocks_lock.unlock();
	always_lock.unlock();
	locks.drop_all();
}

void
complain(int fd, int error)
{
	if (error != 0)
		say("cannot watch descriptor %d: %s", fd, std::strerror(-error));
}

}

int
watch_set(int fd, bool write, const job *j, const fdcb_call &by)
{
	int error = 0;

	if (fd < 0 || fd >= 1 << FD_BITS)
		return -EBADF;
	if (j != nullptr)
		(void)color_id(j->color); /* complains about a bad color, so not under the lock */
	if (j != nullptr)
		give(j->callback);
	descriptor &d = descriptor_of(fd);
	slot &s = d.slots[write];
	guard locked(locks.of(fd));
	job old = s.j;
	bool was_wanted = wanted(s);
	stop(s);
	s.j = j != nullptr ? *j : job();
	if (old.callback == nullptr && j != nullptr)
		/* relaxed: only compared with what color 0 has read; it orders nothing else */
		s.moment = moments.fetch_add(1, std::memory_order_relaxed);
	if (was_wanted || wanted(s))
		error = update_set(d, fd);
	bool closed = error == -EBADF && wanted(s);
	if (j != nullptr && !wanted(s))
		error = start(s, fd, write);
	locked.unlock();
	if (closed) {
		main_post(try_again, new closed_number{fd, by});
		error = 0;
	}
	if (old.callback != nullptr)
		old.free_if_owned();
	/* Dropping the callback of a descriptor that is closed already is not an error. */
	return j == nullptr || error == -ESHUTDOWN || error == -ECHILD ? 0 : error;
}

uint64_t
watch_moment()
{
	return moments.load(std::memory_order_relaxed) - 1; /* see watch_set */
}

bool
watch_always()
{
	return always_count.load(std::memory_order_relaxed) != 0; /* a hint; wait_soon follows */
}

bool
watch_run(std::vector<epoll_event> *ready, uint64_t moment)
{
	const uint32_t reads = EPOLLIN | EPOLLPRI | FAULT, writes = EPOLLOUT | FAULT;
	uint64_t pass = ++passes;
	bool stray = false;

	if (watch_always())
		add_always(ready);
	std::sort(ready->begin(), ready->end(), [](const epoll_event &a, const epoll_event &b) {
		return a.data.fd < b.data.fd; });
	for (const epoll_event &ev : *ready) {
		int fd = ev.data.fd;
		bool any = (ev.events & reads) != 0 && run_main(fd, 0, moment);

		/* A nested pass has polled since: these results are stale. */
		if (pass != passes)
			return false;
		any |= (ev.events & writes) != 0 && run_main(fd, 1, moment);
		if (pass != passes)
			return false;
		stray |= !any && is_stray(fd);
	}
	return stray;
}

void
watch_fill()
{
	for_each([](descriptor &d, int fd) {
		d.in_set = d.stray = false;
		complain(fd, update_set(d, fd));
	});
}

void
watch_fork_safely()
{
	(void)pthread_atfork(before_fork, after_fork, after_fork);
}

void
watch_start(mely_runtime *)
{
	for_each([](descriptor &d, int fd) {
		complain(fd, update_set(d, fd)); /* only callbacks of color 0 stay in the set */
		for (int write = 0; write < 2; write++)
			if (d.slots[write].j.callback != nullptr && !wanted(d.slots[write]))
				complain(fd, start(d.slots[write], fd, write));
	});
}

}
