/* SPDX-License-Identifier: MIT */
/*
 * async_smp.cc: colors in dialect "async": what libasync-smp added to libasync. Sections 0.2, 0.5
 * and 1.11 of the facts, and the rules of section 0.
 */
#include "async.h"

#include "idle_ids.h"
#include "marks.h"

static int left;

/* ---- where am I ---- */

static void
ask_inside(int color, int proc)
{
	FACT_EQ(get_current_color(), color);
	FACT_EQ(get_current_proc(), proc);
	FACT_EQ(task_get_nthreads(), async_get_nthreads());
	FACTS_END();
}

static void
introspection()
{
	const char *cores = getenv("MELY_CORES");
	int last = task_get_nthreads() - 1;

	FACT_EQ(get_current_color(), -42);
	FACT_EQ(get_current_proc(), MAX_THREADS);
	FACT(cores != NULL && task_get_nthreads() == atoi(cores));
	FACT(task_get_nthreads() <= MAX_THREADS);
	FACT_EQ(MAX_COLORS, 32764);
	cpucb_tail(cwrap(ask_inside, -(last + 1), last, -(last + 1)));
	amain();
}

static void
is_color(int color)
{
	FACT_EQ(get_current_color(), color);
	FACT(get_current_proc() < (unsigned)task_get_nthreads());
	if (facts_add(&left, -1) == 0)
		FACTS_END();
}

/* Colors from 0 up are reduced; the callback reports the original value. */
static void
reduced()
{
	cbv cb = cwrap(is_color, 7236, 40000);

	left = 4;
	FACT_EQ(cb->getcolor(), 40000);
	cpucb_tail(cb);
	cpucb_tail(cwrap(is_color, 0, MAX_COLORS));
	cpucb_tail(cwrap(is_color, 32763, 32763));
	delaycb(0, MS, cwrap(is_color, 1, MAX_COLORS + 1));
	amain();
}

static void
ask_default()
{
	FACT_EQ(get_current_color(), 7);
	cpucb_tail(wrap(is_color, 0));
	cpucb(wrap(is_color, 0));
	delaycb(0, 0, wrap(is_color, 0));
}

/* Callbacks do not inherit a color. */
static void
not_inherited()
{
	left = 3;
	cpucb_tail(cwrap(ask_default, 7));
	amain();
}

static void
called_in(int color)
{
	FACT_EQ(get_current_color(), color);
}

static void
call_directly()
{
	cbv cb = cwrap(called_in, 3, 9);

	cb();
	(*cb)();
	cb->trigger();
	FACTS_END();
}

/* Calling a callback is a function call. */
static void
a_call_is_a_call()
{
	cpucb_tail(cwrap(call_directly, 3));
	amain();
}

static void
no_such_worker()
{
	cpucb_tail(cwrap(mark, 'x', -(task_get_nthreads() + 1)));
}

/* ---- order ---- */

static void
post_in_order(int color)
{
	cpucb_tail(cwrap(mark, 'c', color));
	cpucb_tail(cwrap(mark, 'd', color));
	cpucb(cwrap(mark, 'a', color));
	cpucb(cwrap(mark, 'b', color));
	cpucb_tail(cwrap(expect, "abcd", color));
}

static void
heads_and_tails()
{
	cpucb_tail(cwrap(post_in_order, 5, 5));
	amain();
}

static void
heads_and_tails_of_zero()
{
	cpucb_tail(wrap(post_in_order, 0));
	amain();
}

static void
heads_and_tails_before()
{
	post_in_order(5);
	amain();
}

static void
heads_and_tails_of_zero_before()
{
	post_in_order(0);
	amain();
}

static void
heads_and_tails_by_hand()
{
	post_in_order(5);
	acheck();
}

static void
higher_first()
{
	/* All on one worker: the colors run in the order of their priorities. */
	cpucb_tail(cpwrap(mark, 'c', 1, -5));
	cpucb_tail(cpwrap(mark, 'b', 2, 5));
	cpucb_tail(cpwrap(mark, 'a', 3, 10));
	cpucb_tail(cpwrap(expect, "abc", 4, -10));
}

static void
priorities()
{
	cpucb_tail(wrap(higher_first));
	amain();
}

static void
zero_is_higher()
{
	cpucb_tail(cpwrap(mark, 'b', 1, 0));
	cpucb_tail(cpwrap(mark, 'a', 0, 10));
	cpucb_tail(cpwrap(expect, "ab", 2, -10));
}

static void
zero_has_priority_too()
{
	cpucb_tail(cwrap(zero_is_higher, 3));
	amain();
}

