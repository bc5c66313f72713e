/* SPDX-License-Identifier: MIT */
/*
 * coreq.c: the core-queue. Links; first in, first out inside a priority; the highest priority
 * first; ageing, so that no color starves; the validator, on which other tests rely.
 */
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "queue/coreq.h"

enum { COLORS = 40 };

static struct melyint_coreq q;
static struct mely_color colors[COLORS];

static void
begin(void)
{
	memset(&q, 0, sizeof q);
	memset(colors, 0, sizeof colors);
}

static void
link_color(int i, int priority)
{
	colors[i]._priority = (int8_t)priority;
	melyint_coreq_link(&q, &colors[i]);
	assert_true(melyint_coreq_validate(&q));
}

static void
unlink_color(struct mely_color *color)
{
	melyint_coreq_unlink(&q, color);
	assert_true(melyint_coreq_validate(&q));
}

static void
empty(void **state)
{
	(void)state;
	begin();
	assert_true(melyint_coreq_validate(&q));
	assert_null(melyint_coreq_first(&q));
	assert_int_equal(q.length, 0);
}

static void
first_in_first_out(void **state)
{
	int i;

	(void)state;
	begin();
	for (i = 0; i < COLORS; i++)
		link_color(i, 0);
	assert_int_equal(q.length, COLORS);
	for (i = 0; i < COLORS; i++) {
		assert_ptr_equal(melyint_coreq_first(&q), &colors[i]);
		unlink_color(&colors[i]);
	}
	assert_null(melyint_coreq_first(&q));
}

static void
every_priority(void **state)
{
	int i;

	(void)state;
	begin();
	for (i = MELY_PRIORITY_MIN; i <= MELY_PRIORITY_MAX; i++)
		link_color(i - MELY_PRIORITY_MIN, i);
	for (i = MELY_PRIORITY_MAX; i >= MELY_PRIORITY_MIN; i--) {
		struct mely_color *color = melyint_coreq_first(&q);

		assert_int_equal(color->_priority, i);
		unlink_color(color);
	}
	assert_int_equal(q.length, 0);
	assert_int_equal(q.levels, 0);
}

/* Unlink from anywhere, in a random order, and compare with the set of colors that must remain. */
static void
random_order(void **state)
{
	bool in[COLORS] = {false};
	unsigned seed = 1, step, n = 0;

	(void)state;
	begin();
	for (step = 0; step < 20000; step++) {
		int i;

		seed = seed * 1103515245u + 12345u;
		i = (int)((seed >> 16) % COLORS);
		if (in[i]) {
			unlink_color(&colors[i]);
			n--;
		} else {
			link_color(i, (int)((seed >> 8) % 32) + MELY_PRIORITY_MIN);
			n++;
		}
		in[i] = !in[i];
		assert_int_equal(q.length, n);
		assert_true((melyint_coreq_first(&q) == NULL) == (n == 0));
	}
}

/* A color of the highest priority is always ready: the lowest still runs after bounded batches. */
static void
passed_over_has_its_turn(void **state)
{
	int low, high, turn;

	(void)state;
	for (low = MELY_PRIORITY_MIN; low < MELY_PRIORITY_MAX; low++)
		for (high = low + 1; high <= MELY_PRIORITY_MAX; high++) {
			begin();
			link_color(0, low);
			link_color(1, high);
			for (turn = 0; turn < 1000; turn++) {
				struct mely_color *color = melyint_coreq_first(&q);

				if (color == &colors[0])
					break;
				assert_ptr_equal(color, &colors[1]);
				unlink_color(color);
				link_color(1, high);
			}
			/* About one step a batch, for the difference of the priorities. */
			assert_in_range(turn, 1, 2 * (high - low) + 2);
		}
}

static void
validator_sees_damage(void **state)
{
	struct mely_color *next;

	(void)state;
	begin();
	link_color(0, 0);
	link_color(1, 0);
	link_color(2, 5);
	q.length++;
	assert_false(melyint_coreq_validate(&q));
	q.length--;
	assert_true(melyint_coreq_validate(&q));
	q.levels |= 1;
	assert_false(melyint_coreq_validate(&q));
	q.levels &= ~1u;
	next = colors[0]._next;
	colors[0]._next = &colors[0];
	assert_false(melyint_coreq_validate(&q));
	colors[0]._next = next;
	assert_true(melyint_coreq_validate(&q));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty),
		cmocka_unit_test(first_in_first_out),
		cmocka_unit_test(every_priority),
		cmocka_unit_test(random_order),
		cmocka_unit_test(passed_over_has_its_turn),
		cmocka_unit_test(validator_sees_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
