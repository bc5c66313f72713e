/* SPDX-License-Identifier: MIT */
/*
 * close.c: closing a color ends all its watchers, timers and work, and then reports it, once: with
 * readiness that is queued, timers in flight, work that waits and work that runs, on 1 to 4 cores.
 * And what runs when a drain begins.
 */
#include <fcntl.h>
#include <unistd.h>

#include "test.h"

enum { CONNECTIONS = 32, TIMERS = 3, WORKS = 3 };

/* All but the atomics belong to its color. */
struct connection {
	struct mely_color color;
	struct mely_event closed;
	int fds[2];
	mely_watch reading, drain;
	bool closing, is_closed;
	unsigned late;               /* handlers of work, which may come while it closes */
	uint64_t runs;
	_Atomic uint64_t begun, ended; /* functions of work, on helpers */
	uint64_t random;
	unsigned lives;              /* how often it is still to begin again */
};

static struct mely_runtime *rt;
static struct connection *connections;
static _Atomic uint64_t over;

static void
ran(struct connection *c)
{
	TEST_CHECK(mely_current_color() == &c->color);
	TEST_CHECK(!c->closing && !c->is_closed);
	c->runs++;
}

static void close_now(struct connection *c);

/* About one call of a handler in eight closes. */
static void
close_perhaps(struct connection *c)
{
	if (test_random(&c->random) % 8 == 0)
		close_now(c);
}

static void
on_readable(void *arg)
{
	struct connection *c = arg;
	char byte;

	ran(c);
	TEST_CHECK(read(c->fds[0], &byte, 1) == 1);
	TEST_CHECK(write(c->fds[1], "x", 1) == 1);
	close_perhaps(c);
}

static void
on_timer(void *arg)
{
	ran(arg);
	close_perhaps(arg);
}

static void
work(void *arg)
{
	struct connection *c = arg;

	test_add(&c->begun, 1);
	test_spin_ns(20000);
	test_add(&c->ended, 1);
}

static struct mely_handler worked;

static void
on_worked(void *arg)
{
	struct connection *c = arg;

	TEST_CHECK(mely_current_color() == &c->color && !c->is_closed);
	if (c->closing) {
		/* It had begun. Nothing new begins now. */
		TEST_EQ(mely_work(&c->color, MELY_WORK_USER, work, &worked, c, NULL), -ESHUTDOWN);
		c->late++;
		return;
	}
	TEST_OK(mely_work(&c->color, MELY_WORK_USER, work, &worked, c, NULL));
	close_perhaps(c);
}

static struct mely_handler readable = MELY_HANDLER(on_readable);
static struct mely_handler timed = MELY_HANDLER(on_timer);
static struct mely_handler worked = MELY_HANDLER(on_worked);

static void
open_connection(struct connection *c)
{
	mely_watch watch;
	int i;

	c->closing = c->is_closed = false;
	TEST_OK(pipe2(c->fds, O_NONBLOCK | O_CLOEXEC));
	TEST_OK(mely_fd_watch(&c->color, c->fds[0], MELY_FD_READ, &readable, c, &c->reading));
	TEST_CHECK(write(c->fds[1], "x", 1) == 1);
	for (i = 0; i < TIMERS; i++)
		TEST_OK(mely_timer_start(&c->color, (uint64_t)i * 50000,
		    10000 + test_random(&c->random) % 500000, 0, &timed, c, &watch));
	TEST_OK(mely_timer_start(&c->color, UINT64_C(3600000000000), 0, 0, &timed, c, &watch));
	for (i = 0; i < WORKS; i++)
		TEST_OK(mely_work(&c->color, MELY_WORK_USER, work, &worked, c, NULL));
}

static void
on_open(void *arg)
{
	open_connection(arg);
}

static struct mely_handler opened = MELY_HANDLER(on_open);

static void
on_closed(void *arg)
{
	struct connection *c = arg;

	TEST_CHECK(c->closing && !c->is_closed);
	c->is_closed = true;
	/* No function of work runs, or will. */
	TEST_EQ(test_get(&c->begun), test_get(&c->ended));
	TEST_EQ(mely_watch_stop(rt, c->reading, NULL, NULL), -ENOENT);
	close(c->fds[0]);
	close(c->fds[1]);
	if (c->lives-- > 0)
		open_connection(c);
	else
		test_add(&over, 1);
}

static struct mely_handler closed = MELY_HANDLER(on_closed);

static void
close_now(struct connection *c)
{
	struct mely_event other = MELY_EVENT(&closed, c);
	mely_watch watch;

	c->closing = true;
	TEST_OK(mely_color_close(&c->color, &c->closed));
	TEST_EQ(mely_color_close(&c->color, &other), -EALREADY);
	TEST_EQ(mely_timer_start(&c->color, 0, 0, 0, &timed, c, &watch), -ESHUTDOWN);
}

