/* SPDX-License-Identifier: MIT */
/*
 * nomem.c: no memory, anywhere. Each allocation of a whole program fails once: those of the calling
 * thread, of the cores and of the library's own threads. The call that needed it says so and has no
 * other effect: the same call succeeds afterwards. No event that was accepted is lost.
 */
#include "test.h"
#include "scarce.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CORES = 2, COLORS = 24, POSTS = 300, TIMERS = 200, PIPES = 8, WORKS = 3 };

/* The call returns 0, or says that there is no memory, and returns 0 when it is made again. */
#define TRY(call) \
	do { \
		int try_ = (call); \
		if (try_ != 0) { \
			TEST_CHECK(scarce_failed()); \
			if (try_ != -ENOMEM) \
				TEST_EQ(try_, -EAGAIN); \
			TEST_OK(call); \
		} \
	} while (0)

static struct {
	struct mely_runtime *rt;
	struct mely_color *colors[COLORS];
	struct mely_color objects[2];
	struct mely_event ev, closed;
	pthread_t runner;
	int pipes[PIPES][2];
	_Atomic uint64_t events, timers, readable, signals, children, works, drained, closings;
} p;

/* What can still end a program for lack of memory. A library that mends itself leaves the list. */
static const struct scarce_fault hwloc = {"libhwloc",
    "it uses memory before it checks that it got it, and no allocator can be given to it"};

static char trace_path[64], socket_path[64];

static void
on_count(void *arg)
{
	test_add(arg, 1);
}

static struct mely_handler count = MELY_HANDLER(on_count);

/* ---- a runtime is made ----------------------------------------------------------------------- */

static void
make(const struct mely_config *config)
{
	TRY(mely_runtime_new(&p.rt, config));
	TEST_CHECK(p.rt != NULL);
}

static void
make_described(int cores, const char *topology)
{
	struct mely_config config;

	test_config(&config, cores);
	config.topology = topology;
	make(&config);
}

static void
free_it(void)
{
	TEST_OK(mely_runtime_free(p.rt));
}

/* With all that a configuration can ask for; the runtime is the same as with enough memory. */
static void
of_this_machine(void)
{
	struct mely_config config;
	char with_enough[512], with_less[512];

	TEST_OK(mely_config_init(&config));
	config.pinning = MELY_PIN_YES;
	config.pollers = 1;
	config.socket = socket_path;
	make(&config);
	TEST_CHECK(mely_runtime_describe(p.rt, with_enough, sizeof with_enough) > 0);
	free_it();
	scarce_begin();
	make(&config);
	TEST_CHECK(mely_runtime_describe(p.rt, with_less, sizeof with_less) > 0);
	TEST_CHECK(strcmp(with_less, with_enough) == 0);
	free_it();
}

static void
of_another_machine(void)
{
	scarce_begin();
	make_described(3, "pack:2 l2:2 core:2 pu:1");
	free_it();
}

/* One core has no neighbors, and needs no hwloc. */
static void
of_one_core(void)
{
	scarce_begin();
	make_described(1, NULL);
	free_it();
}

static void
new_runtimes(void)
{
	scarce_each(of_one_core, false, NULL);
	scarce_each(of_another_machine, false, &hwloc);
	scarce_each(of_this_machine, false, &hwloc);
}

/* ---- a whole run ----------------------------------------------------------------------------- */

static void
on_readable(void *arg)
{
	int fd = *(int *)arg;
	char byte;

	while (read(fd, &byte, 1) == 1)
		test_add(&p.readable, 1);
	mely_fd_drained();
}

static void
on_child(void *arg)
{
	(void)arg;
	TEST_EQ(WEXITSTATUS(mely_child_status()), 3);
	test_add(&p.children, 1);
}

static void
post_many(void)
{
	int i;

	for (i = 0; i < POSTS; i++)
		TRY(mely_post(p.colors[i % COLORS], &count, &p.events));
	for (i = 0; i < POSTS; i++)
		TRY(mely_post_id(p.rt, 100000u + 7919u * (unsigned)i, &count, &p.events));
}

static void
start_timers(void)
{
	mely_watch watch;
	int i;

	for (i = 0; i < TIMERS; i++)
		TRY(mely_timer_start(p.colors[i % COLORS], 100000u * (unsigned)(i % 7), 0, 0,
		    &count, &p.timers, &watch));
}

/* On a core. */
static void
on_busy(void *arg)
{
	(void)arg;
	post_many();
	start_timers();
	test_add(&p.events, 1);
}

static struct mely_handler readable = MELY_HANDLER(on_readable), ended = MELY_HANDLER(on_child),
    busy = MELY_HANDLER(on_busy);

static void
make_colors(void)
{
	static const char *const names[] = {"a", "b"};
	unsigned i;

	for (i = 0; i < COLORS; i++)
		TRY(mely_color_of_id(p.rt, i % 2 == 0 ? i : 2000000u * i, &p.colors[i]));
	for (i = 0; i < 2; i++) {
		TRY(mely_color_init_on(&p.objects[i], p.rt, (int)i));
		TRY(mely_color_set_name(&p.objects[i], names[i]));
		TRY(mely_color_set_high_water(&p.objects[i], 1000, p.colors[0], &p.ev));
	}
}

