/* SPDX-License-Identifier: MIT */
/*
 * process.c: what the library promises about the process: fork, signals and their masks, thread
 * names, exit from a handler, processor masks.
 */
#include <dirent.h>
#include <sched.h>
#include <signal.h>
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

/* Run fn in a child. Returns the child's exit status. */
static int
in_child(int (*fn)(void *arg), void *arg)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	TEST_CHECK(pid >= 0);
	if (pid == 0)
		_exit(fn(arg));
	TEST_EQ(waitpid(pid, &status, 0), pid);
	TEST_CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* ---- fork ----------------------------------------------------------------------------------- */

static struct mely_color *kept;

/* In the child every call returns -ECHILD; after a renewal the runtime works. */
static int
child_of_runtime(void *arg)
{
	struct mely_event ev = MELY_EVENT(&count, NULL);
	struct mely_color *color;
	uint64_t before;

	(void)arg;
	TEST_EQ(mely_post_id(rt, 1, &count, NULL), -ECHILD);
	TEST_EQ(mely_post_head_id(rt, 1, &count, NULL), -ECHILD);
	TEST_EQ(mely_post(kept, &count, NULL), -ECHILD);
	TEST_EQ(mely_event_post(kept, &ev), -ECHILD);
	TEST_EQ(mely_event_post_id(rt, 1, &ev), -ECHILD);
	TEST_EQ(mely_run(rt), -ECHILD);
	TEST_EQ(mely_run_once_for(rt, 0), -ECHILD);
	TEST_EQ(mely_color_of_id(rt, 1, &color), -ECHILD);
	TEST_EQ(mely_current_core(), -1);
	TEST_OK(mely_runtime_renew(rt));
	TEST_EQ(mely_runtime_renew(rt), -EINVAL);
	before = test_get(&ran);
	TEST_OK(mely_post(kept, &count, NULL));
	TEST_OK(mely_event_post_id(rt, 0xffffffffu, &ev));
	TEST_OK(mely_post_id(rt, 2, &count, NULL));
	test_run_dry(rt);
	TEST_EQ(test_get(&ran), before + 3);
	TEST_OK(mely_runtime_free(rt));
	return 42;
}

static void
fork_of_idle_runtime(void)
{
	rt = test_runtime(2);
	kept = test_color(rt);
	atomic_store(&ran, 0);
	/* Queued events are dropped in the child, and stay queued in the parent. */
	TEST_OK(mely_post_id(rt, 1, &count, NULL));
	TEST_EQ(in_child(child_of_runtime, NULL), 42);
	TEST_EQ(mely_runtime_renew(rt), -EINVAL);
	test_run_dry(rt);
	TEST_EQ(test_get(&ran), 1);
	TEST_OK(mely_runtime_free(rt));
	free(kept);
}

static void
fork_of_running_runtime(void)
{
	struct test_runner runner;
	unsigned i;

	rt = test_runtime(2);
	kept = test_color(rt);
	atomic_store(&ran, 0);
	test_run_start(&runner, rt);
	for (i = 0; i < 10; i++) {
		unsigned k;

		for (k = 0; k < 1000; k++)
			TEST_OK(mely_post_id(rt, k, &count, NULL));
		TEST_EQ(in_child(child_of_runtime, NULL), 42);
	}
	test_await(&ran, 10000);
	test_run_stop(&runner, MELY_STOP_DRAIN);
	TEST_EQ(test_get(&ran), 10000);
	TEST_OK(mely_runtime_free(rt));
	free(kept);
}

/* A handler forks, and the child execs, as a program does to start another. */
static void
on_fork(void *arg)
{
	int status;
	pid_t pid = fork();

	TEST_CHECK(pid >= 0);
	if (pid == 0) {
		if (mely_post_id(rt, 1, &count, NULL) != -ECHILD)
			_exit(1);
		execl("/bin/true", "true", (char *)NULL);
		_exit(2);
	}
	TEST_EQ(waitpid(pid, &status, 0), pid);
	TEST_EQ(status, 0);
	on_count(arg);
}

static struct mely_handler fork_handler = MELY_HANDLER(on_fork);

static void
handler_forks_and_execs(void)
{
	uint32_t i;

	rt = test_runtime(4);
	atomic_store(&ran, 0);
	for (i = 0; i < 8; i++)
		TEST_OK(mely_post_id(rt, i, &fork_handler, NULL));
	test_run_dry(rt);
	TEST_EQ(test_get(&ran), 8);
	TEST_OK(mely_runtime_free(rt));
}

