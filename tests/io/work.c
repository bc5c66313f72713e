/* SPDX-License-Identifier: MIT */
/*
 * work.c: blocking work on helper threads: of each class, what each side sees, cancel, order of
 * the color, and a drain that waits for it.
 */
#include <netdb.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>

#include "test.h"

static struct mely_runtime *rt;

struct job {
	struct mely_color *color;
	mely_watch id;
	uint64_t input, output;     /* handed from thread to thread */
	_Atomic uint64_t begun, finished;
	_Atomic uint64_t *hold;     /* fn waits for it */
};

static void
job_fn(void *arg)
{
	struct job *job = arg;

	TEST_CHECK(mely_current_color() == NULL);
	TEST_EQ(mely_current_core(), -1);
	test_add(&job->begun, 1);
	if (job->hold != NULL)
		test_await(job->hold, 1);
	job->output = job->input * 3;
}

static _Atomic uint64_t finished;

static void
on_finished(void *arg)
{
	struct job *job = arg;

	TEST_CHECK(mely_current_color() == job->color);
	TEST_EQ(job->output, job->input * 3);
	test_add(&job->finished, 1);
	test_add(&finished, 1);
}

static struct mely_handler finished_handler = MELY_HANDLER(on_finished);

static void
each_class_on(int cores)
{
	enum { COLORS = 5 };
	unsigned n = test_scale(3000), i;
	struct job *jobs = calloc(n, sizeof *jobs);
	struct mely_color *colors[COLORS];
	struct test_runner runner;

	TEST_CHECK(jobs != NULL);
	atomic_store(&finished, 0);
	rt = test_runtime(cores);
	for (i = 0; i < COLORS; i++)
		colors[i] = test_color(rt);
	test_run_start(&runner, rt);
	for (i = 0; i < n; i++) {
		jobs[i].color = colors[i % COLORS];
		jobs[i].input = i;
		TEST_OK(mely_work(jobs[i].color, (enum mely_work_class)(i % 3), job_fn,
		    &finished_handler, &jobs[i], i % 2 ? &jobs[i].id : NULL));
	}
	/* The drain waits for all of it. */
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(test_get(&finished), n);
	for (i = 0; i < n; i++) {
		TEST_EQ(test_get(&jobs[i].begun), 1);
		TEST_EQ(test_get(&jobs[i].finished), 1);
	}
	TEST_OK(mely_runtime_free(rt));
	for (i = 0; i < COLORS; i++)
		free(colors[i]);
	free(jobs);
}

static void
each_class(void)
{
	each_class_on(1);
	each_class_on(2);
	each_class_on(8);
}

/* ---- real blocking calls -------------------------------------------------------------------- */

static off_t file_size;
static int name_result;

static void
stat_fn(void *arg)
{
	struct stat st;

	TEST_EQ(stat("/proc/self/exe", &st), 0);
	file_size = st.st_size;
	(void)arg;
}

static void
name_fn(void *arg)
{
	struct addrinfo hints, *list = NULL;

	(void)arg;
	memset(&hints, 0, sizeof hints);
	hints.ai_flags = AI_NUMERICHOST;
	name_result = getaddrinfo("127.0.0.1", "80", &hints, &list);
	if (list != NULL)
		freeaddrinfo(list);
}

static void
on_result(void *arg)
{
	(void)arg;
	test_add(&finished, 1);
}

static struct mely_handler result_handler = MELY_HANDLER(on_result);

