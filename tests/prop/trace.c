/* SPDX-License-Identifier: MIT */
/*
 * trace.c: what is in a trace is what happened, whenever it is begun and ended, also by a death.
 */
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace.h"
#include "work.h"

static char dir[] = "/tmp/mely-trace-XXXXXX";
static char path[64];

static bool
there(void)
{
	return access(path, F_OK) == 0;
}

static void
nothing_left(void)
{
	char temporary[100];

	snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid());
	TEST_CHECK(access(temporary, F_OK) != 0);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void
whole(int cores, enum work_ids ids, unsigned heads_percent)
{
	struct work_config config = {.cores = cores, .colors = 23, .ids = ids, .skewed = true,
	    .roots = test_scale(400), .generations = 5, .spin_ns = 4000,
	    .heads_percent = heads_percent, .seed = test_seed};
	struct mely_config runtime;
	struct mely_counters counters;
	struct trace trace;
	struct work work;

	test_config(&runtime, cores);
	runtime.trace_events = 1 << 18;
	work_init(&work, &config, &runtime);
	TEST_OK(mely_trace_start(work.rt, path));
	TEST_EQ(mely_trace_start(work.rt, path), -EBUSY);
	work_run(&work);
	counters = test_counters(work.rt);
	TEST_OK(mely_trace_stop(work.rt));
	TEST_EQ(mely_trace_stop(work.rt), -EALREADY);
	work_fini(&work);
	nothing_left();

	trace_read(&trace, path);
	TEST_EQ(trace.cores, cores);
	TEST_EQ(trace.lost, 0);
	TEST_CHECK(strcmp(trace.end, "stop") == 0);
	TEST_EQ(trace_count(&trace, 'X', "event"), counters.events);
	TEST_EQ(trace_count(&trace, 'f', "post"), counters.events);
	TEST_EQ(trace.open, 0);
	TEST_EQ(trace.unposted, 0);
	TEST_EQ(trace_count(&trace, 'X', "steal"), counters.steals);
	TEST_EQ(trace_count(&trace, 's', "steal"), counters.steals);
	TEST_EQ(trace_count(&trace, 'X', "stolen"), counters.steals);
	trace_check_rows(&trace);
	trace_check_colors(&trace);
	trace_check_arrows(&trace);
	trace_free(&trace);
}

static void
whole_on_one(void)
{
	whole(1, WORK_DENSE, 0);
	whole(1, WORK_OBJECTS, 30);
}

static void
whole_on_two(void)
{
	whole(2, WORK_DENSE, 30);
	whole(2, WORK_OBJECTS, 0);
}

static void
whole_on_eight(void)
{
	whole(8, WORK_SCATTERED, 30);
	whole(8, WORK_OBJECTS, 0);
}

/* ---- parts of it ----------------------------------------------------------------------------- */

struct chain {
	struct mely_color *color;
	struct mely_event event;
	_Atomic uint64_t *left; /* of all chains */
};

static void
on_link(void *arg)
{
	struct chain *chain = arg;
	uint64_t left = atomic_load_explicit(chain->left, memory_order_relaxed);

	/* Not a subtraction: another thread may set it to 0 meanwhile. */
	do {
		if (left == 0)
			return;
	} while (!atomic_compare_exchange_weak_explicit(chain->left, &left, left - 1,
	    memory_order_relaxed, memory_order_relaxed));
	TEST_OK(mely_event_post(chain->color, &chain->event));
}

static struct mely_handler link_handler = MELY_HANDLER(on_link);

