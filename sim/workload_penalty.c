/* SPDX-License-Identifier: MIT */
/*
 * workload_penalty.c: microbench/penalty.c for the simulated machine. An A writes an array; each of
 * its Bs reads one slice: every line once, and a number of cycles for each word.
 */
#include <stdlib.h>

#include "../microbench/mb_paper.h"
#include "workload.h"

enum {
	WORDS = PENALTY_ARRAY_BYTES / sizeof(uint32_t),
	SLICE_WORDS = PENALTY_SLICE_BYTES / sizeof(uint32_t)
};

struct parent {
	_Alignas(64) struct mely_color color;
	struct mely_event event; /* A, and then B again and again: there is only one at a time */
	char *array;
	uint32_t at;      /* slices read */
	uint32_t made;    /* As run */
	uint32_t read;    /* Bs run, of all rounds */
	uint32_t away;    /* events of this round that did not run on core 0 */
};

static struct {
	struct parent *parents;
	int count;
	uint32_t rounds;
	uint64_t a_cycles, b_cycles;
} penalty;

static void penalty_a(void *arg);
static void penalty_b(void *arg);

static struct mely_handler a_handler = MELY_HANDLER(penalty_a);
static struct mely_handler b_handler = MELY_HANDLER(penalty_b);

static void
penalty_b(void *arg)
{
	struct parent *parent = arg;

	sim_enter();
	sim_touch(parent->array + parent->at * PENALTY_SLICE_BYTES, PENALTY_SLICE_BYTES, false);
	sim_compute(penalty.b_cycles);
	parent->read++;
	parent->away += mely_current_core() != 0;
	if (++parent->at < PENALTY_SLICES) {
		sim_post(&parent->color, &parent->event);
		return;
	}
	sim_array_put(parent->array);
	sim_round_done(0);
}

static void
penalty_a(void *arg)
{
	struct parent *parent = arg;

	sim_enter();
	parent->array = sim_array_get(PENALTY_ARRAY_BYTES);
	sim_touch(parent->array, PENALTY_ARRAY_BYTES, true);
	sim_compute(penalty.a_cycles);
	parent->at = 0;
	parent->made++;
	parent->away = mely_current_core() != 0;
	mely_event_init(&parent->event, &b_handler, parent);
	sim_post(&parent->color, &parent->event);
}

static uint32_t
setup(struct mely_runtime *rt, const struct sim_params *params)
{
	int i;

	penalty.count = params->count > 0 ? params->count : PENALTY_COLORS;
	penalty.rounds = 0;
	penalty.a_cycles = (uint64_t)WORDS * params->machine->make_milli / 1000;
	penalty.b_cycles = (uint64_t)SLICE_WORDS * params->machine->read_milli / 1000;
	if (params->annotated) {
		a_handler.time_ns = sim_ns(penalty.a_cycles);
		b_handler.time_ns = sim_ns(penalty.b_cycles);
		a_handler.penalty = 1;
		b_handler.penalty = PENALTY_OF_B;
	}
	penalty.parents = sim_items((size_t)penalty.count, sizeof(*penalty.parents));
	for (i = 0; i < penalty.count; i++)
		sim_must(mely_color_init_on(&penalty.parents[i].color, rt, 0),
		    "mely_color_init_on");
	return (uint32_t)penalty.count;
}

static void
begin(int producer)
{
	int i;

	(void)producer;
	for (i = 0; i < penalty.count; i++) {
		struct parent *parent = &penalty.parents[i];

		mely_event_init(&parent->event, &a_handler, parent);
		sim_post(&parent->color, &parent->event);
	}
}

static void
end(struct sim_tally *tally)
{
	uint32_t n = ++penalty.rounds;
	int i;

	for (i = 0; i < penalty.count; i++) {
		struct parent *parent = &penalty.parents[i];

		if (parent->made != n || parent->read != n * PENALTY_SLICES)
			sim_wrong("an event did not run exactly once a round", 0);
		tally->events += 1 + PENALTY_SLICES;
		tally->away_events += parent->away;
		sim_home(&parent->color, 0);
	}
}

static void
teardown(void)
{
	free(penalty.parents);
}

const struct sim_workload sim_penalty = {"penalty", setup, begin, end, teardown, false};
