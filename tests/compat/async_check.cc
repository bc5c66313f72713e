/* SPDX-License-Identifier: MIT */
/*
 * async_check.cc: amain and acheck of dialect "async": in main, in callbacks, nested. Section 1.1
 * of the facts.
 */
#include "async.h"

#include "facts.h"

#include <string>

#define MS 1000000

static int left;
static bool done;

static void
finish()
{
	done = true;
}

static void
end()
{
	FACTS_END();
}

static int
full_pipe()
{
	int fds[2];

	FACT(pipe(fds) == 0 && write(fds[1], "x", 1) == 1);
	return fds[0];
}

static void
counts_down()
{
	if (facts_add(&left, -1) == 0)
		FACTS_END();
}

static void
second_amain()
{
	amain();
}

static void
amain_inside()
{
	cpucb_tail(wrap(second_amain));
	amain();
}

static timespec
in_ms(long ms)
{
	timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += ms * MS;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

/* One pass, which waits; without waiting there would be many passes. */
static void
waits()
{
	int passes = 0;

	timecb(in_ms(50), wrap(finish));
	for (; !done; passes++)
		acheck();
	FACT(passes < 10);
	FACTS_END();
}

/* Other letters select mechanisms of which this library has only one. */
static void
busy_by_environment()
{
	const char *options = getenv("SFS_OPTIONS");

	if (options == NULL) {
		setenv("SFS_OPTIONS", "bekt", 1);
		execl("/proc/self/exe", "facts", "busy_by_environment", (char *)NULL);
		_exit(98);
	}
	acheck(); /* returns, since nothing can become ready */
	FACTS_END();
}

static void *
end_when_idle(void *)
{
	usleep(50000);
	cpucb_tail(wrap(end));
	return NULL;
}

static void
go_idle()
{
	facts_thread(end_when_idle);
}

/* With nothing to do and nothing to wait for, amain still waits. */
static void
never_ends_by_itself()
{
	cpucb_tail(wrap(go_idle));
	amain();
}

static void
loop_of_its_own()
{
	left = 3;
	cpucb_tail(wrap(counts_down));
	cpucb_tail(cwrap(counts_down, 5));
	delaycb(0, MS, wrap(counts_down));
	for (;;)
		acheck();
}

static void
wait_inside()
{
	done = false;
	delaycb(0, 5 * MS, wrap(finish));
	while (!done)
		acheck();
	done = false;
	cpucb_tail(wrap(finish)); /* posts of color 0 run, too */
	while (!done)
		acheck();
	FACTS_END();
}

static void
nested()
{
	cpucb_tail(wrap(wait_inside));
	amain();
}

static void
nested_in_pass()
{
	delaycb(0, 0, wrap(wait_inside));
	amain();
}

static void
wait_deeper(int depth)
{
	if (depth < 5)
		delaycb(0, 0, wrap(wait_deeper, depth + 1));
	else
		done = true;
	while (!done)
		acheck();
	if (depth == 1)
		FACTS_END();
}

static void
nested_deep()
{
	cpucb_tail(wrap(wait_deeper, 1));
	amain();
}

static int nested_calls;

static void
reads_after_waiting(int fd)
{
	char c;

	if (++nested_calls == 1) {
		delaycb(0, MS, wrap(finish));
		while (!done)
			acheck();
		return;
	}
	FACT_EQ(read(fd, &c, 1), 1);
	fdcb(fd, selread, NULL);
}

/* The callback stays, but is not called once there is nothing to read. */
static void
reads_once(int fd)
{
	char c;

	FACT_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	FACT_EQ(read(fd, &c, 1), 1);
	delaycb(0, 20 * MS, wrap(end));
}

/* After a nested pass, the findings of the outer one are stale. */
static void
nested_reads_first()
{
	int first = full_pipe(), second = full_pipe();

	fdcb(first, selread, wrap(reads_after_waiting, first));
	fdcb(second, selread, wrap(reads_once, second));
	amain();
}

static void
check_elsewhere()
{
	acheck();
}

static void
acheck_in_a_color()
{
	cpucb_tail(cwrap(check_elsewhere, 3));
	amain();
}

static void
finish_from_elsewhere()
{
	cpucb_tail(wrap(finish));
}

/* Runs on another worker, if there is one; this worker is busy from now on. */
static void
wait_for_color()
{
	int worker = get_current_proc() == 1 ? 0 : 1;

	cpucb_tail(cwrap(finish_from_elsewhere, -(worker + 1)));
	while (!done)
		acheck();
	FACTS_END();
}

/* Color 0 waits in acheck, and a post of another color wakes it up. */
static void
woken_by_another_color()
{
	cpucb_tail(wrap(wait_for_color));
	amain();
}

/* ---- amain in a callback of an acheck called by main ---- */

static std::string order;
static int others;

static void
in_order(char c)
{
	order += c;
	if (c != 'd')
		return;
	FACT(order == "habcd");
	while (facts_get(&others) < 2)
		usleep(1000);
	FACTS_END();
}

static void
in_another_color()
{
	facts_add(&others, 1);
}

static void
amain_in_order(char c)
{
	order += c;
	amain();
}

static void
amain_in_a_post()
{
	cpucb_tail(wrap(amain_in_order, 'a'));
	cpucb_tail(cwrap(in_another_color, 3));
	cpucb_tail(wrap(in_order, 'b'));
	cpucb_tail(cwrap(in_another_color, 4));
	cpucb_tail(wrap(in_order, 'c'));
	cpucb(wrap(in_order, 'h'));
	cpucb_tail(wrap(in_order, 'd'));
	acheck();
}

/* A nested pass runs the rest of the outer one. */
static void
waits_for_posts()
{
	order += 'a';
	while (order.size() < 4)
		acheck();
	FACT(order == "habc");
}

static void
acheck_in_a_post()
{
	cpucb_tail(wrap(waits_for_posts));
	cpucb_tail(cwrap(in_order, 'b', 3));
	cpucb_tail(wrap(in_order, 'c'));
	cpucb(wrap(in_order, 'h'));
	acheck();
	FACTS_END();
}

static void
signals_order(int last)
{
	if (--left == last)
		FACTS_END();
}

static void
amain_in_signal()
{
	left--;
	amain();
}

static void
amain_in_a_signal()
{
	left = 3;
	sigcb(SIGUSR1, wrap(amain_in_signal));
	sigcb(SIGUSR2, wrap(signals_order, 0));
	sigcb(SIGTERM, wrap(signals_order, 0));
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGUSR2);
	kill(getpid(), SIGTERM);
	for (;;)
		acheck();
}