static void
overwritten(void)
{
	enum { EVENTS = 64 };
	struct mely_config config;
	struct chain chain;
	_Atomic uint64_t left = 1000;
	struct mely_runtime *rt;
	struct trace trace;

	test_config(&config, 1);
	config.trace_events = EVENTS;
	rt = test_runtime_with(&config);
	chain.color = test_color(rt);
	chain.left = &left;
	mely_event_init(&chain.event, &link_handler, &chain);
	TEST_OK(mely_trace_start(rt, path));
	TEST_OK(mely_event_post(chain.color, &chain.event));
	test_run_dry(rt);
	TEST_OK(mely_runtime_free(rt));
	free(chain.color);

	trace_read(&trace, path);
	TEST_CHECK(strcmp(trace.end, "free") == 0);
	TEST_CHECK(trace.lost > 1000);
	TEST_CHECK(trace_count(&trace, 'X', "event") > EVENTS / 4);
	TEST_CHECK(trace_count(&trace, 'X', "event") < EVENTS);
	trace_check_rows(&trace);
	trace_check_arrows(&trace);
	trace_free(&trace);
}

/* Begun and ended again and again while cores run, from outside and from a handler. */
static void
again_and_again(void)
{
	enum { CHAINS = 9 };
	struct chain chains[CHAINS];
	_Atomic uint64_t left = UINT64_MAX;
	struct test_runner runner;
	struct mely_config config;
	struct mely_runtime *rt;
	struct trace trace;
	size_t events = 0;
	int i;

	test_config(&config, 3);
	config.trace_events = 1 << 12;
	rt = test_runtime_with(&config);
	for (i = 0; i < CHAINS; i++) {
		chains[i].color = test_color(rt);
		chains[i].left = &left;
		mely_event_init(&chains[i].event, &link_handler, &chains[i]);
		TEST_OK(mely_event_post(chains[i].color, &chains[i].event));
	}
	test_run_start(&runner, rt);
	for (i = 0; i < 10 || events == 0; i++) {
		TEST_OK(mely_trace_start(rt, path));
		test_nap_us(3000);
		TEST_OK(mely_trace_stop(rt));
		trace_read(&trace, path);
		events += trace_count(&trace, 'X', "event");
		trace_check_rows(&trace);
		trace_check_arrows(&trace);
		trace_free(&trace);
	}
	atomic_store(&left, 0);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_OK(mely_runtime_free(rt));
	for (i = 0; i < CHAINS; i++)
		free(chains[i].color);
}

/* One batch in some: whole batches, and nothing of the others. */
static void
sampled(void)
{
	struct mely_config config;
	struct chain chain;
	_Atomic uint64_t left = 1000;
	struct mely_runtime *rt;
	struct trace trace;
	size_t events;

	test_config(&config, 1);
	config.trace_sample = 10;
	config.batch_events = 5;
	rt = test_runtime_with(&config);
	chain.color = test_color(rt);
	chain.left = &left;
	mely_event_init(&chain.event, &link_handler, &chain);
	TEST_OK(mely_trace_start(rt, path));
	TEST_OK(mely_event_post(chain.color, &chain.event));
	test_run_dry(rt);
	TEST_OK(mely_trace_stop(rt));
	TEST_OK(mely_runtime_free(rt));
	free(chain.color);

	trace_read(&trace, path);
	events = trace_count(&trace, 'X', "event");
	/* 1,001 events and the stop: 201 batches, or one event a batch */
	TEST_CHECK(events >= 80 && events <= 130);
	TEST_EQ(trace.open + trace_count(&trace, 's', "post"),
	    trace.unposted + trace_count(&trace, 'f', "post") + trace.open - trace.unposted);
	trace_check_rows(&trace);
	trace_check_arrows(&trace);
	trace_free(&trace);
}

static void
on_nothing(void *arg)
{
	(void)arg;
}

static struct mely_handler nothing = MELY_HANDLER(on_nothing);

