/* SPDX-License-Identifier: MIT */
/*
 * stuck: one core computes for up to a second; the time until other work of that core has run on
 * another core. The handler that computes ends then, or after the second.
 *
 * queued      an event for another color of the same core, posted by the handler as it begins
 * outside     an event for another color of the same core, posted by an outside thread
 * descriptor  readiness of a descriptor in that core's poller
 * timer       a timer of that core, due at once
 */
#include "mb_mely.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum kind { QUEUED, OUTSIDE, DESCRIPTOR, TIMER, KINDS };

enum {
	WARMUP_ROUNDS = 2,
	ROUNDS_MIN = 5,
	ROUNDS_MAX = 10000
};

#define BUSY_S 1.0
#define GAP_S 0.002 /* all cores fall asleep in between */

static const char *const names[KINDS] = {"queued", "outside", "descriptor", "timer"};

struct round {
	struct mely_color other; /* first: aligned */
	enum kind kind;
	int pipe[2];
	mely_watch watch;
	uint64_t began;          /* ticks; published by busy_begun */
	_Atomic uint64_t hit;    /* ticks; 0: not yet */
	atomic_bool busy_begun, busy_ended;
};

static struct {
	struct mely_runtime *rt;
	const struct mb_options *opt;
	struct mb_sample *out;   /* median and worst of each kind */
	struct mely_color *busy;
	struct round **rounds;   /* kept until the runtime is freed */
	size_t rounds_count;
} bench;

/* ---- handlers ----------------------------------------------------------------------------- */

static void
on_other(void *arg)
{
	struct round *round = arg;
	uint64_t never = 0;
	char byte;

	/* Release: pairs with the acquire in has_hit. */
	atomic_compare_exchange_strong_explicit(&round->hit, &never, mb_ticks(),
	    memory_order_release, memory_order_relaxed);
	if (round->kind == DESCRIPTOR && read(round->pipe[0], &byte, 1) == 1)
		mely_fd_drained();
}

static struct mely_handler other = MELY_HANDLER(on_other);

static bool
has_hit(struct round *round)
{
	/* Acquire: pairs with the release in on_other. */
	return atomic_load_explicit(&round->hit, memory_order_acquire) != 0;
}

static void
on_busy(void *arg)
{
	struct round *round = arg;
	uint64_t limit = (uint64_t)(BUSY_S * mb_ticks_per_s());

	round->began = mb_ticks();
	if (round->kind == QUEUED)
		mb_must(mely_post(&round->other, &other, round), "mely_post");
	else if (round->kind == DESCRIPTOR && write(round->pipe[1], "x", 1) != 1)
		mb_fail("write to a pipe", errno);
	else if (round->kind == TIMER)
		mb_must(mely_timer_start(&round->other, 0, 0, 0, &other, round, &round->watch),
		    "mely_timer_start");
	/* Release, both: pair with the acquires in run_round. */
	atomic_store_explicit(&round->busy_begun, true, memory_order_release);
	while (!has_hit(round) && mb_ticks() - round->began < limit)
		;
	atomic_store_explicit(&round->busy_ended, true, memory_order_release);
}

static struct mely_handler busy = MELY_HANDLER(on_busy);

/* ---- one run ------------------------------------------------------------------------------ */

static struct round *
round_new(enum kind kind)
{
	struct round *round = mb_array(1, sizeof(*round), _Alignof(struct round));

	round->kind = kind;
	mb_must(mely_color_init_on(&round->other, bench.rt, mely_cores(bench.rt) - 1),
	    "mely_color_init_on");
	if (kind == DESCRIPTOR) {
		if (pipe(round->pipe) != 0)
			mb_fail("pipe", errno);
		mb_must(mely_fd_watch(&round->other, round->pipe[0], MELY_FD_READ, &other, round,
		    &round->watch), "mely_fd_watch");
	}
	return round;
}

