/* SPDX-License-Identifier: MIT */
/*
 * stall.c: a handler that runs for longer than its limit is reported and counted, with its core,
 * its time and a backtrace; others are not. A handler runs until its report exists, so the speed of
 * the machine does not matter.
 */
#include <dirent.h>
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "lines.h"

enum { LIMIT_MS = 20 };

static struct mely_runtime *rt;
static struct test_runner runner;

static void
make(int cores, uint32_t stall_ms)
{
	struct mely_config config;

	test_config(&config, cores);
	config.age_ms = 0, config.stall_ms = stall_ms;
	lines_catch(&config);
	rt = test_runtime_with(&config);
}

static void
end(void)
{
	test_run_stop(&runner, MELY_STOP_DRAIN);
}

static void
end_and_free(void)
{
	end();
	TEST_OK(mely_runtime_free(rt));
}

/* ---- handlers that take long ----------------------------------------------------------------- */

static _Atomic uint64_t in, let_go, out;

/* Exported, with -rdynamic, so that backtraces name them. */
void stall_test_spins(void);
void stall_test_reads(int fd);
void on_spin(void *arg);

__attribute__((noinline)) void
stall_test_spins(void)
{
	while (test_get(&let_go) == 0)
		;
}

void
on_spin(void *arg)
{
	(void)arg;
	test_add(&in, 1);
	stall_test_spins();
	test_add(&out, 1);
}

static struct mely_handler spin = MELY_HANDLER(on_spin);

static void
begin_holding(void)
{
	atomic_store(&in, 0);
	atomic_store(&out, 0);
	atomic_store(&let_go, 0);
}

static void
start_holding(int cores)
{
	make(cores, LIMIT_MS);
	begin_holding();
	test_run_start(&runner, rt);
}

static void
spins_on(int cores)
{
	struct mely_color *color;
	char core[48];

	make(cores, LIMIT_MS);
	begin_holding();
	TEST_OK(mely_color_of_id(rt, 7, &color));
	TEST_OK(mely_color_set_name(color, "connection"));
	TEST_OK(mely_color_pin(color, cores - 1));
	test_run_start(&runner, rt);
	TEST_OK(mely_post(color, &spin, NULL));
	snprintf(core, sizeof core, "core %d: handler on_spin", cores - 1);
	lines_await(core, " of color 7 (connection) has run for ");
	TEST_CHECK(lines_said(core, " ms, "));
	TEST_CHECK(lines_said(core, " of them on a processor"));
	/* The race detector keeps the signal back while a thread does nothing that can wait. */
	if (!TEST_TSAN) {
		TEST_CHECK(lines_said(", at ", "stall_test_spins"));
		TEST_CHECK(lines_said("stall_test_spins", " < on_spin+0x"));
		TEST_CHECK(!lines_said(core, "mely_run"));
	}
	TEST_EQ(test_counters(rt).stalls, 1);
	atomic_store(&let_go, 1);
	test_await(&out, 1);
	TEST_EQ(test_counters(rt).stalls, 1);
	end_and_free();
}

static void
spinning(void)
{
	spins_on(1);
	spins_on(2);
	spins_on(5);
}

/* Every core at once; and once more in the next run. */
static void
all_cores(void)
{
	struct mely_color *color[3];
	int i, round;

	make(3, LIMIT_MS);
	for (i = 0; i < 3; i++) {
		color[i] = test_color_on(rt, i);
		TEST_OK(mely_color_pin(color[i], i));
	}
	for (round = 1; round <= 2; round++) {
		begin_holding();
		test_run_start(&runner, rt);
		for (i = 0; i < 3; i++)
			TEST_OK(mely_post(color[i], &spin, NULL));
		/* Of one handler a line a second is shown, but each is counted. */
		while (test_counters(rt).stalls < (uint64_t)(3 * round))
			test_nap_us(500);
		atomic_store(&let_go, 1);
		test_await(&out, 3);
		end();
		TEST_CHECK(lines_said("core ", "handler on_spin"));
	}
	TEST_EQ(test_counters(rt).stalls, 6);
	TEST_OK(mely_runtime_free(rt));
	for (i = 0; i < 3; i++)
		free(color[i]);
}

/* ---- handlers that wait ---------------------------------------------------------------------- */

static int ends[2];
static sem_t semaphore;

__attribute__((noinline)) void
stall_test_reads(int fd)
{
	char byte;

	TEST_EQ(read(fd, &byte, 1), 1);
}

static void
on_read(void *arg)
{
	(void)arg;
	stall_test_reads(ends[0]);
	test_add(&out, 1);
}