static void
second_child(int)
{
	done = true;
}

static void
first_child(pid_t *other, int)
{
	chldcb(*other, NULL);
	chldcb(*other, wrap(second_child));
	while (!done)
		acheck();
	FACTS_END();
}

/* Two children have ended; the callback of one waits for that of the other. */
static void
acheck_in_a_child()
{
	static pid_t pids[2];
	siginfo_t ended;

	for (int i = 0; i < 2; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(0);
	}
	for (int i = 0; i < 2; i++)
		chldcb(pids[i], wrap(first_child, &pids[1 - i]));
	for (int i = 0; i < 2; i++)
		FACT(waitid(P_PID, pids[i], &ended, WEXITED | WNOWAIT) == 0);
	for (;;)
		acheck();
}

static const struct fact facts[] = {
	{"amain_inside", amain_inside, 1000 + SIGABRT, "amain was called before", 0},
	CASE_ON(1, waits),
	CASE_ON(1, busy_by_environment),
	CASE(never_ends_by_itself),
	CASE_ON(1, loop_of_its_own),
	CASE(nested),
	CASE(nested_in_pass),
	CASE(nested_deep),
	CASE(nested_reads_first),
	{"acheck_in_a_color", acheck_in_a_color, 1, "color 3", 2},
	CASE_ON(2, woken_by_another_color),
	CASE_ON(8, woken_by_another_color),
	CASE(amain_in_a_post),
	CASE_ON(1, acheck_in_a_post),
	CASE(amain_in_a_signal),
	CASE_ON(1, acheck_in_a_child),
};

FACTS_MAIN(facts)
