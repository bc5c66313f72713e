/* SPDX-License-Identifier: MIT */
/*
 * cost.c: caches and lines; see cost.h.
 *
 * NOTE(lines)
 *   A. A cache is sets of ways, the most recently used first; a line's set is a hash of its number.
 *      Caches are inclusive: a larger cache holds every line that the smaller ones above it hold,
 *      and when it evicts a line, they lose it, too. Only every REFRESH-th hit in the first cache
 *      updates the order of use, because that is the simulation's own hot path.
 *   B. A line has a bit for each cache that holds it, and the cpu that modified it, if any.
 *      A read of a line that another cpu modified fetches it from that cpu and leaves a clean copy
 *      with both; after a write only the writer's caches hold a copy.
 *   C. A line goes from writer to writer one at a time: a cpu that needs it during a transfer
 *      waits for the end of the transfer, which makes a contended lock expensive. Readers get their
 *      copies together. A package's bus carries one transfer after another.
 *   D. A store that misses does not stop its cpu until the store buffer is full; stores arrive in
 *      order. An atomic read-modify-write waits for all stores before it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cost.h"
#include "linetab.h"

enum {
	PAGE_SHIFT = 12,
	LINE_SHIFT = 6,
	WAYS_MAX = 32,
	WORD_BITS = 64,
	REFRESH = 4,
	STORES = 8,      /* in the store buffer */
	STREAMS = 8,     /* followed at the same time */
	LOOKASIDE = 64   /* recently used pages, per cpu */
};

struct cache {
	uint32_t sets, ways; /* sets: a power of two */
	uint32_t *numbers;  /* sets x ways, 0: free */
	uint64_t *above;    /* the smaller caches above it, whose lines it holds */
	uint64_t hit_ps, stream_ps;
};

struct cpu {
	struct {
		uint64_t page;
		char *lines;
	} lookaside[LOOKASIDE];
	uint32_t streams[STREAMS]; /* last line of each stream */
	uint32_t stream;           /* index of the stream to replace next */
	uint32_t hits;
	uint64_t stored_ps; /* when all its stores have arrived */
	struct sim_cost_count count;
};

struct sim_cost {
	const struct sim_machine *machine;
	struct sim_shape shape;
	double ps_a_cycle;
	uint64_t step_ps, rmw_ps, memory_ps, memory_stream_ps, near_ps, far_ps, bus_ps;
	int words;             /* in a set of caches */
	struct cache *caches;
	uint64_t *paths;       /* a set for each cpu: its own caches */
	struct cpu *cpus;
	uint64_t *bus_free_ps; /* of each package */
	struct sim_linetab lines;
};

/* ---- sets of caches ------------------------------------------------------------------------ */

static bool
has(const uint64_t *set, int which)
{
	return set[which / WORD_BITS] >> (which % WORD_BITS) & 1;
}

static void
add(uint64_t *set, int which)
{
	set[which / WORD_BITS] |= UINT64_C(1) << (which % WORD_BITS);
}

static void
drop(uint64_t *set, int which)
{
	set[which / WORD_BITS] &= ~(UINT64_C(1) << (which % WORD_BITS));
}

/* ---- making one ----------------------------------------------------------------------------- */

uint64_t
sim_cost_cycles(const struct sim_cost *cost, uint64_t cycles)
{
	return (uint64_t)((double)cycles * cost->ps_a_cycle + 0.5);
}

static int
make_cache(struct sim_cost *cost, int which)
{
	struct cache *cache = &cost->caches[which];
	int level = cost->shape.level[which];
	uint32_t lines = cost->machine->cache[level].bytes / SIM_LINE_BYTES;

	cache->ways = cost->machine->cache[level].ways;
	cache->sets = lines / cache->ways;
	cache->hit_ps = sim_cost_cycles(cost, cost->machine->hit[level]);
	cache->stream_ps = sim_cost_cycles(cost, cost->machine->stream[level]);
	cache->numbers = calloc((size_t)cache->sets * cache->ways, sizeof(*cache->numbers));
	cache->above = calloc((size_t)cost->words, sizeof(*cache->above));
	return cache->numbers != NULL && cache->above != NULL ? 0 : -ENOMEM;
}

/* Record the caches of each cpu, and the smaller caches above each larger one. */
static void
connect(struct sim_cost *cost)
{
	int cpu, level, upper;

	for (cpu = 0; cpu < cost->shape.cpus; cpu++) {
		const int16_t *path = cost->shape.path[cpu];

		for (level = 0; level < SIM_LEVELS; level++) {
			if (path[level] < 0)
				continue;
			add(cost->paths + (size_t)cpu * (size_t)cost->words, path[level]);
			for (upper = 0; upper < level; upper++)
				if (path[upper] >= 0)
					add(cost->caches[path[level]].above, path[upper]);
		}
	}
}

