/* SPDX-License-Identifier: MIT */
/*
 * mely_timer.cc: timers of dialect "mely". Section 0.4 of the facts.
 */
#include "mely.h"

#include "counted.h"
#include "facts.h"
#include "marks.h"

static timecb_t *timers[8];

static timespec
in_ns(long ns)
{
	timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += ns;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static int64_t
ns_of(const timespec &t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- when ---- */

static int left;

static void
not_early(timespec due)
{
	FACT(ns_of(in_ns(0)) >= ns_of(due));
	FACT_EQ(get_current_color(), 3);
	if (--left == 0)
		FACTS_END();
}

static void
arm_many()
{
	int i;

	left = 200;
	for (i = 0; i < left; i++) {
		timespec due = in_ns(i * 37717 % 9000000);
		FACT(timecb(due, cwrap(not_early, due, 3)) != NULL);
	}
}

static void
never_early()
{
	arm_many();
	amain();
}

static void
never_early_inside()
{
	cpucb_tail(cwrap(arm_many, 3));
	amain();
}

static void
never_early_delay()
{
	int i;

	left = 3;
	for (i = 0; i < left; i++)
		delaycb(0, 2000000 * i, cwrap(not_early, in_ns(2000000 * i), 3));
	amain();
}

/* Ordered by time, and among equal times by age. */
static void
in_order()
{
	timespec due = in_ns(3000000), later = in_ns(4000000);
	int i;

	timecb(later, cwrap(mark, 'z', 3));
	for (i = 0; i < 10; i++)
		timecb(due, cwrap(mark, 'a' + i, 3));
	later.tv_nsec++;
	timecb(later, cwrap(expect, "abcdefghijz", 3));
	amain();
}

/* A time need not be normalized, nor in the future. */
static void
odd_times()
{
	timespec past = {1, 0}, odd = in_ns(0), negative = {-5, -7};

	odd.tv_sec -= 3;
	odd.tv_nsec += 3000000000l;
	timecb(negative, cwrap(mark, 'n', 3));
	timecb(past, cwrap(mark, 'p', 3));
	timecb(odd, cwrap(expect, "np", 3));
	delaycb((time_t)1 << 62, 0, cwrap(mark, 'x', 3));
	amain();
}

/* An expired timer is a tail post with its color and priority. */
static void
post_and_wait()
{
	timespec now = in_ns(0);

	timecb(now, cwrap(mark, 't', 3));
	while (ns_of(in_ns(0)) < ns_of(now) + 20000000)
		;
	cpucb(cwrap(mark, 'h', 3));
	timecb(in_ns(0), cwrap(expect, "ht", 3));
}

static void
is_a_tail_post()
{
	cpucb_tail(cwrap(post_and_wait, 3));
	amain();
}

static void
arm_four()
{
	timespec due = in_ns(0);

	timecb(due, cpwrap(mark, 'd', 2, -9));
	timecb(due, cpwrap(mark, 'b', 3, 5));
	timecb(due, cpwrap(mark, 'c', 4, 0));
	timecb(due, cpwrap(mark, 'a', 5, 9));
	timecb(due, cpwrap(expect, "abcd", 6, -11));
	usleep(20000); /* all have expired when this returns */
}

/* Timers that expire together run in the order of the callbacks' priorities. */
static void
has_priority()
{
	cpucb_tail(cwrap(arm_four, 1));
	amain();
}

/* ---- removal ---- */

static void
remove_nothing()
{
	timecb_remove(NULL);
	timers[0] = delaycb(0, 1000000, cwrap(mark, 'x', 3));
	timers[1] = delaycb(1000, 0, cwrap(mark, 'y', 3));
	timecb_remove(timers[0]);
	timecb_remove(timers[1]);
	delaycb(0, 5000000, cwrap(expect, "", 3));
	amain();
}

static void
remove_other(int other)
{
	mark('a' + other);
	timecb_remove(timers[other]);
	delaycb(0, 5000000, cwrap(expect, other == 0 ? "a" : "b", 3));
}

/* Two timers with one deadline remove each other: only the first runs, though the other has
 * expired. */
static void
remove_each_other()
{
	timespec due = in_ns(2000000);

	timers[0] = timecb(due, cwrap(remove_other, 1, 3));
	timers[1] = timecb(due, cwrap(remove_other, 0, 3));
	amain();
}

/* Like remove_each_other, but the other one is certainly in the run queue. */
static void
remove_expired()
{
	timers[0] = timecb(in_ns(0), cwrap(mark, 'x', 3));
	timers[1] = timecb(in_ns(0), cpwrap(mark, 'y', 3, 5));
	usleep(20000);
	timecb_remove(timers[0]);
	timecb_remove(timers[1]);
	delaycb(0, 5000000, cwrap(expect, "", 3));
}

static void
remove_when_expired()
{
	cpucb_tail(cwrap(remove_expired, 3));
	amain();
}

static void
remove_self()
{
	timecb_remove(timers[0]);
	FACTS_END();
}

static void
in_own_callback()
{
	cpucb_tail(cwrap(mark, 'a', 3));
	timers[0] = delaycb(0, 1000, cwrap(remove_self, 3));
	amain();
}

static void
after_it_ran()
{
	timers[0] = delaycb(0, 1000, cwrap(mark, 'a', 3));
	delaycb(0, 5000000, cwrap(remove_self, 3));
	amain();
}

static void
removed_twice()
{
	timers[0] = delaycb(1000, 0, cwrap(mark, 'a', 3));
	timecb_remove(timers[0]);
	/* This holds even if another timer reuses its slot. */
	timers[1] = delaycb(1000, 0, cwrap(mark, 'b', 3));
	FACT(timers[0] != timers[1]);
	timecb_remove(timers[0]);
	FACTS_END();
}

/* ---- callbacks ---- */

static void
check_all_freed(const char *wanted)
{
	FACT_EQ(counted::alive, 0);
	expect(wanted);
}

static cbv reused;

static void
tick(counted)
{
	mark('t');
	if (seen.size() < 4) {
		delaycb(0, 500000, reused);
		return;
	}
	reused->setFlagAutoFree(true);
	cpucb_tail(cwrap(check_all_freed, "tttt", 3));
}

/* Auto-free is off while the callback arms itself again, and on in the last call. */
static void
callback_reuse()
{
	reused = cwrap(tick, counted(), 3);
	reused->setFlagAutoFree(false);
	delaycb(0, 500000, reused);
	amain();
}

static void
ignore(counted)
{
}

static void
freed()
{
	timers[0] = delaycb(100, 0, cwrap(ignore, counted(), 3));
	cbv kept = cwrap(ignore, counted(), 3);
	kept->setFlagAutoFree(false);
	timers[1] = delaycb(100, 0, kept);
	FACT_EQ(counted::alive, 2);
	timecb_remove(timers[0]);
	FACT_EQ(counted::alive, 1);
	timecb_remove(timers[1]);
	FACT_EQ(counted::alive, 1);
	delete kept;
	delaycb(0, 1000, cwrap(ignore, counted(), 3));
	delaycb(0, 3000000, cwrap(check_all_freed, "", 3));
	amain();
}

static void
on_worker(int worker)
{
	FACT_EQ(get_current_proc(), worker);
	FACT_EQ(get_current_color(), -(worker + 1));
	if (facts_add(&left, -1) == 0)
		FACTS_END();
}

static void
pinned()
{
	int i;

	left = task_get_nthreads();
	for (i = 0; i < task_get_nthreads(); i++)
		delaycb(0, 1000000, cwrap(on_worker, i, -(i + 1)));
	amain();
}

/* ---- from many colors ---- */

enum { COLORS = 8, ROUNDS = 200 };

static timecb_t *mine[COLORS];
static int fired[COLORS], over;

static void
never()
{
	facts_fail(__FILE__, __LINE__, "a removed timer ran");
}

static void
churn(int color, int rounds)
{
	/* Some of these have expired by now; all have this color. */
	timecb_remove(mine[color]);
	mine[color] = NULL;
	fired[color]++;
	if (rounds == 0) {
		FACT_EQ(fired[color], ROUNDS + 1);
		if (facts_add(&over, 1) == COLORS)
			FACTS_END();
		return;
	}
	timespec due = in_ns(rounds % 3 * 20000);
	timecb(due, cwrap(churn, color, rounds - 1, color));
	mine[color] = timecb(due, cwrap(never, color));
}

static void
removal_is_exact()
{
	int i;

	for (i = 0; i < COLORS; i++)
		cpucb_tail(cwrap(churn, i, ROUNDS, i));
	amain();
}

static const struct fact facts[] = {
	CASE(never_early),
	CASE(never_early_inside),
	CASE(never_early_delay),
	CASE(in_order),
	CASE(odd_times),
	CASE(is_a_tail_post),
	CASE_ON(1, has_priority),
	CASE(remove_nothing),
	CASE(remove_each_other),
	CASE(remove_when_expired),
	CASE_ENDS(in_own_callback, 1, "invalid timecb_t"),
	CASE_ENDS(after_it_ran, 1, "invalid timecb_t"),
	CASE_ENDS(removed_twice, 1, "invalid timecb_t"),
	CASE(callback_reuse),
	CASE(freed),
	CASE(pinned),
	CASE(removal_is_exact),
};

FACTS_MAIN(facts)