static int next_of[4];

static void
numbered(int color, int n)
{
	FACT_EQ(n, next_of[color]);
	next_of[color]++;
	if (n == 999 && facts_add(&left, -1) == 0)
		FACTS_END();
}

/* Posted from one event to one color: in order, also for color 0. */
static void
in_order()
{
	int color, n;

	left = 4;
	for (n = 0; n < 1000; n++)
		for (color = 0; color < 4; color++)
			cpucb_tail(cwrap(numbered, color, n, color));
	amain();
}

/* ---- one at a time ---- */

static int inside[5], ran;

static void
exclusive(int color, int more)
{
	FACT_EQ(facts_add(&inside[color], 1), 1);
	for (int i = 0; i < 500; i++)
		FACT_EQ(facts_get(&inside[color]), 1);
	facts_add(&inside[color], -1);
	if (more > 0)
		cpucb_tail(cwrap(exclusive, color, more - 1, color));
	else if (facts_add(&ran, 1) == 20)
		FACTS_END();
}

/* Events of a color never overlap: those posted, timers, descriptors, color 0 among them. */
static void
never_overlap()
{
	int fds[2];

	FACT(pipe(fds) == 0 && write(fds[1], "x", 1) == 1);
	for (int color = 0; color < 5; color++)
		for (int i = 0; i < 4; i++)
			cpucb_tail(cwrap(exclusive, color, 200, color));
	for (int i = 1; i < 50; i++) {
		delaycb(0, i * 100000, cwrap(exclusive, 0, 1000000 + i, 0));
		delaycb(0, i * 100000, cwrap(exclusive, 1, 1000000 + i, 1));
	}
	fdcb(fds[0], selread, cwrap(exclusive, 0, 1000000, 0));
	fdcb(fds[0], selwrite, cbv_null);
	fdcb(fds[0], selwrite, NULL);
	amain();
}

static int met;

static void
meet()
{
	facts_add(&met, 1);
	while (facts_get(&met) < 2)
		sched_yield();
	if (facts_add(&met, 1) == 4)
		FACTS_END();
}

/* With two workers, different colors run at the same time. */
static void
overlap()
{
	cpucb_tail(cwrap(meet, -1));
	cpucb_tail(cwrap(meet, -2));
	amain();
}

static int chain_left[2];

static void
chain(int which, int color)
{
	if (--chain_left[which] == 0) {
		if (facts_add(&left, -1) == 0)
			FACTS_END();
		return;
	}
	cpucb_tail(cwrap(chain, which, color, color));
}

static void
chains()
{
	left = 2;
	chain_left[0] = chain_left[1] = 20000;
	cpucb_tail(cwrap(chain, 0, 3, 3));
	cpucb_tail(cwrap(chain, 1, 0, 0));
	amain();
}

/* ---- descriptors of colors ---- */

static int
full_pipe()
{
	int fds[2];

	FACT(pipe(fds) == 0 && write(fds[1], "xy", 2) == 2);
	return fds[0];
}

static void
readable_in(int fd, int color)
{
	FACT_EQ(get_current_color(), color);
	mark('r');
	if (seen.size() == 3) {
		fdcb(fd, selread, NULL);
		delaycb(0, 20 * MS, cwrap(expect, "rrr", color));
	}
}

static void
colored_descriptor()
{
	int fd = full_pipe();

	fdcb(fd, selread, cwrap(readable_in, fd, 6, 6));
	amain();
}

static void
register_from_six(int fd)
{
	fdcb(fd, selread, cwrap(readable_in, fd, 8, 8));
}

static void
descriptor_of_another_color()
{
	cpucb_tail(cwrap(register_from_six, full_pipe(), 6));
	amain();
}

static void
descriptor_of_zero_from_elsewhere(int fd)
{
	fdcb(fd, selread, wrap(readable_in, fd, 0));
}

static void
descriptor_of_zero()
{
	cpucb_tail(cwrap(descriptor_of_zero_from_elsewhere, full_pipe(), 6));
	amain();
}

static void
read_once(int fd, char c, selop op)
{
	mark(c);
	fdcb(fd, op, NULL);
}

static void
to_another_color(int fd)
{
	seen = ""; /* the last that this color does with it */
	fdcb(fd, selread, cwrap(readable_in, fd, 9, 9));
}

/* A callback is replaced by one of another color, both from color 0 and from a color. */
static void
changes_color()
{
	int fd = full_pipe();

	fdcb(fd, selread, wrap(to_another_color, fd));
	amain();
}

