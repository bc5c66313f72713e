/* SPDX-License-Identifier: MIT */
/*
 * stop.c: what watchers of every kind share: a stop reports the end of a running handler, and a
 * suspended watcher posts nothing and forgets nothing.
 */
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

enum kind { FD, TIMER, SIGNAL, CHILD, WORK, KINDS };

static struct mely_runtime *rt;

struct item {
	enum kind kind;
	mely_watch watch;
	int pair[2];
	pid_t child;
	int go[2];                  /* the child ends when go[1] is closed */
	_Atomic uint64_t entered, left, may_leave;
	uint64_t overruns;
};

static void
on_event(void *arg)
{
	struct item *item = arg;
	char byte;

	if (item->kind == FD)
		TEST_EQ(read(item->pair[0], &byte, 1), 1);
	if (item->kind == TIMER)
		item->overruns += mely_timer_overruns();
	test_add(&item->entered, 1);
	test_await(&item->may_leave, 1);
	test_add(&item->left, 1);
}

static struct mely_handler handler = MELY_HANDLER(on_event);

static void
no_work(void *arg)
{
	(void)arg;
}

static _Atomic uint64_t dones;

static void
on_done(void *arg)
{
	struct item *item = arg;

	TEST_EQ(test_get(&item->left), 1);
	test_add(&dones, 1);
}

static struct mely_handler done_handler = MELY_HANDLER(on_done);

/* Before threads exist: the race detector allows no others at a fork. */
static void
item_init(struct item *item, enum kind kind)
{
	char byte;

	memset(item, 0, sizeof *item);
	item->kind = kind;
	if (kind == FD)
		TEST_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, item->pair), 0);
	if (kind != CHILD)
		return;
	TEST_EQ(pipe(item->go), 0);
	fflush(stdout);
	item->child = fork();
	TEST_CHECK(item->child >= 0);
	if (item->child == 0) {
		close(item->go[1]);
		_exit(read(item->go[0], &byte, 1) == 0 ? 7 : 9);
	}
}

static void
item_fini(struct item *item)
{
	if (item->kind == FD) {
		close(item->pair[0]);
		close(item->pair[1]);
	} else if (item->kind == CHILD) {
		close(item->go[0]);
	}
}

static void
item_watch(struct item *item, struct mely_color *color, unsigned fd_flags)
{
	int r = 0;

	switch (item->kind) {
	case FD:
		r = mely_fd_watch(color, item->pair[0], MELY_FD_READ | fd_flags, &handler, item,
		    &item->watch);
		break;
	case TIMER:
		r = mely_timer_start(color, 2000000, 1000000, 0, &handler, item, &item->watch);
		break;
	case SIGNAL:
		r = mely_signal_watch(color, SIGUSR1, &handler, item, &item->watch);
		break;
	case CHILD:
		r = mely_child_watch(color, item->child, &handler, item, &item->watch);
		break;
	default:
		r = mely_work(color, MELY_WORK_USER, no_work, &handler, item, &item->watch);
	}
	TEST_OK(r);
}

static void
item_cause(struct item *item)
{
	if (item->kind == FD)
		TEST_EQ(write(item->pair[1], "x", 1), 1);
	else if (item->kind == SIGNAL)
		kill(getpid(), SIGUSR1);
	else if (item->kind == CHILD)
		close(item->go[1]);
}

/* ---- the end of a stop ---------------------------------------------------------------------- */

static void
stop_while_it_runs(enum kind kind)
{
	struct item item;
	struct mely_event done = MELY_EVENT(&done_handler, &item);
	struct mely_event other_done = MELY_EVENT(&done_handler, &item);
	struct mely_color *color, *other;
	struct test_runner runner;

	item_init(&item, kind);
	atomic_store(&dones, 0);
	rt = test_runtime(2);
	color = test_color(rt);
	other = test_color(rt);
	test_run_start(&runner, rt);
	item_watch(&item, color, 0);
	item_cause(&item);
	test_await(&item.entered, 1);
	TEST_EQ(mely_watch_stop(rt, item.watch, NULL, NULL), -EINPROGRESS);
	TEST_EQ(mely_watch_stop(rt, item.watch, other, &done), -EINPROGRESS);
	TEST_EQ(mely_watch_stop(rt, item.watch, other, &other_done), -EALREADY);
	TEST_EQ(mely_watch_stop(rt, item.watch, NULL, NULL), -EINPROGRESS);
	TEST_EQ(test_get(&dones), 0);
	test_add(&item.may_leave, 1);
	test_await(&dones, 1);
	TEST_EQ(mely_watch_stop(rt, item.watch, other, &done), -ENOENT);
	test_nap_us(5000);
	TEST_EQ(test_get(&item.entered), 1);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(test_get(&dones), 1);
	TEST_OK(mely_runtime_free(rt));
	item_fini(&item);
	free(color);
	free(other);
}