static void
blocking_calls(void)
{
	struct mely_color *color;

	atomic_store(&finished, 0);
	name_result = -1;
	rt = test_runtime(2);
	color = test_color(rt);
	/* Submitted before mely_run. */
	TEST_OK(mely_work(color, MELY_WORK_FILES, stat_fn, &result_handler, NULL, NULL));
	TEST_OK(mely_work(color, MELY_WORK_NAMES, name_fn, &result_handler, NULL, NULL));
	test_run_dry(rt);
	TEST_EQ(test_get(&finished), 2);
	TEST_CHECK(file_size > 0);
	TEST_EQ(name_result, 0);
	TEST_EQ(mely_work(color, (enum mely_work_class)3, stat_fn, &result_handler, NULL, NULL),
	    -EINVAL);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

/* ---- cancel --------------------------------------------------------------------------------- */

/* With one helper thread that is kept busy, waiting work can be stopped, running work cannot. */
static void
cancel_work(void)
{
	enum { WAITING = 20 };
	struct job jobs[1 + WAITING];
	_Atomic uint64_t hold;
	struct mely_config config;
	struct test_runner runner;
	int i;

	atomic_init(&hold, 0);
	atomic_store(&finished, 0);
	memset(jobs, 0, sizeof jobs);
	test_config(&config, 2);
	config.helpers_user = 1;
	rt = test_runtime_with(&config);
	jobs[0].color = test_color(rt);
	test_run_start(&runner, rt);
	for (i = 0; i <= WAITING; i++) {
		jobs[i].color = jobs[0].color;
		jobs[i].hold = &hold;
		TEST_OK(mely_work(jobs[0].color, MELY_WORK_USER, job_fn, &finished_handler,
		    &jobs[i], &jobs[i].id));
	}
	test_await(&jobs[0].begun, 1);
	TEST_EQ(mely_watch_stop(rt, jobs[0].id, NULL, NULL), -EINPROGRESS);
	for (i = 1; i <= WAITING; i += 2) {
		TEST_OK(mely_watch_stop(rt, jobs[i].id, NULL, NULL));
		TEST_EQ(mely_watch_stop(rt, jobs[i].id, NULL, NULL), -ENOENT);
	}
	test_add(&hold, 1);
	test_await(&finished, 1 + WAITING / 2);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(test_get(&finished), 1 + WAITING / 2);
	for (i = 0; i <= WAITING; i++) {
		TEST_EQ(test_get(&jobs[i].begun), i == 0 || i % 2 == 0);
		TEST_EQ(test_get(&jobs[i].finished), i == 0 || i % 2 == 0);
		TEST_EQ(mely_watch_stop(rt, jobs[i].id, NULL, NULL), -ENOENT);
	}
	TEST_OK(mely_runtime_free(rt));
	free(jobs[0].color);
}

/* Each core is pinned to one processor; its helpers are not. */
static cpu_set_t all, helper_has;
static _Atomic uint64_t looked;

static void
look_fn(void *arg)
{
	(void)arg;
	TEST_CHECK(sched_getaffinity(0, sizeof helper_has, &helper_has) == 0);
}

static void
on_looked(void *arg)
{
	(void)arg;
	test_add(&looked, 1);
}

static void
on_ask(void *arg)
{
	static struct mely_handler handler = MELY_HANDLER(on_looked);

	TEST_OK(mely_work(arg, MELY_WORK_USER, look_fn, &handler, NULL, NULL));
}

static void
helpers_are_not_pinned(void)
{
	static struct mely_handler ask = MELY_HANDLER(on_ask);
	struct mely_config config;
	struct mely_color *color;
	int i;

	TEST_CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
	for (i = 0; i < 2; i++) {
		test_config(&config, 2);
		config.pinning = MELY_PIN_YES;
		rt = test_runtime_with(&config);
		color = test_color(rt);
		TEST_OK(mely_color_pin(color, i));
		CPU_ZERO(&helper_has);
		TEST_OK(mely_post(color, &ask, color));
		test_run_dry(rt);
		TEST_EQ(test_get(&looked), (uint64_t)i + 1);
		TEST_CHECK(CPU_EQUAL(&helper_has, &all));
		TEST_OK(mely_runtime_free(rt));
		free(color);
	}
}

/* A fault in fn reaches the program's handler; other signals go to the program's threads. */
static void
mask_fn(void *arg)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
	sigset_t mask;
	size_t i;

	(void)arg;
	TEST_CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0);
	for (i = 0; i < sizeof faults / sizeof faults[0]; i++)
		TEST_EQ(sigismember(&mask, faults[i]), 0);
	TEST_EQ(sigismember(&mask, SIGTERM), 1);
	TEST_EQ(sigismember(&mask, SIGURG), 1);
}

