/* SPDX-License-Identifier: MIT */
/*
 * facts.h: for tests of a compat dialect, which are programs of that dialect, in C++98. amain
 * usually does not return, so each case is a separate process: the program runs itself again for
 * each case on 1, 2 and 8 workers, and checks its status and output.
 *
 *     prog                 all cases
 *     prog CASE [CORES]    one case, in this process, or on CORES workers
 *
 * With FACTS_WORKERS=n in the environment, the cases for all numbers of workers run on n.
 *
 * A case that has passed calls FACTS_END() in a callback. A case that only ends does not pass,
 * because FACTS_END has its own status.
 */
#ifndef MELY_TESTS_FACTS_H
#define MELY_TESTS_FACTS_H

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FACTS_PASSED 42
#define FACTS_SECONDS 120

#define FACT(cond) \
	do { \
		if (!(cond)) \
			facts_fail(__FILE__, __LINE__, #cond); \
	} while (0)

#define FACT_EQ(a, b) \
	do { \
		long facts_a_ = (long)(a), facts_b_ = (long)(b); \
		if (facts_a_ != facts_b_) { \
			fprintf(stderr, "%s is %ld, not %ld\n", #a, facts_a_, facts_b_); \
			facts_fail(__FILE__, __LINE__, #a " == " #b); \
		} \
	} while (0)

#define FACTS_END() exit(FACTS_PASSED)

static inline void
facts_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: check failed: %s\n", file, line, what);
	fflush(NULL);
	_exit(99);
}

/* For plain counters shared by threads; the tests do not use other atomics. */
static inline int
facts_add(int *n, int by)
{
	return __atomic_add_fetch(n, by, __ATOMIC_SEQ_CST);
}

static inline int
facts_get(int *n)
{
	return __atomic_load_n(n, __ATOMIC_SEQ_CST);
}

/* Start a thread of the program, which ends by itself. */
static inline void
facts_thread(void *(*fn)(void *))
{
	pthread_t thread;

	FACT(pthread_create(&thread, NULL, fn, NULL) == 0);
	FACT(pthread_detach(thread) == 0);
}

/* The leak sanitizer may hang at the exit of a child that was forked while other threads ran: its
 * allocator's locks are not taken around a fork. So it only checks the program itself. */
static const pid_t facts_program = getpid();
extern "C" int __lsan_is_turned_off();
extern "C" int
__lsan_is_turned_off()
{
	return getpid() != facts_program;
}

struct fact {
	const char *name;
	void (*fn)();
	int status;          /* the expected status */
	const char *prints;  /* a part of its output, or NULL */
	int workers;         /* 0: on 1, 2 and 8 */
};

/* An ordinary case; a case for a fixed number of workers; a case with another expected end. */
#define CASE(fn) {#fn, fn, FACTS_PASSED, NULL, 0}
#define CASE_ON(workers, fn) {#fn, fn, FACTS_PASSED, NULL, workers}
#define CASE_ENDS(fn, status, prints) {#fn, fn, status, prints, 0}

static inline bool
facts_judge(const struct fact *f, int workers, int status, const char *output)
{
	bool well = status == f->status && (f->prints == NULL || strstr(output, f->prints));

	printf("%s %s on %d\n", well ? "ok" : "FAIL", f->name, workers);
	if (!well)
		printf("ended with %d, not %d; printed:\n%s\n", status, f->status, output);
	fflush(stdout);
	return well;
}

/* An exit parks the workers without joining them, which the thread sanitizer reports as a leak. */
static inline void
facts_no_thread_leaks()
{
	const char *options = getenv("TSAN_OPTIONS");
	char text[1024];

	sprintf(text, "%.900s:report_thread_leaks=0", options != NULL ? options : "");
	setenv("TSAN_OPTIONS", text, 1);
}

/* The number of workers is fixed before main: set it for the next program of this process. */
static inline void
facts_set_workers(const char *cores)
{
	setenv("MELY_CORES", cores, 1);
	setenv("MELY_PIN", "no", 0);
}

/* Run a case in a separate process. */
static inline bool
facts_run(const struct fact *f, int workers)
{
	static char output[65536];
	size_t length = 0;
	char cores[16];
	int pipes[2], status;
	ssize_t n;
	pid_t pid;

	sprintf(cores, "%d", workers);
	fflush(NULL);
	if (pipe(pipes) < 0 || (pid = fork()) < 0) {
		perror("fork");
		return false;
	}
	if (pid == 0) {
		facts_no_thread_leaks();
		dup2(pipes[1], 1);
		dup2(pipes[1], 2);
		close(pipes[0]);
		close(pipes[1]);
		facts_set_workers(cores);
		execl("/proc/self/exe", "facts", f->name, cores, (char *)NULL);
		_exit(98);
	}
	close(pipes[1]);
	while ((n = read(pipes[0], output + length, sizeof output - 1 - length)) > 0)
		length += (size_t)n;
	output[length] = '\0';
	close(pipes[0]);
	waitpid(pid, &status, 0);
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
	return facts_judge(f, workers, status, output);
}

static inline int
facts_all(const struct fact *facts, size_t count)
{
	static const int workers[] = {1, 2, 8};
	const char *some = getenv("FACTS_WORKERS");
	int failed = 0, all = some != NULL ? atoi(some) : 0;
	size_t i, w;

	for (i = 0; i < count; i++)
		for (w = 0; w < 3; w++)
			if (facts[i].workers == 0 ? all == 0 || all == workers[w]
			                          : facts[i].workers == workers[w])
				failed += !facts_run(&facts[i], workers[w]);
	printf("%d failed\n", failed);
	return failed != 0;
}

/* A case was started by hand: execute the program again unless the environment is right. */
static inline void
facts_on(char **argv)
{
	const char *cores = getenv("MELY_CORES");

	if (cores != NULL && strcmp(cores, argv[2]) == 0)
		return;
	facts_set_workers(argv[2]);
	execv("/proc/self/exe", argv);
	perror("exec");
	_exit(98);
}

/* ThreadSanitizer (of clang 14) allocates a thread's signal state at the first call that may block,
 * and loses a signal that arrives meanwhile. So make such a call before any signal. */
static inline void
facts_no_lost_signals()
{
	(void)poll(NULL, 0, 0);
}

static inline int
facts_main(int argc, char **argv, const struct fact *facts, size_t count)
{
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2)
		return facts_all(facts, count);
	if (argc > 2)
		facts_on(argv);
	for (i = 0; i < count; i++)
		if (strcmp(facts[i].name, argv[1]) == 0) {
			facts_no_lost_signals();
			alarm(FACTS_SECONDS);
			facts[i].fn();
			fprintf(stderr, "%s returned\n", argv[1]);
			return 97;
		}
	fprintf(stderr, "no case named %s\n", argv[1]);
	return 2;
}

#define FACTS_MAIN(facts) \
	int \
	main(int argc, char **argv) \
	{ \
		return facts_main(argc, argv, facts, sizeof facts / sizeof facts[0]); \
	}

#endif
