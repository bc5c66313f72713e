/* SPDX-License-Identifier: MIT */
/*
 * victim.c: the policy of stealing: what a color must be worth, which victim a thief tries, and
 * which color it takes, under each of the heuristics. Times are arguments; one thread plays the
 * cores.
 */
#include "cores.h"

enum { MS = 1000000 };

static enum melyint_reason
worthy(uint64_t now)
{
	return melyint_victim_worthy(one, two, now);
}

static struct mely_color *
choose(enum melyint_reason reason, uint64_t now)
{
	struct mely_color *color;

	melyint_lock_take(&two->lock);
	color = melyint_victim_choose(one, two, reason, now);
	melyint_lock_drop(&two->lock);
	return color;
}

static struct mely_color *
eldest(void)
{
	struct mely_color *color;

	melyint_lock_take(&two->lock);
	color = melyint_victim_eldest(two);
	melyint_lock_drop(&two->lock);
	return color;
}

static void
use(unsigned bits)
{
	assert_int_equal(mely_set_stealing(rt, MELY_STEAL_ON | bits), 0);
	melyint_victim_price(two);
}

static void
post_timed(int color, uint32_t ns)
{
	play(NULL);
	assert_int_equal(mely_post_timed(&colors[color], &handler, NULL, ns), 0);
}

static uint64_t
worth_min(void)
{
	return MELY_LOAD(&two->hint.worth_min, relaxed); /* one thread */
}

static void
price_follows_the_switches(void **state)
{
	unsigned near = two->fixed.distance[two->fixed.victims[0]];

	(void)state;
	use(0);
	assert_true(worth_min() == UINT64_MAX);
	use(MELY_STEAL_PENALTY);
	assert_true(worth_min() == 0);
	use(MELY_STEAL_TIME_LEFT);
	assert_true(worth_min() ==
	    melyint_weight_from_ns(MELY_LOAD(&rt->steal_ns[near], relaxed)));
	assert_int_equal(mely_set_stealing(rt, 0), 0);
	melyint_victim_price(two);
	assert_true(worth_min() == UINT64_MAX);
}

static void
price_follows_the_steals(void **state)
{
	_Atomic uint32_t *price = &rt->steal_ns[one->fixed.distance[two->index]];
	uint32_t before = MELY_LOAD(price, relaxed), after; /* one thread, as below */
	int i;

	(void)state;
	melyint_victim_paid(one, two, 100 * (uint64_t)MS); /* preempted: counts for little */
	after = MELY_LOAD(price, relaxed);
	assert_true(after > before && after < before + 20000);
	for (i = 0; i < 200; i++)
		melyint_victim_paid(one, two, 1);
	assert_in_range(MELY_LOAD(price, relaxed), MELYINT_STEAL_NS_MIN / 2,
	    2 * MELYINT_STEAL_NS_MIN);
	rt->config.steal_ns = 5000; /* fixed */
	MELY_STORE(price, 5000, relaxed);
	melyint_victim_paid(one, two, 1);
	assert_int_equal(MELY_LOAD(price, relaxed), 5000);
}

static void
without_time_left_anything_goes(void **state)
{
	(void)state;
	use(0);
	assert_int_equal(worthy(MS), MELYINT_NOT_WORTHY);
	post(0, 1);
	assert_int_equal(worthy(MS), MELYINT_WAITED);
	assert_ptr_equal(choose(MELYINT_WAITED, MS), &colors[0]);
	use(MELY_STEAL_PENALTY);
	assert_int_equal(worthy(MS), MELYINT_WAITED);
}

static void
penalties_choose_the_heaviest(void **state)
{
	(void)state;
	use(MELY_STEAL_PENALTY);
	post_timed(0, 1000);
	post_timed(1, 1000 * MS);
	post_timed(2, 1000);
	assert_ptr_equal(choose(MELYINT_WAITED, MS), &colors[1]);
}

