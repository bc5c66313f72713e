/* SPDX-License-Identifier: MIT */
/*
 * look.c: fuzz target for snapshots (mely/stats.h) as mely-top gets them from a socket: mely-top
 * can process every snapshot that mely_stats_check accepts.
 *
 * With --enable-fuzz (clang) it is a libFuzzer target, whose inputs derive from a snapshot of a
 * runtime. Otherwise main takes such a snapshot and runs the target on it, on its prefixes, and on
 * copies with bytes changed at random, the same ones in each run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mely/mely.h>

#include "../../mely-top/rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t accepted;

static void
draw(const struct sample *sample)
{
	static const int widths[] = {1, 20, 80, 200};
	char line[ROW_MOST];
	int bar, bar_width;
	size_t w;
	uint32_t i;

	for (w = 0; w < sizeof widths / sizeof widths[0]; w++) {
		int width = widths[w];

		row_title(line, width, sample);
		row_totals(line, width, sample);
		row_steals(line, width, sample);
		for (i = 0; i < sample->now->cores_count; i++)
			row_core(line, width, sample, i, &bar, &bar_width);
		for (i = 0; i < sample->handlers_count; i++)
			row_handler(line, width, sample, &sample->handlers[i]);
		for (i = 0; i < sample->now->colors_count; i++)
			row_color(line, width, sample, mely_stats_color_row(sample->now, i));
		if (strlen(line) > (size_t)width)
			abort();
	}
}

static void
use(const struct mely_stats *now, const struct mely_stats *before)
{
	struct sample sample;
	int order;

	if (!sample_make(&sample, now, before))
		return;
	for (order = 0; order < HANDLER_ORDERS; order++)
		sample_sort(&sample, (enum handler_order)order);
	draw(&sample);
	sample_free(&sample);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct mely_stats *before; /* the last accepted one */
	/* Exactly this size, so that the sanitizers detect a read beyond it. */
	struct mely_stats *look = malloc(size > 0 ? size : 1);

	if (look == NULL)
		return 0;
	if (size > 0)
		memcpy(look, data, size);
	if (mely_stats_check(look, size) != 0) {
		free(look);
		return 0;
	}
	accepted++;
	use(look, NULL);
	if (before != NULL) {
		use(look, before);
		use(before, look);
	}
	free(before);
	before = look;
	return 0;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

enum { EVENTS = 500, COLORS = 40, ROUNDS = 3000 };

static void
on_event(void *arg)
{
	(void)arg;
}

static void
on_last(void *arg)
{
	(void)arg;
	(void)mely_stop(mely_current_runtime(), MELY_STOP_DISCARD);
}

static struct mely_handler event = MELY_HANDLER(on_event);
static struct mely_handler last = MELY_HANDLER_WITH(on_last, 1000, 10, 0);

/* A snapshot of a runtime that has run, with waiting colors. */
static struct mely_stats *
real(void)
{
	struct mely_stats *look = NULL;
	struct mely_runtime *rt;
	struct mely_color *color;
	uint32_t i;

	if (mely_runtime_new(&rt, NULL) != 0)
		exit(1);
	for (i = 0; i < EVENTS; i++)
		if (mely_post_id(rt, i % COLORS, &event, NULL) != 0)
			exit(1);
	if (mely_post_id(rt, 1, &last, NULL) != 0 || mely_run(rt) != 0)
		exit(1);
	for (i = 0; i < COLORS; i++)
		if (mely_post_id(rt, i, &event, NULL) != 0)
			exit(1);
	if (mely_color_of_id(rt, 7, &color) != 0 || mely_color_set_name(color, "seven") != 0 ||
	    mely_stats_take(rt, MELY_STATS_BY_AGE, COLORS, &look) != 0)
		exit(1);
	if (mely_runtime_free(rt) != 0)
		exit(1);
	return look;
}

static uint64_t
next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Change a few words and bytes, most often in the head, which contains the offsets. */
static void
spoil(uint8_t *data, size_t size, uint64_t *state)
{
	static const uint64_t values[] = {0, 1, 7, 8, 0x7fffffff, 0xffffffff, UINT64_MAX,
	    UINT64_C(1) << 63, 100, 4096};
	int changes = 1 + (int)(next(state) % 3);

	while (changes-- > 0) {
		size_t within = next(state) % 4 != 0 ? sizeof(struct mely_stats) : size;
		size_t at = next(state) % within, width = (size_t)1 << next(state) % 4;
		uint64_t value = values[next(state) % (sizeof values / sizeof values[0])];

		if (next(state) % 3 == 0)
			value = next(state);
		at &= ~(width - 1);
		if (at + width <= size)
			memcpy(data + at, &value, width);
	}
}

#ifdef MELY_LIBFUZZER

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/* Start from a snapshot: other inputs are refused early. */
size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	static struct mely_stats *look;
	uint64_t state = seed + UINT64_C(88172645463325252);

	if (look == NULL)
		look = real();
	if (size < sizeof *look && look->size <= most) {
		memcpy(data, look, look->size);
		size = look->size;
	}
	if (seed % 3 == 0)
		return LLVMFuzzerMutate(data, size, most);
	if (size >= sizeof *look)
		spoil(data, size, &state);
	return size;
}

#else

int
main(void)
{
	struct mely_stats *look = real();
	size_t size = look->size, n;
	void *copy = malloc(size); /* aligned for a struct mely_stats */
	uint64_t state = 88172645463325252u;
	int round;

	if (copy == NULL)
		return 1;
	LLVMFuzzerTestOneInput((const uint8_t *)look, size);
	/* The library accepts its own snapshot. */
	if (accepted != 1) {
		fputs("the library's own snapshot is refused\n", stderr);
		return 1;
	}
	for (n = 0; n < size; n += n < sizeof *look ? 1 : 61)
		LLVMFuzzerTestOneInput((const uint8_t *)look, n);
	if (accepted != 1) {
		fputs("the beginning of a snapshot is accepted\n", stderr);
		return 1;
	}
	/* The longest possible interval; as a double it rounds to 2^64 ns. */
	memcpy(copy, look, size);
	((struct mely_stats *)copy)->made_ns = 0;
	((struct mely_stats *)copy)->taken_ns = UINT64_MAX;
	LLVMFuzzerTestOneInput(copy, size);
	if (accepted != 2) {
		fputs("a snapshot after centuries is refused\n", stderr);
		return 1;
	}
	for (round = 0; round < ROUNDS; round++) {
		memcpy(copy, look, size);
		spoil(copy, size, &state);
		LLVMFuzzerTestOneInput(copy, size);
	}
	printf("%zu bytes, %d spoiled, %llu accepted\n", size, ROUNDS,
	    (unsigned long long)accepted);
	free(copy);
	mely_stats_free(look);
	/* Some changes must be harmless, and some must be refused. */
	return accepted > 10 && accepted < ROUNDS ? 0 : 1;
}

#endif
