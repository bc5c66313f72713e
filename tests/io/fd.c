/* SPDX-License-Identifier: MIT */
/*
 * fd.c: descriptor watchers: level and edge, drained, exact stop from inside, from another color
 * and from outside, close through the library, errors.
 */
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

static struct mely_runtime *rt;

struct end {
	int fd;
	mely_watch watch;
	struct mely_color *color;
	_Atomic uint64_t events, bytes, ready;
	_Atomic uint64_t stopped; /* the handler has stopped it */
	size_t chunk;   /* bytes to read in each event */
	bool drained;   /* call mely_fd_drained when all has been read */
	uint64_t stop_after; /* events after which the handler stops the watcher */
	_Atomic uint64_t block; /* the handler waits until it is 0 */
};

static void
make_pair(struct end *a, struct end *b)
{
	int fds[2];

	TEST_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
	memset(a, 0, sizeof *a);
	memset(b, 0, sizeof *b);
	a->fd = fds[0];
	b->fd = fds[1];
	a->chunk = b->chunk = 4096;
}

static void
on_readable(void *arg)
{
	struct end *end = arg;
	char buf[4096];
	ssize_t n;

	TEST_CHECK(mely_current_color() == end->color);
	TEST_CHECK(mely_fd_ready() & (MELY_READY_READ | MELY_READY_HANGUP | MELY_READY_ERROR));
	atomic_fetch_or(&end->ready, mely_fd_ready());
	n = read(end->fd, buf, end->chunk);
	if (n > 0)
		test_add(&end->bytes, (uint64_t)n);
	if (end->drained)
		mely_fd_drained();
	test_add(&end->events, 1);
	while (test_get(&end->block) != 0)
		test_nap_us(50);
	if (n == 0 || test_get(&end->events) == end->stop_after) {
		TEST_OK(mely_watch_stop(rt, end->watch, NULL, NULL));
		TEST_EQ(mely_watch_stop(rt, end->watch, NULL, NULL), -ENOENT);
		test_add(&end->stopped, 1);
	}
}

static struct mely_handler readable = MELY_HANDLER(on_readable);

static void
watch_reading(struct end *end, struct mely_color *color, unsigned flags)
{
	end->color = color;
	TEST_OK(mely_fd_watch(color, end->fd, MELY_FD_READ | flags, &readable, end, &end->watch));
	TEST_CHECK(end->watch != 0);
}

static void
send_bytes(struct end *end, size_t n)
{
	static const char buf[4096];

	TEST_EQ(write(end->fd, buf, n), (ssize_t)n);
}

static void
close_pair(struct end *a, struct end *b)
{
	close(a->fd);
	close(b->fd);
}

/* ---- level and edge ------------------------------------------------------------------------- */

/* Level: reading a byte at a time, the handler runs until all is read, after one write only. */
static void
level_comes_back_on(int cores)
{
	struct test_runner runner;
	struct mely_color *color;
	struct end a, b;

	rt = test_runtime(cores);
	color = test_color(rt);
	make_pair(&a, &b);
	a.chunk = 1;
	test_run_start(&runner, rt);
	watch_reading(&a, color, 0);
	send_bytes(&b, 100);
	test_await(&a.events, 100);
	test_await(&a.bytes, 100);
	/* A handler that reads nothing has met EAGAIN; then it waits for the next byte. */
	send_bytes(&b, 7);
	test_await(&a.bytes, 107);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_CHECK(test_counters(rt).readiness >= 101);
	TEST_OK(mely_runtime_free(rt));
	close_pair(&a, &b);
	free(color);
}

static void
level_comes_back(void)
{
	level_comes_back_on(1);
	level_comes_back_on(2);
	level_comes_back_on(8);
}

/* The data comes before the watcher. */
static void
ready_before_watched(void)
{
	struct test_runner runner;
	struct mely_color *color;
	struct end a, b;

	rt = test_runtime(2);
	color = test_color(rt);
	make_pair(&a, &b);
	send_bytes(&b, 10);
	watch_reading(&a, color, 0); /* before run, too */
	test_run_start(&runner, rt);
	test_await(&a.bytes, 10);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	close_pair(&a, &b);
	free(color);
}