static void
color_to_color()
{
	int fd = full_pipe();

	fdcb(fd, selread, cwrap(to_another_color, fd, 4));
	amain();
}

static void
drop_both(int own, int other)
{
	mark('a');
	fdcb(own, selread, NULL);
	fdcb(other, selread, NULL);
	delaycb(0, 20 * MS, cwrap(expect, "a", get_current_color()));
}

static void
two_of_a_color(int color)
{
	int a = full_pipe(), b = full_pipe();

	fdcb(a, selread, cwrap(drop_both, a, b, color));
	fdcb(b, selread, cwrap(drop_both, b, a, color));
}

/* The callback is checked again right before the call, in colors as in passes. */
static void
looked_at_again()
{
	cpucb_tail(cwrap(two_of_a_color, 7, 7));
	amain();
}

/* Both directions are watched, with a color each. */
static void
two_colors_for_one()
{
	int fds[2];

	FACT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0 && write(fds[1], "x", 1) == 1);
	left = 2;
	fdcb(fds[0], selread, cwrap(is_color, 5, 5));
	fdcb(fds[0], selwrite, wrap(read_once, fds[0], 'w', selwrite));
	amain();
}

static void
check_by_hand()
{
	int fd = full_pipe();

	fdcb(fd, selread, cwrap(readable_in, fd, 6, 6));
	while (seen.size() < 3)
		acheck();
	FACT(seen == "rrr");
	for (;;)
		acheck(); /* the timer of color 6 ends the program */
}

/* ---- freeing ---- */

static int alive, ended_in;

struct counted {
	counted() { facts_add(&alive, 1); }
	~counted()
	{
		ended_in = get_current_color();
		facts_add(&alive, -1);
	}
	void run() { FACT_EQ(facts_get(&alive), 1); }
};

static void
is_freed()
{
	FACT_EQ(facts_get(&alive), 0);
	FACT_EQ(ended_in, get_current_color());
	FACTS_END();
}

/* The event holds the only reference, and drops it after the call, in its color. */
static void
event_frees(int color)
{
	cpucb_tail(cwrap(ref<counted>(New refcounted<counted>), &counted::run, color));
	cpucb_tail(cwrap(is_freed, color));
	amain();
}

static void
event_of_color_frees()
{
	event_frees(5);
}

static void
event_of_zero_frees()
{
	event_frees(0);
}

static void
repeat(cbv cb)
{
	left = 3;
	cpucb_tail(cb);
	cpucb(cb);
	delaycb(0, 0, cb);
}

/* A callback may be posted any number of times; NULL does nothing. */
static void
post_again()
{
	cpucb_tail(NULL);
	cpucb(NULL);
	repeat(cwrap(is_color, 5, 5));
	amain();
}

static void *
post_from_thread(void *)
{
	cpucb_tail(wrap(is_color, 0));
	cpucb_tail(cwrap(is_color, 2, 2));
	fdcb(full_pipe(), selread, cwrap(called_in, 2, 2));
	return NULL;
}

static void
start_thread()
{
	pthread_t thread;

	pthread_create(&thread, NULL, post_from_thread, NULL);
	pthread_detach(thread);
}

/* Posts from a thread of the program. */
static void
any_thread()
{
	left = 2;
	cpucb_tail(wrap(start_thread));
	amain();
}

static const struct fact facts[] = {
	CASE(idle_ids_come_back),
	CASE(introspection),
	CASE(reduced),
	CASE(not_inherited),
	CASE(a_call_is_a_call),
	{"no_such_worker", no_such_worker, 1, "color -", 0},
	CASE(heads_and_tails),
	CASE(heads_and_tails_of_zero),
	CASE(heads_and_tails_before),
	CASE(heads_and_tails_of_zero_before),
	CASE_ON(1, heads_and_tails_by_hand),
	CASE_ON(1, priorities),
	CASE_ON(1, zero_has_priority_too),
	CASE(in_order),
	CASE(never_overlap),
	CASE_ON(2, overlap),
	CASE_ON(8, overlap),
	CASE(chains),
	CASE(colored_descriptor),
	CASE(descriptor_of_another_color),
	CASE(descriptor_of_zero),
	CASE(changes_color),
	CASE(color_to_color),
	CASE(looked_at_again),
	CASE_ON(2, two_colors_for_one),
	CASE_ON(1, check_by_hand),
	CASE(event_of_color_frees),
	CASE(event_of_zero_frees),
	CASE(post_again),
	CASE(any_thread),
};

FACTS_MAIN(facts)
