/* SPDX-License-Identifier: MIT */
/*
 * err_io.cc: how messages get to standard error.
 */
#include "err_io.h"

#include <atomic>
#include <mutex>
#include <poll.h>

#include "../include/async/err.h"

namespace melycompat {

namespace {

std::mutex err_lock;
std::atomic<pid_t> program = getpid();

/* All of it, however long it takes; what can not be written is lost. */
void
write_all(suio *uio)
{
	while (uio->resid() > 0) {
		pollfd wait = {errfd, POLLOUT, 0};
		int wrote = uio->output(errfd);

		if (wrote < 0)
			uio->clear();
		else if (uio->resid() > 0)
			(void)poll(&wait, 1, -1);
	}
}

}

void
err_print(const suio *message, bool)
{
	std::lock_guard<std::mutex> guard(err_lock);
	suio copy;

	copy.copyu(message);
	write_all(&copy);
}

void
err_start()
{
	err_is_program();
}

void
err_flush()
{
}

void
err_is_program()
{
	program.store(getpid(), std::memory_order_relaxed); /* of one thread */
}

bool
err_in_program()
{
	return program.load(std::memory_order_relaxed) == getpid();
}

}
