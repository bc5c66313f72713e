/* SPDX-License-Identifier: MIT */
/*
 * stealq.c: the stealing-queue: the highest interval comes first; colors move between intervals
 * and leave in any order; a removal keeps the other colors' places; memory is given back; the
 * validator, on which other tests rely.
 */
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "queue/stealq.h"

enum { COLORS = 5000 };

static struct melyint_stealq q;
static struct mely_color colors[COLORS];
static unsigned in[COLORS]; /* 0: not in the queue; else the interval plus one */

static void
begin(void)
{
	memset(&q, 0, sizeof q);
	memset(colors, 0, sizeof colors);
	memset(in, 0, sizeof in);
}

static void
end(void)
{
	melyint_stealq_fini(&q);
}

static void
empty(void **state)
{
	(void)state;
	begin();
	assert_true(melyint_stealq_validate(&q));
	assert_null(melyint_stealq_best(&q));
	assert_int_equal(melyint_stealq_length(&q), 0);
	end();
}

static void
highest_interval_first(void **state)
{
	struct mely_color *best;
	unsigned left, i;

	(void)state;
	begin();
	for (i = 0; i < 30; i++)
		assert_true(melyint_stealq_put(&q, &colors[i], i % MELYINT_INTERVALS));
	for (left = 30; left > 0; left--) {
		best = melyint_stealq_best(&q);
		assert_non_null(best);
		/* Ten colors in each interval; the highest go first. */
		assert_int_equal((best - colors) % MELYINT_INTERVALS, (left - 1) / 10);
		melyint_stealq_remove(&q, best);
		assert_int_equal(best->_u._worth._steal_slot, 0);
		assert_int_equal(melyint_stealq_length(&q), left - 1);
		assert_true(melyint_stealq_validate(&q));
	}
	assert_null(melyint_stealq_best(&q));
	end();
}

/* put returns whether the color rose to a higher interval. */
static void
put_says_whether_it_rose(void **state)
{
	(void)state;
	begin();
	assert_true(melyint_stealq_put(&q, &colors[0], 1));
	assert_false(melyint_stealq_put(&q, &colors[0], 1));
	assert_int_equal(melyint_stealq_length(&q), 1);
	assert_true(melyint_stealq_put(&q, &colors[0], 2));
	assert_int_equal(melyint_stealq_length_in(&q, 1), 0);
	assert_int_equal(melyint_stealq_length_in(&q, 2), 1);
	assert_false(melyint_stealq_put(&q, &colors[0], 0));
	assert_int_equal(melyint_stealq_length_in(&q, 0), 1);
	assert_int_equal(melyint_stealq_length(&q), 1);
	assert_true(melyint_stealq_validate(&q));
	end();
}

static void
check_against_model(void)
{
	unsigned lengths[MELYINT_INTERVALS] = {0}, highest = 0, i;
	struct mely_color *best = melyint_stealq_best(&q);

	for (i = 0; i < COLORS; i++) {
		assert_int_equal(colors[i]._u._worth._steal_slot != 0, in[i] != 0);
		if (in[i] != 0)
			lengths[in[i] - 1]++;
		if (in[i] > highest)
			highest = in[i];
	}
	for (i = 0; i < MELYINT_INTERVALS; i++)
		assert_int_equal(melyint_stealq_length_in(&q, i), lengths[i]);
	assert_true(melyint_stealq_validate(&q));
	if (highest == 0)
		assert_null(best);
	else
		assert_int_equal(in[best - colors], highest);
}

/* Puts, moves and removals at random, against a plain model. */
static void
like_a_model(void **state)
{
	uint32_t random = 1;
	int step;

	(void)state;
	begin();
	for (step = 0; step < 200000; step++) {
		unsigned i, interval;

		random = random * 1664525u + 1013904223u;
		i = (random >> 8) % COLORS;
		interval = (random >> 24) % MELYINT_INTERVALS;
		if ((random & 128) != 0 && in[i] != 0) {
			melyint_stealq_remove(&q, &colors[i]);
			in[i] = 0;
		} else {
			assert_int_equal(melyint_stealq_put(&q, &colors[i], interval),
			    interval + 1 > in[i]);
			in[i] = interval + 1;
		}
		if (step % 5000 == 0)
			check_against_model();
	}
	check_against_model();
	end();
}

/* Invariant 10: after a burst the memory is given back. */
static void
shrinks(void **state)
{
	uint32_t room;
	unsigned i;

	(void)state;
	begin();
	for (i = 0; i < COLORS; i++)
		(void)melyint_stealq_put(&q, &colors[i], 0);
	room = q.interval[0].room;
	assert_true(room >= COLORS);
	for (i = 0; i < COLORS - 10; i++)
		melyint_stealq_remove(&q, &colors[i]);
	assert_true(q.interval[0].room < room / 16);
	assert_true(melyint_stealq_validate(&q));
	assert_int_equal(melyint_stealq_length(&q), 10);
	end();
}

/* The validator finds damage. */
static void
validator(void **state)
{
	(void)state;
	begin();
	(void)melyint_stealq_put(&q, &colors[0], 1);
	(void)melyint_stealq_put(&q, &colors[1], 1);
	assert_true(melyint_stealq_validate(&q));
	colors[0]._u._worth._steal_slot++;
	assert_false(melyint_stealq_validate(&q));
	colors[0]._u._worth._steal_slot--;
	assert_true(melyint_stealq_validate(&q));
	q.length = 3;
	assert_false(melyint_stealq_validate(&q));
	melyint_stealq_forget(&q);
	assert_true(melyint_stealq_validate(&q));
	assert_int_equal(melyint_stealq_length(&q), 0);
	end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(empty),
	    cmocka_unit_test(highest_interval_first),
	    cmocka_unit_test(put_says_whether_it_rose),
	    cmocka_unit_test(like_a_model),
	    cmocka_unit_test(shrinks),
	    cmocka_unit_test(validator),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