int
sim_cost_new(struct sim_cost **out, const struct sim_machine *machine,
    const struct sim_shape *shape)
{
	struct sim_cost *cost = calloc(1, sizeof(*cost));
	int i;

	if (cost == NULL)
		return -ENOMEM;
	cost->machine = machine;
	cost->shape = *shape;
	cost->ps_a_cycle = 1e6 / machine->mhz;
	cost->step_ps = sim_cost_cycles(cost, machine->step_milli) / 1000;
	cost->rmw_ps = sim_cost_cycles(cost, machine->rmw);
	cost->memory_ps = sim_cost_cycles(cost, machine->memory);
	cost->memory_stream_ps = sim_cost_cycles(cost, machine->memory_stream);
	cost->near_ps = sim_cost_cycles(cost, machine->near);
	cost->far_ps = sim_cost_cycles(cost, machine->far);
	cost->bus_ps = sim_cost_cycles(cost, machine->bus);
	cost->words = (shape->caches + WORD_BITS - 1) / WORD_BITS;
	cost->caches = calloc((size_t)shape->caches, sizeof(*cost->caches));
	cost->paths = calloc((size_t)(shape->cpus * cost->words), sizeof(*cost->paths));
	cost->cpus = calloc((size_t)shape->cpus, sizeof(*cost->cpus));
	cost->bus_free_ps = calloc((size_t)shape->packages, sizeof(*cost->bus_free_ps));
	if (cost->caches == NULL || cost->paths == NULL || cost->cpus == NULL ||
	    cost->bus_free_ps == NULL || sim_linetab_init(&cost->lines, cost->words) != 0)
		goto no_memory;
	for (i = 0; i < shape->caches; i++) {
		if (make_cache(cost, i) != 0)
			goto no_memory;
	}
	connect(cost);
	for (i = 0; i < shape->cpus; i++)
		memset(cost->cpus[i].streams, 0xff, sizeof(cost->cpus[i].streams)); /* no line */
	*out = cost;
	return 0;
no_memory:
	sim_cost_free(cost);
	return -ENOMEM;
}

void
sim_cost_free(struct sim_cost *cost)
{
	size_t i;

	for (i = 0; cost->caches != NULL && i < (size_t)cost->shape.caches; i++) {
		free(cost->caches[i].numbers);
		free(cost->caches[i].above);
	}
	free(cost->caches);
	free(cost->paths);
	free(cost->cpus);
	free(cost->bus_free_ps);
	sim_linetab_fini(&cost->lines);
	free(cost);
}

/* ---- lines ---------------------------------------------------------------------------------- */

static struct sim_line *
line_at(struct sim_cost *cost, struct cpu *cpu, uint64_t address)
{
	uint64_t page = address >> PAGE_SHIFT;
	size_t side = page % LOOKASIDE;

	if (cpu->lookaside[side].page != page || cpu->lookaside[side].lines == NULL) {
		cpu->lookaside[side].lines = sim_linetab_page(&cost->lines, page);
		cpu->lookaside[side].page = page;
	}
	return (struct sim_line *)(void *)(cpu->lookaside[side].lines +
	    (address >> LINE_SHIFT) % SIM_PAGE_LINES * cost->lines.line_bytes);
}

static struct sim_line *
line_of_number(struct sim_cost *cost, uint32_t number)
{
	return (struct sim_line *)(void *)(cost->lines.pages[(number - 1) / SIM_PAGE_LINES] +
	    (number - 1) % SIM_PAGE_LINES * cost->lines.line_bytes);
}

/* ---- caches: A of NOTE(lines) ---------------------------------------------------------------- */

static uint32_t *
set_of(const struct cache *cache, uint32_t number)
{
	return cache->numbers + ((sim_mixed(number) >> 16) & (cache->sets - 1)) * cache->ways;
}

/* Find the line and make it the most recently used. False: the cache does not hold it. */
static bool
find(const struct cache *cache, uint32_t number)
{
	uint32_t *set = set_of(cache, number), way;

	if (set[0] == number)
		return true;
	for (way = 1; way < cache->ways; way++) {
		if (set[way] == number) {
			memmove(set + 1, set, way * sizeof(*set));
			set[0] = number;
			return true;
		}
	}
	return false;
}

static void
take_out(struct sim_cost *cost, int which, struct sim_line *line)
{
	const struct cache *cache = &cost->caches[which];
	uint32_t *set = set_of(cache, line->number), way;

	drop(line->holders, which);
	for (way = 0; way < cache->ways; way++) {
		if (set[way] == line->number) {
			memmove(set + way, set + way + 1, (cache->ways - way - 1) * sizeof(*set));
			set[cache->ways - 1] = 0;
			return;
		}
	}
}