/* A runtime that runs again: the next run serves what is watched in between. */
static void
watch_between_runs(void)
{
	struct test_runner runner;
	struct mely_color *color;
	struct end a, b;
	int round;

	rt = test_runtime(2);
	color = test_color(rt);
	make_pair(&a, &b);
	for (round = 1; round <= 3; round++) {
		watch_reading(&a, color, 0);
		send_bytes(&b, 10);
		test_run_start(&runner, rt);
		test_await(&a.bytes, 10 * (uint64_t)round);
		test_run_stop(&runner, MELY_STOP_DRAIN);
		/* The stop has closed it. */
		TEST_EQ(mely_watch_stop(rt, a.watch, NULL, NULL), -ENOENT);
	}
	TEST_OK(mely_runtime_free(rt));
	close_pair(&a, &b);
	free(color);
}

/* Drained: no second check, and yet no change is missed. */
static void
drained_misses_nothing_with(unsigned flags, bool drained)
{
	struct test_runner runner;
	struct mely_color *color;
	struct end a, b;
	unsigned i;

	rt = test_runtime(2);
	color = test_color(rt);
	make_pair(&a, &b);
	a.drained = drained;
	test_run_start(&runner, rt);
	watch_reading(&a, color, flags);
	for (i = 1; i <= test_scale(5000); i++) {
		send_bytes(&b, 1);
		if (i % 3 == 0)
			test_await(&a.bytes, i);
	}
	test_await(&a.bytes, i - 1);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	close_pair(&a, &b);
	free(color);
}

static void
drained_misses_nothing(void)
{
	drained_misses_nothing_with(0, true);
	drained_misses_nothing_with(0, false);
	drained_misses_nothing_with(MELY_FD_EDGE, false);
}

/* Edge: one event for a change, even if data is left unread. */
static void
edge_comes_once(void)
{
	struct mely_config config;
	struct test_runner runner;
	struct mely_color *color;
	struct end a, b;

	/* Another poller would report the descriptor again: it must not move. */
	test_config(&config, 2);
	config.fd_residency_ms = 3600000;
	config.fd_residency_events = UINT32_MAX;
	rt = test_runtime_with(&config);
	color = test_color(rt);
	make_pair(&a, &b);
	a.chunk = 1;
	test_run_start(&runner, rt);
	watch_reading(&a, color, MELY_FD_EDGE);
	send_bytes(&b, 100);
	test_await(&a.events, 1);
	test_nap_us(20000);
	TEST_EQ(test_get(&a.events), 1);
	send_bytes(&b, 1);
	test_await(&a.events, 2);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(test_get(&a.bytes), 2);
	TEST_OK(mely_runtime_free(rt));
	close_pair(&a, &b);
	free(color);
}

static void
hangup_is_told(void)
{
	struct test_runner runner;
	struct mely_color *color;
	struct end a, b;

	rt = test_runtime(2);
	color = test_color(rt);
	make_pair(&a, &b);
	test_run_start(&runner, rt);
	watch_reading(&a, color, 0);
	close(b.fd);
	test_await(&a.stopped, 1);
	TEST_CHECK(atomic_load(&a.ready) & MELY_READY_HANGUP);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(mely_fd_ready(), 0);
	TEST_OK(mely_runtime_free(rt));
	close(a.fd);
	free(color);
}

/* ---- stopping ------------------------------------------------------------------------------- */

