/* SPDX-License-Identifier: MIT */
/*
 * mb_rounds.c: rounds of fork and join, their time and their steals. The state is of one process:
 * written before the runtime runs, and from then on by the events of one color, pinned to core 0.
 */
#include "mb_rounds.h"

#include <math.h>
#include <string.h>

#include "mb_misses.h"

enum { PAPER_SECONDS = 5 };

uint64_t mb_burn_excess;

static struct rounds {
	const struct mb_rounds_bench *bench;
	const struct mb_config *config;
	const struct mb_options *opt;
	struct mely_runtime *rt;
	struct mely_color color;
	struct mely_event event;
	struct mely_join join;
	uint32_t reports;
	int count;
	bool running;   /* there is a round to be ended */
	bool measuring; /* the warm-up has ended */
	uint64_t begin, elapsed, wanted;
	struct mely_counters before; /* when the round began */
	uint64_t steals, stealing_ns, lock_wait_ns;
	uint64_t pulls; /* of these steals, by cores with work: in no other count */
	double misses;
	struct mb_tally tally;
	struct mb_sample *out;
} rounds;

void
mb_rounds_done(void)
{
	int err = mely_join_done(&rounds.join);

	if (__builtin_expect(err < 0, 0))
		mb_fail("mely_join_done", -err);
}

void
mb_rounds_home(struct mely_color *color, int core)
{
	if (mely_color_core(color) == core)
		return;
	mb_must(mely_color_pin(color, core), "mely_color_pin");
	mb_must(mely_color_pin(color, MELY_ANY_CORE), "mely_color_pin");
}

uint32_t
mb_rounds_ns(uint64_t cycles)
{
	double ns = (double)cycles / mb_ticks_per_s() * 1e9;

	return ns < 1 ? 1 : (uint32_t)ns;
}

/* ---- rounds ------------------------------------------------------------------------------- */

static struct mely_counters
counters(void)
{
	struct mely_counters total;
	struct mely_stats *stats;

	mb_must(mely_stats_take(rounds.rt, MELY_STATS_COUNTERS, 0, &stats), "mely_stats_take");
	total = stats->total;
	mely_stats_free(stats);
	return total;
}

/* Add the growth of the counters since the round began. */
static void
count_round(void)
{
	struct mely_counters now = counters();

	rounds.steals += now.steals - rounds.before.steals;
	rounds.pulls += now.balance_steals - rounds.before.balance_steals;
	rounds.stealing_ns += now.stealing_ns - rounds.before.stealing_ns;
	rounds.lock_wait_ns += now.lock_wait_ns - rounds.before.lock_wait_ns;
}

static void
result(void)
{
	struct mb_sample *out = rounds.out;
	const struct mb_tally *tally = &rounds.tally;
	double cycles = (double)rounds.elapsed, seconds = cycles / mb_ticks_per_s();
	double steals = (double)rounds.steals;

	out->value = (double)tally->events / seconds;
	out->events = (double)tally->events;
	out->steals = steals / seconds;
	out->lock_pct = (double)rounds.lock_wait_ns * 1e-9 / (out->cores * seconds) * 100;
	if (tally->cycles > 0)
		out->ideal_pct = (double)tally->cycles / (out->cores * cycles) * 100;
	if (steals > 0) {
		out->stolen_events = (double)tally->away_events / steals;
		if (tally->cycles > 0)
			out->stolen_cycles = (double)tally->away_cycles / steals;
	}
	if (rounds.steals > rounds.pulls)
		out->steal_cycles = (double)rounds.stealing_ns * 1e-9 * mb_ticks_per_s() /
		    (double)(rounds.steals - rounds.pulls);
	out->cache_misses = (mb_misses_read() - rounds.misses) / (double)tally->events;
}

