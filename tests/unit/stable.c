/* SPDX-License-Identifier: MIT */
/*
 * stable.c: the growing array: records are zero at first, never move and belong to one index
 * each; many threads can reach them at the same time.
 */
#include <pthread.h>

#include "unit.h"
#include "base/stable.h"

struct record {
	uint64_t a, b, c;
};

static void
every_index_has_its_own(void **state)
{
	struct melyint_stable array;
	uint32_t i, n = 20000;

	(void)state;
	melyint_stable_init(&array, sizeof(struct record));
	assert_null(melyint_stable_at(&array, 0));
	for (i = 0; i < n; i++) {
		struct record *r = melyint_stable_reach(&array, i);

		assert_non_null(r);
		assert_true(r->a == 0 && r->b == 0 && r->c == 0);
		r->a = r->b = r->c = i + 1;
	}
	for (i = 0; i < n; i++) {
		struct record *r = melyint_stable_at(&array, i);

		assert_ptr_equal(r, melyint_stable_reach(&array, i));
		assert_true(r->a == i + 1 && r->b == i + 1 && r->c == i + 1);
	}
	melyint_stable_fini(&array);
}

/* A far index makes only its own chunk; an index out of reach is NULL. */
static void
far_indexes(void **state)
{
	struct melyint_stable array;
	uint32_t edges[] = {0, 63, 64, 191, 192, 447, 448};
	size_t i, k;

	(void)state;
	melyint_stable_init(&array, 1);
	for (i = 0; i < sizeof edges / sizeof edges[0]; i++) {
		assert_non_null(melyint_stable_reach(&array, edges[i]));
		for (k = 0; k < i; k++)
			assert_ptr_not_equal(melyint_stable_at(&array, edges[i]),
			    melyint_stable_at(&array, edges[k]));
	}
	assert_null(melyint_stable_at(&array, 1000000));
	assert_null(melyint_stable_at(&array, UINT32_MAX));
	melyint_stable_fini(&array);
}

static struct melyint_stable together;
static void *reached[4][3000];

static void *
reach_all(void *arg)
{
	int self = (int)(intptr_t)arg, i;

	for (i = 0; i < 3000; i++)
		reached[self][i] = melyint_stable_reach(&together, (uint32_t)i);
	return NULL;
}

static void
threads_agree(void **state)
{
	pthread_t threads[4];
	int i, k;

	(void)state;
	melyint_stable_init(&together, sizeof(struct record));
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, reach_all,
		    (void *)(intptr_t)i), 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	for (k = 0; k < 3000; k++)
		for (i = 0; i < 4; i++) {
			assert_non_null(reached[i][k]);
			assert_ptr_equal(reached[i][k], reached[0][k]);
		}
	melyint_stable_fini(&together);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_index_has_its_own),
		cmocka_unit_test(far_indexes),
		cmocka_unit_test(threads_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
