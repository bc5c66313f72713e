/* SPDX-License-Identifier: MIT */
/*
 * pool.c: event pools. No event is handed out twice; stocks are bounded; magazines travel from the
 * pool that frees to the pool that allocates; a trim frees everything; the validators find damage.
 */
#include <stdlib.h>

#include "unit.h"
#include "queue/pool.h"

enum { MANY = 5000 };

static struct mely_event *held[MANY];

static int
compare(const void *a, const void *b)
{
	const struct mely_event *x = *(struct mely_event *const *)a;
	const struct mely_event *y = *(struct mely_event *const *)b;

	return x < y ? -1 : x > y;
}

static void
get_many(struct melyint_pool *pool, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		held[i] = melyint_pool_get(pool);
		assert_non_null(held[i]);
		assert_int_equal(held[i]->_flags, MELYINT_EV_POOLED);
	}
	qsort(held, (size_t)n, sizeof held[0], compare);
	for (i = 1; i < n; i++)
		assert_ptr_not_equal(held[i], held[i - 1]);
}

static void
put_many(struct melyint_pool *pool, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		melyint_pool_put(pool, held[i]);
		assert_in_range(pool->count, 0, MELYINT_STOCK_MAX);
	}
}

static void
none_twice(void **state)
{
	struct melyint_depot depot;
	struct melyint_pool pool;
	int n;

	(void)state;
	melyint_depot_init(&depot, 2);
	melyint_pool_init(&pool, &depot);
	for (n = 1; n <= MANY; n = n * 3 + 1) {
		get_many(&pool, n);
		put_many(&pool, n);
		assert_in_range(depot.count, 0, depot.count_max);
		assert_true(melyint_pool_validate(&pool));
		assert_true(melyint_depot_validate(&depot));
	}
	melyint_pool_fini(&pool);
	(void)melyint_depot_trim(&depot);
	assert_int_equal(depot.count, 0);
}

/* One core posts and another runs: the depot brings the events back. */
static void
magazines_travel(void **state)
{
	struct melyint_depot depot;
	struct melyint_pool from, to;
	struct mely_event *first;
	int round, n = MELYINT_STOCK_MAX + 2 * MELYINT_MAGAZINE;
	size_t bytes;

	(void)state;
	melyint_depot_init(&depot, 2);
	melyint_pool_init(&from, &depot);
	melyint_pool_init(&to, &depot);
	get_many(&from, n);
	first = held[0];
	put_many(&to, n);
	assert_true(depot.count > 0);
	for (round = 0; round < 5; round++) {
		get_many(&from, n);
		put_many(&to, n);
	}
	assert_non_null(first);
	bytes = melyint_depot_trim(&depot);
	assert_true(bytes >= (size_t)MELYINT_MAGAZINE * sizeof(struct mely_event));
	assert_int_equal(melyint_depot_trim(&depot), 0);
	melyint_pool_fini(&from);
	melyint_pool_fini(&to);
}

/* A thread that is not a core. */
static void
outside(void **state)
{
	struct melyint_depot depot;
	struct melyint_pool pool;
	int i;

	(void)state;
	melyint_depot_init(&depot, 1);
	melyint_pool_init(&pool, &depot);
	for (i = 0; i < MANY; i++) {
		held[i] = melyint_pool_get_outside();
		assert_non_null(held[i]);
		assert_int_equal(held[i]->_flags, MELYINT_EV_POOLED);
	}
	put_many(&pool, MANY);
	/* Events beyond the limits of the stock and the depot were freed. */
	assert_in_range(depot.count, 1, depot.count_max);
	(void)melyint_depot_trim(&depot);
	melyint_pool_fini(&pool);
}

static void
validators_see_damage(void **state)
{
	struct melyint_depot depot;
	struct melyint_pool pool;
	struct mely_event *kept;

	(void)state;
	melyint_depot_init(&depot, 1);
	melyint_pool_init(&pool, &depot);
	get_many(&pool, MELYINT_STOCK_MAX + 1);
	put_many(&pool, MELYINT_STOCK_MAX + 1);
	assert_true(melyint_pool_validate(&pool));
	assert_true(melyint_depot_validate(&depot));
	kept = pool.stock[1];
	pool.stock[1] = pool.stock[0];
	assert_false(melyint_pool_validate(&pool));
	pool.stock[1] = kept;
	depot.count++;
	assert_false(melyint_depot_validate(&depot));
	depot.count--;
	kept = depot.full->events[0];
	depot.full->events[0] = depot.full->events[1];
	assert_false(melyint_depot_validate(&depot));
	depot.full->events[0] = kept;
	assert_true(melyint_depot_validate(&depot));
	melyint_pool_fini(&pool);
	(void)melyint_depot_trim(&depot);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none_twice),
		cmocka_unit_test(magazines_travel),
		cmocka_unit_test(outside),
		cmocka_unit_test(validators_see_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