static void
stop_inside(void)
{
	struct test_runner runner;
	struct mely_color *color;
	struct end a, b;

	rt = test_runtime(2);
	color = test_color(rt);
	make_pair(&a, &b);
	a.chunk = 1;
	a.stop_after = 3;
	test_run_start(&runner, rt);
	watch_reading(&a, color, 0);
	send_bytes(&b, 10);
	test_await(&a.stopped, 1);
	test_nap_us(10000);
	TEST_EQ(test_get(&a.events), 3);
	TEST_EQ(mely_watch_stop(rt, a.watch, NULL, NULL), -ENOENT);
	/* The direction is free for another watcher. */
	a.stop_after = 0;
	watch_reading(&a, color, 0);
	test_await(&a.bytes, 10);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	close_pair(&a, &b);
	free(color);
}

/* In another handler of the color, with the watcher's event queued behind it, a stop is exact. */
static struct {
	struct end *end;
	_Atomic uint64_t entered, go, over;
	uint64_t events;
} exact;

static void
on_stop_exact(void *arg)
{
	(void)arg;
	test_add(&exact.entered, 1);
	/* Meanwhile the descriptor becomes ready and its event is queued. */
	test_await(&exact.go, 1);
	test_nap_us(3000);
	exact.events = test_get(&exact.end->events);
	TEST_OK(mely_watch_stop(rt, exact.end->watch, NULL, NULL));
	test_add(&exact.over, 1);
}

static struct mely_handler stop_exact = MELY_HANDLER(on_stop_exact);

static void
stop_is_exact_on(int cores)
{
	unsigned round;

	for (round = 0; round < test_scale(20); round++) {
		struct test_runner runner;
		struct mely_color *color;
		struct end a, b;

		memset(&exact, 0, sizeof exact);
		exact.end = &a;
		rt = test_runtime(cores);
		color = test_color(rt);
		make_pair(&a, &b);
		test_run_start(&runner, rt);
		watch_reading(&a, color, 0);
		TEST_OK(mely_post(color, &stop_exact, NULL));
		test_await(&exact.entered, 1);
		send_bytes(&b, 10);
		test_add(&exact.go, 1);
		test_await(&exact.over, 1);
		test_run_stop(&runner, MELY_STOP_DRAIN);
		TEST_EQ(test_get(&a.events), exact.events);
		TEST_OK(mely_runtime_free(rt));
		close_pair(&a, &b);
		free(color);
	}
}

static void
stop_is_exact(void)
{
	stop_is_exact_on(1);
	stop_is_exact_on(2);
	stop_is_exact_on(4);
}

static _Atomic uint64_t dones;

static void
on_done(void *arg)
{
	(void)arg;
	test_add(&dones, 1);
}

static struct mely_handler done_handler = MELY_HANDLER(on_done);

/* From outside: 0, or -EINPROGRESS and a completion, after which the handler does not run. */
static void
stop_from_outside(void)
{
	struct mely_event done = MELY_EVENT(&done_handler, NULL);
	struct test_runner runner;
	struct mely_color *color, *other;
	struct end a, b;
	int rc;

	atomic_store(&dones, 0);
	rt = test_runtime(2);
	color = test_color(rt);
	other = test_color(rt);
	make_pair(&a, &b);
	atomic_store(&a.block, 1);
	test_run_start(&runner, rt);
	watch_reading(&a, color, 0);
	send_bytes(&b, 1);
	test_await(&a.events, 1);
	/* The handler runs now and waits for this thread. */
	rc = mely_watch_stop(rt, a.watch, other, &done);
	TEST_EQ(rc, -EINPROGRESS);
	TEST_EQ(test_get(&dones), 0);
	atomic_store(&a.block, 0);
	test_await(&dones, 1);
	send_bytes(&b, 1);
	test_nap_us(5000);
	TEST_EQ(test_get(&a.events), 1);
	TEST_EQ(mely_watch_stop(rt, a.watch, NULL, NULL), -ENOENT);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(test_get(&dones), 1);
	TEST_OK(mely_runtime_free(rt));
	close_pair(&a, &b);
	free(color);
	free(other);
}

/* ---- errors and closing --------------------------------------------------------------------- */

static _Atomic uint64_t closed;

