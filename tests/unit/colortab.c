/* SPDX-License-Identifier: MIT */
/*
 * color/table.c: the table of colors by id: it finds the right color for every pattern of ids, uses
 * bounded bytes per idle id, and a trim frees everything except colors that are held.
 */
#include <stdlib.h>

#include "unit.h"
#include <mely/mely.h>
#include "color/table.h"

static struct mely_runtime *
runtime(void)
{
	struct mely_config config;
	struct mely_runtime *rt;

	assert_int_equal(mely_config_init(&config), 0);
	config.cores = 3;
	assert_int_equal(mely_runtime_new(&rt, &config), 0);
	return rt;
}

static struct mely_color *
look_up(struct mely_runtime *rt, uint32_t id)
{
	struct mely_color *color;

	assert_int_equal(melyint_colortab_enter(rt, NULL, id, &color), 0);
	melyint_colortab_leave(rt, NULL);
	assert_int_equal(mely_color_id(color), id);
	return color;
}

static int
compare(const void *a, const void *b)
{
	const struct mely_color *x = *(struct mely_color *const *)a;
	const struct mely_color *y = *(struct mely_color *const *)b;

	return x < y ? -1 : x > y;
}

struct pattern {
	uint32_t first, stride;
	size_t bytes_max; /* of an idle id */
};

static void
exact_and_small(void **state)
{
	/* The lowest 16384 ids are always found by index: add their memory. */
	enum { IDS = 50000, DENSE_AREA = 16384 * 64 };
	static const struct pattern patterns[] = {
		{0, 1, 64 + 8}, {0xffff0000u, 1, 160}, {0, 64, 160}, {0, 0x9e3779b1u, 160},
		{0x80000000u, 0x10001u, 160}, {4194304 - 1000, 1, 160}, {17, 1u << 12 | 1, 160},
	};
	static struct mely_color *found[IDS];
	size_t i, before;
	uint32_t k;

	(void)state;
	for (i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
		struct mely_runtime *rt = runtime();

		before = melyint_colortab_bytes(rt->colors);
		for (k = 0; k < IDS; k++)
			found[k] = look_up(rt, patterns[i].first + k * patterns[i].stride);
		for (k = 0; k < IDS; k++)
			assert_ptr_equal(found[k],
			    look_up(rt, patterns[i].first + k * patterns[i].stride));
		assert_in_range(melyint_colortab_bytes(rt->colors) - before, IDS * 64,
		    IDS * patterns[i].bytes_max + DENSE_AREA);
		qsort(found, IDS, sizeof found[0], compare);
		for (k = 1; k < IDS; k++)
			assert_ptr_not_equal(found[k], found[k - 1]);
		(void)melyint_colortab_trim(rt);
		/* Only the buckets are left. */
		assert_in_range(melyint_colortab_bytes(rt->colors), 0, before + IDS * 4 * 8);
		for (k = 0; k < IDS; k += 1000)
			(void)look_up(rt, patterns[i].first + k * patterns[i].stride);
		assert_int_equal(mely_runtime_free(rt), 0);
	}
}

/* A trim leaves colors from mely_color_of_id where they are. */
static void
held_ones_stay(void **state)
{
	struct mely_runtime *rt = runtime();
	struct mely_color *dense, *scattered, *again;

	(void)state;
	assert_int_equal(mely_color_of_id(rt, 5, &dense), 0);
	assert_int_equal(mely_color_of_id(rt, 0xfffffff5u, &scattered), 0);
	(void)look_up(rt, 6);
	(void)look_up(rt, 0xfffffff6u);
	assert_true(melyint_colortab_trim(rt) > 0);
	assert_int_equal(mely_color_of_id(rt, 5, &again), 0);
	assert_ptr_equal(again, dense);
	assert_int_equal(mely_color_of_id(rt, 0xfffffff5u, &again), 0);
	assert_ptr_equal(again, scattered);
	assert_int_equal(mely_runtime_free(rt), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_and_small),
		cmocka_unit_test(held_ones_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
