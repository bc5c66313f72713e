/* SPDX-License-Identifier: MIT */
/*
 * predict.c: see predict.h. The state is that of one run, in one thread of the operating system.
 */
#include "predict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cost.h"
#include "engine.h"
#include "plain.h"

enum {
	MUTEX_CYCLES = 60,
	CLOCK_CYCLES = 25,    /* reading the time stamp counter */
	PAUSE_CYCLES = 20,    /* the hint in a spin */
	JITTER_SHIFT = 4,     /* a miss takes up to a sixteenth longer */
	SITES_MAX = 4096
};

/* A core's meters. */
struct meter {
	const void *own_lock;  /* during its search for a color to steal */
	const void *lock;      /* last taken */
	uint64_t lock_at_ps;
	bool lock_last;        /* its last atomic operation was on a lock */
	uint64_t lock_ps, held_ps;
};

/* Sums over all cores. */
struct reading {
	uint64_t lock_ps, held_ps, accesses, misses, transfers;
};

static struct {
	const struct sim_predict *what;
	struct sim_prediction *out;
	struct sim_cost *cost;
	struct mely_runtime *rt;
	struct sim_rng rng;
	struct meter meters[SIM_CPUS_MAX];
	struct reading begun;
	struct mely_counters counters; /* at the start of the first measured round */
	uint64_t begun_ps;
	uint64_t clock_ps, pause_ps, far_ps;
	int free_cpu;          /* E of NOTE(prices); -1: none */
	int cpus[SIM_THREADS_MAX]; /* of each thread: a core's own, 0 for others */
	uint8_t sites[SITES_MAX]; /* in the locks? 0: not known yet, 1: no, 2: yes */
} predict;

/* ---- prices ---------------------------------------------------------------------------------- */

static uint64_t
cycles(uint64_t n)
{
	return sim_cost_cycles(predict.cost, n);
}

extern char __start_sim_tls[], __stop_sim_tls[];
extern int sim_processors; /* shim_thread.c */
void sim_fds_begin(void);  /* shim_fd.c */

/* C of NOTE(prices) */
static bool
is_private(const void *p)
{
	const char *at = p, *stack = sim_self->fiber.stack;

	return (at >= stack && at < stack + sim_self->fiber.size) ||
	    (at >= __start_sim_tls && at < __stop_sim_tls);
}

/* Vary the time of misses: otherwise cores run in lockstep, as real ones never do. */
static uint64_t
jittered(uint64_t ps)
{
	if (ps < predict.far_ps)
		return ps;
	return ps + (ps >> JITTER_SHIFT) * sim_rng_below(&predict.rng, 256) / 256;
}

/* The processor of the thread that runs. */
static int
cpu_now(void)
{
	return predict.cpus[sim_self->id];
}

static uint64_t
price(const void *p, enum sim_cost_kind kind)
{
	int cpu = cpu_now();

	if (is_private(p) || cpu == predict.free_cpu)
		return sim_cost_step(predict.cost);
	return jittered(sim_cost_access(predict.cost, cpu, sim_self->time_ps, p, kind));
}

/* Is this place in mely/base/lock.h or mely/base/lock.c? */
static bool
of_a_lock(const struct sim_site *site)
{
	size_t which = (size_t)(site - __start_sim_sites), length;

	if (which >= SITES_MAX || predict.sites[which] == 0) {
		length = strlen(site->file);
		bool is = length > 6 && strncmp(site->file + length - 6, "lock.", 5) == 0 &&
		    site->file[length - 7] == '/';

		if (which >= SITES_MAX)
			return is;
		predict.sites[which] = is ? 2 : 1;
	}
	return predict.sites[which] == 2;
}

static void
meter_lock(struct meter *meter, const struct sim_site *site, const void *p, uint64_t ps)
{
	if (site->kind == SIM_STORE) {
		if (meter->own_lock != NULL && p == meter->lock && p != meter->own_lock)
			meter->held_ps += sim_self->time_ps + ps - meter->lock_at_ps;
		meter->lock = NULL;
		return;
	}
	meter->lock_ps += ps;
	if (site->kind == SIM_RMW) {
		meter->lock = p;
		meter->lock_at_ps = sim_self->time_ps + ps;
	}
}

