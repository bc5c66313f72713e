/* SPDX-License-Identifier: MIT */
/*
 * cache-efficient: the paper's Table 6. A round begins with a hundred events A on every second
 * core. Each makes an array and posts two events B of different colors, which sort its halves;
 * each B posts an event C of A's color, and the second C merges the halves. Cores without an A
 * steal; the nearer the thief, the cheaper the transfer of the data.
 *
 * The paper does not give the size of the array; its 12 to 13 misses an event, five events an
 * array, are the 64 lines of 4 KB that go over once.
 */
#include "mb_paper.h"
#include "mb_rounds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	WORDS = CACHE_WORDS,
	HALF = CACHE_HALF,
	RUN = CACHE_RUN,
	EVENTS = CACHE_EVENTS,
	HALVES = CACHE_HALVES
};

/* One half: its own color for the sorting, an event of the array's color for the end of it. */
struct half {
	MB_APART struct mely_color color;
	struct mely_event sort, sync;
	struct pile *pile;
	uint32_t sorted; /* Bs run */
};

/* One array. */
struct pile {
	MB_APART struct mely_color color;
	struct mely_event event;
	struct half halves[HALVES];
	uint32_t *words, *spare; /* one allocation */
	uint32_t seed, sum;
	int home;
	uint32_t made, synced, merged; /* As, Cs, second Cs run */
	atomic_uint away; /* events of this round that did not run at home */
};

static struct {
	struct pile *piles;
	int count;
	uint32_t rounds;
	uint64_t a_cycles, b_cycles, c_cycles; /* profiled */
} cache;

/* ---- sorting ------------------------------------------------------------------------------ */

static void
merge(uint32_t *to, const uint32_t *a, const uint32_t *b, uint32_t n)
{
	const uint32_t *a_end = a + n, *b_end = b + n;
	bool second;

	while (a < a_end && b < b_end) {
		/* Without a branch, which would be unpredictable. */
		second = *b < *a;
		*to++ = second ? *b : *a;
		b += second;
		a += !second;
	}
	while (a < a_end)
		*to++ = *a++;
	while (b < b_end)
		*to++ = *b++;
}

static void
sort_run(uint32_t *words)
{
	uint32_t i, k, word;

	for (i = 1; i < RUN; i++) {
		word = words[i];
		for (k = i; k > 0 && words[k - 1] > word; k--)
			words[k] = words[k - 1];
		words[k] = word;
	}
}

/* Sort one half in place, with as much spare room. */
static void
sort_half(uint32_t *words, uint32_t *spare)
{
	uint32_t *from = words, *to = spare, *other, width, i;

	for (i = 0; i < HALF; i += RUN)
		sort_run(words + i);
	for (width = RUN; width < HALF; width *= 2) {
		for (i = 0; i < HALF; i += 2 * width)
			merge(to + i, from + i, from + i + width, width);
		other = from;
		from = to;
		to = other;
	}
	if (from != words)
		memcpy(words, from, HALF * sizeof(*words));
}

static void
make(struct pile *pile)
{
	uint32_t i, word = pile->seed, sum = 0;

	pile->words = malloc(2 * WORDS * sizeof(*pile->words));
	if (pile->words == NULL)
		mb_fail("malloc", errno);
	pile->spare = pile->words + WORDS;
	for (i = 0; i < WORDS; i++) {
		word = word * 1664525u + 1013904223u;
		pile->words[i] = word;
		sum += word;
	}
	pile->seed = word;
	pile->sum = sum;
}

/* Merge the halves, and check the result. */
static void
finish(struct pile *pile)
{
	const uint32_t *words = pile->spare;
	uint32_t i, sum, falls = 0;

	merge(pile->spare, pile->words, pile->words + HALF, HALF);
	for (i = 1, sum = words[0]; i < WORDS; i++) {
		falls += words[i] < words[i - 1];
		sum += words[i];
	}
	if (falls > 0 || sum != pile->sum)
		mb_fail("an array is not sorted", 0);
	free(pile->words);
	pile->words = NULL;
}

/* ---- handlers ----------------------------------------------------------------------------- */

static void cache_a(void *arg);
static void cache_b(void *arg);
static void cache_c(void *arg);

static struct mely_handler a_handler = MELY_HANDLER(cache_a);
static struct mely_handler b_handler = MELY_HANDLER(cache_b);
static struct mely_handler c_handler = MELY_HANDLER(cache_c);

static void
count_away(struct pile *pile)
{
	/* Relaxed: a count of two colors, read when the round has been joined. */
	if (mely_current_core() != pile->home)
		atomic_fetch_add_explicit(&pile->away, 1, memory_order_relaxed);
}

static void
cache_a(void *arg)
{
	struct pile *pile = arg;
	struct half *half;

	make(pile);
	pile->made++;
	count_away(pile);
	for (half = pile->halves; half < pile->halves + HALVES; half++) {
		/* New work is registered where its data is. */
		mb_rounds_home(&half->color, mely_current_core());
		mb_must(mely_event_post(&half->color, &half->sort), "mely_event_post");
	}
}