/* False when that was the last one. */
static bool
end_round(uint64_t now)
{
	struct mb_tally tally = {0};

	rounds.elapsed += now - rounds.begin;
	if (rounds.measuring)
		count_round();
	rounds.bench->end(&tally);
	if (rounds.measuring) {
		rounds.tally.events += tally.events;
		rounds.tally.cycles += tally.cycles;
		rounds.tally.away_events += tally.away_events;
		rounds.tally.away_cycles += tally.away_cycles;
		if (rounds.elapsed < rounds.wanted)
			return true;
		result();
		mb_must(mely_stop(rounds.rt, MELY_STOP_DISCARD), "mely_stop");
		return false;
	}
	if ((double)rounds.elapsed >= MB_WARMUP_S * mb_ticks_per_s()) {
		rounds.measuring = true;
		rounds.elapsed = 0;
		rounds.misses = mb_misses_read();
	}
	return true;
}

static void
round_event(void *arg)
{
	uint64_t now = mb_ticks();

	(void)arg;
	if (rounds.running && !end_round(now))
		return;
	rounds.running = true;
	mb_must(mely_join_init(&rounds.join, rounds.reports, &rounds.color, &rounds.event),
	    "mely_join_init");
	rounds.before = counters();
	rounds.begin = mb_ticks();
	rounds.bench->begin();
}

static struct mely_handler round_handler = MELY_HANDLER(round_event);

static void
run(void *ctx, struct mb_sample *out)
{
	(void)ctx;
	rounds.out = out;
	rounds.wanted = (uint64_t)(rounds.opt->seconds * mb_ticks_per_s());
	mb_misses_start();
	rounds.rt = mb_runtime_new(rounds.opt->cores);
	out->cores = mely_cores(rounds.rt);
	rounds.reports = rounds.bench->setup(rounds.rt, rounds.config, rounds.count);
	mb_must(mely_color_init_on(&rounds.color, rounds.rt, 0), "mely_color_init_on");
	mb_must(mely_color_pin(&rounds.color, 0), "mely_color_pin");
	mely_event_init(&rounds.event, &round_handler, NULL);
	mb_must(mely_event_post(&rounds.color, &rounds.event), "mely_event_post");
	mb_must(mely_run(rounds.rt), "mely_run");
	mb_must(mely_runtime_free(rounds.rt), "mely_runtime_free");
	rounds.bench->teardown();
}

/* ---- the program -------------------------------------------------------------------------- */

/* Cycles of one mb_spin(ticks) among many: the minimum of several trials. */
static double
spin_cost(uint64_t ticks)
{
	enum { TRIALS = 20, CALLS = 400 };
	double cost, least = INFINITY;
	uint64_t start;
	int i, j;

	for (i = 0; i < TRIALS; i++) {
		start = mb_ticks();
		for (j = 0; j < CALLS; j++)
			mb_spin(ticks);
		cost = (double)(mb_ticks() - start) / CALLS;
		least = cost < least ? cost : least;
	}
	return least;
}

/*
 * Reading the clock takes a while itself, which counts much in an event of 100 cycles: find what
 * to ask of mb_spin for 100, never less than that.
 */
static void
calibrate(void)
{
	uint64_t ticks = 0;

	while (ticks < 100 && spin_cost(ticks) < 100)
		ticks += 2;
	mb_burn_excess = 100 - ticks;
}

int
mb_rounds_main(const struct mb_program *program, const struct mb_rounds_bench *bench, int argc,
    char **argv)
{
	struct mb_bench runs = {
		.name = program->name, .unit = "events/s", .run = run, .colors = &rounds.count,
	};
	struct mb_program whole = *program;
	struct mb_options opt;

	whole.seconds_default = PAPER_SECONDS;
	whole.configs = mb_config_names;
	whole.configs_help = mb_config_help;
	mb_options_parse(&whole, argc, argv, &opt);
	rounds.bench = bench;
	rounds.opt = &opt;
	rounds.config = mb_config_enter(opt.config, argv);
	calibrate();
	if (bench->profile != NULL)
		bench->profile();
	runs.peer = rounds.config->peer;
	runs.variant = rounds.config->name;
	mb_bench_runs(&runs, &opt);
	return 0;
}
