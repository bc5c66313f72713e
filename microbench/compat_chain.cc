/* SPDX-License-Identifier: MIT */
/*
 * compat-chain: chain, written as a program of dialect "mely": K colors, each with one callback
 * that posts a new callback to its color. What an event costs when nothing is done in it but what
 * the old interface demands: every callback is allocated, and freed when it has been called.
 */
#include "mely.h"

#include "mb.h"

/* One color's chain. Colors are two cache lines apart: processors fetch lines in pairs. */
struct chain_link {
	uint64_t count; /* this color writes it, the measuring thread reads it */
	int color;
} __attribute__((aligned(128)));

static struct {
	chain_link *links;
	int colors, cores;
	uint64_t limit; /* of one color */
	mb_fixed *fixed; /* --events */
	mb_options opt;
} chain;

static void
step(chain_link *l)
{
	uint64_t count = l->count + 1;

	__atomic_store_n(&l->count, count, __ATOMIC_RELAXED); /* pairs with link_count */
	if (count == chain.limit)
		mb_fixed_done(chain.fixed);
	else
		cpucb_tail(cwrap(step, l, l->color));
}

static void
start()
{
	if (chain.fixed != NULL)
		mb_fixed_begin(chain.fixed);
	for (int i = 0; i < chain.colors; i++)
		cpucb_tail(cwrap(step, &chain.links[i], chain.links[i].color));
}

static uint64_t
link_count(void *, int i)
{
	/* Relaxed: some recent value; pairs with step. */
	return __atomic_load_n(&chain.links[i].count, __ATOMIC_RELAXED);
}

static void *
main_of_program(void *)
{
	cpucb_tail(wrap(start));
	amain();
	return NULL;
}

/* In a child process, which leaves with the program still running. */
static void
run(void *, mb_sample *out)
{
	uint64_t colors = chain.colors;
	mb_window window = mb_window();
	pthread_t thread;
	void *links;

	if (posix_memalign(&links, sizeof(chain_link), sizeof(chain_link) * colors) != 0)
		mb_fail("posix_memalign", ENOMEM);
	memset(links, 0, sizeof(chain_link) * colors);
	chain.links = static_cast<chain_link *>(links);
	for (int i = 0; i < chain.colors; i++)
		chain.links[i].color = i + 1;
	chain.limit = UINT64_MAX;
	if (chain.opt.events > 0) {
		chain.limit = (chain.opt.events + colors - 1) / colors;
		chain.fixed = mb_fixed_new(chain.colors);
	}
	melycompat_init(chain.opt.cores); /* as -DNB_THREADS does */
	out->cores = task_get_nthreads();
	if (pthread_create(&thread, NULL, main_of_program, NULL) != 0)
		mb_fail("pthread_create", errno);
	window.read = link_count;
	window.count = chain.colors;
	window.warmup_s = MB_WARMUP_S;
	window.seconds = chain.opt.seconds;
	if (chain.fixed != NULL)
		mb_fixed_measure(chain.fixed, chain.limit * colors, out);
	else
		mb_window_measure(&window, out);
}

int
main(int argc, char **argv)
{
	mb_program program = mb_program();
	mb_bench bench = mb_bench();

	program.name = "compat-chain";
	program.what = "Each of K colors has one callback, which posts a new one to its color,\n"
	    "with cpucb_tail and cwrap: events a second, and fairness.";
	program.colors_help = "colors";
	program.colors_default = 64;
	program.colors_max = MAX_COLORS - 1;
	program.seconds_default = 1;
	program.has_events = true;
	mb_options_parse(&program, argc, argv, &chain.opt);

	bench.name = program.name;
	bench.peer = "mely";
	bench.variant = chain.opt.events > 0 ? "fixed work" : NULL;
	bench.unit = "events/s";
	bench.run = run;
	bench.colors = &chain.colors;
	bench.abandon = true;
	mb_bench_runs(&bench, &chain.opt);
	return 0;
}