static uint64_t
price_access(struct sim_thread *thread, const struct sim_site *site, const void *p)
{
	static const enum sim_cost_kind kinds[] = {
		[SIM_LOAD] = SIM_COST_READ, [SIM_STORE] = SIM_COST_WRITE,
		[SIM_RMW] = SIM_COST_RMW, [SIM_CAS] = SIM_COST_RMW, [SIM_COUNT] = SIM_COST_WRITE};
	struct meter *meter = &predict.meters[predict.cpus[thread->id]];
	uint64_t ps;

	if (site->kind == SIM_FENCE)
		return 0; /* touches no line; the machine's file has no price for it */
	ps = price(p, kinds[site->kind]);
	meter->lock_last = of_a_lock(site);
	if (meter->lock_last)
		meter_lock(meter, site, p, ps);
	predict.out->trace = (predict.out->trace ^ (thread->time_ps + ps)) * 0x100000001b3u;
	return ps;
}

static uint64_t
price_relax(struct sim_thread *thread)
{
	struct meter *meter = &predict.meters[predict.cpus[thread->id]];
	uint64_t ps = predict.pause_ps + predict.pause_ps * sim_rng_below(&predict.rng, 256) / 256;

	if (meter->lock_last)
		meter->lock_ps += ps;
	return ps;
}

static uint64_t
price_call(struct sim_thread *thread, const char *name)
{
	const struct sim_machine *m = sim_cost_machine(predict.cost);
	struct meter *meter = &predict.meters[predict.cpus[thread->id]];
	uint64_t ps;

	if (strcmp(name, "mutex") == 0 || strcmp(name, "cond") == 0)
		return cycles(MUTEX_CYCLES);
	ps = cycles(strcmp(name, "write") == 0 ? m->wake : m->syscall);
	if (meter->lock_last && strcmp(name, "sched_yield") == 0)
		meter->lock_ps += ps;
	return ps;
}

static uint64_t
price_wake(struct sim_thread *woken, struct sim_thread *waker)
{
	(void)woken, (void)waker;
	return jittered(cycles(sim_cost_machine(predict.cost)->awake));
}

/* ---- what costs time without a turn of others: B and D of NOTE(prices) ---------------------- */

void
sim_plain(const void *p, size_t bytes, bool write)
{
	(void)bytes; /* in one line */
	if (sim_self == NULL || cpu_now() == predict.free_cpu)
		return;
	sim_self->time_ps += price(p, write ? SIM_COST_WRITE : SIM_COST_READ);
}

void
sim_plain_range(const void *p, size_t bytes, bool write)
{
	if (sim_self == NULL || cpu_now() == predict.free_cpu)
		return;
	sim_self->time_ps += sim_cost_range(predict.cost, cpu_now(), sim_self->time_ps, p, bytes,
	    write ? SIM_COST_WRITE : SIM_COST_READ);
}

void
sim_touch(const void *at, size_t bytes, bool write)
{
	sim_plain_range(at, bytes, write);
}

void
sim_prefetch(const void *p)
{
	if (sim_self != NULL && p != NULL && cpu_now() != predict.free_cpu && !is_private(p))
		sim_cost_prefetch(predict.cost, cpu_now(), sim_self->time_ps, p);
}

void
sim_compute(uint64_t n)
{
	if (n != 0 && cpu_now() != predict.free_cpu)
		sim_spend(cycles(n));
}

void
sim_clock_read(void)
{
	if (sim_self != NULL)
		sim_self->time_ps += predict.clock_ps;
}

/* ---- meters ---------------------------------------------------------------------------------- */

void
sim_on_core(int core)
{
	predict.cpus[sim_self->id] = core;
}

void
sim_steal_begin(const void *own_lock)
{
	predict.meters[cpu_now()].own_lock = own_lock;
	sim_compute(sim_cost_machine(predict.cost)->lap);
}

void
sim_steal_end(void)
{
	predict.meters[cpu_now()].own_lock = NULL;
}

void
sim_stolen(void)
{
	if (sim_self != NULL)
		sim_compute(sim_cost_machine(predict.cost)->steal);
}

static void
read_meters(struct reading *reading)
{
	struct sim_cost_count count;
	int cpu;

	memset(reading, 0, sizeof(*reading));
	for (cpu = 0; cpu < predict.what->cores; cpu++) {
		sim_cost_count(predict.cost, cpu, &count);
		reading->lock_ps += predict.meters[cpu].lock_ps;
		reading->held_ps += predict.meters[cpu].held_ps;
		reading->accesses += count.accesses;
		reading->misses += count.misses;
		reading->transfers += count.transfers;
	}
}