static void
close_on(int cores)
{
	struct test_runner runner;
	uint64_t runs = 0;
	unsigned late = 0, lives = test_scale(20);
	int i;

	atomic_store(&over, 0);
	rt = test_runtime(cores);
	connections = aligned_alloc(64, CONNECTIONS * sizeof connections[0]);
	TEST_CHECK(connections != NULL);
	memset(connections, 0, CONNECTIONS * sizeof connections[0]);
	test_run_start(&runner, rt);
	for (i = 0; i < CONNECTIONS; i++) {
		struct connection *c = &connections[i];

		TEST_OK(mely_color_init(&c->color, rt));
		mely_event_init(&c->closed, &closed, c);
		c->random = test_seed + (uint64_t)i;
		c->lives = lives;
		TEST_OK(mely_post(&c->color, &opened, c));
	}
	test_await(&over, CONNECTIONS);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	for (i = 0; i < CONNECTIONS; i++) {
		TEST_CHECK(connections[i].is_closed);
		runs += connections[i].runs;
		late += connections[i].late;
	}
	TEST_CHECK(runs >= (uint64_t)CONNECTIONS);
	printf("%d cores: %llu handlers ran, %u of work while it closed\n", cores,
	    (unsigned long long)runs, late);
	TEST_OK(mely_runtime_free(rt));
	free(connections);
}

/* Colors that close themselves while all their kinds of events are on the way. */
static void
closes_itself(void)
{
	close_on(1);
	close_on(2);
	close_on(3);
	close_on(4);
}

/* ---- nothing to close ------------------------------------------------------------------------ */

static _Atomic uint64_t plain_closed;

static void
on_plain_closed(void *arg)
{
	(void)arg;
	test_add(&plain_closed, 1);
}

static struct mely_handler plain = MELY_HANDLER(on_plain_closed);

