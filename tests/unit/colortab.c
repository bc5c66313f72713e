/* SPDX-License-Identifier: MIT */
/*
 * color/table.c, trim.c: the table of colors by id: it finds the right color for every pattern of
 * ids, uses bounded bytes per idle id, and a trim frees everything except colors that are held.
 */
#include <stdlib.h>

#include "unit.h"
#include <mely/mely.h>
#include "base/pages.h"
#include "color/slab.h"
#include "color/table.h"
#include "color/table_private.h"
#include "color/trim.h"

static struct mely_runtime *
runtime(void)
{
	struct mely_config config;
	struct mely_runtime *rt;

	assert_int_equal(mely_config_init(&config), 0);
	config.cores = 3;
	config.stall_ms = 0; /* no monitor surveys, too */
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
		/* Nothing is left, and as few buckets as in the beginning. */
		assert_in_range(melyint_colortab_bytes(rt->colors), 0, before);
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

static struct mely_runtime *running;
static _Atomic int ran;

static void
on_event(void *arg)
{
	(void)arg;
	MELY_ADD(&ran, 1, relaxed);
	(void)mely_stop(running, MELY_STOP_DRAIN);
}

static struct mely_handler handler = MELY_HANDLER(on_event);

static void
survey(struct mely_runtime *rt, size_t fresh, size_t unused)
{
	struct melyint_survey survey = {0};

	while (melyint_survey_step(rt->colors, &survey, 1))
		continue;
	assert_int_equal(survey.fresh, fresh);
	assert_int_equal(survey.unused, unused);
}

/* What a post has used since the last survey stays, and so does the chunk that it is in. */
static void
unused_ones_go(void **state)
{
	enum { DENSE = 3 * MELYINT_DENSE_CHUNK, SCATTERED = 5000, IDS = DENSE + SCATTERED };
	const size_t entry = sizeof(struct melyint_entry);
	struct mely_runtime *rt = runtime();
	struct mely_color *scattered, *dense, *used;
	struct melyint_trim trim;
	uint32_t k;

	(void)state;
	for (k = 0; k < DENSE; k++)
		(void)look_up(rt, k);
	for (k = 0; k < SCATTERED; k++)
		(void)look_up(rt, 0x80000000u + k * 0x10001u);
	survey(rt, IDS, 0);
	dense = look_up(rt, MELYINT_DENSE_CHUNK + 3);
	scattered = look_up(rt, 0x80000000u);
	survey(rt, 0, 3 * MELYINT_BLOCK + SCATTERED * entry); /* a look-up does not use it */
	running = rt;
	assert_int_equal(mely_post_id(rt, MELYINT_DENSE_CHUNK + 3, &handler, NULL), 0);
	assert_int_equal(mely_post_id(rt, 0x80000000u, &handler, NULL), 0);
	assert_int_equal(mely_run(rt), 0);
	assert_int_equal(MELY_LOAD(&ran, relaxed), 2);
	survey(rt, 2, 2 * MELYINT_BLOCK + (SCATTERED - 1) * entry);
	/* Idle again, but used. */
	used = look_up(rt, 0x80010001u);
	assert_int_equal(mely_post_id(rt, 0x80010001u, &handler, NULL), 0);
	assert_int_equal(mely_run(rt), 0);
	assert_int_equal(mely_post_id(rt, MELYINT_DENSE_CHUNK + 3, &handler, NULL), 0);
	assert_int_equal(mely_post_id(rt, 0x80000000u, &handler, NULL), 0);
	melyint_trim_begin(&trim, rt, true, 1);
	while (melyint_trim_step(&trim) != MELYINT_TRIM_OVER)
		continue;
	assert_int_equal(trim.bytes, 2 * MELYINT_BLOCK + (SCATTERED - 2) * entry);
	assert_ptr_equal(look_up(rt, 0x80010001u), used);
	assert_ptr_equal(look_up(rt, MELYINT_DENSE_CHUNK + 3), dense);
	assert_ptr_equal(look_up(rt, 0x80000000u), scattered);
	assert_int_equal(mely_run(rt), 0);
	assert_int_equal(MELY_LOAD(&ran, relaxed), 5);
	assert_int_equal(mely_runtime_free(rt), 0);
}

/* A reader that comes while a trim unlinks may be in buckets that were replaced. */
static void
buckets_outlast_readers(void **state)
{
	struct mely_runtime *rt = runtime();
	enum melyint_trim_left left;
	struct melyint_buckets *old;
	struct melyint_trim trim;
	struct mely_color *color;
	uint32_t k;

	(void)state;
	for (k = 0; k < 1000; k++)
		(void)look_up(rt, 0x80000000u + k * 0x10001u);
	melyint_trim_begin(&trim, rt, false, 1);
	while (trim.stage == MELYINT_TRIM_BEFORE)
		assert_int_equal(melyint_trim_step(&trim), MELYINT_TRIM_MORE);
	old = MELY_LOAD(&rt->colors->buckets, relaxed); /* no other thread */
	assert_int_equal(melyint_colortab_enter(rt, NULL, 0x80000000u, &color), 0);
	while ((left = melyint_trim_step(&trim)) == MELYINT_TRIM_MORE)
		continue;
	assert_int_equal(left, MELYINT_TRIM_WAITS);
	assert_ptr_not_equal(MELY_LOAD(&rt->colors->buckets, relaxed), old); /* few ids are left */
	assert_ptr_equal(trim.older, old);
	melyint_colortab_leave(rt, NULL);
	while (melyint_trim_step(&trim) != MELYINT_TRIM_OVER)
		continue;
	assert_int_equal(mely_runtime_free(rt), 0);
}

/* A trim that the end of the runtime cuts short leaves nothing behind. */
static void
trim_is_cut_short(void **state)
{
	struct mely_runtime *rt = runtime();
	struct melyint_trim trim;
	uint32_t k;
	int steps;

	(void)state;
	for (k = 0; k < 5000; k++) {
		(void)look_up(rt, k);
		(void)look_up(rt, 0x80000000u + k * 0x10001u);
	}
	melyint_trim_begin(&trim, rt, false, 1);
	for (steps = 0; steps < 8; steps++)
		assert_int_not_equal(melyint_trim_step(&trim), MELYINT_TRIM_OVER);
	assert_int_equal(trim.bytes, 0);
	melyint_trim_abandon(&trim);
	assert_true(trim.bytes > 0);
	assert_int_equal(mely_runtime_free(rt), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_and_small),
		cmocka_unit_test(held_ones_stay),
		cmocka_unit_test(unused_ones_go),
		cmocka_unit_test(buckets_outlast_readers),
		cmocka_unit_test(trim_is_cut_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
