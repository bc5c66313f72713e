/* SPDX-License-Identifier: MIT */
/*
 * interrupt.cc: SIGINT. The signal handler only writes to an eventfd; an event of a separate color
 * prints the report and exits. A second SIGINT ends the process at once, because the first may wait
 * for a callback that never returns. The child of a fork has no runtime to notify, and ends.
 */
#include "interrupt.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mely/io.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "loop.h"
#include "say.h"

namespace melycompat {

namespace {

int eventfd_of_sigint = -1; /* set before the signal handler is installed */
pid_t process;              /* set before the signal handler is installed */
mely_color color;

void
on_event(void *)
{
	int i;

	say("interrupted");
	for (i = 0; i < loop_workers(); i++)
		worker_print(i);
	std::exit(1);
}

void
on_signal(int)
{
	static std::atomic<bool> second;
	const uint64_t one = 1;
	int saved = errno;

	/* relaxed: it is its own only word */
	if (getpid() != process || second.exchange(true, std::memory_order_relaxed))
		_exit(1);
	if (write(eventfd_of_sigint, &one, sizeof one) < 0)
		_exit(1);
	errno = saved;
}

}

void
interrupt_watch(mely_runtime *rt)
{
	static mely_handler handler = MELY_HANDLER_WITH(on_event, 0, 0, MELY_PRIORITY_MAX);
	struct sigaction action = {};
	mely_watch watch;
	int error;

	if (eventfd_of_sigint < 0) {
		eventfd_of_sigint = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (eventfd_of_sigint < 0)
			die("eventfd: %s", std::strerror(errno));
		(void)mely_color_init(&color, rt);
	}
	process = getpid();
	error = mely_fd_watch(&color, eventfd_of_sigint, MELY_FD_READ, &handler, nullptr, &watch);
	if (error != 0)
		die("cannot watch SIGINT: %s", std::strerror(-error));
	action.sa_handler = on_signal;
	action.sa_flags = SA_RESTART;
	sigaction(SIGINT, &action, nullptr);
}

}