static void
end_is_reported(void)
{
	int kind;

	for (kind = FD; kind < KINDS; kind++)
		stop_while_it_runs((enum kind)kind);
}

static _Atomic uint64_t fn_begun, fn_may_end;

static void
held_fn(void *arg)
{
	(void)arg;
	test_add(&fn_begun, 1);
	test_await(&fn_may_end, 1);
}

/* Work that has begun: its handler still runs, and after it the event of the stop. */
static void
end_of_work(void)
{
	struct item item;
	struct mely_event done = MELY_EVENT(&done_handler, &item);
	struct mely_color *color;
	struct test_runner runner;

	item_init(&item, WORK);
	atomic_store(&dones, 0);
	atomic_store(&fn_begun, 0);
	atomic_store(&fn_may_end, 0);
	atomic_store(&item.may_leave, 1);
	rt = test_runtime(2);
	color = test_color(rt);
	test_run_start(&runner, rt);
	TEST_OK(mely_work(color, MELY_WORK_FILES, held_fn, &handler, &item, &item.watch));
	test_await(&fn_begun, 1);
	TEST_EQ(mely_watch_enable(rt, item.watch, 0), -EINVAL);
	TEST_EQ(mely_watch_stop(rt, item.watch, color, &done), -EINPROGRESS);
	TEST_EQ(mely_watch_stop(rt, item.watch, color, &done), -EALREADY);
	TEST_EQ(test_get(&item.entered), 0);
	test_add(&fn_may_end, 1);
	test_await(&dones, 1);
	TEST_EQ(test_get(&item.left), 1);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

/* A stop in the watcher's own handler succeeds if the handler can run again; else -ENOENT. */
static void
on_stop_self(void *arg)
{
	struct item *item = arg;
	char byte;

	if (item->kind == FD)
		TEST_EQ(read(item->pair[0], &byte, 1), 1);
	TEST_EQ(mely_watch_stop(rt, item->watch, NULL, NULL),
	    item->kind == CHILD || item->kind == WORK ? -ENOENT : 0);
	TEST_EQ(mely_watch_stop(rt, item->watch, NULL, NULL), -ENOENT);
	TEST_EQ(mely_watch_enable(rt, item->watch, 0),
	    item->kind == WORK ? -EINVAL : -ENOENT);
	test_add(&item->left, 1);
}

static void
stop_in_own_handler(void)
{
	int kind;

	for (kind = FD; kind < KINDS; kind++) {
		struct item item;
		struct mely_color *color;
		struct test_runner runner;

		item_init(&item, (enum kind)kind);
		rt = test_runtime(2);
		color = test_color(rt);
		handler.fn = on_stop_self;
		item_watch(&item, color, 0);
		handler.fn = on_event;
		item_cause(&item);
		test_run_start(&runner, rt);
		test_await(&item.left, 1);
		test_nap_us(5000);
		test_run_stop(&runner, MELY_STOP_DRAIN);
		TEST_EQ(test_get(&item.left), 1);
		TEST_OK(mely_runtime_free(rt));
		item_fini(&item);
		free(color);
	}
}

/* ---- suspension ----------------------------------------------------------------------------- */

static struct item items[WORK];
static struct mely_color *items_color;
static _Atomic uint64_t ready;

static void
start_suspended(void *arg)
{
	int i;

	(void)arg;
	for (i = FD; i < WORK; i++) {
		item_watch(&items[i], items_color, MELY_FD_SUSPENDED);
		if (i != FD)
			TEST_OK(mely_watch_enable(rt, items[i].watch, 0));
		TEST_OK(mely_watch_enable(rt, items[i].watch, 0));
	}
	test_add(&ready, 1);
}

static void
resume(void *arg)
{
	int i;

	(void)arg;
	for (i = FD; i < WORK; i++)
		TEST_OK(mely_watch_enable(rt, items[i].watch, 1));
}

static struct mely_handler start_suspended_handler = MELY_HANDLER(start_suspended);
static struct mely_handler resume_handler = MELY_HANDLER(resume);

static void
suspended_on(int cores)
{
	struct test_runner runner;
	int i;

	for (i = FD; i < WORK; i++) {
		item_init(&items[i], (enum kind)i);
		atomic_store(&items[i].may_leave, 1);
	}
	atomic_store(&ready, 0);
	rt = test_runtime(cores);
	items_color = test_color(rt);
	test_run_start(&runner, rt);
	TEST_OK(mely_post(items_color, &start_suspended_handler, NULL));
	test_await(&ready, 1);
	for (i = FD; i < WORK; i++)
		item_cause(&items[i]);
	test_nap_us(20000);
	test_settle(items_color);
	for (i = FD; i < WORK; i++)
		TEST_EQ(test_get(&items[i].entered), 0);
	TEST_OK(mely_post(items_color, &resume_handler, NULL));
	for (i = FD; i < WORK; i++)
		test_await(&items[i].left, 1);
	test_await(&items[TIMER].left, 5); /* the timer goes on */
	test_run_stop(&runner, MELY_STOP_DRAIN);
	/* Due after 2 ms, every ms, suspended for 20 at least. */
	TEST_CHECK(items[TIMER].overruns >= 10);
	TEST_EQ(test_get(&items[FD].left), 1);
	TEST_EQ(test_get(&items[CHILD].left), 1);
	TEST_OK(mely_runtime_free(rt));
	for (i = FD; i < WORK; i++)
		item_fini(&items[i]);
	free(items_color);
}

static void
suspended(void)
{
	suspended_on(1);
	suspended_on(3);
}

/* A queued event of a watcher that is suspended in its color is taken back, and posted when the
 * watcher is resumed. */
static void
on_queued(void *arg)
{
	struct item *item = arg;

	test_add(&ready, 1);
	test_await(&item->may_leave, 1);
	TEST_OK(mely_watch_enable(rt, item->watch, 0));
	test_add(&item->left, 1);
}

static struct mely_handler on_queued_handler = MELY_HANDLER(on_queued);

static void
queued_event_is_taken_back(void)
{
	unsigned round;
	int kind;

	for (round = 0; round < test_scale(20); round++) {
		for (kind = FD; kind < CHILD; kind++) {
			struct item item;
			struct mely_color *color;
			struct test_runner runner;

			item_init(&item, (enum kind)kind);
			atomic_store(&ready, 0);
			rt = test_runtime(2);
			color = test_color(rt);
			test_run_start(&runner, rt);
			item_watch(&item, color, 0);
			TEST_OK(mely_post(color, &on_queued_handler, &item));
			if (kind == TIMER) {
				/* It may have run before. */
				atomic_store(&item.may_leave, 1);
			} else {
				test_await(&ready, 1);
				item_cause(&item);
				test_nap_us(1000); /* long enough to be found, as a rule */
				test_add(&item.may_leave, 1);
			}
			test_await(&item.left, 1);
			test_settle(color);
			if (kind != TIMER)
				TEST_EQ(test_get(&item.entered), 0);
			TEST_OK(mely_watch_enable(rt, item.watch, 1));
			test_await(&item.entered, 1);
			TEST_OK(mely_stop(rt, MELY_STOP_DRAIN));
			test_run_join(&runner);
			TEST_OK(mely_runtime_free(rt));
			item_fini(&item);
			free(color);
		}
	}
}

int
main(int argc, char **argv)
{
	/* The color checker then makes and ends fibers all the time, and could lose signals. */
	setenv("MELY_CHECK_FIBERS", "16", 1);
	test_init(argc, argv, 60);
	TEST_CASE(end_is_reported);
	TEST_CASE(end_of_work);
	TEST_CASE(stop_in_own_handler);
	TEST_CASE(suspended);
	TEST_CASE(queued_event_is_taken_back);
	return test_done();
}
