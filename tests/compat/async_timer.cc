/* SPDX-License-Identifier: MIT */
/*
 * async_timer.cc: timers of dialect "async". Section 1.1 of the facts.
 */
#include "async.h"

#include "marks.h"

static timespec due;
static timecb_t *timer;

static timespec
now()
{
	timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t;
}

static timespec
plus_ms(timespec t, long ms)
{
	t.tv_nsec += ms * MS;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static timespec
in_ms(long ms)
{
	return plus_ms(now(), ms);
}

/* ---- when ---- */

static void
not_early(int left, int color)
{
	FACT(now() >= due);
	FACT_EQ(get_current_color(), color);
	if (left == 0)
		FACTS_END();
	due = in_ms(left % 3);
	timecb(due, cpwrap(not_early, left - 1, color, color, 0));
}

static void
never_early()
{
	due = in_ms(3);
	timecb(due, wrap(not_early, 200, 0));
	amain();
}

static void
never_early_colored()
{
	due = in_ms(3);
	timecb(due, cwrap(not_early, 200, 5, 5));
	amain();
}

static void
delay_not_early(int left)
{
	FACT(now() >= due);
	if (left == 0)
		FACTS_END();
	due = in_ms(2);
	delaycb(0, 2 * MS, wrap(delay_not_early, left - 1));
}

static void
delays_are_not_early()
{
	delay_not_early(50);
	amain();
}

/* Programs compare with time(NULL), which may be slightly behind the other clock. */
static void
whole_second(time_t when)
{
	FACT(time(NULL) >= when);
	FACTS_END();
}

static void
not_early_by_time()
{
	time_t when = time(NULL) + 1;

	timecb(when, wrap(whole_second, when));
	amain();
}

static void
not_early_by_time_colored()
{
	time_t when = time(NULL) + 1;

	timecb(when, cwrap(whole_second, when, 3));
	amain();
}

static void
not_early_by_hand()
{
	time_t when = time(NULL) + 1;

	timecb(when, wrap(whole_second, when));
	for (;;)
		acheck();
}

/* ---- the order: of times that are all counted from one moment ---- */

static void
by_time()
{
	timespec begin = now();

	timecb(plus_ms(begin, 30), wrap(mark, 'c'));
	timecb(plus_ms(begin, 10), wrap(mark, 'a'));
	timecb(plus_ms(begin, 20), wrap(mark, 'b'));
	timecb(plus_ms(begin, 40), wrap(expect, "abc"));
	amain();
}

static void
equal_times()
{
	timespec t = in_ms(5);
	char c;

	for (c = 'a'; c <= 'z'; c++)
		timecb(t, wrap(mark, c));
	timecb(t, wrap(expect, "abcdefghijklmnopqrstuvwxyz"));
	amain();
}

/* One in color 0 and one in another color: the order of equal times holds within a color only. */
static void
equal_times_colored()
{
	timespec t = in_ms(5);
	char c;

	for (c = 'a'; c <= 'z'; c++)
		timecb(t, cwrap(mark, c, 9));
	timecb(t, cwrap(expect, "abcdefghijklmnopqrstuvwxyz", 9));
	amain();
}

static void
no_delay_first()
{
	timespec past = {1, 0};

	timecb(past, wrap(mark, 'b'));
	timecb(past, wrap(mark, 'c'));
	delaycb(0, 0, wrap(mark, 'a'));
	timecb(past, wrap(expect, "abc"));
	amain();
}

static void
no_delays_in_order()
{
	delaycb(0, wrap(mark, 'a'));
	delaycb(0, 0, wrap(mark, 'b'));
	delaycb(0, wrap(mark, 'c'));
	timecb(in_ms(1), wrap(expect, "abc"));
	amain();
}

/* Times in the past, and nanoseconds beyond a fraction of a second. */
static void
any_nanoseconds()
{
	timespec t = in_ms(0), later, earlier, before = {-5, -5};

	later = earlier = t;
	later.tv_sec -= 3;
	later.tv_nsec += 3000000000l + 20 * MS;
	earlier.tv_sec += 2;
	earlier.tv_nsec -= 2000000000l - 10 * MS;
	timecb(later, wrap(mark, 'c'));
	timecb(earlier, wrap(mark, 'b'));
	timecb(before, wrap(mark, 'a'));
	delaycb(0, 4000000000u, wrap(expect, "abc"));
	delaycb(-1, 1030 * MS, wrap(expect, "abc"));
	amain();
}

static void
far_future()
{
	timecb_t *t = delaycb((time_t)1 << 62, 0, wrap(mark, 'x'));

	timecb((time_t)1 << 62, wrap(mark, 'x'));
	delaycb(0, 5 * MS, wrap(expect, ""));
	timecb_remove(t);
	amain();
}

static void
readable_later(int fd)
{
	mark('r');
	fdcb(fd, selread, NULL);
	expect("tr");
}

/* Timers armed before amain run once before the first wait, so before callbacks of ready
 * descriptors. */
static void
armed_before_amain()
{
	int fds[2];

	FACT(pipe(fds) == 0 && write(fds[1], "x", 1) == 1);
	fdcb(fds[0], selread, wrap(readable_later, fds[0]));
	delaycb(0, 0, wrap(mark, 't'));
	amain();
}

/* ---- no recursion, no starvation ---- */

static int depth, calls;

static void
rearm()
{
	FACT_EQ(++depth, 1);
	if (++calls == 1000)
		FACTS_END();
	delaycb(0, 0, wrap(rearm));
	depth--;
}

static void
no_delay_inside()
{
	delaycb(0, 0, wrap(rearm));
	amain();
}

static void
endless()
{
	delaycb(0, 0, wrap(endless));
}

static void
readable(int)
{
	FACTS_END();
}

/* A timer that arms itself without a delay does not starve descriptors and posts. */
static void
nobody_starves()
{
	int fds[2];

	FACT(pipe(fds) == 0 && write(fds[1], "x", 1) == 1);
	delaycb(0, 0, wrap(endless));
	fdcb(fds[0], selread, wrap(readable, 0));
	amain();
}

static void
posts_do_not_starve()
{
	delaycb(0, 0, wrap(endless));
	delaycb(0, MS, wrap(implicit_cast<void (*)(cbv::ptr)>(cpucb_tail),
	    cbv::ptr(wrap(readable, 0))));
	amain();
}

/* ---- removal ---- */

static timecb_t *pair_of[2];

static void
remove_other(int other)
{
	mark('x');
	pair_of[1 - other] = NULL;
	timecb_remove(pair_of[other]);
	pair_of[other] = NULL;
}

/* Both have expired; the first one that runs removes the other. */
static void
remove_each_other()
{
	timespec t = in_ms(2);

	pair_of[0] = timecb(t, wrap(remove_other, 1));
	pair_of[1] = timecb(t, wrap(remove_other, 0));
	delaycb(0, 20 * MS, wrap(expect, "x"));
	amain();
}

static void
remove_each_other_colored()
{
	timespec t = in_ms(2);

	pair_of[0] = timecb(t, cwrap(remove_other, 1, 6));
	pair_of[1] = timecb(t, cwrap(remove_other, 0, 6));
	delaycb(0, 20 * MS, cwrap(expect, "x", 6));
	amain();
}

static void
readable_removes(int fd)
{
	mark('r');
	fdcb(fd, selread, NULL);
	timecb_remove(timer);
}

/* It has expired when the pass begins; descriptors come before timers. */
static void
descriptor_removes()
{
	int fds[2];
	timespec past = {1, 0};

	FACT(pipe(fds) == 0 && write(fds[1], "x", 1) == 1);
	timer = timecb(past, wrap(mark, 't'));
	fdcb(fds[0], selread, wrap(readable_removes, fds[0]));
	acheck();
	expect("r");
}

static int alive;

struct counted {
	counted() { alive++; }
	~counted() { alive--; }
	void never() { mark('n'); }
	void
	once()
	{
		FACT_EQ(alive, 1);
		mark('o');
	}
};

static void
removal_frees()
{
	timer = delaycb(1, 0, wrap(ref<counted>(New refcounted<counted>), &counted::never));
	FACT_EQ(alive, 1);
	timecb_remove(timer);
	FACT_EQ(alive, 0);
	timecb_remove(NULL);
	FACTS_END();
}

static void
is_freed()
{
	FACT_EQ(alive, 0);
	expect("o");
}

/* The timer holds the callback until it has been called. */
static void
call_frees()
{
	delaycb(0, MS, wrap(ref<counted>(New refcounted<counted>), &counted::once));
	delaycb(0, 10 * MS, wrap(is_freed));
	amain();
}

static void
remove_twice()
{
	timer = delaycb(1, 0, wrap(mark, 'x'));
	timecb_remove(timer);
	timecb_remove(timer);
}

static void
remove_unknown()
{
	int nothing;

	timecb_remove((timecb_t *)&nothing);
}

static void
remove_itself_now()
{
	timecb_remove(timer);
}

static void
remove_inside()
{
	timer = delaycb(0, MS, wrap(remove_itself_now));
	amain();
}

static void
remove_inside_colored()
{
	timer = delaycb(0, MS, cwrap(remove_itself_now, 4));
	amain();
}

static void
remove_called()
{
	timer = delaycb(0, 0, wrap(mark, 'x'));
	delaycb(0, 5 * MS, wrap(remove_itself_now));
	amain();
}

/* By now another timer has its slot. */
static void
remove_successor()
{
	timecb_t *old = delaycb(1, 0, wrap(mark, 'x'));

	timecb_remove(old);
	FACT(delaycb(1, 0, wrap(mark, 'y')) != old);
	timecb_remove(old);
}

/* ---- other colors, before amain ---- */

/* Other colors arm and remove timers; the callback of color 0 runs in color 0. */
static void
in_zero()
{
	FACT_EQ(get_current_color(), 0);
	FACTS_END();
}

static void
arm_elsewhere()
{
	FACT_EQ(get_current_color(), 8);
	timecb_remove(delaycb(100, wrap(mark, 'x')));
	timecb_remove(timer);
	delaycb(0, MS, wrap(in_zero));
}

static void
any_color()
{
	timer = delaycb(100, wrap(expect, "removed"));
	cpucb_tail(cwrap(arm_elsewhere, 8));
	amain();
}

static void
by_hand_colored(int color)
{
	FACT_EQ(get_current_color(), color);
	mark('a' + color);
}

/* Before amain, acheck runs the timers of all colors. */
static void
by_hand()
{
	timespec begin = now();

	timecb(plus_ms(begin, 10), cwrap(by_hand_colored, 2, 2));
	timecb(plus_ms(begin, 20), wrap(by_hand_colored, 0));
	timecb(plus_ms(begin, 5), cwrap(by_hand_colored, 1, 1));
	while (seen.size() < 3)
		acheck();
	FACT_EQ(get_current_color(), -42);
	expect("bca");
}

static int called_in[3]; /* the number of calls in colors 0, 1 and 2 */

static void
call_of(int color)
{
	FACT_EQ(get_current_color(), color);
	facts_add(&called_in[color], 1);
}

static void
all_called()
{
	for (int color = 0; color < 3; color++)
		if (facts_get(&called_in[color]) == 0) {
			delaycb(0, MS, wrap(all_called));
			return;
		}
	for (int color = 0; color < 3; color++)
		FACT_EQ(facts_get(&called_in[color]), 1);
	FACTS_END();
}

/* amain takes over timers armed before it. */
static void
from_hand_to_amain()
{
	delaycb(0, 60 * MS, cwrap(call_of, 2, 2));
	delaycb(0, 80 * MS, wrap(all_called));
	delaycb(0, MS, wrap(call_of, 0));
	while (facts_get(&called_in[0]) == 0)
		acheck();
	delaycb(0, MS, cwrap(call_of, 1, 1));
	amain();
}

/* In the order of their times, even when all are late. */
static void
late_by_hand()
{
	timespec begin = now();

	timecb(plus_ms(begin, 3), wrap(by_hand_colored, 0));
	timecb(plus_ms(begin, 2), cwrap(by_hand_colored, 2, 2));
	timecb(plus_ms(begin, 4), cwrap(by_hand_colored, 1, 1));
	usleep(10000);
	while (seen.size() < 3)
		acheck();
	expect("cab");
}

#define ABORTS(workers, fn) {#fn, fn, 1000 + SIGABRT, NULL, workers}

static const struct fact facts[] = {
	CASE(never_early),
	CASE(never_early_colored),
	CASE_ON(2, delays_are_not_early),
	CASE_ON(2, not_early_by_time),
	CASE_ON(2, not_early_by_time_colored),
	CASE_ON(1, not_early_by_hand),
	CASE(by_time),
	CASE(equal_times),
	CASE(equal_times_colored),
	CASE(no_delay_first),
	CASE(no_delays_in_order),
	CASE_ON(2, any_nanoseconds),
	CASE_ON(2, far_future),
	CASE(armed_before_amain),
	CASE(no_delay_inside),
	CASE(nobody_starves),
	CASE(posts_do_not_starve),
	CASE(remove_each_other),
	CASE(remove_each_other_colored),
	CASE_ON(1, descriptor_removes),
	CASE_ON(1, removal_frees),
	CASE(call_frees),
	{"remove_twice", remove_twice, 1000 + SIGABRT, "invalid timecb_t", 1},
	ABORTS(1, remove_unknown),
	ABORTS(2, remove_inside),
	ABORTS(2, remove_inside_colored),
	ABORTS(2, remove_called),
	ABORTS(1, remove_successor),
	CASE(any_color),
	CASE_ON(1, by_hand),
	CASE_ON(1, late_by_hand),
	CASE(from_hand_to_amain),
};

FACTS_MAIN(facts)
