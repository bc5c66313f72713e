/* SPDX-License-Identifier: MIT */
/*
 * workload.c: the rounds of a workload; see workload.h. The process has one state, since one
 * simulation runs at a time. Events of core 0's color touch it; each producer touches only its own
 * part.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

/* A core that posts its share of a round, and counts the reports on it. It has its own lines. */
struct producer {
	_Alignas(64) struct mely_color color;
	struct mely_event begin, ended;
	struct mely_join join;
	int index;
};

static struct {
	_Alignas(64) struct mely_color color; /* of the rounds */
	struct mely_event event;
	struct mely_join join;   /* of the producers */
	struct mely_runtime *rt;
	const struct sim_workload *workload;
	const struct sim_params *params;
	const struct sim_rounds_hooks *hooks;
	struct producer *producers;
	uint32_t reports;        /* that each producer waits for */
	int round;               /* 0: the warm-up */
	bool running;
} rounds;

/* Free arrays, by core: a handler gets an array that its own core touched last. */
static struct spare {
	_Alignas(64) struct spare_array {
		struct spare_array *next;
	} *first;
} spares[SIM_CPUS_MAX];

/* ---- for the workloads ----------------------------------------------------------------------- */

const struct sim_workload *
sim_workload_find(const char *name)
{
	static const struct sim_workload *const all[] = {
		&sim_unbalanced, &sim_penalty, &sim_cache_efficient};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(all[i]->name, name) == 0)
			return all[i];
	}
	return NULL;
}

int
sim_producer_core(int producer)
{
	return producer * (mely_cores(rounds.rt) / rounds.params->producers);
}

void
sim_round_done(int producer)
{
	sim_must(mely_join_done(&rounds.producers[producer].join), "mely_join_done");
}

void
sim_post(struct mely_color *color, struct mely_event *ev)
{
	sim_compute(rounds.params->machine->post);
	sim_must(mely_event_post(color, ev), "mely_event_post");
}

void
sim_enter(void)
{
	sim_compute(rounds.params->machine->run);
}

void
sim_home(struct mely_color *color, int core)
{
	if (mely_color_core(color) == core)
		return;
	sim_must(mely_color_pin(color, core), "mely_color_pin");
	sim_must(mely_color_pin(color, MELY_ANY_CORE), "mely_color_pin");
}

uint32_t
sim_ns(uint64_t cycles)
{
	uint64_t ns = cycles * 1000 / rounds.params->machine->mhz;

	return ns < 1 ? 1 : (uint32_t)ns;
}

void *
sim_array_get(size_t bytes)
{
	struct spare *spare = &spares[mely_current_core()];
	struct spare_array *array = spare->first;

	if (array == NULL)
		return sim_items(1, bytes);
	spare->first = array->next;
	return array;
}

void
sim_array_put(void *memory)
{
	struct spare *spare = &spares[mely_current_core()];
	struct spare_array *array = memory;

	array->next = spare->first;
	spare->first = array;
}

void *
sim_items(size_t count, size_t size)
{
	size_t bytes = (count * size + SIM_LINE_BYTES - 1) / SIM_LINE_BYTES * SIM_LINE_BYTES;
	void *items = aligned_alloc(SIM_LINE_BYTES, bytes);

	if (items == NULL)
		sim_wrong("no memory for the workload", ENOMEM);
	memset(items, 0, bytes);
	return items;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static void
producer_begins(void *arg)
{
	struct producer *producer = arg;

	rounds.workload->begin(producer->index);
}

static void
producer_ended(void *arg)
{
	(void)arg;
	sim_must(mely_join_done(&rounds.join), "mely_join_done");
}

static struct mely_handler begins_handler = MELY_HANDLER(producer_begins);
static struct mely_handler ended_handler = MELY_HANDLER(producer_ended);

static void
round_event(void *arg)
{
	struct sim_tally tally = {0};
	int i;

	(void)arg;
	if (rounds.running) {
		rounds.hooks->joined(rounds.hooks->ctx, rounds.round);
		rounds.workload->end(&tally);
		if (!rounds.hooks->ended(rounds.hooks->ctx, rounds.round, &tally)) {
			sim_must(mely_stop(rounds.rt, MELY_STOP_DISCARD), "mely_stop");
			return;
		}
		rounds.round++;
	}
	rounds.running = true;
	sim_must(mely_join_init(&rounds.join, (uint32_t)rounds.params->producers, &rounds.color,
	    &rounds.event), "mely_join_init");
	rounds.hooks->begun(rounds.hooks->ctx, rounds.round);
	for (i = rounds.params->producers; i-- > 0;) {
		struct producer *producer = &rounds.producers[i];

		sim_must(mely_join_init(&producer->join, rounds.reports, &producer->color,
		    &producer->ended), "mely_join_init");
		if (i > 0)
			sim_must(mely_event_post(&producer->color, &producer->begin),
			    "mely_event_post");
	}
	/* The first producer is this core. */
	rounds.workload->begin(0);
}

static struct mely_handler round_handler = MELY_HANDLER(round_event);

void
sim_rounds_start(struct mely_runtime *rt, const struct sim_workload *workload,
    const struct sim_params *params, const struct sim_rounds_hooks *hooks)
{
	int i;

	rounds.rt = rt;
	rounds.workload = workload;
	rounds.params = params;
	rounds.hooks = hooks;
	rounds.round = 0;
	rounds.running = false;
	rounds.producers = sim_items((size_t)params->producers, sizeof(*rounds.producers));
	rounds.reports = workload->setup(rt, params);
	for (i = 0; i < params->producers; i++) {
		struct producer *producer = &rounds.producers[i];
		int core = sim_producer_core(i);

		producer->index = i;
		sim_must(mely_color_init_on(&producer->color, rt, core), "mely_color_init_on");
		sim_must(mely_color_pin(&producer->color, core), "mely_color_pin");
		mely_event_init(&producer->begin, &begins_handler, producer);
		mely_event_init(&producer->ended, &ended_handler, producer);
	}
	sim_must(mely_color_init_on(&rounds.color, rt, 0), "mely_color_init_on");
	sim_must(mely_color_pin(&rounds.color, 0), "mely_color_pin");
	mely_event_init(&rounds.event, &round_handler, NULL);
	sim_must(mely_event_post(&rounds.color, &rounds.event), "mely_event_post");
}

void
sim_rounds_free(void)
{
	struct spare_array *array;
	int i;

	rounds.workload->teardown();
	free(rounds.producers);
	rounds.producers = NULL;
	for (i = 0; i < SIM_CPUS_MAX; i++) {
		while ((array = spares[i].first) != NULL) {
			spares[i].first = array->next;
			free(array);
		}
	}
}