static struct mely_handler reads = MELY_HANDLER(on_read);

/* A call that the kernel takes up again: interrupted for its backtrace, and none the wiser. */
static void
waiting_for_a_byte(void)
{
	make(2, LIMIT_MS);
	begin_holding();
	TEST_EQ(pipe(ends), 0);
	test_run_start(&runner, rt);
	TEST_OK(mely_post_id(rt, 3, &reads, NULL));
	lines_await("handler on_read of color 3 has run for ", ", waiting in read");
	if (!TEST_TSAN) { /* as in spins_on */
		TEST_CHECK(lines_said("on_read", ", at "));
		TEST_CHECK(lines_said("on_read", "stall_test_reads"));
	}
	TEST_EQ(test_get(&out), 0);
	TEST_EQ(write(ends[1], "x", 1), 1);
	test_await(&out, 1);
	end_and_free();
	test_close(ends, 2);
}

static void
on_sleep(void *arg)
{
	struct timespec spell = {0, 3 * LIMIT_MS * 1000000}, rest;

	(void)arg;
	/* Until it has been reported, and never cut short. */
	while (!lines_said("on_sleep", ""))
		TEST_EQ(nanosleep(&spell, &rest), 0);
	test_add(&out, 1);
}

static struct mely_handler sleeps = MELY_HANDLER(on_sleep);

/* A call that a signal would end: it is left alone. */
static void
sleeping(void)
{
	start_holding(2);
	TEST_OK(mely_post_id(rt, 4, &sleeps, NULL));
	test_await(&out, 1);
	/* A line that was written just between two sleeps says something else. */
	if (lines_said("on_sleep", ", waiting in clock_nanosleep"))
		TEST_CHECK(lines_said("on_sleep",
		    "; no backtrace: the call would not outlast a signal"));
	end_and_free();
}

static void
on_timed_sem(void *arg)
{
	struct timespec until;

	(void)arg;
	while (!lines_said("on_timed_sem", "")) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec++;
		TEST_CHECK(sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT);
	}
	test_add(&out, 1);
}

static void
on_timed_recv(void *arg)
{
	char byte;

	(void)arg;
	while (!lines_said("on_timed_recv", ""))
		TEST_CHECK(recv(ends[0], &byte, 1, 0) == -1 && errno == EAGAIN);
	test_add(&out, 1);
}

static struct mely_handler timed[] = {MELY_HANDLER(on_timed_sem), MELY_HANDLER(on_timed_recv)};