static void
on_close(void *arg)
{
	struct end *end = arg;

	TEST_OK(mely_fd_close(rt, end->fd));
	TEST_EQ(fcntl(end->fd, F_GETFD), -1);
	TEST_EQ(mely_watch_stop(rt, end->watch, NULL, NULL), -ENOENT);
	test_add(&closed, 1);
}

static struct mely_handler close_handler = MELY_HANDLER(on_close);

static void
close_through_library(void)
{
	struct test_runner runner;
	struct mely_color *color;
	struct end a, b;
	mely_watch writing;

	atomic_store(&closed, 0);
	rt = test_runtime(2);
	color = test_color(rt);
	make_pair(&a, &b);
	test_run_start(&runner, rt);
	watch_reading(&a, color, 0);
	TEST_OK(mely_fd_watch(color, a.fd, MELY_FD_WRITE | MELY_FD_EDGE, &done_handler, &a,
	    &writing));
	TEST_CHECK(writing != a.watch);
	send_bytes(&b, 100);
	TEST_OK(mely_post(color, &close_handler, &a));
	test_await(&closed, 1);
	TEST_EQ(mely_watch_stop(rt, writing, NULL, NULL), -ENOENT);
	TEST_OK(mely_fd_close(rt, b.fd)); /* has no watcher */
	TEST_EQ(mely_fd_close(rt, b.fd), -EBADF);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

static void
errors(void)
{
	struct mely_event stray = MELY_EVENT(&done_handler, NULL);
	struct mely_color *color;
	mely_watch watch = 0;
	struct end a, b;
	int file;

	rt = test_runtime(1);
	color = test_color(rt);
	make_pair(&a, &b);
	TEST_EQ(mely_fd_watch(color, -1, MELY_FD_READ, &readable, &a, &watch), -EBADF);
	TEST_EQ(mely_fd_watch(color, a.fd, 0, &readable, &a, &watch), -EINVAL);
	TEST_EQ(mely_fd_watch(color, a.fd, MELY_FD_READ | MELY_FD_WRITE, &readable, &a, &watch),
	    -EINVAL);
	TEST_EQ(mely_fd_watch(color, a.fd, 64, &readable, &a, &watch), -EINVAL);
	file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	TEST_CHECK(file >= 0);
	TEST_EQ(mely_fd_watch(color, file, MELY_FD_READ, &readable, &a, &watch), -EPERM);
	close(file);
	TEST_EQ(mely_fd_watch(color, file, MELY_FD_READ, &readable, &a, &watch), -EBADF);
	watch_reading(&a, color, 0);
	TEST_EQ(mely_fd_watch(color, a.fd, MELY_FD_READ, &readable, &a, &watch), -EEXIST);
	TEST_EQ(mely_watch_stop(rt, 0, NULL, NULL), -ENOENT);
	TEST_EQ(mely_watch_stop(rt, UINT64_MAX, NULL, NULL), -ENOENT);
	TEST_EQ(mely_watch_stop(rt, a.watch ^ (UINT64_C(1) << 63), NULL, NULL), -ENOENT);
	TEST_EQ(mely_timer_again(rt, a.watch, 0, 0), -ENOENT);
	TEST_EQ(mely_watch_stop(rt, a.watch, NULL, &stray), -EINVAL);
	TEST_OK(mely_watch_stop(rt, a.watch, NULL, NULL));
	TEST_EQ(mely_watch_stop(rt, a.watch, NULL, NULL), -ENOENT);
	TEST_OK(mely_runtime_free(rt));
	close_pair(&a, &b);
	free(color);
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 90);
	TEST_CASE(level_comes_back);
	TEST_CASE(ready_before_watched);
	TEST_CASE(watch_between_runs);
	TEST_CASE(drained_misses_nothing);
	TEST_CASE(edge_comes_once);
	TEST_CASE(hangup_is_told);
	TEST_CASE(stop_inside);
	TEST_CASE(stop_is_exact);
	TEST_CASE(stop_from_outside);
	TEST_CASE(close_through_library);
	TEST_CASE(errors);
	return test_done();
}
