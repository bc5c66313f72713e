/* SPDX-License-Identifier: MIT */
/*
 * descriptors.cc: a queue of callbacks for each direction of each descriptor.
 *
 * NOTE(queue)
 *   A. While the head of a queue does not run, libmely watches the descriptor in the head's color:
 *      the queue is ARMED. The watcher is level-triggered and has at most one event, so the
 *      callbacks of one direction of a descriptor never overlap.
 *   B. That event makes the queue RUN its head. If the head is finished when it returns, the event
 *      removes it, stops the watcher, which is exact in the watcher's color, and arms the next
 *      head.
 *   C. Dropping a queue stops the watcher. The watcher's event may already be queued on another
 *      core: it carries the generation of its arming and finds a different one. A running head is
 *      marked dropped. After it returns it is freed, if the runtime owned it at the time of the
 *      drop, and only then is the queue, which may have a new head by now, armed again.
 *   All of it happens under the lock of the descriptor. The child of a fork can still append and
 *   drop callbacks, so a fork takes the locks.
 */
#include "descriptors.h"

#include <cerrno>
#include <cstring>
#include <deque>
#include <mely/io.h>
#include <pthread.h>

#include "fdlocks.h"
#include "handlers.h"
#include "loop.h"
#include "quiet.h"
#include "say.h"

namespace melycompat {

static_assert(sizeof(void *) == 8, "descriptor and generation must fit into a pointer");

namespace {

enum {
	FD_BITS = 22,
	BLOCK_BITS = 8,
	BLOCK = 1 << BLOCK_BITS,
	BLOCKS = 1 << (FD_BITS - BLOCK_BITS)
};

/* The callback that is running. */
enum running { NOTHING, HEAD, DROPPED /* no longer in the queue */ };

struct queue {
	std::deque<job> *jobs = nullptr; /* the head may be running; NULL: never used */
	enum running running = NOTHING;
	bool free_dropped = false; /* free it after it returns */
	bool armed = false;
	mely_watch watch = 0;    /* while it is armed */
	uint64_t generation = 0; /* of the arming */
};

struct descriptor {
	queue queues[2]; /* for reading, for writing */
};

fd_locks locks;

/* A block is allocated when one of its descriptors is first used, and never freed. */
std::atomic<descriptor *> blocks[BLOCKS];
std::mutex blocks_lock;

/* The descriptor callback that this thread is in, if any. */
__thread bool inside, finished;

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
	if (fd < 0 || fd >= 1 << FD_BITS)
		die("fdcb: %d is not a descriptor", fd);
	/* acquire: pairs with the release in block_new */
	descriptor *d = blocks[fd >> BLOCK_BITS].load(std::memory_order_acquire);
	if (d == nullptr)
		d = block_new(fd >> BLOCK_BITS);
	return d[fd & (BLOCK - 1)];
}

void run(void *arg);

void *
argument(int fd, int write, uint64_t generation)
{
	return reinterpret_cast<void *>(generation << (FD_BITS + 1) |
	    static_cast<uint64_t>(fd) << 1 | static_cast<uint64_t>(write));
}

/* A of NOTE(queue). Under the lock. 0, or the error that prevents watching. */
int
arm(queue &q, int fd, int write)
{
	mely_runtime *rt = runtime();
	int error;

	if (rt == nullptr || q.armed || q.running != NOTHING || q.jobs->empty())
		return 0;
	const job &j = q.jobs->front();
	q.generation++;
	error = mely_fd_watch(color_object(rt, j.color), fd, write ? MELY_FD_WRITE : MELY_FD_READ,
	    handler_for(run, j.faddr, j.priority), argument(fd, write, q.generation), &q.watch);
	q.armed = error == 0;
	return error;
}

/* Under the lock. */
void
disarm(queue &q)
{
	if (q.armed)
		/* C of NOTE(queue) if it is too late. */
		(void)mely_watch_stop(runtime(), q.watch, nullptr, nullptr);
	q.armed = false;
	q.generation++;
}

/* B and C of NOTE(queue): the callback has returned. */
void
end(queue &q, const job &j, int fd, int write)
{
	guard locked(locks.of(fd));
	bool ours = q.running == HEAD;

	if (ours && !finished) {
		q.running = NOTHING;
		return;
	}
	if (ours) {
		q.jobs->pop_front();
		disarm(q);
		q.running = DROPPED;
	}
	locked.unlock();
	if (ours)
		j.free_if_owned();
	else if (q.free_dropped) /* written by the drop, under the lock */
		j.ops->free(j.callback);
	locked.lock();
	q.running = NOTHING;
	/* The program may have closed it: then the queue waits for the next owner of the number. */
	(void)arm(q, fd, write);
}

void
run(void *arg)
{
	uint64_t word = reinterpret_cast<uint64_t>(arg);
	int fd = static_cast<int>(word >> 1 & ((1 << FD_BITS) - 1)), write = word & 1;
	descriptor &d = descriptor_of(fd);
	queue &q = d.queues[write];
	guard locked(locks.of(fd));

	if (!q.armed || q.generation != word >> (FD_BITS + 1))
		return;
	q.running = HEAD;
	job j = q.jobs->front();
	locked.unlock();
	take(j.callback);
	inside = true;
	finished = false;
	j.ops->run(j.callback);
	inside = false;
	end(q, j, fd, write);
}

}