/* The event comes as any other, also from a thread, and where there is nothing to end. */
static void
empty_color(void)
{
	struct mely_event event = MELY_EVENT(&plain, NULL);
	struct test_runner runner;
	struct mely_color *color;

	atomic_store(&plain_closed, 0);
	rt = test_runtime(2);
	color = test_color(rt);
	TEST_EQ(mely_color_close(NULL, &event), -EINVAL);
	TEST_EQ(mely_color_close(color, NULL), -EINVAL);
	TEST_OK(mely_color_close(color, &event));
	TEST_EQ(mely_color_close(color, &event), -EALREADY);
	test_run_start(&runner, rt);
	test_await(&plain_closed, 1);
	TEST_OK(mely_color_close(color, &event));
	test_await(&plain_closed, 2);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

/* ---- from elsewhere -------------------------------------------------------------------------- */

static uint64_t ticks; /* plain: of the color */
static _Atomic uint64_t ticked;

static void
on_tick(void *arg)
{
	TEST_CHECK(!*(bool *)arg);
	ticks++;
	test_add(&ticked, 1);
}

static void
on_ticker_closed(void *arg)
{
	*(bool *)arg = true;
	test_add(&plain_closed, 1);
}

static struct mely_handler tick = MELY_HANDLER(on_tick);
static struct mely_handler ticker_closed = MELY_HANDLER(on_ticker_closed);

/* A thread closes: the handler may run once more, but not after the end was reported. */
static void
from_a_thread(void)
{
	struct mely_event event;
	struct test_runner runner;
	struct mely_color *color;
	mely_watch timer;
	bool is_closed;
	unsigned i;

	atomic_store(&plain_closed, 0);
	rt = test_runtime(2);
	color = test_color(rt);
	test_run_start(&runner, rt);
	for (i = 1; i <= test_scale(200); i++) {
		uint64_t before = test_get(&ticked);

		is_closed = false;
		mely_event_init(&event, &ticker_closed, &is_closed);
		TEST_OK(mely_timer_start(color, 0, 1000, 0, &tick, &is_closed, &timer));
		test_await(&ticked, before + 2);
		TEST_OK(mely_color_close(color, &event));
		test_await(&plain_closed, i);
	}
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

/* ---- when a drain begins --------------------------------------------------------------------- */

static _Atomic uint64_t offered, freed, handed[3];

static void
on_freed(void *arg)
{
	free(arg);
	test_add(&freed, 1);
}

static void
on_idle_closed(void *arg)
{
	struct connection *c = arg;

	close(c->fds[0]);
	close(c->fds[1]);
	TEST_OK(mely_color_release(&c->color, on_freed, c));
}

static struct mely_handler idle_closed = MELY_HANDLER(on_idle_closed);

static void
on_drain(void *arg)
{
	struct connection *c = arg;

	TEST_CHECK(mely_current_color() == &c->color);
	test_add(&offered, 1);
	TEST_OK(mely_color_close(&c->color, &c->closed));
}

static struct mely_handler drain = MELY_HANDLER(on_drain);

static void
on_handback(void *ctx, const struct mely_handback *given)
{
	(void)ctx;
	test_add(&handed[given->left], 1);
	if (given->left == MELY_LEFT_WORK || given->left == MELY_LEFT_WORK_DONE)
		TEST_CHECK(given->handler == &worked && given->event == NULL);
	else if (given->handler == &idle_closed)
		TEST_CHECK(given->event == &((struct connection *)given->arg)->closed);
	else
		TEST_CHECK(given->handler == &drain && given->event == NULL);
}

/* Idle connections: a descriptor that nothing comes from, and a time limit far away. */
static void
make_idle(bool stop_some)
{
	mely_watch limit;
	int i;

	for (i = 0; i < CONNECTIONS; i++) {
		struct connection *c = aligned_alloc(64, sizeof *c);

		TEST_CHECK(c != NULL);
		memset(c, 0, sizeof *c);
		TEST_OK(mely_color_init(&c->color, rt));
		mely_event_init(&c->closed, &idle_closed, c);
		TEST_OK(pipe2(c->fds, O_NONBLOCK | O_CLOEXEC));
		TEST_OK(mely_fd_watch(&c->color, c->fds[0], MELY_FD_READ, &readable, c,
		    &c->reading));
		TEST_OK(mely_timer_start(&c->color, UINT64_C(3600000000000), 0, 0, &timed, c,
		    &limit));
		TEST_OK(mely_drain_watch(&c->color, &drain, c, &c->drain));
		if (stop_some && i % 2 == 1) {
			TEST_OK(mely_watch_stop(rt, c->drain, NULL, NULL));
			TEST_EQ(mely_watch_stop(rt, c->drain, NULL, NULL), -ENOENT);
			TEST_OK(mely_color_close(&c->color, &c->closed));
		}
	}
}

static void
drain_on(int cores)
{
	struct mely_config config;
	struct test_runner runner;
	struct mely_color *color;

	atomic_store(&offered, 0);
	atomic_store(&freed, 0);
	test_config(&config, cores);
	config.handback = on_handback;
	config.drain_deadline_ns = 0;
	rt = test_runtime_with(&config);
	color = test_color(rt);
	TEST_EQ(mely_drain_watch(NULL, &drain, NULL, NULL), -EINVAL);
	make_idle(true);
	test_run_start(&runner, rt);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(test_get(&offered), CONNECTIONS / 2);
	TEST_EQ(test_get(&freed), CONNECTIONS);
	/* It is over with the run that it was for. */
	test_run_start(&runner, rt);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(test_get(&offered), CONNECTIONS / 2);
	TEST_EQ(test_get(&handed[MELY_LEFT_EVENT]), 0);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

/* A server closes its idle connections when a drain begins; the drain waits until that is done. */
static void
drain_closes(void)
{
	drain_on(1);
	drain_on(2);
	drain_on(4);
}

/* A discard offers nothing. */
static void
discard_offers_nothing(void)
{
	struct test_runner runner;
	struct mely_color *color;

	atomic_store(&offered, 0);
	rt = test_runtime(2);
	color = test_color(rt);
	TEST_OK(mely_drain_watch(color, &drain, NULL, NULL));
	test_run_start(&runner, rt);
	test_run_stop(&runner, MELY_STOP_DISCARD);
	TEST_EQ(test_get(&offered), 0);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

/* ---- work that a stop leaves over ------------------------------------------------------------ */

static void
slow_work(void *arg)
{
	test_add(arg, 1);
	test_await(&handed[MELY_LEFT_WORK], 4); /* the stop waits for this function last */
}

static _Atomic uint64_t slow_begun;

/* One helper runs the first piece while the others wait: the hand-back says which is which. */
static void
work_left_over(void)
{
	struct mely_config config;
	struct test_runner runner;
	struct mely_color *color;
	int i;

	for (i = 0; i < 3; i++)
		atomic_store(&handed[i], 0);
	atomic_store(&slow_begun, 0);
	test_config(&config, 1);
	config.helpers_user = 1;
	config.handback = on_handback;
	rt = test_runtime_with(&config);
	color = test_color(rt);
	test_run_start(&runner, rt);
	for (i = 0; i < 5; i++)
		TEST_OK(mely_work(color, MELY_WORK_USER, slow_work, &worked, &slow_begun, NULL));
	test_await(&slow_begun, 1);
	test_run_stop(&runner, MELY_STOP_DISCARD);
	TEST_EQ(test_get(&slow_begun), 1);
	TEST_EQ(test_get(&handed[MELY_LEFT_EVENT]), 0);
	TEST_EQ(test_get(&handed[MELY_LEFT_WORK_DONE]), 1);
	TEST_EQ(test_get(&handed[MELY_LEFT_WORK]), 4);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 120);
	TEST_CASE(closes_itself);
	TEST_CASE(empty_color);
	TEST_CASE(from_a_thread);
	TEST_CASE(drain_closes);
	TEST_CASE(discard_offers_nothing);
	TEST_CASE(work_left_over);
	return test_done();
}
