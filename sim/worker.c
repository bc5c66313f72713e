/* SPDX-License-Identifier: MIT */
/* worker.c: see worker.h. */
#include "worker.h"

#include <sys/mman.h>

#include "program.h"
#include "world.h"

enum { SLOTS_MIN = 1 << 16, SLOTS_MAX = 1 << 25 };

struct traces *
traces_new(uint64_t schedules)
{
	uint64_t slots = SLOTS_MIN;
	struct traces *t;

	while (slots < SLOTS_MAX && (schedules == 0 || slots < 2 * schedules))
		slots *= 2;
	t = mmap(NULL, sizeof *t + slots * sizeof t->at[0], PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (t == MAP_FAILED)
		return NULL;
	t->slots = slots;
	return t;
}

/* Stops counting new traces once the table is three quarters full. */
static void
note(struct traces *t, uint64_t trace)
{
	uint64_t at = trace & (t->slots - 1), seen;

	if (trace == 0 || t->count >= t->slots / 4 * 3)
		return;
	while ((seen = t->at[at]) != trace) {
		if (seen == 0 && atomic_compare_exchange_strong(&t->at[at], &seen, trace)) {
			t->count++;
			return;
		}
		if (seen == trace)
			return;
		at = (at + 1) & (t->slots - 1);
	}
}

void
worker_run(const struct worker_job *job, struct worker_state *state, struct traces *traces,
    const _Atomic bool *end)
{
	static struct program program;
	uint64_t n = (uint64_t)job->number, length, i;
	uint64_t sites = (uint64_t)(__stop_sim_sites - __start_sim_sites);

	for (; (job->schedules == 0 || n < job->schedules) && !*end;
	    n += (uint64_t)job->workers) {
		state->seed = job->seed + n;
		program_make(&program, job->seed + n);
		world_run(&program, job->seed + n, &state->outcome);
		state->accesses += state->outcome.accesses;
		state->switches += state->outcome.switches;
		state->digest += state->outcome.trace;
		length = state->outcome.accesses / LENGTH_STEP;
		state->lengths[length < LENGTHS ? length : LENGTHS - 1]++;
		note(traces, state->outcome.trace);
		state->done++;
		if (state->outcome.failed) {
			state->failed = true;
			break;
		}
	}
	for (i = 0; i < sites && i < WORKER_SITES; i++)
		state->site_hits[i] = __start_sim_sites[i].hits;
	state->ended = true;
}