/* Evict the line from this cache and from the smaller ones above it. */
static void
evict(struct sim_cost *cost, int which, struct sim_line *line)
{
	const struct cache *cache = &cost->caches[which];
	uint64_t left = 0;
	int word;

	drop(line->holders, which);
	for (word = 0; word < cost->words; word++) {
		uint64_t over = line->holders[word] & cache->above[word];

		for (; over != 0; over &= over - 1)
			take_out(cost, word * WORD_BITS + __builtin_ctzll(over), line);
		left |= line->holders[word];
	}
	/* Written back; the second cache is the last that only a few share. */
	if (left == 0 || (line->dirty >= 0 && cost->shape.path[line->dirty][1] == which))
		line->dirty = -1;
}

static void
put_in(struct sim_cost *cost, int which, struct sim_line *line)
{
	const struct cache *cache = &cost->caches[which];
	uint32_t *set = set_of(cache, line->number), last = set[cache->ways - 1];

	if (last != 0)
		evict(cost, which, line_of_number(cost, last));
	memmove(set + 1, set, (cache->ways - 1) * sizeof(*set));
	set[0] = line->number;
	add(line->holders, which);
}

/* ---- an access: B and C of NOTE(lines) ------------------------------------------------------- */

/* The time of a transfer from the cache of another cpu. */
static uint64_t
transfer_ps(const struct sim_cost *cost, int cpu, int other)
{
	const struct sim_shape *shape = &cost->shape;
	int level;

	for (level = 0; level < SIM_LEVELS; level++) {
		int mine = shape->path[cpu][level];

		if (mine >= 0 && mine == shape->path[other][level])
			return level < SIM_LEVELS - 1 ? cost->caches[mine].hit_ps : cost->near_ps;
	}
	return shape->package[cpu] == shape->package[other] ? cost->near_ps : cost->far_ps;
}

/* Remove the line from all caches of other cpus. Returns the time that the farthest takes. */
static uint64_t
invalidate(struct sim_cost *cost, int cpu, struct sim_line *line)
{
	const uint64_t *path = cost->paths + (size_t)cpu * (size_t)cost->words;
	uint64_t most = 0, ps;
	int word;

	for (word = 0; word < cost->words; word++) {
		uint64_t others = line->holders[word] & ~path[word];

		for (; others != 0; others &= others - 1) {
			int which = word * WORD_BITS + __builtin_ctzll(others);

			ps = transfer_ps(cost, cpu, cost->shape.member[which]);
			most = ps > most ? ps : most;
			take_out(cost, which, line);
		}
	}
	return most;
}

/* The level of this cpu's caches that has the line, or SIM_LEVELS. */
static int
look_up(struct sim_cost *cost, int cpu, const struct sim_line *line)
{
	const int16_t *path = cost->shape.path[cpu];
	int level;

	if (has(line->holders, path[0]) && ++cost->cpus[cpu].hits % REFRESH != 0)
		return 0;
	for (level = 0; level < SIM_LEVELS; level++) {
		if (path[level] >= 0 && has(line->holders, path[level]) &&
		    find(&cost->caches[path[level]], line->number))
			return level;
	}
	return SIM_LEVELS;
}

static bool
last_level(const struct sim_cost *cost, int cpu, int level)
{
	for (level++; level < SIM_LEVELS; level++) {
		if (cost->shape.path[cpu][level] >= 0)
			return false;
	}
	return true;
}

/* Does this line continue a stream? If not, it begins a new one. */
static bool
follow(struct cpu *me, uint32_t number)
{
	int i;

	for (i = 0; i < STREAMS; i++) {
		if (me->streams[i] + 1 == number) {
			me->streams[i] = number;
			return true;
		}
	}
	me->streams[me->stream] = number;
	me->stream = (me->stream + 1) % STREAMS;
	return false;
}

/* Bring a line that is not in the first cache nearer. Returns the time. */
static uint64_t
fetch(struct sim_cost *cost, int cpu, struct sim_line *line, int level)
{
	struct cpu *me = &cost->cpus[cpu];
	bool stream = follow(me, line->number);
	/* Possibly our third cache holds the line, but another cpu's second modified it. */
	bool elsewhere = line->dirty >= 0 && line->dirty != cpu;
	uint64_t ps;
	int at;

	if (level < SIM_LEVELS) {
		const struct cache *cache = &cost->caches[cost->shape.path[cpu][level]];

		ps = stream ? cache->stream_ps : cache->hit_ps;
	} else {
		ps = stream ? cost->memory_stream_ps : cost->memory_ps;
	}
	if (elsewhere) {
		uint64_t there = transfer_ps(cost, cpu, line->dirty);

		if (level == SIM_LEVELS)
			ps = there;
		else if (there > ps)
			ps = there;
		me->count.transfers += level >= SIM_LEVELS - 1;
	}
	if (level == SIM_LEVELS || (elsewhere && last_level(cost, cpu, level)))
		me->count.misses++;
	for (at = level < SIM_LEVELS ? level - 1 : SIM_LEVELS - 1; at >= 0; at--) {
		if (cost->shape.path[cpu][at] >= 0)
			put_in(cost, cost->shape.path[cpu][at], line);
	}
	return ps;
}

