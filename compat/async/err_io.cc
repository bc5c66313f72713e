/* SPDX-License-Identifier: MIT */
/*
 * err_io.cc: writes messages to standard error.
 *
 * NOTE(stderr) Between err_start and err_stop any thread appends messages to `pending`. A thread
 * that appends a newline while no write is due posts write_lines to color 0. write_lines writes
 * while whole lines are pending and the descriptor accepts them without blocking, and otherwise
 * waits for the descriptor. A line that never ends is written at exit.
 */
#include "err_io.h"

#include <atomic>
#include <mutex>
#include <poll.h>

#include "../include/async/async.h"
#include "../src/quiet.h"
#include "loop.h"

namespace melycompat {

namespace {

/* With more than this pending, a message waits until the descriptor accepts data. */
constexpr size_t pending_max = 1 << 20;

std::mutex err_lock;
suio *pending;    /* under err_lock; NULL: messages are written at once */
bool writing;     /* under err_lock: write_lines has been posted, or waits */
bool waiting;     /* color 0: write_lines waits for the descriptor */
std::atomic<pid_t> program = getpid(); /* 0 before initialization, which only the program runs */

bool
takes_more()
{
	pollfd wait = {errfd, POLLOUT, 0};

	return poll(&wait, 1, 0) > 0;
}

/* Write everything, without a time limit; drop the rest after an error. */
void
write_all(suio *uio)
{
	while (uio->resid() > 0) {
		pollfd wait = {errfd, POLLOUT, 0};

		if (uio->output(errfd) < 0)
			uio->clear();
		else if (uio->resid() > 0)
			(void)poll(&wait, 1, -1);
	}
}

void
write_now(const suio *message)
{
	suio copy;

	if (pending != nullptr)
		copy.take(pending);
	copy.copyu(message);
	write_all(&copy);
}

/* ---- lines ---- */

/* The number of bytes for one write: whole lines, or a part of a line that is longer than a pipe
 * holds. */
size_t
take_lines(char *buf)
{
	size_t n = pending->copyout(buf, PIPE_BUF);
	const void *end = memrchr(buf, '\n', n);

	if (end != nullptr)
		return static_cast<const char *>(end) - buf + 1;
	return pending->linelen() > 0 ? n : 0;
}

/* Write what the descriptor accepts; under err_lock. True: wait for the descriptor. */
bool
write_some()
{
	u_int64_t last = pending->byteno() + pending->resid();
	char buf[PIPE_BUF];
	size_t n;

	while ((n = take_lines(buf)) > 0 && pending->byteno() < last) {
		ssize_t wrote;

		if (!takes_more())
			return true;
		wrote = write(errfd, buf, n);
		if (wrote < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		pending->rembytes(wrote < 0 ? n : static_cast<size_t>(wrote));
	}
	writing = n > 0;
	return false;
}

/* In color 0. */
void
write_lines(void *)
{
	bool again = false, wait = false;
	guard locked(err_lock);

	if (pending != nullptr) {
		wait = write_some();
		again = writing && !wait;
	}
	locked.unlock();
	if (wait && !waiting)
		fdcb(errfd, selwrite, wrap(write_lines, static_cast<void *>(nullptr)));
	else if (!wait && waiting)
		fdcb(errfd, selwrite, NULL);
	waiting = wait;
	if (again)
		main_post(write_lines, nullptr);
}

bool
has_newline(const suio *message)
{
	return message->linelen() > 0;
}

/* ---- forks ---- */

void
before_fork()
{
	err_lock.lock();
}

void
after_fork()
{
	err_lock.unlock();
}

/* The parent writes the pending lines; the child has no loop that would. */
void
in_child()
{
	delete pending;
	pending = nullptr;
	err_lock.unlock();
}

}

void
err_print(const suio *message, bool at_once)
{
	guard locked(err_lock);
	bool post;

	if (at_once || pending == nullptr || pending->resid() > pending_max) {
		write_now(message);
		return;
	}
	pending->copyu(message);
	post = !writing && has_newline(message);
	writing = writing || post;
	locked.unlock();
	if (post)
		main_post(write_lines, nullptr);
}

void
err_start()
{
	int flags = fcntl(errfd, F_GETFL);

	err_is_program();
	if (flags >= 0)
		(void)fcntl(errfd, F_SETFL, flags | O_APPEND);
	(void)pthread_atfork(before_fork, after_fork, in_child);
	guard locked(err_lock);
	pending = new suio;
}

void
err_stop()
{
	guard locked(err_lock);

	if (pending == nullptr)
		return;
	write_all(pending);
	delete pending;
	pending = nullptr;
}

void
err_is_program()
{
	/* relaxed: there is only one thread yet */
	program.store(getpid(), std::memory_order_relaxed);
}

bool
err_in_program()
{
	/* relaxed: it was set before other threads existed */
	pid_t pid = program.load(std::memory_order_relaxed);

	return pid == 0 || pid == getpid();
}

}

void
err_flush()
{
	melycompat::guard locked(melycompat::err_lock);

	if (melycompat::pending != nullptr)
		melycompat::write_all(melycompat::pending);
}
