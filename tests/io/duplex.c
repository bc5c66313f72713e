/* SPDX-License-Identifier: MIT */
/*
 * duplex.c: both directions of one descriptor, each with its own watcher and color, suspended and
 * resumed.
 */
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

static struct mely_runtime *rt;

/* An echo whose two directions have different colors, against a thread that writes and reads. */
struct echo {
	int fd;
	struct mely_color *reader, *writer;
	mely_watch read_watch, write_watch;
	_Atomic uint64_t pending; /* bytes to send back */
	_Atomic uint64_t received, sent, writes;
};

/* The stop at the end closes the watcher, possibly while a handler runs. */
static void
enable(struct echo *echo, int on)
{
	int rc = mely_watch_enable(rt, echo->write_watch, on);

	TEST_CHECK(rc == 0 || rc == -ENOENT);
}

static void
on_echo_writable(void *arg)
{
	struct echo *echo = arg;
	static const char buf[65536];
	uint64_t n = atomic_load(&echo->pending);
	ssize_t done;

	TEST_CHECK(mely_current_color() == echo->writer);
	TEST_CHECK(mely_fd_ready() & (MELY_READY_WRITE | MELY_READY_HANGUP | MELY_READY_ERROR));
	test_add(&echo->writes, 1);
	if (n == 0) {
		enable(echo, 0);
		/* More may have arrived between the read and the suspension. */
		if (atomic_load(&echo->pending) != 0)
			enable(echo, 1);
		return;
	}
	done = write(echo->fd, buf, n < sizeof buf ? n : sizeof buf);
	if (done > 0) {
		atomic_fetch_sub(&echo->pending, (uint64_t)done);
		test_add(&echo->sent, (uint64_t)done);
	}
}

static void
on_resume(void *arg)
{
	struct echo *echo = arg;

	enable(echo, 1);
}

static struct mely_handler resume = MELY_HANDLER(on_resume);

static void
on_echo_readable(void *arg)
{
	struct echo *echo = arg;
	char buf[4096];
	ssize_t n = read(echo->fd, buf, sizeof buf);

	TEST_CHECK(mely_current_color() == echo->reader);
	if (n <= 0)
		return;
	test_add(&echo->received, (uint64_t)n);
	if (atomic_fetch_add(&echo->pending, (uint64_t)n) == 0)
		TEST_OK(mely_post(echo->writer, &resume, echo));
}

static struct mely_handler echo_readable = MELY_HANDLER(on_echo_readable);
static struct mely_handler echo_writable = MELY_HANDLER(on_echo_writable);

static void
two_colors_on_one_on(int cores, size_t total)
{
	struct test_runner runner;
	struct echo echo;
	int peer, fds[2];
	size_t out = 0, in = 0;
	char buf[16384];

	memset(&echo, 0, sizeof echo);
	memset(buf, 0, sizeof buf);
	rt = test_runtime(cores);
	TEST_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
	echo.fd = fds[0];
	peer = fds[1];
	echo.reader = test_color(rt);
	echo.writer = test_color(rt);
	test_run_start(&runner, rt);
	TEST_OK(mely_fd_watch(echo.writer, echo.fd, MELY_FD_WRITE, &echo_writable, &echo,
	    &echo.write_watch));
	TEST_OK(mely_fd_watch(echo.reader, echo.fd, MELY_FD_READ, &echo_readable, &echo,
	    &echo.read_watch));
	while (in < total) {
		ssize_t n = out < total ? write(peer, buf, total - out < sizeof buf
		    ? total - out : sizeof buf) : 0;

		out += n > 0 ? (size_t)n : 0;
		n = read(peer, buf, sizeof buf);
		in += n > 0 ? (size_t)n : 0;
		if (n <= 0)
			sched_yield();
	}
	TEST_EQ(in, total);
	TEST_EQ(test_get(&echo.received), total);
	test_await(&echo.sent, total); /* counted after the write that this thread has read */
	TEST_EQ(test_get(&echo.sent), total);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	close(echo.fd);
	close(peer);
	free(echo.reader);
	free(echo.writer);
}

static void
two_colors_on_one(void)
{
	two_colors_on_one_on(1, test_scale(4u << 20));
	two_colors_on_one_on(2, test_scale(16u << 20));
	two_colors_on_one_on(8, test_scale(4u << 20));
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 60);
	TEST_CASE(two_colors_on_one);
	return test_done();
}