void
descriptor_append(int fd, bool write, const job &j)
{
	descriptor &d = descriptor_of(fd);
	queue &q = d.queues[write];
	int error;

	(void)color_id(j.color); /* report an error before taking the lock */
	give(j.callback);
	guard locked(locks.of(fd));
	if (q.jobs == nullptr)
		q.jobs = new std::deque<job>;
	if (!q.jobs->empty() && q.jobs->front().callback == j.callback) {
		locked.unlock();
		die("fdcb: the callback is already the head of descriptor %d", fd);
	}
	q.jobs->push_back(j);
	error = arm(q, fd, write);
	locked.unlock();
	if (error != 0 && error != -ESHUTDOWN && error != -ECHILD)
		die("fdcb: cannot watch descriptor %d: %s", fd, std::strerror(-error));
}

void
descriptor_drop(int fd, bool write)
{
	quiet unseen; /* the freed callbacks may belong to other colors */
	descriptor &d = descriptor_of(fd);
	queue &q = d.queues[write];
	std::deque<job> dropped;
	guard locked(locks.of(fd));

	if (q.jobs == nullptr || q.jobs->empty())
		return;
	disarm(q);
	dropped.swap(*q.jobs);
	if (q.running == HEAD) {
		q.running = DROPPED;
		q.free_dropped = dropped.front().ops->owned(dropped.front().callback);
		dropped.pop_front();
	}
	locked.unlock();
	for (const job &j : dropped)
		j.free_if_owned();
}

void
descriptor_finished(bool done)
{
	if (inside)
		finished = done;
}

/* A queue from before amain, or one whose watcher the last stop closed. */
static void
start(descriptor &d, int fd)
{
	guard locked(locks.of(fd));
	int write, error;

	for (write = 0; write < 2; write++) {
		queue &q = d.queues[write];

		if (q.jobs == nullptr)
			continue;
		q.armed = false;
		error = arm(q, fd, write);
		if (error != 0)
			say("cannot watch descriptor %d: %s", fd, std::strerror(-error));
	}
}

static void
before_fork()
{
	quiet unseen;

	locks.take_all();
	blocks_lock.lock();
}

static void
after_fork()
{
	quiet unseen;

	blocks_lock.unlock();
	locks.drop_all();
}

void
descriptors_start()
{
	static bool safe; /* one amain at a time */
	int block, i;

	if (!safe)
		(void)pthread_atfork(before_fork, after_fork, after_fork);
	safe = true;
	for (block = 0; block < BLOCKS; block++) {
		/* acquire: pairs with the release in block_new */
		descriptor *d = blocks[block].load(std::memory_order_acquire);

		for (i = 0; d != nullptr && i < BLOCK; i++)
			start(d[i], block * BLOCK + i);
	}
}

}