/* Calls that are taken up again after a signal but not where they have a time limit. */
static void
waiting_for_a_time(void)
{
	struct timeval limit = {1, 0};
	int i;

	TEST_CHECK(!sem_init(&semaphore, 0, 0) && !socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	TEST_EQ(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
	for (i = 0; i < 2; i++) {
		start_holding(2);
		TEST_OK(mely_post_id(rt, 4, &timed[i], NULL));
		test_await(&out, 1);
		end();
		TEST_OK(mely_runtime_free(rt));
	}
	test_close(ends, 2);
	sem_destroy(&semaphore);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void
on_short_limit(void *arg)
{
	(void)arg;
	stall_test_spins();
	test_add(&out, 1);
}

static void
on_no_limit(void *arg)
{
	(void)arg;
	stall_test_spins();
	test_add(&out, 1);
}

static void
on_fd(void *arg)
{
	char byte;

	(void)arg;
	TEST_EQ(read(ends[0], &byte, 1), 1);
	stall_test_spins();
	test_add(&out, 1);
}

/* Limits of their own, also by way of a watcher; what has none runs as long on the other core. */
static void
limits_of_handlers(void)
{
	struct mely_handler brief = MELY_HANDLER(on_short_limit), never = MELY_HANDLER(on_no_limit);
	struct mely_handler on_line = MELY_HANDLER(on_fd);
	struct mely_color *one, *two, *three;
	mely_watch watch;

	make(3, 3600000);
	begin_holding();
	mely_handler_set_stall(&brief, LIMIT_MS);
	mely_handler_set_stall(&on_line, LIMIT_MS);
	mely_handler_set_stall(&never, MELY_STALL_NEVER);
	TEST_EQ(pipe(ends), 0);
	one = test_color_on(rt, 0);
	two = test_color_on(rt, 1);
	three = test_color_on(rt, 2);
	TEST_OK(mely_color_pin(one, 0));
	TEST_OK(mely_color_pin(two, 1));
	TEST_OK(mely_color_pin(three, 2));
	TEST_OK(mely_fd_watch(three, ends[0], MELY_FD_READ, &on_line, NULL, &watch));
	test_run_start(&runner, rt);
	TEST_OK(mely_post(one, &never, NULL));
	TEST_OK(mely_post(two, &brief, NULL));
	TEST_EQ(write(ends[1], "x", 1), 1);
	lines_await("core 1: handler on_short_limit", "");
	lines_await("core 2: handler on_fd", "");
	TEST_CHECK(!lines_said("on_no_limit", ""));
	TEST_EQ(test_counters(rt).stalls, 2);
	atomic_store(&let_go, 1);
	test_await(&out, 3);
	end();
	TEST_EQ(test_counters(rt).stalls, 2);
	TEST_OK(mely_runtime_free(rt));
	mely_handler_set_stall(&never, 0);
	mely_handler_set_stall(&brief, 0);
	mely_handler_set_stall(&on_line, 0);
	free(one), free(two), free(three);
	test_close(ends, 2);
}

/* ---- what is not a stall --------------------------------------------------------------------- */

static _Atomic uint64_t measured_ns, halves;

/* Counts the time since the last call in halves of a limit of 100 ms, in which the thread had no
 * processor. A handler that was over the limit was so before this measures, or after. */
static void
on_brief(void *arg)
{
	uint64_t now;

	test_spin_ns(arg != NULL ? 2000000 : 0);
	now = mely_now_ns();
	test_add(&halves, (now - atomic_exchange(&measured_ns, now)) / 50000000);
}

static struct mely_handler brief_handler = MELY_HANDLER(on_brief);

/* Many short ones in a row, in one batch, together far over the limit. */
static void
short_ones_in_a_row(void)
{
	struct mely_config config;
	unsigned i;

	test_config(&config, 1);
	config.batch_events = 1000;
	config.age_ms = 0;
	config.stall_ms = 100;
	lines_catch(&config);
	atomic_store(&halves, 0);
	rt = test_runtime_with(&config);
	for (i = 0; i < 300; i++)
		TEST_OK(mely_post_id(rt, 1, &brief_handler, rt));
	atomic_store(&measured_ns, mely_now_ns());
	test_run_dry(rt);
	on_brief(NULL);
	TEST_CHECK(test_counters(rt).stalls <= test_get(&halves));
	TEST_OK(mely_runtime_free(rt));
}

static int
monitors(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	int n = 0;

	TEST_CHECK(dir != NULL);
	while ((entry = readdir(dir)) != NULL) {
		char path[300], name[32] = "";
		FILE *comm;

		snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
		comm = fopen(path, "r");
		if (comm == NULL)
			continue; /* it has ended */
		if (fgets(name, sizeof name, comm) != NULL && strcmp(name, "mely/mon\n") == 0)
			n++;
		fclose(comm);
	}
	closedir(dir);
	return n;
}

static void
off(void)
{
	make(2, 0);
	begin_holding();
	test_run_start(&runner, rt);
	TEST_OK(mely_post_id(rt, 1, &spin, NULL));
	test_await(&in, 1);
	TEST_EQ(monitors(), 0);
	test_nap_us(50000);
	atomic_store(&let_go, 1);
	test_await(&out, 1);
	end();
	TEST_EQ(lines_count(), 0);
	TEST_EQ(test_counters(rt).stalls, 0);
	TEST_OK(mely_runtime_free(rt));
}

/* ---- rates ----------------------------------------------------------------------------------- */

static _Atomic uint64_t stalls_seen;

static void
on_stall(void *arg)
{
	uint64_t stalls = test_counters(rt).stalls;

	(void)arg;
	while (test_counters(rt).stalls == stalls)
		;
	test_add(&stalls_seen, test_counters(rt).stalls - stalls);
}

/* Of one handler a line a second, of all ten a minute; the others are counted. */
static void
rates(void)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k",
	    "l", "m"};
	enum { HANDLERS = sizeof names / sizeof names[0], EACH = 3 };
	struct mely_handler handlers[HANDLERS];
	uint64_t began = mely_now_ns();
	unsigned i, shown;

	make(1, LIMIT_MS);
	for (i = 0; i < HANDLERS; i++)
		mely_handler_init(&handlers[i], on_stall, names[i]);
	for (i = 0; i < HANDLERS * EACH; i++)
		TEST_OK(mely_post_id(rt, 1, &handlers[i / EACH], NULL));
	test_run_dry(rt);
	/* Not counted here: the last handler, which ends the run, may be held up for as long. */
	TEST_EQ(test_get(&stalls_seen), HANDLERS * EACH);
	for (shown = i = 0; i < lines_count(); i++)
		shown += strstr(lines_at(i), "handler ") != NULL;
	/* Some may be reported twice: at ten times the limit, too. */
	TEST_CHECK(lines_said(" more before it not shown)", ""));
	TEST_CHECK(shown + lines_sum_after(" (") + lines_sum_after("stalls not shown: ") >=
	    HANDLERS * EACH);
	TEST_CHECK(shown <= 10 * (1 + (mely_now_ns() - began) / 60000000000u));
	TEST_OK(mely_runtime_free(rt));
}

/* ---- the signal ------------------------------------------------------------------------------ */

static _Atomic uint64_t caught;

static void
on_urgent(int signum)
{
	(void)signum;
	atomic_fetch_add(&caught, 1);
}

/* The program's own handler stays, and gets no signal of ours. */
static void
signal_of_the_program(void)
{
	struct sigaction mine = {.sa_handler = on_urgent}, old, now;

	TEST_EQ(sigaction(SIGURG, &mine, &old), 0);
	start_holding(1);
	TEST_OK(mely_post_id(rt, 1, &spin, NULL));
	lines_await("handler on_spin", "; no backtrace: the program handles signal ");
	TEST_EQ(sigaction(SIGURG, NULL, &now), 0);
	TEST_CHECK(now.sa_handler == on_urgent);
	TEST_EQ(atomic_load(&caught), 0);
	atomic_store(&let_go, 1);
	end_and_free();
	TEST_EQ(sigaction(SIGURG, &old, NULL), 0);
}

static void
on_blocked(void *arg)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGURG);
	TEST_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	on_spin(arg);
	TEST_EQ(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
}

