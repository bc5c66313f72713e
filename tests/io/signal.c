/* SPDX-License-Identifier: MIT */
/*
 * signal.c: signals and children as events: several watchers of one signal, a signal that belongs
 * to another runtime; only the watched children are reaped, each by itself.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static struct mely_runtime *rt;
static _Atomic uint64_t first, second, third;

static void
on_signal(void *arg)
{
	test_add(arg, 1);
}

static struct mely_handler signal_handler = MELY_HANDLER(on_signal);

/* Pending signals may merge: the test awaits each before it sends the next. */
static void
signals_arrive_on(int cores)
{
	struct test_runner runner;
	struct mely_color *a, *b;
	mely_watch wa, wb, wc;
	uint64_t i;

	atomic_store(&first, 0);
	atomic_store(&second, 0);
	atomic_store(&third, 0);
	rt = test_runtime(cores);
	a = test_color(rt);
	b = test_color(rt);
	TEST_OK(mely_signal_watch(a, SIGUSR1, &signal_handler, &first, &wa));
	test_run_start(&runner, rt);
	TEST_OK(mely_signal_watch(b, SIGUSR1, &signal_handler, &second, &wb));
	TEST_OK(mely_signal_watch(b, SIGUSR2, &signal_handler, &third, &wc));
	for (i = 1; i <= 50; i++) {
		TEST_EQ(kill(getpid(), SIGUSR1), 0);
		test_await(&first, i);
		test_await(&second, i);
		TEST_EQ(kill(getpid(), SIGUSR2), 0);
		test_await(&third, i);
	}
	test_settle(a); /* the last handler has ended: a stop from here is exact */
	TEST_OK(mely_watch_stop(rt, wa, NULL, NULL));
	TEST_EQ(mely_watch_stop(rt, wa, NULL, NULL), -ENOENT);
	TEST_EQ(kill(getpid(), SIGUSR1), 0);
	test_await(&second, 51);
	TEST_EQ(test_get(&first), 50);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	free(a);
	free(b);
}

static void
signals_arrive(void)
{
	signals_arrive_on(1);
	signals_arrive_on(2);
	signals_arrive_on(8);
}

enum { ROUNDS = 2000 };

static int answers[2];
static uint64_t answered;

static void
on_question(void *arg)
{
	(void)arg;
	TEST_EQ(write(answers[1], "!", 1), 1);
	if (++answered == ROUNDS)
		TEST_OK(mely_stop(rt, MELY_STOP_DRAIN));
}

static struct mely_handler question_handler = MELY_HANDLER(on_question);

/* A signal for each answer comes just when the handler ends and all cores fall asleep. */
static void
ask(pid_t parent)
{
	char c;
	int i;

	close(answers[1]); /* so that the child notices when the parent dies */
	for (i = 0; i < ROUNDS; i++)
		if (kill(parent, SIGUSR1) != 0 || read(answers[0], &c, 1) != 1)
			_exit(1);
	_exit(0);
}

static void
none_is_lost(void)
{
	struct mely_color *a;
	mely_watch watch;
	pid_t child, parent = getpid();
	int status;

	rt = test_runtime(2);
	a = test_color(rt);
	TEST_EQ(pipe(answers), 0);
	TEST_OK(mely_signal_watch(a, SIGUSR1, &question_handler, NULL, &watch));
	child = fork();
	if (child == 0)
		ask(parent);
	TEST_CHECK(child > 0);
	TEST_OK(mely_run(rt));
	TEST_EQ(answered, ROUNDS);
	TEST_EQ(waitpid(child, &status, 0), child);
	TEST_EQ(status, 0);
	close(answers[0]);
	close(answers[1]);
	TEST_OK(mely_runtime_free(rt));
	free(a);
}

enum { NEW_COLORS = 3000, SHORT_DELAYS = 400, LONG_DELAYS = 40000 };

static pthread_t runs;
static _Atomic uint64_t waiting, noticed;
static uint64_t seed;

static void
on_notice(void *arg)
{
	(void)arg;
	test_add(&noticed, 1);
}

/* The first call of a color that may wait. */
static void
on_wait(void *arg)
{
	(void)arg;
	test_add(&waiting, 1);
	(void)poll(NULL, 0, 0);
}

static struct mely_handler notice_handler = MELY_HANDLER(on_notice);
static struct mely_handler wait_handler = MELY_HANDLER(on_wait);

/* Alternately while the color begins and while it waits. */
static void *
interrupt_each(void *arg)
{
	uint64_t i, spin;

	for (i = 0; i < NEW_COLORS; i++) {
		TEST_OK(mely_post_id(rt, (uint32_t)i + 1, &wait_handler, NULL));
		while (i % 2 == 0 && test_get(&waiting) == i)
			continue;
		spin = test_random(&seed) % (i % 2 == 0 ? SHORT_DELAYS : LONG_DELAYS);
		for (; spin > 0; spin--)
			(void)test_get(&waiting);
		TEST_EQ(pthread_kill(runs, SIGUSR1), 0);
		test_await(&noticed, i + 1);
	}
	TEST_OK(mely_stop(rt, MELY_STOP_DRAIN));
	return arg;
}

static void
none_is_lost_in_new_colors(void)
{
	struct mely_color *a;
	mely_watch watch;
	pthread_t thread;

	seed = test_seed;
	rt = test_runtime(1);
	a = test_color(rt);
	runs = pthread_self();
	TEST_OK(mely_signal_watch(a, SIGUSR1, &notice_handler, NULL, &watch));
	TEST_EQ(pthread_create(&thread, NULL, interrupt_each, NULL), 0);
	TEST_OK(mely_run(rt));
	TEST_EQ(test_get(&noticed), NEW_COLORS);
	TEST_EQ(pthread_join(thread, NULL), 0);
	TEST_OK(mely_runtime_free(rt));
	free(a);
}

