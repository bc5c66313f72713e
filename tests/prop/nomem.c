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
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CORES = 2, COLORS = 24, POSTS = 300, TIMERS = 200, PIPES = 8, WORKS = 3 };

/* There is no memory any more: what is refused once is refused again. */
static bool dry;

/* Did the call succeed? Out of memory it says so. */
static bool
done(int result)
{
	if (result == 0)
		return true;
	TEST_CHECK(scarce_failed());
	if (result != -ENOMEM)
		TEST_EQ(result, -EAGAIN);
	return false;
}

static bool
must(int result)
{
	TEST_EQ(result, 0);
	return true;
}

/* Did the call succeed, at the second attempt at the latest? */
#define TRY(call) (done(call) || (!dry && must(call)))

struct counts {
	_Atomic uint64_t events, timers, readable, signals, children, works;
	_Atomic uint64_t drained, begun, closings;
};

static struct {
	struct mely_runtime *rt;
	struct mely_color *colors[COLORS];
	struct mely_color objects[2];
	struct mely_event ev, begun, closed;
	pthread_t runner;
	int pipes[PIPES][2];
	struct counts ran, wanted; /* of the handlers that a call has promised */
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
	(void)TRY(mely_runtime_new(&p.rt, config));
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

/* ---- a process with a limit ------------------------------------------------------------------ */

enum { STEP = 64 << 10, REFUSED = 77 };

/* Bytes of address space that this process has. */
static rlim_t
in_use(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	TEST_CHECK(file != NULL && fscanf(file, "%lu", &pages) == 1);
	fclose(file);
	return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* With so much address space and no more. */
static void
make_within(rlim_t room)
{
	struct mely_config config;
	struct rlimit limit;
	int error;

	test_config(&config, CORES);
	config.topology = "pack:2 l3:4 l2:8 core:2 pu:2"; /* hwloc needs more for a large one */
	limit.rlim_cur = limit.rlim_max = in_use() + room;
	TEST_OK(setrlimit(RLIMIT_AS, &limit));
	error = mely_runtime_new(&p.rt, &config);
	if (error == -ENOMEM)
		_exit(REFUSED);
	TEST_OK(error);
	free_it();
	_exit(0);
}

/* As much memory as there may be, a runtime is made or refused. For hwloc there is enough then. */
static void
limited(void)
{
	int status = 1, refused = 0;
	rlim_t room;

	for (room = 0; status != 0; room += STEP) {
		pid_t pid = fork();

		TEST_CHECK(pid >= 0);
		if (pid == 0)
			make_within(room);
		TEST_CHECK(waitpid(pid, &status, 0) == pid);
		if (WIFSIGNALED(status))
			test_fail(__FILE__, __LINE__, "with %llu bytes: %s",
			    (unsigned long long)room, strsignal(WTERMSIG(status)));
		TEST_CHECK(status == 0 || WEXITSTATUS(status) == REFUSED);
		refused += status != 0;
	}
	printf("%d refused\n", refused);
	TEST_CHECK(refused > 0);
}

/* ---- a whole run ----------------------------------------------------------------------------- */

static void
on_readable(void *arg)
{
	int fd = *(int *)arg;
	char byte;

	while (read(fd, &byte, 1) == 1)
		test_add(&p.ran.readable, 1);
	mely_fd_drained();
}

static void
on_child(void *arg)
{
	(void)arg;
	TEST_EQ(WEXITSTATUS(mely_child_status()), 3);
	test_add(&p.ran.children, 1);
}

static void
post_many(void)
{
	int i;

	for (i = 0; i < POSTS; i++) {
		if (p.colors[i % COLORS] != NULL)
			test_add(&p.wanted.events,
			    TRY(mely_post(p.colors[i % COLORS], &count, &p.ran.events)));
	}
	for (i = 0; i < POSTS; i++)
		test_add(&p.wanted.events, TRY(mely_post_id(p.rt, 100000u + 7919u * (unsigned)i,
		    &count, &p.ran.events)));
}

static void
start_timers(void)
{
	mely_watch watch;
	int i;

	for (i = 0; i < TIMERS; i++) {
		if (p.colors[i % COLORS] != NULL)
			test_add(&p.wanted.timers, TRY(mely_timer_start(p.colors[i % COLORS],
			    100000u * (unsigned)(i % 7), 0, 0, &count, &p.ran.timers, &watch)));
	}
}

/* On a core. */
static void
on_busy(void *arg)
{
	(void)arg;
	post_many();
	start_timers();
	test_add(&p.ran.events, 1);
}

static struct mely_handler readable = MELY_HANDLER(on_readable), ended = MELY_HANDLER(on_child),
    busy = MELY_HANDLER(on_busy);

static void
make_colors(void)
{
	static const char *const names[] = {"a", "b"};
	unsigned i;

	for (i = 0; i < COLORS; i++) {
		if (!TRY(mely_color_of_id(p.rt, i % 2 == 0 ? i : 2000000u * i, &p.colors[i])))
			p.colors[i] = NULL;
	}
	for (i = 0; i < 2; i++) {
		TEST_OK(mely_color_init_on(&p.objects[i], p.rt, (int)i));
		(void)TRY(mely_color_set_name(&p.objects[i], names[i]));
		(void)TRY(mely_color_set_high_water(&p.objects[i], 1000, &p.objects[0], &p.ev));
	}
}

static void
watch_all(pid_t child)
{
	struct mely_color *color = &p.objects[0];
	mely_watch watch;
	int i;

	for (i = 0; i < PIPES; i++)
		test_add(&p.wanted.readable, TRY(mely_fd_watch(&p.objects[i % 2], p.pipes[i][0],
		    MELY_FD_READ, &readable, &p.pipes[i][0], &watch)));
	test_add(&p.wanted.signals, TRY(mely_signal_watch(color, SIGUSR1, &count, &p.ran.signals,
	    &watch)));
	test_add(&p.wanted.children, TRY(mely_child_watch(color, child, &ended, NULL, &watch)));
	test_add(&p.wanted.drained, TRY(mely_drain_watch(color, &count, &p.ran.drained, &watch)));
	for (i = 0; i < WORKS; i++) /* the work counts, and its handler */
		test_add(&p.wanted.works, 2 * TRY(mely_work(color, (enum mely_work_class)i,
		    on_count, &count, &p.ran.works, NULL)));
}

static void
look(void)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct mely_stats *stats;
	char *text;

	TEST_CHECK(fd >= 0);
	if (TRY(mely_stats_take(p.rt, 0, 100, &stats))) {
		(void)TRY(mely_stats_prometheus(stats, &text, NULL));
		free(text);
		(void)TRY(mely_stats_json(stats, &text, NULL));
		free(text);
		mely_stats_free(stats);
	}
	(void)TRY(mely_dump(p.rt, fd));
	close(fd);
}

/* A run that cannot begin changes nothing, and can be made later. */
static void *
run(void *arg)
{
	(void)arg;
	if (!done(mely_run(p.rt))) {
		scarce_end();
		TEST_OK(mely_run(p.rt));
	}
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

/* Everything that was promised happens; with now, it has happened by now. */
static void
as_promised(bool now)
{
	_Atomic uint64_t *ran = (_Atomic uint64_t *)&p.ran;
	_Atomic uint64_t *wanted = (_Atomic uint64_t *)&p.wanted;
	size_t i;

	for (i = 0; i < sizeof p.ran / sizeof *ran; i++) {
		if (now)
			TEST_EQ(test_get(&ran[i]), test_get(&wanted[i]));
		else if (&ran[i] != &p.ran.drained)
			test_await(&ran[i], test_get(&wanted[i]));
	}
}

static void
use(pid_t child)
{
	int i, error;

	make_colors();
	watch_all(child);
	post_many();
	start_timers();
	(void)TRY(mely_trace_start(p.rt, trace_path));
	mely_event_init(&p.begun, &count, &p.ran.begun);
	TEST_OK(mely_event_post(&p.objects[0], &p.begun));
	test_add(&p.wanted.begun, 1);
	scarce_spare();
	p.runner = test_thread(run, NULL);
	scarce_spare_end();
	test_await(&p.ran.begun, 1); /* while a run that cannot begin ends, posts are refused */
	test_add(&p.wanted.events, TRY(mely_post(&p.objects[1], &busy, NULL)));
	for (i = 0; i < PIPES; i++)
		TEST_CHECK(write(p.pipes[i][1], "x", 1) == 1);
	if (p.wanted.signals > 0)
		kill(getpid(), SIGUSR1);
	look();
	mely_event_init(&p.closed, &count, &p.ran.closings);
	TEST_OK(mely_event_post(&p.objects[1], &p.closed)); /* behind busy, which promises more */
	test_await(&p.ran.closings, 1);
	test_add(&p.wanted.closings, 1);
	as_promised(false);
	look();
	(void)mely_trim(p.rt);
	error = mely_trace_stop(p.rt);
	TEST_CHECK(error == 0 || ((error == -ENOMEM || error == -EALREADY) && scarce_failed()));
	if (p.colors[0] != NULL) {
		TEST_OK(mely_color_close(p.colors[0], &p.closed));
		test_add(&p.wanted.closings, 1);
	}
	as_promised(false);
	TEST_OK(mely_stop(p.rt, MELY_STOP_DRAIN));
	scarce_spare();
	test_thread_join(p.runner);
	scarce_spare_end();
	as_promised(true);
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

/* From some moment on there is no memory at all. */
static void
run_dry(void)
{
	dry = true;
	scarce_each(whole, true, NULL);
	dry = false;
	unlink(trace_path);
}

/* ---- in the program's loop, and after a fork ------------------------------------------------- */

static void
outside(void)
{
	mely_watch watch;
	int fd = -1, n = 0, i;

	make_described(1, NULL);
	(void)TRY(mely_color_of_id(p.rt, 1, &p.colors[0]));
	scarce_begin();
	for (i = 0; fd < 0 && i < 2; i++)
		fd = mely_backend_fd(p.rt);
	TEST_CHECK(fd >= 0 && (i == 1 || scarce_failed()));
	for (i = 0; i < TIMERS; i++)
		(void)TRY(mely_timer_start(p.colors[0], 1000, 0, 0, &count, &p.ran.timers,
		    &watch));
	while (test_get(&p.ran.timers) < TIMERS) {
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
	(void)TRY(mely_runtime_renew(p.rt));
	(void)TRY(mely_post_id(p.rt, 1, &count, &p.ran.events));
	(void)TRY(mely_post_id(p.rt, 0, &test_stop_handler, NULL));
	(void)TRY(mely_run(p.rt));
	TEST_EQ(p.ran.events, 1);
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
	scarce_init();
	snprintf(trace_path, sizeof trace_path, "nomem-%d.mely", (int)getpid());
	snprintf(socket_path, sizeof socket_path, "/tmp/nomem-%d.sock", (int)getpid());
	TEST_CASE(new_runtimes);
	TEST_CASE(limited);
	TEST_CASE(whole_run);
	TEST_CASE(run_dry);
	TEST_CASE(program_s_loop);
	TEST_CASE(after_a_fork);
	return test_done();
}