/* Milliseconds from the beginning of the busy handler to the other event. */
static double
run_round(enum kind kind)
{
	struct round *round = round_new(kind);

	bench.rounds[bench.rounds_count++] = round;
	mb_nap(GAP_S);
	mb_must(mely_post(bench.busy, &busy, round), "mely_post");
	/* Acquire, both: pair with the releases in on_busy. */
	while (kind == OUTSIDE &&
	    !atomic_load_explicit(&round->busy_begun, memory_order_acquire))
		mb_nap(GAP_S / 100);
	if (kind == OUTSIDE)
		mb_must(mely_post(&round->other, &other, round), "mely_post");
	while (!has_hit(round) ||
	    !atomic_load_explicit(&round->busy_ended, memory_order_acquire))
		mb_nap(GAP_S / 10);
	if (kind == DESCRIPTOR) {
		mb_must(mely_fd_close(bench.rt, round->pipe[0]), "mely_fd_close");
		close(round->pipe[1]);
	}
	return (double)(round->hit - round->began) / mb_ticks_per_s() * 1e3;
}

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
measure(void *ctx)
{
	double *v[KINDS], ms, end = 0;
	int i, n, warmup;

	(void)ctx;
	for (i = 0; i < KINDS; i++)
		v[i] = mb_array(ROUNDS_MAX, sizeof(*v[i]), _Alignof(double));
	for (n = 0, warmup = WARMUP_ROUNDS; n < ROUNDS_MAX &&
	    (n < ROUNDS_MIN || mb_now_s() < end); warmup--) {
		if (warmup == 0)
			end = mb_now_s() + bench.opt->seconds;
		for (i = 0; i < KINDS; i++) {
			ms = run_round(i);
			if (warmup <= 0)
				v[i][n] = ms;
		}
		n += warmup <= 0;
	}
	for (i = 0; i < KINDS; i++) {
		qsort(v[i], (size_t)n, sizeof(*v[i]), compare_doubles);
		bench.out[2 * i].value = v[i][n / 2];
		bench.out[2 * i + 1].value = v[i][n - 1];
		bench.out[2 * i].events = bench.out[2 * i + 1].events = n;
		free(v[i]);
	}
}

static void
run(void *ctx, struct mb_sample *out)
{
	size_t i, most = (size_t)(ROUNDS_MAX + WARMUP_ROUNDS + 1) * KINDS;

	(void)ctx;
	bench.out = out;
	(void)mb_ticks_per_s(); /* not in the handler */
	bench.rt = mb_runtime_new(bench.opt->cores);
	bench.rounds = mb_array(most, sizeof(struct round *), _Alignof(struct round *));
	bench.busy = mb_array(1, sizeof(*bench.busy), 64);
	for (i = 0; i < 2 * KINDS; i++)
		out[i].cores = mely_cores(bench.rt);
	mb_must(mely_color_init_on(bench.busy, bench.rt, out->cores - 1), "mely_color_init_on");
	mb_must(mely_color_pin(bench.busy, out->cores - 1), "mely_color_pin");
	mb_runtime_run(bench.rt, measure, NULL);
	for (i = 0; i < bench.rounds_count; i++)
		free(bench.rounds[i]);
	free(bench.rounds);
	free(bench.busy);
}

int
main(int argc, char **argv)
{
	static const struct mb_program program = {
		.name = "stuck",
		.what = "A handler of one core computes for up to a second. The time from its\n"
		    "start until other work of that core has run on another, in milliseconds:\n"
		    "a queued event, an event posted from outside, readiness in its poller,\n"
		    "and a timer. Median and maximum of all rounds. A core is stuck after\n"
		    "MELY_STUCK_MS milliseconds (environment; default 4).",
		.colors_help = "accepted and not used",
		.colors_default = 1,
		.colors_max = 1,
		.seconds_default = 2,
	};
	struct mb_sample out[2 * KINDS];
	struct mb_series series[2 * KINDS];
	struct mb_options opt;
	char variant[2 * KINDS][32];
	int i, n;

	mb_options_parse(&program, argc, argv, &opt);
	if (opt.cores == 1) {
		fprintf(stderr, "stuck: --cores: needs at least 2 cores\n");
		return 2;
	}
	if (opt.cores == 0 && mb_runtime_cores(0) < 2)
		opt.cores = 2;
	bench.opt = &opt;
	for (i = 0; i < 2 * KINDS; i++) {
		mb_series_init(&series[i], "stuck", "mely", "ms", 1, opt.runs);
		snprintf(variant[i], sizeof(variant[i]), "%s%s", names[i / 2],
		    i % 2 == 0 ? "" : " worst");
		series[i].variant = variant[i];
	}
	for (n = 0; n < opt.runs; n++) {
		for (i = 0; i < 2 * KINDS; i++)
			mb_sample_clear(&out[i]);
		mb_child_run(run, NULL, opt.seconds + 2 * KINDS * BUSY_S * ROUNDS_MIN, false, out,
		    2 * KINDS);
		for (i = 0; i < 2 * KINDS; i++)
			mb_series_add(&series[i], &out[i]);
	}
	for (i = 0; i < 2 * KINDS; i++)
		mb_series_report(&series[i], opt.json);
	return 0;
}