static void
read_counters(struct mely_counters *counters)
{
	struct mely_stats *stats;

	sim_must(mely_stats_take(predict.rt, MELY_STATS_COUNTERS, 0, &stats), "mely_stats_take");
	*counters = stats->total;
	mely_stats_free(stats);
}

/* Compute what the rounds added to the counters. */
static void
count(struct sim_prediction *out)
{
	const struct mely_counters *then = &predict.counters;
	struct mely_counters now;
	int i;

	read_counters(&now);
	out->steals = now.steals - then->steals;
	out->steals_tried = now.steals_tried - then->steals_tried;
	out->steals_empty = now.steals_empty - then->steals_empty;
	out->sleeps = now.sleeps - then->sleeps;
	out->wakeups = now.wakeups_sent - then->wakeups_sent;
	for (i = 0; i < MELY_DISTANCES; i++)
		out->steals_at[i] = now.steals_at[i] - then->steals_at[i];
}

static void
begun(void *ctx, int round)
{
	(void)ctx;
	predict.free_cpu = -1;
	if (round == 1)
		read_counters(&predict.counters);
	read_meters(&predict.begun);
	predict.begun_ps = sim_self->time_ps;
}

static void
joined(void *ctx, int round)
{
	struct sim_prediction *out = predict.out;
	struct reading now;

	(void)ctx;
	predict.free_cpu = cpu_now();
	if (round == 0)
		return;
	read_meters(&now);
	out->seconds += (double)(sim_self->time_ps - predict.begun_ps) / 1e12;
	out->lock_ps += now.lock_ps - predict.begun.lock_ps;
	out->held_ps += now.held_ps - predict.begun.held_ps;
	out->accesses += now.accesses - predict.begun.accesses;
	out->misses += now.misses - predict.begun.misses;
	out->transfers += now.transfers - predict.begun.transfers;
}

static bool
ended(void *ctx, int round, const struct sim_tally *tally)
{
	struct sim_tally *sum = &predict.out->tally;

	(void)ctx;
	if (round == 0)
		return true;
	sum->events += tally->events;
	sum->cycles += tally->cycles;
	sum->away_events += tally->away_events;
	sum->away_cycles += tally->away_cycles;
	if (round < predict.what->params.rounds)
		return true;
	count(predict.out);
	return false;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static const struct sim_rounds_hooks rounds_hooks = {begun, joined, ended, NULL};

static void
body(void *arg)
{
	const struct sim_predict *what = arg;
	struct mely_config config;

	sim_fds_begin();
	sim_must(mely_config_init(&config), "mely_config_init");
	config.cores = what->cores;
	config.topology = what->topology;
	sim_must(mely_runtime_new(&predict.rt, &config), "mely_runtime_new");
	sim_rounds_start(predict.rt, what->workload, &what->params, &rounds_hooks);
	sim_must(mely_run(predict.rt), "mely_run");
	predict.free_cpu = -1;
	sim_must(mely_runtime_free(predict.rt), "mely_runtime_free");
	sim_rounds_free();
}

int
sim_predict_run(const struct sim_predict *what, struct sim_prediction *out)
{
	static const struct sim_hooks hooks = {
		price_access, price_relax, price_call, price_wake};
	struct sim_setup setup = {.mode = SIM_PREDICT, .seed = what->seed, .hooks = &hooks};
	const struct sim_machine *m = what->params.machine;
	struct sim_outcome outcome;
	struct sim_shape shape;
	int error = sim_shape_load(&shape, m, what->topology, what->cores);

	if (error == 0)
		error = sim_cost_new(&predict.cost, m, &shape);
	if (error != 0)
		return error;
	memset(out, 0, sizeof(*out));
	predict.what = what;
	predict.out = out;
	predict.free_cpu = -1;
	predict.clock_ps = cycles(CLOCK_CYCLES);
	predict.pause_ps = cycles(PAUSE_CYCLES);
	predict.far_ps = cycles(m->hit[1] + 1);
	sim_rng_init(&predict.rng, what->seed, 7);
	sim_processors = what->cores;
	sim_run(&setup, body, (void *)(uintptr_t)what, &outcome);
	if (outcome.failed)
		sim_wrong(outcome.text, 0);
	out->switches = outcome.switches;
	sim_cost_free(predict.cost);
	predict.cost = NULL;
	return 0;
}