static void
cache_b(void *arg)
{
	struct half *half = arg;
	struct pile *pile = half->pile;
	size_t at = half == pile->halves ? 0 : HALF;

	sort_half(pile->words + at, pile->spare + at);
	half->sorted++;
	count_away(pile);
	mb_must(mely_event_post(&pile->color, &half->sync), "mely_event_post");
}

static void
cache_c(void *arg)
{
	struct pile *pile = arg;

	count_away(pile);
	if (++pile->synced % HALVES != 0)
		return;
	finish(pile);
	pile->merged++;
	mb_rounds_done();
}

/* ---- rounds ------------------------------------------------------------------------------- */

/* The annotations are what the handlers take when nothing disturbs them. */
static void
profile(void)
{
	struct pile pile = {.words = NULL};
	uint64_t t[4];
	int i;

	cache.a_cycles = cache.b_cycles = cache.c_cycles = UINT64_MAX;
	for (i = 0; i < 20; i++) {
		t[0] = mb_ticks();
		make(&pile);
		t[1] = mb_ticks();
		sort_half(pile.words, pile.spare);
		t[2] = mb_ticks();
		sort_half(pile.words + HALF, pile.spare + HALF);
		t[3] = mb_ticks();
		finish(&pile);
		if (t[1] - t[0] < cache.a_cycles)
			cache.a_cycles = t[1] - t[0];
		if ((t[3] - t[1]) / 2 < cache.b_cycles)
			cache.b_cycles = (t[3] - t[1]) / 2;
		/* Every other C does nothing. */
		if ((mb_ticks() - t[3]) / 2 < cache.c_cycles)
			cache.c_cycles = (mb_ticks() - t[3]) / 2;
	}
}

static void
annotate(struct mely_handler *handler, uint64_t cycles)
{
	handler->time_ns = mb_rounds_ns(cycles);
	handler->penalty = 1;
}

static uint32_t
setup(struct mely_runtime *rt, const struct mb_config *config, int count)
{
	struct pile *pile;
	int i, h;

	if (config->annotated) {
		annotate(&a_handler, cache.a_cycles);
		annotate(&b_handler, cache.b_cycles);
		annotate(&c_handler, cache.c_cycles);
	}
	cache.count = count * ((mely_cores(rt) + 1) / 2);
	cache.piles = mb_array((size_t)cache.count, sizeof(*pile), _Alignof(struct pile));
	for (i = 0; i < cache.count; i++) {
		pile = &cache.piles[i];
		/* Neighbors are one core number apart: every second core begins with work. */
		pile->home = 2 * (i / count);
		pile->seed = (uint32_t)i;
		mb_must(mely_color_init_on(&pile->color, rt, pile->home), "mely_color_init_on");
		mely_event_init(&pile->event, &a_handler, pile);
		for (h = 0; h < HALVES; h++) {
			pile->halves[h].pile = pile;
			mb_must(mely_color_init_on(&pile->halves[h].color, rt, pile->home),
			    "mely_color_init_on");
			mely_event_init(&pile->halves[h].sort, &b_handler, &pile->halves[h]);
			mely_event_init(&pile->halves[h].sync, &c_handler, pile);
		}
	}
	return (uint32_t)cache.count;
}

static void
begin(void)
{
	struct pile *pile, *last = cache.piles + cache.count;

	for (pile = cache.piles; pile < last; pile++)
		mb_must(mely_event_post(&pile->color, &pile->event), "mely_event_post");
}

static void
end(struct mb_tally *tally)
{
	struct pile *pile, *last = cache.piles + cache.count;
	uint32_t n = ++cache.rounds;

	for (pile = cache.piles; pile < last; pile++) {
		if (pile->made != n || pile->halves[0].sorted != n || pile->halves[1].sorted != n ||
		    pile->synced != HALVES * n || pile->merged != n)
			mb_fail("an event did not run exactly once a round", 0);
		tally->events += EVENTS;
		/* Relaxed, both: pairs with count_away; the round has ended. */
		tally->away_events += atomic_load_explicit(&pile->away, memory_order_relaxed);
		atomic_store_explicit(&pile->away, 0, memory_order_relaxed);
		mb_rounds_home(&pile->color, pile->home);
	}
}

static void
teardown(void)
{
	free(cache.piles);
}

int
main(int argc, char **argv)
{
	static const struct mb_program program = {
		.name = "cache-efficient",
		.what = "Rounds of K events A on every second core. Each makes an array of 4 KB,\n"
		    "two events B of other colors sort its halves, and when both have posted an\n"
		    "event C to the array's color the second C merges them. Events a second.",
		.colors_help = "events A on each core that has some",
		.colors_default = CACHE_COLORS,
		.colors_max = 100000,
	};
	static const struct mb_rounds_bench bench = {profile, setup, begin, end, teardown};

	return mb_rounds_main(&program, &bench, argc, argv);
}
