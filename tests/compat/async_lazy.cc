/* SPDX-License-Identifier: MIT */
/*
 * async_lazy.cc: yieldcb and lazycb of dialect "async", which run in a pass but do not cause one.
 * Section 1.1 of the facts, trap 15.
 */
#include "async.h"

#include "marks.h"

static void
yield_again(int left)
{
	mark('y');
	if (left > 0)
		yieldcb(wrap(yield_again, left - 1));
}

/* Once, at the end of the current pass; a yieldcb made there runs in the next pass. */
static void
yields()
{
	yieldcb(wrap(yield_again, 1));
	yieldcb_remove(yieldcb(wrap(mark, 'n')));
	yieldcb_remove(NULL);
	delaycb(0, 0, wrap(mark, 'a'));
	acheck();
	FACT(seen == "ay");
	delaycb(0, 0, wrap(mark, 'b'));
	acheck();
	delaycb(0, 0, wrap(mark, 'c'));
	acheck();
	expect("aybyc");
}

/* Arm a timer that one pass runs. Timers wait for time(NULL), too, which reaches the next second up
 * to a tick late; passes before that would be in vain. */
static void
delay_within_second(long ms, char c)
{
	timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += ms * MS;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	if (t.tv_nsec < 20 * MS)
		t.tv_nsec += 20 * MS;
	timecb(t, wrap(mark, c));
}

static yieldcb_t *second;

static void
remove_second()
{
	mark('y');
	yieldcb_remove(second);
}

static void
yield_removes()
{
	yieldcb(wrap(remove_second));
	second = yieldcb(wrap(mark, 'n'));
	delaycb(100, wrap(expect, "the pass of the other timer"));
	delay_within_second(5, 'y');
	acheck();
	expect("yy");
}

static void
yield_too_late()
{
	second = yieldcb(wrap(mark, 'y'));
	delaycb(0, 0, cbv_null);
	acheck();
	yieldcb_remove(second);
}

/* Neither wakes up the loop: only the timer does. */
static void
yield_waits()
{
	yieldcb(wrap(mark, 'y'));
	lazycb(0, wrap(mark, 'l'));
	delay_within_second(30, 't');
	acheck();
	expect("lty");
}

static lazycb_t *lazy;
static int lazies;

static void
lazily()
{
	FACT(++lazies <= 3);
	if (lazies == 3)
		lazycb_remove(lazy);
}

static void
tick(int after)
{
	if (after == 20)
		expect("");
	delaycb(0, MS, wrap(tick, after + (lazies == 3)));
}

/* Repeatedly, until it is removed: by itself here. */
static void
lazy_repeats()
{
	lazy = lazycb(0, wrap(lazily));
	lazycb_remove(lazycb(0, wrap(mark, 'n')));
	lazycb_remove(NULL);
	tick(0);
	amain();
}

static void
busy_tick()
{
	delaycb(0, 10 * MS, wrap(busy_tick));
}

static time_t lazy_since;

static void
after_seconds()
{
	FACT(time(NULL) >= lazy_since + 1);
	FACTS_END();
}

/* Intervals are in whole seconds. */
static void
lazy_seconds()
{
	lazy_since = time(NULL);
	lazycb(1, wrap(after_seconds));
	busy_tick();
	amain();
}

static void
in_its_color(int *left)
{
	FACT_EQ(get_current_color(), 5);
	if (--*left == 0)
		FACTS_END();
}

static void
ask_for_a_color()
{
	static int left = 2;

	yieldcb(cwrap(in_its_color, &left, 5));
	lazy = lazycb(0, cwrap(in_its_color, &left, 5));
	busy_tick();
}

/* Created in color 0; the callback runs in its own color. */
static void
colored()
{
	delaycb(0, 0, wrap(ask_for_a_color));
	amain();
}

static void
lazy_unknown()
{
	int nothing;

	lazycb_remove((lazycb_t *)&nothing);
}

#define ABORTS(workers, fn) {#fn, fn, 1000 + SIGABRT, NULL, workers}

static const struct fact facts[] = {
	CASE_ON(1, yields),
	CASE_ON(1, yield_removes),
	ABORTS(1, yield_too_late),
	CASE_ON(1, yield_waits),
	CASE(lazy_repeats),
	CASE_ON(2, lazy_seconds),
	CASE(colored),
	ABORTS(1, lazy_unknown),
};

FACTS_MAIN(facts)