/* The time at which a transfer of this line over this cpu's bus can begin. */
static uint64_t
begin(struct sim_cost *cost, int cpu, struct sim_line *line, uint64_t now, bool over_bus)
{
	uint64_t start = line->free_ps > now ? line->free_ps : now, *bus;

	if (over_bus && cost->bus_ps != 0) {
		bus = &cost->bus_free_ps[cost->shape.package[cpu]];
		/* A reservation far ahead is of a cpu whose clock is ahead: ignore it. */
		if (*bus > start && *bus - start < cost->bus_ps * (uint64_t)cost->shape.cpus)
			start = *bus;
		*bus = start + cost->bus_ps;
	}
	return start;
}

static uint64_t
access_line(struct sim_cost *cost, int cpu, uint64_t now, struct sim_line *line,
    enum sim_cost_kind kind)
{
	struct cpu *me = &cost->cpus[cpu];
	uint64_t ps = 0, start = now, others;
	int level;

	me->count.accesses++;
	level = look_up(cost, cpu, line);
	if (level == 0 && (kind == SIM_COST_READ || line->dirty == cpu)) {
		/* The line may still be on its way to this cpu. */
		if (line->free_ps > now && line->dirty == cpu)
			start = line->free_ps;
	} else {
		start = begin(cost, cpu, line, now, level == SIM_LEVELS);
		if (level > 0)
			ps = fetch(cost, cpu, line, level);
		if (kind != SIM_COST_READ) {
			others = invalidate(cost, cpu, line);
			ps = others > ps ? others : ps;
			line->dirty = cpu;
			line->free_ps = start + ps;
		} else if (line->dirty != cpu) {
			line->dirty = -1;
		}
		me->count.waits_ps += start - now;
	}
	return start - now + ps;
}

/* D of NOTE(lines): the part of a store's time that delays the cpu. */
static uint64_t
store(struct sim_cost *cost, struct cpu *me, uint64_t now, uint64_t ps)
{
	uint64_t most = cost->memory_ps * STORES;

	if (now + ps > me->stored_ps)
		me->stored_ps = now + ps;
	return me->stored_ps > now + most ? me->stored_ps - now - most : 0;
}

uint64_t
sim_cost_access(struct sim_cost *cost, int cpu, uint64_t now_ps, const void *addr,
    enum sim_cost_kind kind)
{
	struct cpu *me = &cost->cpus[cpu];
	struct sim_line *line = line_at(cost, me, (uint64_t)(uintptr_t)addr);
	uint64_t before = 0, ps;

	if (kind == SIM_COST_RMW && me->stored_ps > now_ps)
		before = me->stored_ps - now_ps;
	ps = access_line(cost, cpu, now_ps + before, line, kind);
	if (kind == SIM_COST_WRITE)
		ps = store(cost, me, now_ps, ps);
	else if (kind == SIM_COST_RMW)
		ps += cost->rmw_ps;
	return cost->step_ps + before + ps;
}

uint64_t
sim_cost_range(struct sim_cost *cost, int cpu, uint64_t now_ps, const void *addr, size_t bytes,
    enum sim_cost_kind kind)
{
	uint64_t at = (uint64_t)(uintptr_t)addr >> LINE_SHIFT;
	uint64_t end = ((uint64_t)(uintptr_t)addr + bytes + SIM_LINE_BYTES - 1) >> LINE_SHIFT;
	uint64_t ps = 0;

	for (; at < end; at++) {
		struct sim_line *line = line_at(cost, &cost->cpus[cpu], at << LINE_SHIFT);

		ps += access_line(cost, cpu, now_ps + ps, line, kind);
	}
	return ps;
}

void
sim_cost_prefetch(struct sim_cost *cost, int cpu, uint64_t now_ps, const void *addr)
{
	struct sim_line *line = line_at(cost, &cost->cpus[cpu], (uint64_t)(uintptr_t)addr);

	if (look_up(cost, cpu, line) != 0)
		(void)access_line(cost, cpu, now_ps, line, SIM_COST_WRITE);
}

uint64_t
sim_cost_step(const struct sim_cost *cost)
{
	return cost->step_ps;
}

void
sim_cost_count(const struct sim_cost *cost, int cpu, struct sim_cost_count *count)
{
	*count = cost->cpus[cpu].count;
}

const struct sim_machine *
sim_cost_machine(const struct sim_cost *cost)
{
	return cost->machine;
}
