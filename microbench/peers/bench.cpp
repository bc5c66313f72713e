// SPDX-License-Identifier: MIT
//
// bench.cpp: the microbenchmarks on another runtime, chosen at compile time:
//
//     -DPEER_HEADER='"asio_strand.hpp"'
//
// Options, windows, runs and reports are those of our own programs (../mb.h). The header says
// how that runtime's users would write it:
//
//     peer::name                            for the reports
//     peer::start(threads)                  make the worker threads; they wait for work
//     peer::entity                          runs what is posted to it one after another
//     entity.post<&T::method>(object)       from inside; also what an event posts to itself
//     entity.post_outside<&T::method>(object)   from a thread that is not a worker
//
// A run ends by leaving the child process: none of these runtimes need be torn down.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <unistd.h>
#include <vector>

#include "../mb.h"

#include PEER_HEADER

namespace {

struct mb_options opt;
int cores;
int colors; // of the configuration that runs now

// A counter that one entity writes and the measuring thread reads; two cache lines apart.
struct alignas(128) counter {
	std::atomic<uint64_t> n{0};
	void add() { n.store(get() + 1, std::memory_order_relaxed); }
	uint64_t get() const { return n.load(std::memory_order_relaxed); }
};

// Measure on this thread what the entities in v count.
template <class T>
void
measure(const std::vector<T> &v, int groups, mb_sample *out)
{
	struct mb_window window = {};
	struct reader {
		const std::vector<T> &v;
		size_t per_group;
	} reader = {v, v.size() / static_cast<size_t>(groups)};

	window.read = [](void *ctx, int i) {
		auto *r = static_cast<struct reader *>(ctx);
		uint64_t sum = 0;
		for (size_t j = 0; j < r->per_group; j++)
			sum += r->v[static_cast<size_t>(i) * r->per_group + j].count.get();
		return sum;
	};
	window.ctx = &reader;
	window.count = groups;
	window.warmup_s = MB_WARMUP_S;
	window.seconds = opt.seconds;
	mb_window_measure(&window, out);
	out->cores = cores;
}

// ---- chain -------------------------------------------------------------------------------

struct chain;
struct callback;

struct link {
	counter count;
	peer::entity entity;
	inline void step();
	inline void step_new();
	inline bool go_on();
};

// compat-chain: what is posted is allocated each time, as the old interface of our own program
// demands. Freed first, so that the next one is of the same, warm, memory.
struct callback {
	link *target;
	void run()
	{
		link *l = target;
		delete this;
		l->step_new();
	}
};

struct chain {
	std::vector<link> links;
	explicit chain(int n) : links(static_cast<size_t>(n)) {}
	void boot() // in an entity, so that the first posts come from inside
	{
		if (opt.events > 0)
			mb_fixed_begin(fixed);
		for (link &l : links)
			if (allocating)
				l.step_new();
			else
				l.entity.template post<&link::step>(&l);
	}
	static inline bool allocating;
	static inline uint64_t limit = UINT64_MAX;
	static inline mb_fixed *fixed;
};

// False when that was the last one.
bool
link::go_on()
{
	count.add();
	if (count.get() != chain::limit)
		return true;
	mb_fixed_done(chain::fixed);
	return false;
}

void
link::step()
{
	if (go_on())
		entity.post<&link::step>(this);
}

void
link::step_new()
{
	if (go_on())
		entity.post<&callback::run>(new callback{this});
}

void
run_chain(void *, mb_sample *out)
{
	peer::start(cores);
	auto *c = new chain(colors);
	auto *starter = new peer::entity;
	auto k = static_cast<uint64_t>(colors);
	if (opt.events > 0) {
		chain::limit = (opt.events + k - 1) / k;
		chain::fixed = mb_fixed_new(colors);
	}
	starter->post_outside<&chain::boot>(c);
	out->cores = cores;
	if (opt.events > 0)
		mb_fixed_measure(chain::fixed, chain::limit * k, out);
	else
		measure(c->links, colors, out);
}

void
run_compat_chain(void *ctx, mb_sample *out)
{
	chain::allocating = true;
	run_chain(ctx, out);
}

// ---- pingpong ----------------------------------------------------------------------------

struct paddle {
	counter count;
	peer::entity entity;
	paddle *other = nullptr;
	void hit()
	{
		count.add();
		other->entity.post<&paddle::hit>(other);
	}
};

struct pingpong {
	std::vector<paddle> paddles;
	explicit pingpong(int pairs) : paddles(2 * static_cast<size_t>(pairs))
	{
		for (size_t i = 0; i < paddles.size(); i++)
			paddles[i].other = &paddles[i ^ 1];
	}
	void boot()
	{
		for (size_t i = 0; i < paddles.size(); i += 2)
			paddles[i].entity.template post<&paddle::hit>(&paddles[i]);
	}
};

void
run_pingpong(void *, mb_sample *out)
{
	peer::start(cores);
	auto *p = new pingpong(colors);
	auto *starter = new peer::entity;
	starter->post_outside<&pingpong::boot>(p);
	measure(p->paddles, colors, out);
}

// ---- fan ---------------------------------------------------------------------------------

constexpr int rounds_out = 8;
constexpr double work_s = 100e-9;

struct fan;

struct blade {
	counter count;
	peer::entity entity;
	fan *owner = nullptr; // of the last blade only: it returns the credit
	uint64_t ticks = 0;
	void work();
};

struct fan {
	std::vector<blade> blades;
	peer::entity producer;
	explicit fan(int n) : blades(static_cast<size_t>(n))
	{
		for (blade &b : blades)
			b.ticks = static_cast<uint64_t>(mb_ticks_per_s() * work_s);
		blades.back().owner = this;
	}
	void round()
	{
		for (blade &b : blades)
			b.entity.template post<&blade::work>(&b);
	}
};

void
blade::work()
{
	mb_spin(ticks);
	count.add();
	if (owner != nullptr)
		owner->producer.post<&fan::round>(owner);
}

void
run_fan(void *, mb_sample *out)
{
	peer::start(cores);
	auto *f = new fan(colors);
	for (int i = 0; i < rounds_out; i++)
		f->producer.post_outside<&fan::round>(f);
	measure(f->blades, colors, out);
	out->ideal_pct = out->value * work_s / cores * 100;
}

// ---- wake --------------------------------------------------------------------------------

bool wake_cross;

struct sleeper {
	peer::entity entity;
	mb_wake *wake = nullptr;
	void hit() { mb_wake_hit(wake); }
};

void
run_wake(void *, mb_sample *out)
{
	mb_wake *wake = mb_wake_new(wake_cross, opt.seconds);
	int threads = wake_cross ? 1 : cores;

	peer::start(threads);
	auto *s = new sleeper;
	s->wake = wake;
	mb_wake_measure(wake, [](void *ctx) {
		auto *target = static_cast<sleeper *>(ctx);
		target->entity.post_outside<&sleeper::hit>(target);
	}, s, out);
	out[MB_WAKE_RUNTIME].cores = threads;
}

// ---- memory ------------------------------------------------------------------------------

struct touched {
	peer::entity entity;
	touched *next = nullptr;
	std::atomic<bool> *done = nullptr;
	void touch()
	{
		if (next != nullptr)
			next->entity.post<&touched::touch>(next);
		else
			done->store(true, std::memory_order_release);
	}
};

void
run_memory(void *, mb_sample *out)
{
	static std::atomic<bool> done{false};
	auto settle = [] {
		while (!done.exchange(false, std::memory_order_acquire))
			mb_nap(0.001);
		mb_nap(0.2);
	};

	peer::start(cores);
	auto *warm = new touched;
	warm->done = &done;
	warm->entity.post_outside<&touched::touch>(warm);
	settle();
	mb_rss_bytes();
	double before = mb_rss_bytes();
	auto *v = new std::vector<touched>(static_cast<size_t>(colors));
	for (size_t i = 0; i + 1 < v->size(); i++)
		(*v)[i].next = &(*v)[i + 1];
	v->back().done = &done;
	v->front().entity.post_outside<&touched::touch>(&v->front());
	settle();
	// The pointers next and done are ours, not the runtime's.
	out->value = (mb_rss_bytes() - before) / colors - 2.0 * sizeof(void *);
	out->events = colors;
	out->cores = cores;
}

// ---- idle --------------------------------------------------------------------------------

constexpr int idle_events = 2000000;

struct worker {
	peer::entity entity;
	int left = 0;
	std::atomic<int> *working = nullptr;
	int ready_fd = -1;
	void step()
	{
		if (--left > 0)
			entity.post<&worker::step>(this);
		else if (working->fetch_sub(1) == 1 && write(ready_fd, "r", 1) != 1)
			mb_fail("write to the observer", 0);
	}
};

void
idle_child(void *, int ready_fd, int end_fd)
{
	static std::atomic<int> working;
	char byte;

	peer::start(cores);
	working = colors;
	auto *v = new std::vector<worker>(static_cast<size_t>(colors));
	for (worker &w : *v) {
		w.left = idle_events / colors;
		w.working = &working;
		w.ready_fd = ready_fd;
		w.entity.post_outside<&worker::step>(&w);
	}
	while (read(end_fd, &byte, 1) < 0)
		;
}

// ---- which -------------------------------------------------------------------------------

struct bench {
	const char *name;
	const char *what;
	const char *unit;
	const char *variant;
	void (*run)(void *, mb_sample *);
	int colors_default;
	double seconds_default;
};

const bench benches[] = {
	{"chain", "Each of K entities posts to itself again.", "events/s", nullptr, run_chain,
	    64, 1},
	{"compat-chain", "The same; what is posted is allocated each time.", "events/s", nullptr,
	    run_compat_chain, 64, 1},
	{"pingpong", "Pairs of entities post to each other.", "hops/s", nullptr, run_pingpong,
	    1, 1},
	{"fan", "One entity posts to K in turn, 100 ns of work each, 8 rounds outstanding.",
	    "events/s", nullptr, run_fan, 1024, 1},
	{"memory", "Resident bytes per idle entity.", "bytes", "color object", run_memory,
	    100000, 1},
	{"wake", "From a post outside to an idle runtime to its handler.", nullptr, nullptr,
	    run_wake, 1, 2},
	{"idle", "CPU time and system calls of an idle process.", nullptr, nullptr, nullptr,
	    64, 10},
};

void
run_all(const bench &b)
{
	struct mb_bench all = {};

	all.name = b.name;
	all.peer = peer::name;
	all.variant = opt.events > 0 ? "fixed work" : b.variant;
	all.unit = b.unit;
	all.run = b.run;
	all.colors = &colors;
	all.abandon = true;
	mb_bench_runs(&all, &opt);
}

int
usage(FILE *to, int status)
{
	std::fprintf(to, "usage: %s BENCH [options]; BENCH is one of", peer::name);
	for (const bench &b : benches)
		std::fprintf(to, " %s", b.name);
	std::fprintf(to, "; BENCH --help tells more\n");
	return status;
}

} // namespace