static void
cancelled(void)
{
	struct mely_event ev = MELY_EVENT(&nothing, NULL);
	struct mely_runtime *rt = test_runtime(1);
	struct mely_color *color = test_color(rt);
	struct trace trace;

	TEST_OK(mely_trace_start(rt, path));
	TEST_OK(mely_event_post(color, &ev));
	TEST_OK(mely_event_cancel(&ev, NULL, NULL));
	TEST_OK(mely_post_id(rt, 7, &nothing, NULL));
	test_run_dry(rt);
	TEST_OK(mely_trace_stop(rt));
	TEST_OK(mely_runtime_free(rt));
	free(color);

	trace_read(&trace, path);
	TEST_EQ(trace.open, 1);
	TEST_EQ(trace.unposted, 0);
	TEST_EQ(trace_count(&trace, 's', "post"), trace_count(&trace, 'X', "event"));
	trace_check_arrows(&trace);
	trace_free(&trace);
}

/* ---- names ----------------------------------------------------------------------------------- */

static const struct trace_line *
line_named(const struct trace *trace, const char *name)
{
	size_t i;

	for (i = 0; i < trace->count; i++) {
		if (strcmp(trace->lines[i].category, "event") == 0 &&
		    strcmp(trace->lines[i].name, name) == 0)
			return &trace->lines[i];
	}
	test_fail(__FILE__, __LINE__, "no event is called %s", name);
}

