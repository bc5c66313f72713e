/* SPDX-License-Identifier: MIT */
/*
 * mely_post.cc: posting in dialect "mely": order, colors, priorities, and posts before amain.
 * Sections 0 and 0.2 of the facts.
 */
#include "mely.h"

#include "facts.h"
#include "idle_ids.h"
#include "marks.h"

/* ---- order in a color ---- */

static void
tails_are_fifo()
{
	int i;

	for (i = 0; i < 26; i++)
		cpucb_tail(cwrap(mark, 'a' + i, 5));
	cpucb_tail(cwrap(expect, "abcdefghijklmnopqrstuvwxyz", 5));
	amain();
}

/* Head posts run before tail posts that were posted earlier, and are FIFO among themselves. */
static void
post_heads()
{
	cpucb_tail(cwrap(mark, 't', 5));
	cpucb_tail(cwrap(mark, 'u', 5));
	cpucb(cwrap(mark, 'h', 5));
	cpucb(cwrap(mark, 'i', 5));
	cpucb_tail(cwrap(expect, "hitu", 5));
}

static void
heads_go_first()
{
	post_heads();
	amain();
}

static void
heads_go_first_inside()
{
	cpucb_tail(cwrap(post_heads, 5));
	amain();
}

/* Priorities never reorder inside a color. */
static void
priority_keeps_order()
{
	cpucb_tail(cpwrap(mark, 'a', 5, -9));
	cpucb_tail(cpwrap(mark, 'b', 5, 9));
	cpucb_tail(cpwrap(mark, 'c', 5, 0));
	cpucb_tail(cwrap(expect, "abc", 5));
	amain();
}

/* ---- order between colors, on one worker ---- */

/* A color runs one event per turn, then goes to the back. */
static void
round_robin()
{
	int color, i;

	for (color = 1; color <= 3; color++)
		for (i = 0; i < 3; i++)
			cpucb_tail(cwrap(mark, 'a' + color, color));
	cpucb_tail(cwrap(expect, "bcdbcdbcd", 3));
	amain();
}

static void
head_overtakes_no_color()
{
	cpucb_tail(cwrap(mark, 'a', 1));
	cpucb(cwrap(mark, 'b', 2));
	cpucb_tail(cwrap(expect, "ab", 2));
	amain();
}

/* Higher priorities first, equal ones in turn. The low one runs late, though it ages while others
 * run first. */
static void
priorities()
{
	cpucb_tail(cpwrap(mark, 'z', 1, -5));
	cpucb_tail(cwrap(mark, 'n', 2));
	cpucb_tail(cwrap(mark, 'n', 2));
	cpucb_tail(cwrap(mark, 'm', 3));
	cpucb_tail(cwrap(mark, 'm', 3));
	cpucb_tail(cpwrap(mark, 'e', 4, 5));
	cpucb_tail(cpwrap(mark, 'b', 5, 10));
	cpucb_tail(cpwrap(expect, "benmnzm", 6, -16));
	amain();
}

/* Priorities far outside the range of libmely still determine the order. */
static void
large_priorities()
{
	cpucb_tail(cpwrap(mark, 'd', 1, 20));
	cpucb_tail(cpwrap(mark, 'e', 2, -20));
	cpucb_tail(cpwrap(mark, 'c', 3, 500));
	cpucb_tail(cpwrap(mark, 'a', 4, 65535));
	cpucb_tail(cpwrap(mark, 'b', 5, 2000));
	cpucb_tail(cpwrap(expect, "abcde", 6, -65535));
	amain();
}

/* The priority of a color is that of its last post, also when it posts to itself. */
static void
post_high()
{
	mark('a');
	cpucb_tail(cpwrap(mark, 'b', 1, 7));
}

static void
last_post_rules()
{
	cpucb_tail(cpwrap(mark, 'z', 3, 9));
	cpucb_tail(cpwrap(mark, 'y', 3, -9));
	cpucb_tail(cpwrap(post_high, 1, 6));
	cpucb_tail(cpwrap(mark, 'c', 2, 5));
	cpucb_tail(cpwrap(expect, "abczy", 3, -9));
	amain();
}