int
main(int argc, char **argv)
{
	const bench *chosen = nullptr;
	int cpu;

	if (argc < 2)
		return usage(stderr, 2);
	if (std::strcmp(argv[1], "--help") == 0)
		return usage(stdout, 0);
	for (const bench &b : benches)
		if (std::strcmp(argv[1], b.name) == 0)
			chosen = &b;
	if (chosen == nullptr)
		return usage(stderr, 2);

	struct mb_program program = {};
	program.name = chosen->name;
	program.what = chosen->what;
	program.colors_help = "entities (pingpong: pairs)";
	program.colors_default = chosen->colors_default;
	program.colors_max = 1000000;
	program.seconds_default = chosen->seconds_default;
	program.has_events = chosen->run == run_chain || chosen->run == run_compat_chain;
	mb_options_parse(&program, argc - 1, argv + 1, &opt);
	cores = opt.cores > 0 ? opt.cores : mb_processors(&cpu, 1);
	colors = opt.colors[0];

	if (std::strcmp(chosen->name, "wake") == 0)
		mb_wake_bench(&opt, peer::name, true, true, &wake_cross, run_wake, nullptr);
	else if (std::strcmp(chosen->name, "idle") == 0)
		mb_idle_bench(&opt, peer::name, cores, colors, true, idle_child, nullptr);
	else
		run_all(*chosen);
	return 0;
}