static void
names(void)
{
	struct mely_handler quoted = MELY_HANDLER(on_nothing), broken = quoted, foreign = quoted;
	struct mely_runtime *rt = test_runtime(1);
	struct mely_color *color = test_color(rt), *seven;
	struct trace trace;

	quoted.name = "say \"a\\b\"\n\x7f";
	broken.name = "\xff\xc0\x80 \xed\xa0\x80";
	foreign.name = "Gr\xc3\xb6\xc3\x9f" "e \xf0\x9f\x8e\xa8";
	TEST_OK(mely_color_of_id(rt, 7, &seven));
	TEST_OK(mely_color_set_name(seven, "the seventh"));
	TEST_OK(mely_color_set_name(color, "before"));
	TEST_OK(mely_trace_start(rt, path));
	TEST_OK(mely_post_id(rt, 7, &quoted, NULL));
	TEST_OK(mely_post_id(rt, 4000000000u, &broken, NULL));
	test_run_dry(rt);
	TEST_OK(mely_color_set_name(color, "after \"it\""));
	TEST_OK(mely_post(color, &foreign, NULL));
	test_run_dry(rt);
	TEST_OK(mely_trace_stop(rt));
	TEST_OK(mely_runtime_free(rt));
	free(color);

	trace_read(&trace, path);
	TEST_CHECK(strcmp(line_named(&trace, "say \\\"a\\\\b\\\"\\u000a\\u007f")->color_name,
	    "the seventh") == 0);
	TEST_CHECK(strcmp(line_named(&trace, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd "
	    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd")->color, "4000000000") == 0);
	TEST_CHECK(strcmp(line_named(&trace, foreign.name)->color_name, "after \\\"it\\\"") == 0);
	TEST_CHECK(strncmp(line_named(&trace, foreign.name)->color, "0x", 2) == 0);
	trace_free(&trace);
}

/* ---- the end of the process ------------------------------------------------------------------ */

static _Atomic int null_at; /* 0, but the compiler does not know */

static void
on_segv(void *arg)
{
	volatile int *nowhere = (volatile int *)(uintptr_t)atomic_load(&null_at);

	(void)arg;
	*nowhere = 1;
}

static void
on_abort(void *arg)
{
	(void)arg;
	abort();
}

static int
deeper(volatile char *above)
{
	volatile char here[4096];

	here[0] = above[0];
	/* It never is 1, but the compiler does not know. */
	return atomic_load(&null_at) == 1 ? 0 : deeper(here) + here[0];
}

static void
on_overflow(void *arg)
{
	char first = 0;

	(void)arg;
	(void)deeper(&first);
}

static void
on_exit_3(void *arg)
{
	(void)arg;
	exit(3);
}

/* Its status, after a child has run one event of fn, traced, with others around it. */
static int
die(void (*fn)(void *arg))
{
	struct mely_handler last = {.fn = fn, .name = "last"};
	const struct rlimit no_core = {0, 0};
	struct mely_runtime *rt;
	int status, i;
	pid_t pid;

	(void)unlink(path);
	fflush(stdout);
	pid = fork();
	TEST_CHECK(pid >= 0);
	if (pid == 0) {
		(void)setrlimit(RLIMIT_CORE, &no_core);
		setenv("MELY_TRACE", path, 1);
		rt = test_runtime(2);
		for (i = 0; i < 100; i++)
			TEST_OK(mely_post_id(rt, (uint32_t)i, &nothing, NULL));
		TEST_OK(mely_post_id(rt, 99, &last, NULL));
		TEST_OK(mely_run(rt));
		_exit(99);
	}
	TEST_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

static void
check_death(int status, int signum, const char *end)
{
	struct trace trace;

	/* The sanitizers have handlers of their own, which are called next and exit. */
	if (!TEST_ASAN && !TEST_TSAN)
		TEST_CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signum);
	trace_read(&trace, path);
	TEST_CHECK(strcmp(trace.end, end) == 0);
	TEST_CHECK(line_named(&trace, "last")->unfinished);
	trace_check_rows(&trace);
	trace_check_arrows(&trace);
	trace_free(&trace);
	nothing_left();
}

static void
fatal_signals(void)
{
	check_death(die(on_segv), SIGSEGV, "signal 11");
	check_death(die(on_abort), SIGABRT, "signal 6");
	if (!TEST_ASAN && !TEST_TSAN)
		check_death(die(on_overflow), SIGSEGV, "signal 11");
}

static void
own_handler(int signum)
{
	(void)signum;
	_exit(7);
}

static void
fatal_signal_of_the_program(void)
{
	struct sigaction action = {.sa_handler = own_handler}, before;
	int status;

	TEST_EQ(sigaction(SIGSEGV, &action, &before), 0);
	status = die(on_segv);
	TEST_EQ(sigaction(SIGSEGV, &before, NULL), 0);
	TEST_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	check_death(SIGSEGV, SIGSEGV, "signal 11"); /* that is, whatever the status was */
}

static void
exit_in_handler(void)
{
	int status = die(on_exit_3);
	struct trace trace;

	/* ThreadSanitizer complains of the threads that are left, and has a status of its own. */
	TEST_CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 3 || TEST_TSAN));
	trace_read(&trace, path);
	TEST_CHECK(strcmp(trace.end, "exit") == 0);
	TEST_CHECK(line_named(&trace, "last")->unfinished);
	trace_free(&trace);
}

/* The trace is the parent's. */
static void
forked(void)
{
	struct mely_runtime *rt = test_runtime(1);
	struct sigaction before, after;
	int status;
	pid_t pid;

	TEST_EQ(sigaction(SIGILL, NULL, &before), 0);
	(void)unlink(path);
	TEST_OK(mely_trace_start(rt, path));
	fflush(stdout);
	pid = fork();
	TEST_CHECK(pid >= 0);
	if (pid == 0) {
		TEST_EQ(mely_trace_start(rt, path), -ECHILD);
		TEST_EQ(mely_trace_stop(rt), -EALREADY);
		TEST_OK(mely_runtime_renew(rt));
		TEST_OK(mely_post_id(rt, 1, &nothing, NULL));
		test_run_dry(rt);
		exit(0);
	}
	TEST_EQ(waitpid(pid, &status, 0), pid);
	TEST_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	TEST_CHECK(!there());
	TEST_OK(mely_trace_stop(rt));
	TEST_CHECK(there());
	TEST_EQ(sigaction(SIGILL, NULL, &after), 0);
	TEST_CHECK(before.sa_handler == after.sa_handler);
	TEST_OK(mely_runtime_free(rt));
}

/* ---- what cannot be written ------------------------------------------------------------------ */

static void
paths(void)
{
	struct mely_runtime *rt = test_runtime(1);
	char other[PATH_MAX + 100];
	struct stat st;

	TEST_EQ(mely_trace_start(rt, NULL), -EINVAL);
	TEST_EQ(mely_trace_start(rt, ""), -EINVAL);
	TEST_EQ(mely_trace_start(rt, "/tmp/a%d"), -EINVAL);
	TEST_EQ(mely_trace_start(rt, "/nowhere/at/all"), -ENOENT);
	TEST_EQ(mely_trace_start(rt, dir), -EISDIR);
	memset(other, 'a', sizeof other - 1);
	other[sizeof other - 1] = '\0';
	TEST_EQ(mely_trace_start(rt, other), -ENAMETOOLONG);
	TEST_EQ(mely_trace_stop(rt), -EALREADY);

	/* A device stays what it is; this one is always full. */
	TEST_OK(mely_trace_start(rt, "/dev/full"));
	TEST_EQ(mely_trace_stop(rt), -ENOSPC);
	TEST_CHECK(stat("/dev/full", &st) == 0 && S_ISCHR(st.st_mode));

	snprintf(other, sizeof other, "%s/%%%%%%p", dir);
	TEST_OK(mely_trace_start(rt, other));
	TEST_OK(mely_trace_stop(rt));
	snprintf(other, sizeof other, "%s/%%%ld", dir, (long)getpid());
	TEST_EQ(unlink(other), 0);
	TEST_OK(mely_runtime_free(rt));
}

static off_t
size_of(const char *file)
{
	struct stat st;

	TEST_EQ(lstat(file, &st), 0);
	return S_ISREG(st.st_mode) ? st.st_size : -1;
}

/* Files of others beside the trace stay as they are, and links are not followed. */
static void
neighbors(void)
{
	struct mely_runtime *rt = test_runtime(1);
	char other[100], temporary[100];
	FILE *file;

	snprintf(other, sizeof other, "%s.tmp", path);
	snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid());
	file = fopen(other, "w");
	TEST_CHECK(file != NULL && fputs("mine", file) >= 0 && fclose(file) == 0);

	TEST_OK(mely_trace_start(rt, path));
	TEST_OK(mely_trace_stop(rt));
	TEST_EQ(size_of(other), 4);

	/* There before it begins, and when it is to be written. */
	TEST_EQ(symlink(other, temporary), 0);
	TEST_EQ(mely_trace_start(rt, path), -EEXIST);
	TEST_EQ(unlink(temporary), 0);
	TEST_OK(mely_trace_start(rt, path));
	TEST_EQ(symlink(other, temporary), 0);
	TEST_EQ(mely_trace_stop(rt), -EEXIST);
	TEST_EQ(size_of(other), 4);
	TEST_EQ(unlink(temporary), 0);
	TEST_EQ(rename(other, temporary), 0);
	TEST_EQ(mely_trace_start(rt, path), -EEXIST);
	TEST_EQ(size_of(temporary), 4);
	TEST_EQ(unlink(temporary), 0);
	TEST_OK(mely_runtime_free(rt));
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 300);
	TEST_CHECK(mkdtemp(dir) != NULL);
	snprintf(path, sizeof path, "%s/trace", dir);
	TEST_CASE(whole_on_one);
	TEST_CASE(whole_on_two);
	TEST_CASE(whole_on_eight);
	TEST_CASE(overwritten);
	TEST_CASE(again_and_again);
	TEST_CASE(sampled);
	TEST_CASE(cancelled);
	TEST_CASE(names);
	TEST_CASE(fatal_signals);
	TEST_CASE(fatal_signal_of_the_program);
	TEST_CASE(exit_in_handler);
	TEST_CASE(forked);
	TEST_CASE(paths);
	TEST_CASE(neighbors);
	(void)unlink(path);
	TEST_EQ(rmdir(dir), 0);
	return test_done();
}
