/* SPDX-License-Identifier: MIT */
/*
 * thread.c: what the threads of a runtime share with the program: the signals and processors of a
 * handler's children, closed standard streams, handlers that end their thread.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static struct mely_runtime *rt;
static _Atomic uint64_t ran;

static void
on_count(void *arg)
{
	(void)arg;
	test_add(&ran, 1);
}

static struct mely_handler count = MELY_HANDLER(on_count);

/* ---- children -------------------------------------------------------------------------------- */

/* Handlers fork on each core, and the threads are pinned: the child has the signals and the
 * processors of before the run. */
static cpu_set_t processors;

static void
on_fork_and_look(void *arg)
{
	int status;
	pid_t pid = fork();

	TEST_CHECK(pid >= 0);
	if (pid == 0) {
		sigset_t blocked;
		cpu_set_t mine;

		if (pthread_sigmask(SIG_SETMASK, NULL, &blocked) != 0 ||
		    sigismember(&blocked, SIGTERM) || !sigismember(&blocked, SIGUSR2))
			_exit(1);
		if (sched_getaffinity(0, sizeof mine, &mine) != 0 ||
		    !CPU_EQUAL(&mine, &processors))
			_exit(2);
		_exit(0);
	}
	TEST_EQ(waitpid(pid, &status, 0), pid);
	TEST_EQ(status, 0);
	on_count(arg);
}

static struct mely_handler fork_and_look = MELY_HANDLER(on_fork_and_look);

static void
children_get_signals_and_processors(void)
{
	enum { CORES = 3 };
	struct mely_color *colors[CORES];
	struct mely_config config;
	sigset_t one, before;
	int i;

	TEST_CHECK(sched_getaffinity(0, sizeof processors, &processors) == 0);
	sigemptyset(&one);
	sigaddset(&one, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &one, &before);
	test_config(&config, CORES);
	config.pinning = MELY_PIN_YES;
	rt = test_runtime_with(&config);
	atomic_store(&ran, 0);
	for (i = 0; i < CORES; i++) {
		colors[i] = test_color(rt);
		TEST_OK(mely_color_pin(colors[i], i));
		TEST_OK(mely_post(colors[i], &fork_and_look, NULL));
	}
	test_run_dry(rt);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	TEST_EQ(test_get(&ran), CORES);
	TEST_OK(mely_runtime_free(rt));
	for (i = 0; i < CORES; i++)
		free(colors[i]);
}

/* ---- closed standard streams ----------------------------------------------------------------- */

static void
on_last(void *arg)
{
	TEST_OK(mely_stop(arg, MELY_STOP_DRAIN));
}

/* Whatever a runtime opens, it is none of the three. */
static int
child_without_streams(void)
{
	static struct mely_handler last = MELY_HANDLER(on_last);
	struct mely_color *color;
	mely_watch watch;
	int fd;

	for (fd = 0; fd < 3; fd++)
		close(fd);
	rt = test_runtime(2);
	color = test_color(rt);
	if (mely_signal_watch(color, SIGUSR1, &count, NULL, &watch) != 0 ||
	    mely_timer_start(color, 1000, 0, 0, &last, rt, &watch) != 0)
		return 1;
	for (fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			return 2;
	if (mely_run(rt) != 0)
		return 3;
	for (fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			return 4;
	return mely_runtime_free(rt) == 0 ? 42 : 5;
}

static void
streams_stay_closed(void)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	TEST_CHECK(pid >= 0);
	if (pid == 0)
		_exit(child_without_streams());
	TEST_EQ(waitpid(pid, &status, 0), pid);
	TEST_CHECK(WIFEXITED(status));
	TEST_EQ(WEXITSTATUS(status), 42);
}

/* ---- exit functions -------------------------------------------------------------------------- */

static pthread_t runner;
static _Atomic uint64_t runner_known;

static void *
run_in_thread(void *arg)
{
	(void)arg;
	(void)!mely_run(rt);
	return NULL;
}

/* Registered before the run, so called after the library's own exit function. */
static void
stop_and_join(void)
{
	(void)mely_stop(rt, MELY_STOP_DRAIN);
	pthread_join(runner, NULL);
	if (mely_runtime_free(rt) != 0)
		_exit(8); /* the exit is one of a handler of it */
	_exit(9);
}

static void
on_exit_here(void *arg)
{
	(void)arg;
	test_await(&runner_known, 1);
	exit(7);
}

static struct mely_handler exit_here = MELY_HANDLER(on_exit_here);

static int
exit_in_child(bool in_handler)
{
	struct mely_color *color;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	TEST_CHECK(pid >= 0);
	if (pid == 0) {
		atexit(stop_and_join);
		rt = test_runtime(3);
		color = test_color(rt);
		TEST_OK(mely_color_pin(color, 2));
		TEST_OK(mely_post(color, in_handler ? &exit_here : &count, NULL));
		runner = test_thread(run_in_thread, NULL);
		test_add(&runner_known, 1);
		if (in_handler)
			pause();
		test_await(&ran, 1);
		exit(6);
	}
	TEST_EQ(waitpid(pid, &status, 0), pid);
	TEST_CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void
exit_functions_stop_runs(void)
{
	atomic_store(&ran, 0);
	TEST_EQ(exit_in_child(false), 9);
	TEST_EQ(exit_in_child(true), 8);
}

/* ---- handlers that do not return ------------------------------------------------------------- */

static void
leaves_its_thread(void *arg)
{
	(void)arg;
	pthread_exit(NULL);
}

static struct mely_handler leaver = MELY_HANDLER(leaves_its_thread);

static void
run_leaver(int core)
{
	struct mely_color *color;

	rt = test_runtime(2);
	color = test_color(rt);
	TEST_OK(mely_color_pin(color, core));
	TEST_OK(mely_post(color, &leaver, NULL));
	TEST_OK(mely_run(rt)); /* it does not return */
}

/* The program ends at once, and says which handler it was. */
static void
pthread_exit_is_named(void)
{
	char text[1024];
	int core;

	for (core = 0; core < 2; core++) {
		size_t length = 0;
		ssize_t n;
		int ends[2], status;
		pid_t pid;

		TEST_CHECK(pipe(ends) == 0);
		fflush(stdout);
		pid = fork();
		TEST_CHECK(pid >= 0);
		if (pid == 0) {
			dup2(ends[1], STDERR_FILENO);
			close(ends[0]);
			signal(SIGABRT, SIG_DFL);
			run_leaver(core);
			_exit(0);
		}
		close(ends[1]);
		while ((n = read(ends[0], text + length, sizeof text - 1 - length)) > 0)
			length += (size_t)n;
		text[length] = '\0';
		close(ends[0]);
		TEST_EQ(waitpid(pid, &status, 0), pid);
		TEST_CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
		TEST_CHECK(strstr(text, "leaves_its_thread") != NULL);
	}
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 60);
	TEST_CASE(children_get_signals_and_processors);
	TEST_CASE(streams_stay_closed);
	TEST_CASE(pthread_exit_is_named);
	TEST_CASE(exit_functions_stop_runs);
	return test_done();
}
