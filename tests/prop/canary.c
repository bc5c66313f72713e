/* SPDX-License-Identifier: MIT */
/*
 * canary.c: proof that the oracles can fail. Each case deliberately makes, in a child, the fault
 * that an oracle must find, and succeeds when the oracle caught the child.
 */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

/* ---- exclusion: two threads of the test's own in one color ---------------------------------- */

static _Atomic int inside;
static _Atomic uint64_t tripped;

static void *
trespass(void *arg)
{
	(void)arg;
	while (test_get(&tripped) == 0) {
		if (!work_enter(&inside))
			test_add(&tripped, 1);
		test_spin_ns(1000);
		work_leave(&inside);
	}
	return NULL;
}

static void
exclusion_trips(void)
{
	pthread_t threads[2];
	int i;

	for (i = 0; i < 2; i++)
		threads[i] = test_thread(trespass, NULL);
	for (i = 0; i < 2; i++)
		test_thread_join(threads[i]);
	TEST_CHECK(test_get(&tripped) > 0);
}

/* ---- crimes that end the process ------------------------------------------------------------ */

/* The status of a child that makes the fault; its messages are discarded. */
static int
caught(void (*crime)(void))
{
	int status, null;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	TEST_CHECK(pid >= 0);
	if (pid == 0) {
		null = open("/dev/null", O_WRONLY);
		if (null < 0 || dup2(null, STDERR_FILENO) < 0)
			_exit(99);
		crime();
		_exit(0);
	}
	TEST_EQ(waitpid(pid, &status, 0), pid);
	TEST_CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void
failed_check(void)
{
	TEST_CHECK(1 + 1 == 3);
}

static void
failed_equality(void)
{
	TEST_EQ(1 + 1, 3);
}

static void
failed_call(void)
{
	TEST_OK(-EINVAL);
}

static void
hang(void)
{
	char *argv[] = {"canary", NULL};

	test_init(1, argv, 1);
	for (;;)
		pause();
}

static void
checks_trip(void)
{
	TEST_EQ(caught(failed_check), 1);
	TEST_EQ(caught(failed_equality), 1);
	TEST_EQ(caught(failed_call), 1);
	TEST_EQ(caught(hang), 1);
}

/* ---- what the instruments are there for ----------------------------------------------------- */

static long plain;

static void *
race(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 100000; i++)
		plain++;
	return NULL;
}

/* Two threads and a plain word: what handlers of one color would be without exclusion. */
static void
data_race(void)
{
	pthread_t threads[2];
	int i;

	for (i = 0; i < 2; i++)
		threads[i] = test_thread(race, NULL);
	for (i = 0; i < 2; i++)
		test_thread_join(threads[i]);
	exit(plain == 0);
}

static void
use_after_free(void)
{
	struct mely_event *volatile ev = malloc(sizeof *ev);

	TEST_CHECK(ev != NULL);
	free(ev);
	exit(ev->_flags == 77);
}

static void
instruments_trip(void)
{
	if (TEST_TSAN)
		TEST_CHECK(caught(data_race) != 0);
	else if (TEST_ASAN)
		TEST_CHECK(caught(use_after_free) != 0);
	else
		printf("not instrumented: nothing to try\n");
}

/* ---- the books of the workload -------------------------------------------------------------- */

enum crime { HONEST, LOSE, DUPLICATE, REORDER };

static enum crime crime;

/* A workload whose books are falsified before they are compared. */
static void
tampered_work(void)
{
	struct mely_config runtime;
	struct work_config config;
	struct work work;

	memset(&config, 0, sizeof config);
	config.cores = 1;
	config.colors = 3;
	config.ids = WORK_DENSE;
	config.roots = 100;
	config.generations = 3;
	config.seed = test_seed;
	test_config(&runtime, 1);
	work_init(&work, &config, &runtime);
	if (crime == LOSE)
		work.colors[1].sent[0][2]++;   /* as if an event had been posted that never ran */
	else if (crime == DUPLICATE)
		work.colors[2].seen[0][1]++;   /* as if one had run before */
	else if (crime == REORDER)
		work.outside_sent[0][0][0]++;  /* as if a later one had run first */
	work_run(&work);
	work_fini(&work);
}

static void
books_trip(void)
{
	crime = HONEST;
	TEST_EQ(caught(tampered_work), 0);
	crime = LOSE;
	TEST_EQ(caught(tampered_work), 1);
	crime = DUPLICATE;
	TEST_EQ(caught(tampered_work), 1);
	crime = REORDER;
	TEST_EQ(caught(tampered_work), 1);
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 60);
	/* In children, before this process starts threads. */
	TEST_CASE(checks_trip);
	TEST_CASE(books_trip);
	TEST_CASE(instruments_trip);
	TEST_CASE(exclusion_trips);
	return test_done();
}