static int streams;

static void
stream()
{
	if (++streams < 1000000)
		cpucb_tail(cpwrap(stream, 1, 10));
	else
		facts_fail(__FILE__, __LINE__, "the low color starves");
}

static void
low_end()
{
	FACT(streams > 0);
	FACTS_END();
}

static void
low_does_not_starve()
{
	cpucb_tail(cpwrap(stream, 1, 10));
	cpucb_tail(cpwrap(low_end, 2, -10));
	amain();
}

/* ---- colors ---- */

static void
check_color(int wanted)
{
	FACT_EQ(get_current_color(), wanted);
}

static void
check_wrapped()
{
	FACT_EQ(get_current_color(), 0);
	FACTS_END();
}

/* A callback called by the program runs in the caller's color; wrap does not inherit a color. */
static void
inherit()
{
	cbv cb = cwrap(check_color, 7, 9);

	FACT_EQ(get_current_color(), 7);
	(*cb)();
	delete cb;
	cpucb_tail(wrap(check_wrapped));
}

static void
no_inheritance()
{
	cpucb_tail(cwrap(inherit, 7));
	amain();
}

static int left;

static void
one_color(int wanted)
{
	FACT_EQ(get_current_color(), wanted);
	if (facts_add(&left, -1) == 0)
		FACTS_END();
}

static void
colors_are_folded()
{
	left = 5;
	cpucb_tail(cwrap(one_color, 40000 - MAX_COLORS, 40000));
	cpucb_tail(cwrap(one_color, 7236, 40000));
	cpucb_tail(cwrap(one_color, MAX_COLORS - 1, MAX_COLORS - 1));
	cpucb_tail(cwrap(one_color, 0, MAX_COLORS));
	cpucb(cwrap(one_color, 0x7fffffff % MAX_COLORS, 0x7fffffff));
	amain();
}

static void
one_pinned(int worker, int rounds)
{
	FACT_EQ(get_current_proc(), worker);
	FACT_EQ(get_current_color(), -(worker + 1));
	if (rounds > 0)
		cpucb_tail(cwrap(one_pinned, worker, rounds - 1, -(worker + 1)));
	else if (facts_add(&left, -1) == 0)
		FACTS_END();
}

/* Color -(n+1) runs on worker n only, however busy that worker is. */
static void
negative_pins()
{
	int worker;

	left = 2 * task_get_nthreads();
	for (worker = 0; worker < task_get_nthreads(); worker++) {
		cpucb_tail(cwrap(one_pinned, worker, 200, -(worker + 1)));
		cpucb(cpwrap(one_pinned, worker, 200, -(worker + 1), worker));
	}
	amain();
}

static void
no_such_worker()
{
	cpucb_tail(cwrap(mark, 'a', -task_get_nthreads() - 1));
	FACTS_END();
}

static void
no_such_worker_inside()
{
	cpucb_tail(wrap(no_such_worker));
	amain();
}

/* ---- exclusion ---- */

enum { COLORS = 16, EVENTS = 300 };

static int in_color[COLORS], plain[COLORS], events_left;

static void
exclusive(int color, int rounds)
{
	FACT_EQ(facts_add(&in_color[color], 1), 1);
	plain[color]++;
	FACT_EQ(facts_add(&in_color[color], -1), 0);
	if (rounds > 0)
		cpucb_tail(cwrap(exclusive, (color + rounds) % COLORS, rounds - 1,
		    (color + rounds) % COLORS));
	else if (facts_add(&events_left, -1) == 0)
		FACTS_END();
}

static void
colors_exclude()
{
	int i;

	events_left = 4 * COLORS;
	for (i = 0; i < 4 * COLORS; i++)
		cpucb_tail(cwrap(exclusive, i % COLORS, EVENTS, i % COLORS));
	amain();
}