/* ---- exit from a handler -------------------------------------------------------------------- */

/* Data that an exit function destroys: a core that still ran would notice. */
static int *shared_data;

static void
at_exit(void)
{
	free(shared_data);
	shared_data = NULL;
}

static void
on_exit_now(void *arg)
{
	(void)arg;
	exit(7);
}

static struct mely_handler exit_now = MELY_HANDLER(on_exit_now);

static void on_endless(void *arg);
static struct mely_handler endless = MELY_HANDLER(on_endless);

static void
on_endless(void *arg)
{
	TEST_EQ(*shared_data, 1);
	TEST_OK(mely_post_id(mely_current_runtime(), (uint32_t)(uintptr_t)arg, &endless, arg));
}

/*
 * LeakSanitizer calls this at the end of the process: events that are queued when a handler calls
 * exit are not a leak.
 */
int __lsan_is_turned_off(void);
static int leaks_allowed;

int
__lsan_is_turned_off(void)
{
	return leaks_allowed;
}

/* The child makes its own runtime, as any process does. */
static int
exits_while_busy(void *arg)
{
	uintptr_t i;

	leaks_allowed = 1;
	shared_data = malloc(sizeof *shared_data);
	TEST_CHECK(shared_data != NULL);
	*shared_data = 1;
	atexit(at_exit);
	rt = test_runtime((int)(intptr_t)arg);
	for (i = 0; i < 16; i++)
		TEST_OK(mely_post_id(rt, (uint32_t)i, &endless, (void *)i));
	TEST_OK(mely_post_id(rt, 99, &exit_now, NULL));
	TEST_OK(mely_run(rt));
	return 1;
}

static void
exit_from_a_handler(void)
{
	int round;

	for (round = 0; round < 5; round++) {
		TEST_EQ(in_child(exits_while_busy, (void *)1), 7);
		TEST_EQ(in_child(exits_while_busy, (void *)4), 7);
	}
}

/* ---- exit while a handler waits ------------------------------------------------------------- */

static int wait_pipe[2];
static _Atomic uint64_t waiting;

/* The wait ends, but what the handler would use has been destroyed. */
static void
end_the_wait(void)
{
	TEST_EQ(write(wait_pipe[1], "x", 1), 1);
	usleep(20000);
}

static void
on_wait(void *arg)
{
	char c;

	(void)arg;
	mely_wait_begin();
	test_add(&waiting, 1);
	TEST_EQ(read(wait_pipe[0], &c, 1), 1);
	mely_wait_end();
	_exit(8);
}

static struct mely_handler waits = MELY_HANDLER(on_wait);

static void
on_exit_beside(void *arg)
{
	(void)arg;
	test_await(&waiting, 1);
	exit(7);
}

static struct mely_handler exit_beside = MELY_HANDLER(on_exit_beside);

static int
exits_while_one_waits(void *arg)
{
	leaks_allowed = 1;
	TEST_EQ(pipe(wait_pipe), 0);
	TEST_EQ(dup2(*(int *)arg, 2), 2);
	atexit(end_the_wait);
	rt = test_runtime(2);
	TEST_OK(mely_post_id(rt, 1, &exit_beside, NULL));
	TEST_OK(mely_post_id(rt, 2, &waits, NULL));
	TEST_OK(mely_run(rt));
	return 1;
}

/* No line reports a core that is still in a handler. */
static void
exit_beside_a_wait(void)
{
	int fds[2];
	char c;

	TEST_EQ(pipe(fds), 0);
	TEST_EQ(in_child(exits_while_one_waits, &fds[1]), 7);
	close(fds[1]);
	TEST_EQ(read(fds[0], &c, 1), 0);
	close(fds[0]);
}

/* An exit function of the exiting thread may wait, too. */
static void
wait_at_exit(void)
{
	mely_wait_begin();
	mely_wait_end();
}

static int
exits_and_waits(void *arg)
{
	(void)arg;
	leaks_allowed = 1;
	atexit(wait_at_exit);
	mely_wait_begin(); /* not in a handler: does nothing */
	mely_wait_end();
	rt = test_runtime(2);
	TEST_OK(mely_post_id(rt, 1, &exit_now, NULL));
	TEST_OK(mely_run(rt));
	return 1;
}

static void
wait_in_an_exit_function(void)
{
	TEST_EQ(in_child(exits_and_waits, NULL), 7);
}

/* ---- signals and names ---------------------------------------------------------------------- */

static _Atomic uint64_t looked;

