/* SPDX-License-Identifier: MIT */
/*
 * reuse.c: four threads open, watch, stop and close descriptors, so that the kernel reuses their
 * numbers at once. A handler must only ever see the descriptor that its watcher was made for: from
 * each descriptor one can read its serial number. The test frees a stopped watcher's memory at
 * once, so that AddressSanitizer shows a late event.
 */
#include <sys/eventfd.h>
#include <unistd.h>

#include "test.h"

enum { THREADS = 4, COLORS = 6, ALIVE = 0x616c6976, DEAD = 0x64656164 };

static struct mely_runtime *rt;
static struct mely_color *colors[COLORS];
static _Atomic uint64_t serials, reads;

struct watched {
	uint32_t magic;           /* plain: of the color, then of the thread that frees it */
	int fd;
	uint64_t serial;
	mely_watch watch;
	_Atomic uint64_t done;
	struct mely_event done_event, close_event;
};

static void
on_ready(void *arg)
{
	struct watched *w = arg;
	uint64_t value;
	ssize_t n;

	TEST_EQ(w->magic, ALIVE);
	n = read(w->fd, &value, sizeof value);
	if (n < 0) {
		TEST_EQ(errno, EAGAIN);
		return;
	}
	TEST_EQ(value, w->serial);
	test_add(&reads, 1);
}

static void
on_done(void *arg)
{
	struct watched *w = arg;

	test_add(&w->done, 1);
}

static struct mely_handler ready = MELY_HANDLER(on_ready);
static struct mely_handler done = MELY_HANDLER(on_done);

/* In the color: stop and free at once; no event of the watcher follows. */
static void
on_close(void *arg)
{
	struct watched *w = arg;

	TEST_OK(mely_fd_close(rt, w->fd));
	w->magic = DEAD;
	test_add(&w->done, 1);
}

static struct mely_handler close_handler = MELY_HANDLER(on_close);

static void
end_from_outside(struct watched *w, struct mely_color *other)
{
	int rc = mely_watch_stop(rt, w->watch, other, &w->done_event);

	if (rc == -EINPROGRESS)
		test_await(&w->done, 1);
	else
		TEST_EQ(rc, 0);
	w->magic = DEAD;
	TEST_EQ(close(w->fd), 0);
}

static void
round_of(uint64_t r)
{
	struct watched *w = malloc(sizeof *w);
	struct mely_color *color = colors[r % COLORS];
	mely_watch late;

	TEST_CHECK(w != NULL);
	w->magic = ALIVE;
	w->serial = atomic_fetch_add(&serials, 1) + 1;
	atomic_init(&w->done, 0);
	mely_event_init(&w->done_event, &done, w);
	mely_event_init(&w->close_event, &close_handler, w);
	w->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	TEST_CHECK(w->fd >= 0);
	TEST_OK(mely_fd_watch(color, w->fd, MELY_FD_READ | (r & 64 ? MELY_FD_EDGE : 0), &ready, w,
	    &w->watch));
	if (r & 128)
		TEST_EQ(write(w->fd, &w->serial, sizeof w->serial), sizeof w->serial);
	if (r & 256)
		test_spin_ns(r >> 32 & 0x3fff);
	late = w->watch;
	if (r & 512) {
		end_from_outside(w, colors[r >> 16 & 1]);
	} else {
		TEST_OK(mely_event_post(color, &w->close_event));
		test_await(&w->done, 1);
	}
	TEST_EQ(w->magic, DEAD);
	free(w);
	/* A late stop reports that its watcher has ended, whichever descriptor has the number now.
	 * */
	if (r & 1024)
		TEST_EQ(mely_watch_stop(rt, late, NULL, NULL), -ENOENT);
}

struct worker {
	uint64_t seed;
	unsigned rounds;
};

static void *
work(void *arg)
{
	struct worker *worker = arg;
	unsigned i;

	for (i = 0; i < worker->rounds; i++)
		round_of(test_random(&worker->seed));
	return NULL;
}

static void
reuse_on(int cores, unsigned rounds)
{
	struct worker workers[THREADS];
	pthread_t threads[THREADS];
	struct test_runner runner;
	int i;

	atomic_store(&reads, 0);
	rt = test_runtime(cores);
	for (i = 0; i < COLORS; i++)
		colors[i] = test_color(rt);
	test_run_start(&runner, rt);
	for (i = 0; i < THREADS; i++) {
		workers[i].seed = test_seed + (uint64_t)i;
		workers[i].rounds = rounds / THREADS;
		threads[i] = test_thread(work, &workers[i]);
	}
	for (i = 0; i < THREADS; i++)
		test_thread_join(threads[i]);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	printf("%d cores: %u rounds, %llu reads\n", cores, rounds,
	    (unsigned long long)test_get(&reads));
	TEST_CHECK(test_get(&reads) > 0);
	TEST_OK(mely_runtime_free(rt));
	for (i = 0; i < COLORS; i++)
		free(colors[i]);
}

static void
one_core(void)
{
	reuse_on(1, test_long() ? 100000 : test_scale(20000));
}

static void
two_cores(void)
{
	reuse_on(2, test_long() ? 1000000 : test_scale(60000));
}

static void
eight_cores(void)
{
	reuse_on(8, test_long() ? 100000 : test_scale(20000));
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, test_long() ? 1800 : 120);
	TEST_CASE(one_core);
	TEST_CASE(two_cores);
	TEST_CASE(eight_cores);
	return test_done();
}
