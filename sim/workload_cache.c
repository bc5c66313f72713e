/* SPDX-License-Identifier: MIT */
/*
 * workload_cache.c: microbench/cache_efficient.c for the simulated machine. An A writes the array;
 * a B goes over its half and as much spare room in every pass of its merge sort; the second C
 * reads the halves and writes the whole.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "../microbench/mb_paper.h"
#include "workload.h"

enum {
	BYTES = CACHE_WORDS * sizeof(uint32_t),
	HALF_BYTES = CACHE_HALF * sizeof(uint32_t),
	INSERTION = 2 /* average steps for a word in a run of eight */
};

struct half {
	_Alignas(64) struct mely_color color;
	struct mely_event sort, sync;
	struct pile *pile;
	uint32_t sorted; /* Bs run */
};

struct pile {
	_Alignas(64) struct mely_color color;
	struct mely_event event;
	struct half halves[CACHE_HALVES];
	char *words, *spare; /* one array */
	int home;
	uint32_t made, synced, merged; /* As, Cs, second Cs run */
	atomic_uint away; /* events of this round that ran on another core */
};

static struct {
	struct pile *piles;
	int count;
	uint32_t rounds;
	uint64_t make_cycles, run_cycles, pass_cycles, merge_cycles;
} cache;

static void cache_a(void *arg);
static void cache_b(void *arg);
static void cache_c(void *arg);

static struct mely_handler a_handler = MELY_HANDLER(cache_a);
static struct mely_handler b_handler = MELY_HANDLER(cache_b);
static struct mely_handler c_handler = MELY_HANDLER(cache_c);

static void
count_away(struct pile *pile)
{
	/* Relaxed: two colors count in it, and it is read after the join of the round. */
	if (mely_current_core() != pile->home)
		atomic_fetch_add_explicit(&pile->away, 1, memory_order_relaxed);
}

static void
cache_a(void *arg)
{
	struct pile *pile = arg;
	struct half *half;

	sim_enter();
	pile->words = sim_array_get((size_t)2 * BYTES);
	pile->spare = pile->words + BYTES;
	sim_touch(pile->words, BYTES, true);
	sim_compute(cache.make_cycles);
	pile->made++;
	count_away(pile);
	for (half = pile->halves; half < pile->halves + CACHE_HALVES; half++) {
		/* New work is registered where its data is. */
		sim_home(&half->color, mely_current_core());
		sim_post(&half->color, &half->sort);
	}
}

/* Passes of a merge sort from sorted runs to a half. */
static int
passes(void)
{
	int n = 0, width;

	for (width = CACHE_RUN; width < CACHE_HALF; width *= 2)
		n++;
	return n;
}

static void
cache_b(void *arg)
{
	struct half *half = arg;
	struct pile *pile = half->pile;
	size_t at = half == pile->halves ? 0 : HALF_BYTES;
	int i, n = passes();

	sim_enter();
	sim_touch(pile->words + at, HALF_BYTES, true);
	sim_compute(cache.run_cycles);
	for (i = 0; i < n; i++) {
		bool forth = i % 2 == 0;

		sim_touch((forth ? pile->words : pile->spare) + at, HALF_BYTES, false);
		sim_touch((forth ? pile->spare : pile->words) + at, HALF_BYTES, true);
		sim_compute(cache.pass_cycles);
	}
	half->sorted++;
	count_away(pile);
	sim_post(&pile->color, &half->sync);
}

static void
cache_c(void *arg)
{
	struct pile *pile = arg;

	sim_enter();
	count_away(pile);
	if (++pile->synced % CACHE_HALVES != 0)
		return;
	sim_touch(pile->words, BYTES, false);
	sim_touch(pile->spare, BYTES, true);
	sim_compute(cache.merge_cycles);
	sim_array_put(pile->words);
	pile->merged++;
	sim_round_done(0);
}

static void
annotate(struct mely_handler *handler, uint64_t cycles)
{
	handler->time_ns = sim_ns(cycles);
	handler->penalty = 1;
}

/* Convert the machine's times for a word to cycles for each handler. */
static void
compute(const struct sim_machine *m)
{
	cache.make_cycles = (uint64_t)CACHE_WORDS * m->read_milli / 1000;
	cache.run_cycles = (uint64_t)CACHE_HALF * INSERTION * m->sort_milli / 1000;
	cache.pass_cycles = (uint64_t)CACHE_HALF * m->sort_milli / 1000;
	cache.merge_cycles = (uint64_t)CACHE_WORDS * (m->sort_milli + m->read_milli) / 1000;
}

static uint32_t
setup(struct mely_runtime *rt, const struct sim_params *params)
{
	int count = params->count > 0 ? params->count : CACHE_COLORS, i, h;

	compute(params->machine);
	cache.rounds = 0;
	if (params->annotated) {
		annotate(&a_handler, cache.make_cycles);
		annotate(&b_handler, cache.run_cycles + (uint64_t)passes() * cache.pass_cycles);
		annotate(&c_handler, cache.merge_cycles / CACHE_HALVES);
	}
	cache.count = count * ((mely_cores(rt) + 1) / 2);
	cache.piles = sim_items((size_t)cache.count, sizeof(*cache.piles));
	for (i = 0; i < cache.count; i++) {
		struct pile *pile = &cache.piles[i];

		/* Neighbors have adjacent core numbers: every second core begins with work. */
		pile->home = 2 * (i / count);
		sim_must(mely_color_init_on(&pile->color, rt, pile->home), "mely_color_init_on");
		mely_event_init(&pile->event, &a_handler, pile);
		for (h = 0; h < CACHE_HALVES; h++) {
			pile->halves[h].pile = pile;
			sim_must(mely_color_init_on(&pile->halves[h].color, rt, pile->home),
			    "mely_color_init_on");
			mely_event_init(&pile->halves[h].sort, &b_handler, &pile->halves[h]);
			mely_event_init(&pile->halves[h].sync, &c_handler, pile);
		}
	}
	return (uint32_t)cache.count;
}

static void
begin(int producer)
{
	int i;

	(void)producer;
	for (i = 0; i < cache.count; i++)
		sim_post(&cache.piles[i].color, &cache.piles[i].event);
}

static void
end(struct sim_tally *tally)
{
	uint32_t n = ++cache.rounds;
	int i;

	for (i = 0; i < cache.count; i++) {
		struct pile *pile = &cache.piles[i];

		if (pile->made != n || pile->halves[0].sorted != n || pile->halves[1].sorted != n ||
		    pile->synced != CACHE_HALVES * n || pile->merged != n)
			sim_wrong("an event did not run exactly once a round", 0);
		tally->events += CACHE_EVENTS;
		/* Relaxed, both: pairs with count_away; the round has ended. */
		tally->away_events += atomic_load_explicit(&pile->away, memory_order_relaxed);
		atomic_store_explicit(&pile->away, 0, memory_order_relaxed);
		sim_home(&pile->color, pile->home);
	}
}

static void
teardown(void)
{
	free(cache.piles);
}

const struct sim_workload sim_cache_efficient =
    {"cache-efficient", setup, begin, end, teardown, false};
