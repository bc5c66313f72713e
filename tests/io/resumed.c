/* SPDX-License-Identifier: MIT */
/*
 * resumed.c: a thread that resumes a watcher polls its descriptor, and the handler reads what is
 * there before the thread goes on. The handler does not run once more with nothing to read: E of
 * NOTE(readiness). This program's poll makes the thread wait there.
 */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "test.h"

static struct mely_runtime *rt;
static struct mely_color *color;
static mely_watch watch;
static int descriptor;
static _Atomic uint64_t read_times, nothing_to_read, ended;
static _Thread_local bool waits_in_poll;

static void
write_one(void)
{
	uint64_t one = 1;

	TEST_EQ(write(descriptor, &one, sizeof one), (ssize_t)sizeof one);
}

/* Of the resuming thread: it finds the descriptor ready; then the watcher's handler reads all and
 * ends. */
int
poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	struct timespec timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
	int ready = ppoll(fds, count, timeout_ms < 0 ? NULL : &timeout, NULL);

	if (waits_in_poll) {
		waits_in_poll = false;
		TEST_EQ(ready, 1);
		write_one(); /* the poller found the first one while the watcher was suspended */
		test_await(&ended, 1);
	}
	return ready;
}

/* In the color of the watcher's handler, after it. */
static void
on_end(void *arg)
{
	(void)arg;
	test_add(&ended, 1);
}

static struct mely_handler end = MELY_HANDLER(on_end);

static void
on_readable(void *arg)
{
	uint64_t count;

	(void)arg;
	if (read(descriptor, &count, sizeof count) == sizeof count)
		test_add(&read_times, 1);
	else
		test_add(&nothing_to_read, 1);
	TEST_OK(mely_post(color, &end, NULL));
}

static struct mely_handler readable = MELY_HANDLER(on_readable);

static void
polled_before_the_handler(void)
{
	struct test_runner runner;

	rt = test_runtime(1);
	color = test_color(rt);
	descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	TEST_CHECK(descriptor >= 0);
	TEST_OK(mely_fd_watch(color, descriptor, MELY_FD_READ | MELY_FD_SUSPENDED, &readable, NULL,
	    &watch));
	write_one();
	test_run_start(&runner, rt);
	waits_in_poll = true;
	TEST_OK(mely_watch_enable(rt, watch, 1));
	TEST_CHECK(!waits_in_poll);
	/* What the thread has posted runs before this. */
	TEST_OK(mely_post(color, &end, NULL));
	test_await(&ended, 2);
	write_one();
	test_await(&read_times, 2);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(test_get(&nothing_to_read), 0);
	TEST_OK(mely_runtime_free(rt));
	close(descriptor);
	free(color);
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 60);
	TEST_CASE(polled_before_the_handler);
	return test_done();
}