static void
time_left_wants_a_worthy_one(void **state)
{
	uint64_t now = 1000 * rt->limits.aged_ticks;

	(void)state;
	use(MELY_STEAL_TIME_LEFT);
	post(0, 1); /* of unknown weight */
	post(1, 1);
	assert_int_equal(worthy(now), MELYINT_NOT_WORTHY);
	post_timed(2, MS);
	assert_int_equal(melyint_stealq_length(&two->stealq), 1);
	assert_int_equal(worthy(now), MELYINT_WORTHY);
	assert_ptr_equal(choose(MELYINT_WORTHY, now), &colors[2]);
	/* By its age any may go, but one in aged_ticks. */
	play(NULL);
	melyint_lock_take(&two->lock);
	melyint_core_unworthy(two, &colors[2]);
	melyint_lock_drop(&two->lock);
	two->locked.aged_ticks = now;
	two->locked.turns++;
	assert_null(choose(MELYINT_WORTHY, now));
	assert_null(choose(MELYINT_WAITED, now + 1));
	now += rt->limits.aged_ticks;
	assert_int_equal(worthy(now), MELYINT_WAITED);
	assert_ptr_equal(choose(MELYINT_WAITED, now), &colors[0]);
	two->locked.turns++;
	assert_null(choose(MELYINT_WAITED, now + 1));
	/* ... unless the victim does not come back. */
	two->locked.turns = two->locked.aged_turns;
	assert_ptr_equal(choose(MELYINT_WAITED, now + 1), &colors[0]);
}

static void
a_single_color_waits_a_little(void **state)
{
	uint64_t now = 1000 * rt->limits.aged_ticks;

	(void)state;
	use(MELY_STEAL_TIME_LEFT);
	post_timed(0, MS);
	assert_int_equal(worthy(now), MELYINT_NOT_WORTHY);
	assert_int_equal(worthy(now + rt->limits.soon_ticks), MELYINT_WORTHY);
	/* The victim ran dry meanwhile: it is another one that waits now. */
	MELY_COUNT(&two->hint.dry, 1);
	assert_int_equal(worthy(now + 2 * rt->limits.soon_ticks), MELYINT_NOT_WORTHY);
}

static void
a_farther_thief_pays_more(void **state)
{
	unsigned distance = one->fixed.distance[two->index];

	(void)state;
	use(MELY_STEAL_TIME_LEFT);
	post_timed(0, 50000);
	post(1, 1);
	/* relaxed: one thread. Dearer than the color is worth, for this thief alone. */
	MELY_STORE(&rt->steal_ns[distance], 100000, relaxed);
	assert_null(choose(MELYINT_WORTHY, MS));
	assert_int_equal(melyint_stealq_length(&two->stealq), 1); /* left for a nearer one */
	/* For any thief: it leaves the stealing-queue. */
	melyint_victim_price(two);
	assert_null(choose(MELYINT_WORTHY, MS));
	assert_int_equal(melyint_stealq_length(&two->stealq), 0);
}

static void
the_eldest_is_not_pinned(void **state)
{
	static struct mely_handler urgent = MELY_HANDLER(count);

	(void)state;
	use(0);
	assert_null(eldest());
	assert_int_equal(mely_color_pin(&colors[0], 1), 0);
	post(0, 1);
	assert_null(eldest());
	post(1, 1);
	post(2, 1);
	assert_ptr_equal(eldest(), &colors[1]);
	urgent.priority = 1;
	play(NULL);
	assert_int_equal(mely_post(&colors[3], &urgent, NULL), 0);
	assert_ptr_equal(eldest(), &colors[3]);
}

static void
a_wake_up_must_pay(void **state)
{
	(void)state;
	use(0);
	MELY_STORE(&two->hint.batch_ns, MELYINT_WAKEUP_NS / 2, relaxed); /* one thread */
	assert_false(melyint_victim_pays_wakeup(two, 1, false));
	assert_false(melyint_victim_pays_wakeup(two, 1, true));
	assert_true(melyint_victim_pays_wakeup(two, 2, false));
	MELY_STORE(&two->hint.batch_ns, 100, relaxed);
	assert_false(melyint_victim_pays_wakeup(two, 2, false));
	/* With time-left the worth decides. */
	use(MELY_STEAL_TIME_LEFT);
	post_timed(0, 1000);
	assert_false(melyint_victim_pays_wakeup(two, 2, true));
	post_timed(1, 10 * MS);
	assert_true(melyint_victim_pays_wakeup(two, 2, true));
	assert_true(melyint_victim_pays_wakeup(two, 1, true));
	assert_false(melyint_victim_pays_wakeup(two, 1, false));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, cores_setup, cores_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(price_follows_the_switches),
	    CASE(price_follows_the_steals),
	    CASE(without_time_left_anything_goes),
	    CASE(penalties_choose_the_heaviest),
	    CASE(time_left_wants_a_worthy_one),
	    CASE(a_single_color_waits_a_little),
	    CASE(a_farther_thief_pays_more),
	    CASE(the_eldest_is_not_pinned),
	    CASE(a_wake_up_must_pay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