static int met;

/* Returns only after the other one has arrived, too. */
static void
meet()
{
	facts_add(&met, 1);
	while (facts_get(&met) < 2)
		usleep(100);
	FACTS_END();
}

static void
colors_run_in_parallel()
{
	cpucb_tail(cwrap(meet, 1));
	cpucb_tail(cwrap(meet, 2));
	amain();
}

static int unprotected;

static void
legacy(int rounds)
{
	int before = unprotected;

	unprotected = before + 1;
	if (rounds > 0)
		cpucb_tail(wrap(legacy, rounds - 1));
	else if (unprotected == 8 * 501)
		FACTS_END();
}

/* Without colors a program is serial, as before. */
static void
default_color_is_serial()
{
	int i;

	for (i = 0; i < 8; i++)
		cpucb(wrap(legacy, 500));
	amain();
}

/* ---- before amain, and from other threads ---- */

static int ready;

static void
check_ready()
{
	FACT_EQ(ready, 1);
	FACTS_END();
}

static void
nothing_before_amain()
{
	cpucb(cwrap(check_ready, 3));
	cpucb_tail(cwrap(check_ready, 4));
	delaycb(0, 0, cwrap(check_ready, 5));
	usleep(50000);
	ready = 1;
	amain();
}

/* Fork as a daemon does. */
static void
fork_before_amain()
{
	int status;
	pid_t pid;

	cpucb_tail(cwrap(mark, 'a', 5));
	cpucb_tail(cwrap(expect, "a", 5));
	delaycb(1000, 0, wrap(mark, 'x'));
	pid = fork();
	if (pid == 0)
		amain();
	FACT(waitpid(pid, &status, 0) == pid);
	FACT(WIFEXITED(status));
	FACT_EQ(WEXITSTATUS(status), FACTS_PASSED);
	/* The parent's posts still belong to the parent. */
	amain();
}

static void *
post_from_thread(void *)
{
	int i;

	FACT_EQ(get_current_proc(), MAX_THREADS);
	for (i = 0; i < 100; i++)
		cpucb_tail(cwrap(mark, 'a' + i % 26, 5));
	cpucb_tail(wrap(exit, FACTS_PASSED));
	return NULL;
}

static pthread_t thread;

static void
start_thread()
{
	FACT(pthread_create(&thread, NULL, post_from_thread, NULL) == 0);
}

static void
other_threads_may_post()
{
	cpucb_tail(wrap(start_thread));
	amain();
}

static void
tick_tock(int rounds)
{
	if (rounds > 0)
		cpucb_tail(cwrap_timeleft(tick_tock, rounds - 1, rounds % 8, 2000));
	else
		FACTS_END();
}

static void
timeleft_is_a_hint()
{
	cpucb_tail(cwrap_timeleft(tick_tock, 1000, 1, 165000));
	cpucb(cpwrap_timeleft(mark, 'a', 9, 1, -5));
	amain();
}

static const struct fact facts[] = {
	CASE(tails_are_fifo),
	CASE(heads_go_first),
	CASE(heads_go_first_inside),
	CASE(priority_keeps_order),
	CASE_ON(1, round_robin),
	CASE_ON(1, head_overtakes_no_color),
	CASE_ON(1, priorities),
	CASE_ON(1, large_priorities),
	CASE_ON(1, last_post_rules),
	CASE_ON(1, low_does_not_starve),
	CASE(no_inheritance),
	CASE(colors_are_folded),
	CASE(negative_pins),
	CASE_ENDS(no_such_worker, 1, "workers"),
	CASE_ENDS(no_such_worker_inside, 1, "workers"),
	CASE(colors_exclude),
	CASE_ON(2, colors_run_in_parallel),
	CASE(default_color_is_serial),
	CASE(nothing_before_amain),
	CASE(fork_before_amain),
	CASE(other_threads_may_post),
	CASE(timeleft_is_a_hint),
	CASE(idle_ids_come_back),
};

FACTS_MAIN(facts)
