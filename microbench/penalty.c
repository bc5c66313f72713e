/* SPDX-License-Identifier: MIT */
/*
 * penalty: the paper's Table 5. A round begins with K events A of K colors on core 0. Each makes
 * an array; then events B of its color, one after another, read the array slice by slice. An idle
 * core can steal either. The thief of an A makes the data in its own cache; the thief of a B reads
 * an array that is in the victim's cache, hence the penalty of 1,000 of B.
 *
 * The paper does not give the sizes. 32 KB fit in the first cache of any core, and in the 6 MB
 * that two of the paper's share there is room for all arrays of a round; 1 KB a slice makes a B
 * of some hundred cycles, and 32 of them more than a batch, so that there are Bs to be stolen.
 */
#include "mb_paper.h"
#include "mb_rounds.h"

#include <errno.h>
#include <stdlib.h>

enum {
	WORD = sizeof(uint32_t),
	WORDS = PENALTY_ARRAY_BYTES / WORD,
	SLICE_WORDS = PENALTY_SLICE_BYTES / WORD,
	SLICES = PENALTY_SLICES
};

struct parent {
	MB_APART struct mely_color color;
	struct mely_event event; /* A, and then B again and again: there is only one at a time */
	uint32_t *array;
	uint32_t seed;
	uint32_t at;      /* slices read */
	uint32_t made;    /* As run */
	uint32_t read;    /* Bs run, of all rounds */
	uint32_t away;    /* events of this round that did not run on core 0 */
};

static struct {
	struct parent *parents;
	int count;
	uint32_t rounds;
	uint64_t a_cycles, b_cycles; /* profiled */
} penalty;

/* ---- handlers ----------------------------------------------------------------------------- */

static void penalty_a(void *arg);
static void penalty_b(void *arg);

static struct mely_handler a_handler = MELY_HANDLER(penalty_a);
static struct mely_handler b_handler = MELY_HANDLER(penalty_b);

static uint32_t *
make(uint32_t seed)
{
	uint32_t *array = malloc(PENALTY_ARRAY_BYTES), i;

	if (array == NULL)
		mb_fail("malloc", errno);
	for (i = 0; i < WORDS; i++)
		array[i] = seed + i;
	return array;
}

/* Is the slice what make made of it? */
static bool
slice_right(const uint32_t *array, uint32_t slice, uint32_t seed)
{
	uint32_t first = slice * SLICE_WORDS, sum = 0, want, i;

	for (i = 0; i < SLICE_WORDS; i++)
		sum += array[first + i];
	want = SLICE_WORDS * (seed + first) + SLICE_WORDS * (SLICE_WORDS - 1) / 2;
	return sum == want;
}

static void
penalty_b(void *arg)
{
	struct parent *parent = arg;

	if (!slice_right(parent->array, parent->at, parent->seed))
		mb_fail("an event read other data than its parent wrote", 0);
	parent->read++;
	parent->away += mely_current_core() != 0;
	if (++parent->at < SLICES) {
		mb_must(mely_event_post(&parent->color, &parent->event), "mely_event_post");
		return;
	}
	free(parent->array);
	parent->array = NULL;
	mb_rounds_done();
}

static void
penalty_a(void *arg)
{
	struct parent *parent = arg;

	parent->seed += 7919;
	parent->array = make(parent->seed);
	parent->at = 0;
	parent->made++;
	parent->away = mely_current_core() != 0;
	mely_event_init(&parent->event, &b_handler, parent);
	mb_must(mely_event_post(&parent->color, &parent->event), "mely_event_post");
}

/* ---- rounds ------------------------------------------------------------------------------- */

/* The annotations are what the handlers take when nothing disturbs them. */
static void
profile(void)
{
	uint64_t start, made, end;
	uint32_t *array, i, s;

	penalty.a_cycles = penalty.b_cycles = UINT64_MAX;
	for (i = 0; i < 20; i++) {
		start = mb_ticks();
		array = make(i);
		made = mb_ticks();
		for (s = 0; s < SLICES; s++) {
			if (!slice_right(array, s, i))
				mb_fail("a slice is not what was written", 0);
		}
		end = mb_ticks();
		free(array);
		if (made - start < penalty.a_cycles)
			penalty.a_cycles = made - start;
		if ((end - made) / SLICES < penalty.b_cycles)
			penalty.b_cycles = (end - made) / SLICES;
	}
}

static uint32_t
setup(struct mely_runtime *rt, const struct mb_config *config, int count)
{
	struct parent *parent;
	int i;

	if (config->annotated) {
		a_handler.time_ns = mb_rounds_ns(penalty.a_cycles);
		a_handler.penalty = 1;
		b_handler.time_ns = mb_rounds_ns(penalty.b_cycles);
		b_handler.penalty = PENALTY_OF_B;
	}
	penalty.count = count;
	penalty.parents = mb_array((size_t)count, sizeof(*parent), _Alignof(struct parent));
	for (i = 0; i < count; i++) {
		parent = &penalty.parents[i];
		parent->seed = (uint32_t)i * 2654435761u;
		mb_must(mely_color_init_on(&parent->color, rt, 0), "mely_color_init_on");
	}
	return (uint32_t)count;
}

static void
begin(void)
{
	struct parent *parent, *last = penalty.parents + penalty.count;

	for (parent = penalty.parents; parent < last; parent++) {
		mely_event_init(&parent->event, &a_handler, parent);
		mb_must(mely_event_post(&parent->color, &parent->event), "mely_event_post");
	}
}

static void
end(struct mb_tally *tally)
{
	struct parent *parent, *last = penalty.parents + penalty.count;

	penalty.rounds++;
	for (parent = penalty.parents; parent < last; parent++) {
		if (parent->made != penalty.rounds || parent->read != penalty.rounds * SLICES)
			mb_fail("an event did not run exactly once a round", 0);
		tally->events += 1 + SLICES;
		tally->away_events += parent->away;
		mb_rounds_home(&parent->color, 0);
	}
}

static void
teardown(void)
{
	free(penalty.parents);
}

int
main(int argc, char **argv)
{
	static const struct mb_program program = {
		.name = "penalty",
		.what = "Rounds of K events A of K colors, all on core 0. Each makes an array of\n"
		    "32 KB, which 32 events B of its color then read, 1 KB each, one after\n"
		    "another; stealing penalty of B: 1,000. Events a second.",
		.colors_help = "events A of a round, each of its own color",
		.colors_default = PENALTY_COLORS,
		.colors_max = 100000,
	};
	static const struct mb_rounds_bench bench = {profile, setup, begin, end, teardown};

	return mb_rounds_main(&program, &bench, argc, argv);
}