static void
belongs_to_one_runtime(void)
{
	struct mely_runtime *other;
	struct mely_color *a, *b;
	mely_watch wa, wb;

	rt = test_runtime(1);
	other = test_runtime(1);
	a = test_color(rt);
	b = test_color(other);
	TEST_OK(mely_signal_watch(a, SIGUSR1, &signal_handler, &first, &wa));
	TEST_EQ(mely_signal_watch(b, SIGUSR1, &signal_handler, &first, &wb), -EBUSY);
	TEST_EQ(mely_signal_watch(a, 0, &signal_handler, &first, &wb), -EINVAL);
	TEST_EQ(mely_signal_watch(a, -1, &signal_handler, &first, &wb), -EINVAL);
	TEST_EQ(mely_signal_watch(a, 100000, &signal_handler, &first, &wb), -EINVAL);
	TEST_EQ(mely_signal_watch(a, SIGKILL, &signal_handler, &first, &wb), -EINVAL);
	/* After the stop the other runtime can have it. */
	TEST_OK(mely_watch_stop(rt, wa, NULL, NULL));
	TEST_OK(mely_signal_watch(b, SIGUSR1, &signal_handler, &first, &wb));
	TEST_OK(mely_runtime_free(other));
	TEST_OK(mely_signal_watch(a, SIGUSR1, &signal_handler, &first, &wa));
	TEST_OK(mely_runtime_free(rt));
	free(a);
	free(b);
}

/* ---- children ------------------------------------------------------------------------------- */

enum { CHILDREN = 20 };

struct child {
	pid_t pid;
	mely_watch watch;
	int status;
	_Atomic uint64_t ended;
};

static struct child children[CHILDREN];
static _Atomic uint64_t ended;

static void
on_child(void *arg)
{
	struct child *child = arg;

	child->status = mely_child_status();
	test_add(&child->ended, 1);
	test_add(&ended, 1);
}

static struct mely_handler child_handler = MELY_HANDLER(on_child);

/* A child that waits for a byte, then ends with the status, or by the signal -status. */
static pid_t
make_child(const int go[2], int status)
{
	pid_t pid = fork();
	char byte;

	TEST_CHECK(pid >= 0);
	if (pid > 0)
		return pid;
	close(go[1]);
	if (read(go[0], &byte, 1) < 0)
		_exit(99);
	if (status < 0)
		raise(-status);
	_exit(status);
}

static void
children_end(void)
{
	struct test_runner runner;
	int go[2], i, status;
	struct mely_color *color;
	pid_t unwatched;

	TEST_EQ(pipe(go), 0);
	fflush(stdout);
	atomic_store(&ended, 0);
	/* Before threads exist: the race detector allows no others at a fork. */
	for (i = 0; i < CHILDREN; i++) {
		children[i].pid = make_child(go, i % 4 == 3 ? -SIGKILL : i);
		atomic_store(&children[i].ended, 0);
	}
	unwatched = make_child(go, 77);
	rt = test_runtime(2);
	color = test_color(rt);
	for (i = 0; i < CHILDREN / 2; i++)
		TEST_OK(mely_child_watch(color, children[i].pid, &child_handler, &children[i],
		    &children[i].watch));
	test_run_start(&runner, rt);
	for (; i < CHILDREN; i++)
		TEST_OK(mely_child_watch(color, children[i].pid, &child_handler, &children[i],
		    &children[i].watch));
	TEST_OK(mely_watch_stop(rt, children[4].watch, NULL, NULL));
	TEST_EQ(mely_watch_stop(rt, children[4].watch, NULL, NULL), -ENOENT);
	TEST_EQ(mely_child_status(), 0);
	close(go[0]);
	close(go[1]); /* the end of the file ends them all */
	test_await(&ended, CHILDREN - 1);
	for (i = 0; i < CHILDREN; i++) {
		if (i == 4) {
			TEST_EQ(test_get(&children[i].ended), 0);
			continue;
		}
		TEST_EQ(test_get(&children[i].ended), 1);
		if (i % 4 == 3)
			TEST_CHECK(WIFSIGNALED(children[i].status) &&
			    WTERMSIG(children[i].status) == SIGKILL);
		else
			TEST_CHECK(WIFEXITED(children[i].status) &&
			    WEXITSTATUS(children[i].status) == i);
		/* It has been reaped. */
		TEST_EQ(waitpid(children[i].pid, NULL, WNOHANG), -1);
	}
	/* The program reaps the others. */
	TEST_EQ(waitpid(unwatched, &status, 0), unwatched);
	TEST_EQ(WEXITSTATUS(status), 77);
	TEST_EQ(waitpid(children[4].pid, &status, 0), children[4].pid);
	TEST_EQ(WEXITSTATUS(status), 4);
	TEST_EQ(mely_child_watch(color, unwatched, &child_handler, NULL, &children[0].watch),
	    -ESRCH);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

int
main(int argc, char **argv)
{
	/* The color checker then makes and ends fibers all the time, and could lose signals. */
	setenv("MELY_CHECK_FIBERS", "16", 1);
	test_init(argc, argv, 60);
	TEST_CASE(children_end);
	TEST_CASE(signals_arrive);
	TEST_CASE(belongs_to_one_runtime);
	TEST_CASE(none_is_lost);
	TEST_CASE(none_is_lost_in_new_colors);
	return test_done();
}
