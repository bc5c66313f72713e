/* SPDX-License-Identifier: MIT */
/*
 * hpp-chain: chain, written with the C++ interface: what handlers with a type and closures cost
 * beside the C calls.
 */
#include <cstdlib>

#include <mely/mely.hpp>

#include "mb_mely.h"

namespace {

/* One color's chain. */
struct link {
	MB_APART std::uint64_t count;
	std::uint32_t id;
};

struct {
	mely::runtime *rt;
	link *links;
	int colors;
	const mb_options *opt;
	mb_work work;
	bool lambda, closure;
} chain;

/* The ways in which a chain posts itself. Each has its own code, as the variants of chain do. */
enum way { HANDLER, LAMBDA, CLOSURE };

template <way W> void step(link &l);

mely::handler<&step<HANDLER>> step_handler("step");

template <way W>
inline void
post(link &l)
{
	if constexpr (W == LAMBDA)
		chain.rt->post(l.id, [&l] { step<LAMBDA>(l); });
	else if constexpr (W == CLOSURE)
		chain.rt->post(l.id, [&l, a = l.id, b = l.count] {
			if (a == l.id && b == l.count)
				step<CLOSURE>(l);
		});
	else
		chain.rt->post(l.id, step_handler, l);
}

template <way W>
void
step(link &l)
{
	if (mb_work_count(&chain.work, &l.count))
		post<W>(l);
}

void
start_all()
{
	for (int i = 0; i < chain.colors; i++) {
		link &l = chain.links[i];

		if (chain.lambda)
			post<LAMBDA>(l);
		else if (chain.closure)
			post<CLOSURE>(l);
		else
			post<HANDLER>(l);
	}
}

std::uint64_t
link_count(void *, int i)
{
	return mb_counted(&chain.links[i].count);
}

struct settings : mely::config {
	explicit settings(int n)
	{
		if (n > 0)
			cores = n;
	}
};

void
run(void *, mb_sample *out)
{
	mb_counters counters = {chain.colors, link_count};
	mely::runtime rt{settings(chain.opt->cores)};

	chain.rt = &rt;
	out->cores = rt.cores();
	chain.links = static_cast<link *>(mb_array(static_cast<std::size_t>(chain.colors),
	    sizeof(link), alignof(link)));
	for (int i = 0; i < chain.colors; i++)
		chain.links[i].id = mb_color_id(i, false);
	mb_work_init(&chain.work, chain.opt, chain.colors);
	mb_work_run(&chain.work, rt.get(), chain.opt, start_all, &counters, out);
	rt.release(); /* mb_work_run has freed it */
	std::free(chain.links);
}

} // namespace

int
main(int argc, char **argv)
{
	static const mb_switch switches[] = {
		{"lambda", "post closures of one pointer (default: a handler with a type)",
		    &chain.lambda},
		{"closure", "post closures of three words, which need memory", &chain.closure},
		{nullptr, nullptr, nullptr},
	};
	mb_program program = mb_program();
	mb_bench bench = mb_bench();
	mb_options opt;

	program.name = "hpp-chain";
	program.what = "chain with the C++ interface: events a second, and fairness.";
	program.colors_help = "colors";
	program.colors_default = 64;
	program.colors_max = 10000000;
	program.seconds_default = 1;
	program.has_events = true;
	program.switches = switches;
	mb_options_parse(&program, argc, argv, &opt);
	chain.opt = &opt;
	bench.name = program.name;
	bench.peer = "mely";
	bench.unit = "events/s";
	bench.run = run;
	bench.colors = &chain.colors;
	bench.variant = chain.lambda ? "lambda" : chain.closure ? "closure" :
	    mb_work_variant(&opt, false);
	mb_bench_runs(&bench, &opt);
	return 0;
}