static void
watch_all(pid_t child)
{
	mely_watch watch;
	int i;

	for (i = 0; i < PIPES; i++)
		TRY(mely_fd_watch(p.colors[i], p.pipes[i][0], MELY_FD_READ, &readable,
		    &p.pipes[i][0], &watch));
	TRY(mely_signal_watch(p.colors[1], SIGUSR1, &count, &p.signals, &watch));
	TRY(mely_child_watch(p.colors[2], child, &ended, NULL, &watch));
	TRY(mely_drain_watch(p.colors[3], &count, &p.drained, &watch));
	for (i = 0; i < WORKS; i++)
		TRY(mely_work(p.colors[i], (enum mely_work_class)i, on_count, &count, &p.works,
		    NULL));
}

static void
look(void)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct mely_stats *stats;
	char *text;

	TEST_CHECK(fd >= 0);
	TRY(mely_stats_take(p.rt, 0, 100, &stats));
	TRY(mely_stats_prometheus(stats, &text, NULL));
	free(text);
	TRY(mely_stats_json(stats, &text, NULL));
	free(text);
	mely_stats_free(stats);
	TRY(mely_dump(p.rt, fd));
	close(fd);
}

static void *
run(void *arg)
{
	(void)arg;
	TRY(mely_run(p.rt));
	return NULL;
}

static pid_t
prepare(void)
{
	pid_t child;
	int i;

	for (i = 0; i < PIPES; i++)
		TEST_OK(pipe2(p.pipes[i], O_CLOEXEC | O_NONBLOCK));
	child = fork();
	TEST_CHECK(child >= 0);
	if (child == 0)
		_exit(3);
	return child;
}

static void
use(pid_t child)
{
	int i, error;

	make_colors();
	watch_all(child);
	post_many();
	start_timers();
	TRY(mely_trace_start(p.rt, trace_path));
	scarce_spare();
	p.runner = test_thread(run, NULL);
	scarce_spare_end();
	TRY(mely_post(p.colors[5], &busy, NULL));
	for (i = 0; i < PIPES; i++)
		TEST_CHECK(write(p.pipes[i][1], "x", 1) == 1);
	kill(getpid(), SIGUSR1);
	look();
	test_await(&p.events, 4 * POSTS + 1);
	test_await(&p.timers, 2 * TIMERS);
	test_await(&p.readable, PIPES);
	test_await(&p.signals, 1);
	test_await(&p.children, 1);
	test_await(&p.works, 2 * WORKS);
	look();
	(void)mely_trim(p.rt);
	error = mely_trace_stop(p.rt);
	TEST_CHECK(error == 0 || (error == -ENOMEM && scarce_failed()));
	mely_event_init(&p.closed, &count, &p.closings);
	TEST_OK(mely_color_close(p.colors[0], &p.closed));
	test_await(&p.closings, 1);
	TEST_OK(mely_stop(p.rt, MELY_STOP_DRAIN));
	scarce_spare();
	test_thread_join(p.runner);
	scarce_spare_end();
	TEST_EQ(p.drained, 1);
	TEST_EQ(p.events, 4 * POSTS + 1);
	TEST_EQ(p.timers, 2 * TIMERS);
	free_it();
}

static void
whole(void)
{
	pid_t child = prepare();

	make_described(CORES, "core:2 pu:1");
	scarce_begin();
	use(child);
}

static void
whole_run(void)
{
	scarce_each(whole, false, NULL);
	unlink(trace_path);
}

/* ---- in the program's loop, and after a fork ------------------------------------------------- */

static void
outside(void)
{
	mely_watch watch;
	int fd = -1, n = 0, i;

	make_described(1, NULL);
	TRY(mely_color_of_id(p.rt, 1, &p.colors[0]));
	scarce_begin();
	for (i = 0; fd < 0 && i < 2; i++)
		fd = mely_backend_fd(p.rt);
	TEST_CHECK(fd >= 0 && (i == 1 || scarce_failed()));
	for (i = 0; i < TIMERS; i++)
		TRY(mely_timer_start(p.colors[0], 1000, 0, 0, &count, &p.timers, &watch));
	while (test_get(&p.timers) < TIMERS) {
		n = mely_run_once_for(p.rt, MELY_FOREVER);
		TEST_CHECK(n >= 0 || (scarce_failed() && (n == -ENOMEM || n == -EAGAIN)));
	}
	TEST_OK(mely_stop(p.rt, MELY_STOP_DISCARD));
	while (n != -ESHUTDOWN)
		n = mely_run_once_for(p.rt, 0);
	free_it();
}

static void
renewed(void)
{
	pid_t child;
	int status;

	make_described(CORES, "core:2 pu:1");
	child = fork();
	TEST_CHECK(child >= 0);
	if (child != 0) {
		TEST_CHECK(waitpid(child, &status, 0) == child);
		TEST_EQ(status, 0);
		free_it();
		return;
	}
	scarce_begin();
	TRY(mely_runtime_renew(p.rt));
	TRY(mely_post_id(p.rt, 1, &count, &p.events));
	TRY(mely_post_id(p.rt, 0, &test_stop_handler, NULL));
	TRY(mely_run(p.rt));
	TEST_EQ(p.events, 1);
	free_it();
	_exit(0);
}

static void
program_s_loop(void)
{
	scarce_each(outside, false, NULL);
}

static void
after_a_fork(void)
{
	scarce_each(renewed, false, NULL);
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 600);
	if (TEST_ASAN || TEST_TSAN)
		test_skip("the sanitizer has the allocator");
	scarce_init();
	snprintf(trace_path, sizeof trace_path, "nomem-%d.mely", (int)getpid());
	snprintf(socket_path, sizeof socket_path, "/tmp/nomem-%d.sock", (int)getpid());
	TEST_CASE(new_runtimes);
	TEST_CASE(whole_run);
	TEST_CASE(program_s_loop);
	TEST_CASE(after_a_fork);
	return test_done();
}