static void
helpers_take_faults(void)
{
	struct mely_color *color;

	atomic_store(&finished, 0);
	rt = test_runtime(1);
	color = test_color(rt);
	TEST_OK(mely_work(color, MELY_WORK_USER, mask_fn, &result_handler, NULL, NULL));
	test_run_dry(rt);
	TEST_EQ(test_get(&finished), 1);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

/* A class whose helpers are all busy delays neither the other classes nor the cores. */
static void
classes_are_apart(void)
{
	enum { HELD = 10 };
	struct job held[HELD], other;
	_Atomic uint64_t hold;
	struct test_runner runner;
	struct mely_color *color;
	int i;

	atomic_init(&hold, 0);
	atomic_store(&finished, 0);
	memset(held, 0, sizeof held);
	memset(&other, 0, sizeof other);
	rt = test_runtime(1);
	color = test_color(rt);
	test_run_start(&runner, rt);
	for (i = 0; i < HELD; i++) {
		held[i].color = color;
		held[i].hold = &hold;
		TEST_OK(mely_work(color, MELY_WORK_FILES, job_fn, &finished_handler, &held[i],
		    NULL));
	}
	other.color = color;
	other.input = 5;
	TEST_OK(mely_work(color, MELY_WORK_USER, job_fn, &finished_handler, &other, NULL));
	test_await(&finished, 1);
	TEST_EQ(test_get(&finished), 1);
	TEST_EQ(test_get(&other.finished), 1);
	test_add(&hold, 1);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(test_get(&finished), HELD + 1);
	TEST_OK(mely_runtime_free(rt));
	free(color);
}

/* A discard: what runs ends, what waits never begins; then the library touches nothing. */
static void
discard_with_work(void)
{
	unsigned round;

	for (round = 0; round < 10; round++) {
		unsigned n = 50, i, begun = 0;
		struct job *jobs = calloc(n, sizeof *jobs);
		struct mely_color *color;
		struct test_runner runner;

		TEST_CHECK(jobs != NULL);
		atomic_store(&finished, 0);
		rt = test_runtime(2);
		color = test_color(rt);
		test_run_start(&runner, rt);
		for (i = 0; i < n; i++) {
			jobs[i].color = color;
			TEST_OK(mely_work(color, MELY_WORK_USER, job_fn, &finished_handler,
			    &jobs[i], NULL));
		}
		test_run_stop(&runner, MELY_STOP_DISCARD);
		TEST_OK(mely_runtime_free(rt));
		for (i = 0; i < n; i++) {
			TEST_CHECK(test_get(&jobs[i].begun) <= 1);
			TEST_CHECK(test_get(&jobs[i].finished) <= test_get(&jobs[i].begun));
			begun += (unsigned)test_get(&jobs[i].begun);
		}
		TEST_CHECK(test_get(&finished) <= begun);
		free(jobs);
		free(color);
	}
}

static _Atomic uint64_t dropped;

static void
drop_job(void *arg)
{
	struct job *job = arg;

	TEST_EQ(test_get(&job->finished), 0);
	test_add(&job->finished, 1);
	test_add(&dropped, 1);
}

/* Without a hand-back function, work whose handler does not run is dropped: its argument is freed,
 * whether its function has run or not. */
static void
dropped_work(void)
{
	static struct mely_handler handler = {.fn = on_finished, .drop = drop_job};
	enum { WORKS = 20 };
	struct job jobs[WORKS];
	_Atomic uint64_t hold;
	struct mely_config config;
	struct test_runner runner;
	struct mely_color *color;
	int i;

	atomic_init(&hold, 0);
	atomic_store(&dropped, 0);
	memset(jobs, 0, sizeof jobs);
	test_config(&config, 1);
	config.helpers_user = 1;
	config.drain_deadline_ns = 1; /* the stop does not wait for the first one */
	rt = test_runtime_with(&config);
	color = test_color(rt);
	test_run_start(&runner, rt);
	for (i = 0; i < WORKS; i++) {
		jobs[i].hold = &hold;
		TEST_OK(mely_work(color, MELY_WORK_USER, job_fn, &handler, &jobs[i], NULL));
	}
	test_await(&jobs[0].begun, 1);
	test_run_stop(&runner, MELY_STOP_DISCARD);
	TEST_EQ(test_get(&dropped), WORKS - 1);
	TEST_EQ(test_get(&jobs[0].finished), 0);
	test_add(&hold, 1);
	TEST_OK(mely_runtime_free(rt));
	TEST_EQ(test_get(&dropped), WORKS);
	for (i = 0; i < WORKS; i++)
		TEST_EQ(test_get(&jobs[i].begun), i == 0);
	free(color);
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 60);
	TEST_CASE(each_class);
	TEST_CASE(blocking_calls);
	TEST_CASE(cancel_work);
	TEST_CASE(helpers_are_not_pinned);
	TEST_CASE(classes_are_apart);
	TEST_CASE(discard_with_work);
	TEST_CASE(helpers_take_faults);
	TEST_CASE(dropped_work);
	return test_done();
}