static struct mely_handler blocked = MELY_HANDLER(on_blocked);

static void
signal_blocked(void)
{
	start_holding(2);
	TEST_OK(mely_post_id(rt, 1, &blocked, NULL));
	lines_await("handler on_blocked", "; no backtrace: the thread blocks signal ");
	atomic_store(&let_go, 1);
	end_and_free();
}

static void
no_signal(void)
{
	struct mely_config config;

	test_config(&config, 1);
	config.age_ms = 0;
	config.stall_ms = LIMIT_MS;
	config.stall_signal = 0;
	lines_catch(&config);
	begin_holding();
	rt = test_runtime_with(&config);
	test_run_start(&runner, rt);
	TEST_OK(mely_post_id(rt, 1, &spin, NULL));
	lines_await("handler on_spin", "; no backtrace: stall_signal is 0");
	atomic_store(&let_go, 1);
	end_and_free();
}

/* ---- where it goes --------------------------------------------------------------------------- */

/* To stderr, in one line, when the program has no function for it. */
static void
to_stderr(void)
{
	struct mely_config config;
	char line[2048] = "";
	int pipes[2], saved;
	size_t n = 0;

	test_config(&config, 1);
	config.age_ms = 0;
	config.stall_ms = LIMIT_MS;
	begin_holding();
	rt = test_runtime_with(&config);
	TEST_EQ(pipe(pipes), 0);
	saved = dup(STDERR_FILENO);
	TEST_CHECK(saved >= 0 && dup2(pipes[1], STDERR_FILENO) >= 0);
	test_run_start(&runner, rt);
	TEST_OK(mely_post_id(rt, 1, &spin, NULL));
	do {
		TEST_CHECK(n < sizeof line - 1);
		TEST_EQ(read(pipes[0], &line[n], 1), 1);
	} while (line[n++] != '\n');
	TEST_CHECK(dup2(saved, STDERR_FILENO) >= 0);
	printf("    %s", line);
	TEST_CHECK(strncmp(line, "mely: core 0: handler on_spin of color 1 has run for ", 53) == 0);
	atomic_store(&let_go, 1);
	end_and_free();
	close(saved);
	test_close(pipes, 2);
}

int
main(int argc, char **argv)
{
	test_init(argc, argv, 120);
	TEST_CASE(spinning);
	TEST_CASE(all_cores);
	TEST_CASE(waiting_for_a_byte);
	TEST_CASE(sleeping);
	TEST_CASE(waiting_for_a_time);
	TEST_CASE(limits_of_handlers);
	TEST_CASE(short_ones_in_a_row);
	TEST_CASE(off);
	TEST_CASE(rates);
	TEST_CASE(signal_of_the_program);
	TEST_CASE(signal_blocked);
	TEST_CASE(no_signal);
	TEST_CASE(to_stderr);
	return test_done();
}