/* On each core: which signals are blocked, and the name of the thread. */
static void
on_look(void *arg)
{
	static const int synchronous[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS,
	    SIGABRT};
	int core = mely_current_core();
	char name[16], expected[24];
	sigset_t mask;
	size_t i;

	TEST_EQ(core, (int)(intptr_t)arg);
	TEST_EQ(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
	for (i = 0; i < sizeof synchronous / sizeof synchronous[0]; i++)
		TEST_EQ(sigismember(&mask, synchronous[i]), 0);
	TEST_EQ(pthread_getname_np(pthread_self(), name, sizeof name), 0);
	if (core == 0) {
		TEST_CHECK(strcmp(name, "caller") == 0);
		TEST_EQ(sigismember(&mask, SIGTERM), 0);
		TEST_EQ(sigismember(&mask, SIGUSR2), 1);
	} else {
		snprintf(expected, sizeof expected, "mely/%d", core);
		TEST_CHECK(strcmp(name, expected) == 0);
		TEST_EQ(sigismember(&mask, SIGTERM), 1);
		TEST_EQ(sigismember(&mask, SIGUSR1), 1);
		TEST_EQ(sigismember(&mask, SIGALRM), 1);
	}
	test_add(&looked, 1);
}

static struct mely_handler look = MELY_HANDLER(on_look);

static void *
run_as_caller(void *arg)
{
	sigset_t mask;

	(void)arg;
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	TEST_EQ(pthread_sigmask(SIG_SETMASK, &mask, NULL), 0);
	TEST_EQ(pthread_setname_np(pthread_self(), "caller"), 0);
	test_run_dry(rt);
	/* The caller's mask and name are unchanged. */
	TEST_EQ(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
	TEST_EQ(sigismember(&mask, SIGUSR2), 1);
	TEST_EQ(sigismember(&mask, SIGTERM), 0);
	return NULL;
}

static void
masks_and_names(void)
{
	struct mely_color *color[4];
	int i;

	atomic_store(&looked, 0);
	rt = test_runtime(4);
	for (i = 0; i < 4; i++) {
		color[i] = test_color_on(rt, i);
		TEST_OK(mely_color_pin(color[i], i));
		TEST_OK(mely_post(color[i], &look, (void *)(intptr_t)i));
	}
	test_thread_join(test_thread(run_as_caller, NULL));
	TEST_EQ(test_get(&looked), 4);
	TEST_OK(mely_runtime_free(rt));
	for (i = 0; i < 4; i++)
		free(color[i]);
}

/* No thread remains after a run. */
static int
threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	int n = 0;

	TEST_CHECK(dir != NULL);
	while ((entry = readdir(dir)) != NULL)
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

static int
descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	TEST_CHECK(dir != NULL);
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

static void
nothing_stays_behind(void)
{
	int fds = descriptors(), before = threads(), i;

	for (i = 0; i < 20; i++) {
		rt = test_runtime(5);
		TEST_OK(mely_post_id(rt, 1, &count, NULL));
		test_run_dry(rt);
		TEST_OK(mely_runtime_free(rt));
		TEST_EQ(descriptors(), fds);
	}
	/* The kernel may list a joined thread for a moment longer. */
	while (threads() > before)
		test_nap_us(100);
}

/* ---- processors ----------------------------------------------------------------------------- */

/* With a mask of one processor, not the first, there is one core, which runs there. */
static int
runs_on(void *arg)
{
	int cpu = (int)(intptr_t)arg;
	struct mely_config config;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	TEST_EQ(sched_setaffinity(0, sizeof set, &set), 0);
	unsetenv("MELY_CORES");
	TEST_EQ(mely_cores_usable(), 1);
	TEST_OK(mely_config_init(&config));
	TEST_EQ(config.cores, 0);
	config.pinning = MELY_PIN_YES;
	TEST_OK(mely_runtime_new(&rt, &config));
	TEST_EQ(mely_cores(rt), 1);
	atomic_store(&ran, 0);
	TEST_OK(mely_post_id(rt, 1, &count, NULL));
	test_run_dry(rt);
	TEST_EQ(test_get(&ran), 1);
	TEST_EQ(sched_getcpu(), cpu);
	TEST_OK(mely_runtime_free(rt));
	/* More cores than processors: they take turns. */
	TEST_OK(mely_config_init(&config));
	config.cores = 4;
	config.pinning = MELY_PIN_YES;
	TEST_OK(mely_runtime_new(&rt, &config));
	TEST_OK(mely_post_id(rt, 1, &count, NULL));
	TEST_OK(mely_post_id(rt, 2, &count, NULL));
	test_run_dry(rt);
	TEST_EQ(test_get(&ran), 3);
	TEST_OK(mely_runtime_free(rt));
	TEST_EQ(sched_getaffinity(0, sizeof set, &set), 0);
	TEST_CHECK(CPU_COUNT(&set) == 1 && CPU_ISSET(cpu, &set));
	return 42;
}

static void
mask_without_processor_zero(void)
{
	int cpu, tried = 0;
	cpu_set_t set;

	TEST_EQ(sched_getaffinity(0, sizeof set, &set), 0);
	for (cpu = 0; cpu < CPU_SETSIZE && tried < 2; cpu++)
		if (CPU_ISSET(cpu, &set)) {
			TEST_EQ(in_child(runs_on, (void *)(intptr_t)cpu), 42);
			tried++;
		}
	if (tried < 2)
		printf("only one processor here: the mask without the first was not tried\n");
}

static _Atomic uint64_t bound_to; /* the processors that the handler's thread may use */

static void
on_bound(void *arg)
{
	cpu_set_t set;

	(void)arg;
	TEST_EQ(sched_getaffinity(0, sizeof set, &set), 0);
	atomic_store(&bound_to, (uint64_t)CPU_COUNT(&set));
}

static struct mely_handler bound = MELY_HANDLER(on_bound);

/* By default a thread leaves its processor, but not the cache that its core set shares. */
static int
binds_to(void *topology)
{
	struct mely_config config;
	char text[1024];
	bool apart = strstr(topology, "l3:2") != NULL;
	cpu_set_t set;
	int cores;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	CPU_SET(1, &set);
	if (sched_setaffinity(0, sizeof set, &set) != 0 || mely_cores_usable() != 2)
		return 77;
	unsetenv("MELY_PIN");
	setenv("HWLOC_SYNTHETIC", topology, 1); /* instead of the machine's */
	for (cores = 1; cores <= 3; cores++) {
		bool binds = cores == 2 && apart;

		TEST_OK(mely_config_init(&config));
		config.cores = cores;
		TEST_OK(mely_runtime_new(&rt, &config));
		TEST_CHECK(mely_runtime_describe(rt, text, sizeof text) > 0);
		TEST_CHECK(strstr(text, binds ? ", pinned to caches," : ", not pinned,") != NULL);
		TEST_OK(mely_post_id(rt, 1, &bound, NULL));
		test_run_dry(rt);
		TEST_EQ(test_get(&bound_to), binds ? 1 : 2);
		TEST_OK(mely_runtime_free(rt));
	}
	return 42;
}

static void
binds_to_caches(void)
{
	static char apart[] = "pack:1 l3:2 core:1 pu:1", together[] = "pack:1 l3:1 core:2 pu:1";
	int status = in_child(binds_to, apart);

	TEST_CHECK(status == 42 || status == 77);
	if (status == 42)
		TEST_EQ(in_child(binds_to, together), 42);
	else
		printf("not two processors, 0 and 1: binding was not tried\n");
}

/* After mely_run the caller has the mask that it had, whether cores are pinned or not. */
static void
callers_mask_is_kept(void)
{
	struct mely_config config;
	cpu_set_t before, after;

	TEST_EQ(sched_getaffinity(0, sizeof before, &before), 0);
	TEST_OK(mely_config_init(&config));
	config.cores = 2;
	config.pinning = MELY_PIN_YES;
	TEST_OK(mely_runtime_new(&rt, &config));
	test_run_dry(rt);
	TEST_OK(mely_runtime_free(rt));
	TEST_EQ(sched_getaffinity(0, sizeof after, &after), 0);
	TEST_CHECK(CPU_EQUAL(&before, &after));
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 90);
	TEST_CASE(fork_of_idle_runtime);
	/* The race detector cannot follow a fork of a process with threads. */
	if (!TEST_TSAN) {
		TEST_CASE(fork_of_running_runtime);
		TEST_CASE(handler_forks_and_execs);
		TEST_CASE(exit_from_a_handler);
		TEST_CASE(exit_beside_a_wait);
		TEST_CASE(wait_in_an_exit_function);
	}
	TEST_CASE(masks_and_names);
	TEST_CASE(nothing_stays_behind);
	TEST_CASE(mask_without_processor_zero);
	TEST_CASE(binds_to_caches);
	TEST_CASE(callers_mask_is_kept);
	return test_done();
}
