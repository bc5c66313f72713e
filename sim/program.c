/* SPDX-License-Identifier: MIT */
/*
 * program.c: makes a program from a seed, and prints it. The seed first chooses the kinds of
 * operations (swarm testing: many seeds lack most kinds, so the remaining ones meet often).
 */
#include "program.h"

#include <string.h>

#include "rng.h"
#include "strategy.h"

static const char *const topologies[] = {
	"pack:1 core:2 pu:1",
	"pack:2 l2:2 core:2 pu:1",
	"pack:1 l2:4 core:1 pu:2",
	"pack:2 l3:1 l2:2 core:2 pu:2"
};

enum { TOPOLOGIES = sizeof topologies / sizeof topologies[0] };

const char *
program_topology(int number)
{
	return topologies[number];
}

int
program_topologies(void)
{
	return TOPOLOGIES;
}

/* ---- what is made ---------------------------------------------------------------------------- */

/* Mostly zero or short, sometimes long. */
static uint32_t
some_ns(struct sim_rng *rng)
{
#ifndef MELYINT_LIBASYNC /* it polls all cores all the time: too many steps */
	if (sim_rng_below(rng, 200) == 0)
		return sim_rng_below(rng, 60000000);
#endif
	switch (sim_rng_below(rng, 10)) {
	case 0: case 1: case 2: case 3:
		return sim_rng_below(rng, 200);
	case 4: case 5: case 6:
		return sim_rng_below(rng, 5000);
	case 7: case 8:
		return sim_rng_below(rng, 100000);
	default:
		return sim_rng_below(rng, 4000000);
	}
}

/* A threshold of the runtime, between a small part of its usual value and that value. */
static uint32_t
threshold(struct sim_rng *rng, uint32_t usual_ns)
{
	static const uint32_t parts[] = {1, 1, 4, 20, 200, 2000};

	return usual_ns / parts[sim_rng_below(rng, sizeof parts / sizeof parts[0])];
}

static void
make_runtime(struct runtime_plan *rt, struct sim_rng *rng)
{
	static const int cores[] = {1, 2, 2, 2, 3, 3, 4, 4, 6};
	static const int batches[] = {1, 1, 2, 3, 5, 10, 10, 10};
	static const uint32_t outbox_after[] = {1, 1, 2, 4}, outbox_full[] = {1, 2, 4, 32};

	rt->cores = cores[sim_rng_below(rng, sizeof cores / sizeof cores[0])];
	rt->once = sim_rng_percent(rng, 10);
	rt->discard = sim_rng_percent(rng, 30);
	rt->runs = sim_rng_percent(rng, 20) ? 2 : 1;
	rt->topology = (int)sim_rng_below(rng, TOPOLOGIES);
	rt->processors = sim_rng_percent(rng, 70) ? rt->cores : 1;
	rt->steal = sim_rng_percent(rng, 90);
	rt->heuristics = sim_rng_percent(rng, 50) ? 31 : sim_rng_below(rng, 32);
	rt->balance = sim_rng_percent(rng, 70);
	rt->pollers = sim_rng_percent(rng, 15);
	if (rt->pollers && sim_rng_percent(rng, 50)) {
		rt->runs = 2;
		rt->discard = sim_rng_percent(rng, 70);
	}
	rt->batch_events = batches[sim_rng_below(rng, sizeof batches / sizeof batches[0])];
	rt->batch_us = sim_rng_percent(rng, 20) ? (int)sim_rng_between(rng, 1, 50) : 0;
	rt->spin_us = (int)sim_rng_below(rng, 4);
	rt->stuck_ms = sim_rng_percent(rng, 70) ? (int)sim_rng_between(rng, 1, 4) : 0;
	rt->priority_rule = sim_rng_percent(rng, 20);
	rt->look_ns = threshold(rng, 50000);
	rt->look_max_ns = threshold(rng, 500000);
	rt->tick_ns = threshold(rng, 1000000);
	rt->decay_ns = threshold(rng, 50000000);
	rt->aged_ns = threshold(rng, 1000000);
	rt->outbox_after = outbox_after[sim_rng_below(rng, 4)];
	rt->outbox_full = outbox_full[sim_rng_below(rng, 4)];
	rt->drain_ns = sim_rng_percent(rng, 10) ? 1 + some_ns(rng) : 0;
}

static void
make_color(struct program *p, struct color_plan *color, struct sim_rng *rng)
{
	int cores;

	color->runtime = (uint8_t)sim_rng_below(rng, (uint32_t)p->runtimes);
	cores = p->runtime[color->runtime].cores;
	color->kind = (uint8_t)sim_rng_below(rng, 3);
	color->core = sim_rng_percent(rng, 60) ? (int16_t)sim_rng_below(rng, (uint32_t)cores) : -1;
	color->by_id = sim_rng_percent(rng, 60);
	/* Every color of a program has a different id. */
	color->id = (uint32_t)(color - p->color);
	if (color->kind == COLOR_SCATTERED)
		color->id = color->id * 0x01010101u + 0x80000000u;
}

static void
make_things(struct program *p, struct sim_rng *rng)
{
	int i;

	p->runtimes = sim_rng_percent(rng, 12) ? 2 : 1;
	for (i = 0; i < p->runtimes; i++)
		make_runtime(&p->runtime[i], rng);
	p->colors = (int)sim_rng_between(rng, 1, sim_rng_percent(rng, 50) ? 4 : PROGRAM_COLORS);
	for (i = 0; i < p->colors; i++)
		make_color(p, &p->color[i], rng);
	/* Prefer short programs: more of them run in the same time, and find nearly as much. */
	p->early_ns = sim_rng_percent(rng, 25) ? 1 + sim_rng_below(rng, 50000) : 0;
	p->early_threads = p->early_ns != 0 && sim_rng_percent(rng, 50);
	p->posts_max = (int)sim_rng_between(rng, 2, sim_rng_percent(rng, 50) ? 10 :
	    sim_rng_percent(rng, 60) ? 25 : sim_rng_percent(rng, 60) ? 60 : 200);
	p->priorities = sim_rng_percent(rng, 25);
	p->cancels_left = sim_rng_percent(rng, 30);
	p->answers = (int)sim_rng_below(rng, PROGRAM_ANSWERS + 1);
	p->handlers = PROGRAM_HANDLERS;
	for (i = 0; i < p->handlers; i++) {
		struct handler_plan *h = &p->handler[i];

		h->priority = p->priorities ? (int)sim_rng_below(rng, 9) - 4 : 0;
		h->time_ns = sim_rng_percent(rng, 40) ? some_ns(rng) : 0;
		h->penalty = sim_rng_percent(rng, 30) ? sim_rng_between(rng, 1, 1000) : 0;
	}
}

/* ---- what is done ---------------------------------------------------------------------------- */

/* The frequency of each operation, of the kinds this seed has. */
static void
draw_weights(const struct program *p, uint32_t weights[OP_COUNT], struct sim_rng *rng)
{
	static const uint8_t usual[OP_COUNT] = {
		[OP_POST] = 30, [OP_POST_HEAD] = 12, [OP_POST_ID] = 12, [OP_POST_TIMED] = 5,
		[OP_EVENT_POST] = 14, [OP_EVENT_HEAD] = 7, [OP_EVENT_CANCEL] = 12,
		[OP_WORK] = 12, [OP_YIELD] = 3, [OP_SLEEP] = 5, [OP_PIN] = 4, [OP_UNPIN] = 3,
		[OP_STEALING] = 2, [OP_HEURISTICS] = 2, [OP_TIMER_START] = 6, [OP_TIMER_AGAIN] = 3,
		[OP_WORKER] = 2, [OP_FD_WATCH] = 6, [OP_FD_WRITE] = 7, [OP_FD_STOP] = 3,
		[OP_SPREAD] = 2, [OP_TIMER_STOP] = 5, [OP_CLOSE] = 3, [OP_RELEASE] = 3,
		[OP_HIGH_WATER] = 4, [OP_TRIM] = 7, [OP_LOOK] = 6,
		[OP_STOP_DRAIN] = 1, [OP_STOP_DISCARD] = 1
	};
	int i;

	for (i = 0; i < OP_COUNT; i++) {
		bool seldom = usual[i] <= 7;

		weights[i] = sim_rng_percent(rng, seldom ? 30 : 60) ? usual[i] : 0;
	}
	weights[OP_POST] = usual[OP_POST];
	weights[OP_WORK] = usual[OP_WORK];
	/* The single poller has nothing to do without descriptors. */
	if (p->runtime[0].pollers != 0) {
		weights[OP_FD_WATCH] = usual[OP_FD_WATCH];
		weights[OP_FD_WRITE] = usual[OP_FD_WRITE];
	}
}

/* A program about cancels: one or two events, which few colors pass to and fro. */
static void
make_about_cancels(struct program *p, uint32_t weights[OP_COUNT], struct sim_rng *rng)
{
	static const uint8_t usual[OP_COUNT] = {
		[OP_POST] = 10, [OP_EVENT_POST] = 30, [OP_EVENT_HEAD] = 10, [OP_EVENT_CANCEL] = 40,
		[OP_WORK] = 5, [OP_RELEASE] = 2, [OP_HIGH_WATER] = 2, [OP_PIN] = 2
	};
	int i;

	for (i = 0; i < OP_COUNT; i++)
		weights[i] = usual[i];
	if (p->colors > 3)
		p->colors = 3;
	p->threads = (int)sim_rng_between(rng, 2, PROGRAM_THREADS);
	p->events = (int)sim_rng_between(rng, 1, 2);
	p->cancels_left = sim_rng_percent(rng, 50);
	if (sim_rng_percent(rng, 40)) { /* a stop hands events back that threads cancel */
		p->early_ns = 1 + sim_rng_below(rng, 20000);
		p->early_threads = true;
	}
}

/* A program about pins: threads pin colors while a drain looks whether something is left. */
static void
make_about_pins(struct program *p, uint32_t weights[OP_COUNT], struct sim_rng *rng)
{
	static const uint8_t usual[OP_COUNT] = {[OP_POST] = 20, [OP_PIN] = 30, [OP_YIELD] = 10};
	int i;

	for (i = 0; i < OP_COUNT; i++)
		weights[i] = usual[i];
	if (p->colors > 3)
		p->colors = 3;
	p->runtime[0].discard = false;
	p->threads = (int)sim_rng_between(rng, 1, 2);
	p->early_ns = 1 + sim_rng_below(rng, 3000);
	p->early_threads = true;
}

static int
draw_kind(const uint32_t weights[OP_COUNT], struct sim_rng *rng)
{
	uint32_t sum = 0, at;
	int i;

	for (i = 0; i < OP_COUNT; i++)
		sum += weights[i];
	at = sim_rng_below(rng, sum);
	for (i = 0; at >= weights[i]; i++)
		at -= weights[i];
	return i;
}

/* An item that runs a later script than this one, or -1. */
static int
later_item(const uint8_t *scripts, int count, int script, struct sim_rng *rng)
{
	int from, i;

	if (count == 0)
		return -1;
	from = (int)sim_rng_below(rng, (uint32_t)count);
	for (i = 0; i < count; i++) {
		if (scripts[(from + i) % count] > script)
			return (from + i) % count;
	}
	return -1;
}

static void
make_op(struct program *p, struct op *op, int script, const uint32_t *weights,
    struct sim_rng *rng)
{
	int first = 1 + p->threads, item = 0;

	op->kind = (uint8_t)draw_kind(weights, rng);
	op->color = (uint8_t)sim_rng_below(rng, (uint32_t)p->colors);
	op->value = some_ns(rng);
	if (script + 1 > first)
		first = script + 1;
	op->script = 0;
	if (first < p->scripts)
		op->script = (uint8_t)sim_rng_between(rng, (uint32_t)first,
		    (uint32_t)p->scripts - 1);
	switch (op->kind) {
	case OP_POST: case OP_POST_HEAD: case OP_POST_ID: case OP_POST_TIMED: case OP_WORKER:
		if (op->script == 0)
			op->kind = OP_WORK; /* the last script posts nothing */
		break;
	case OP_EVENT_POST: case OP_EVENT_HEAD:
		item = later_item(p->event_script, p->events, script, rng);
		break;
	case OP_TIMER_START: case OP_TIMER_AGAIN:
		item = later_item(p->timer_script, p->timers, script, rng);
		break;
	case OP_EVENT_CANCEL:
		item = p->events > 0 ? (int)sim_rng_below(rng, (uint32_t)p->events) : -1;
		break;
	case OP_RELEASE:
		item = later_item(p->event_script, p->events, script, rng);
		if (item < 0)
			item = 0, op->value = 0; /* without an event */
		break;
	case OP_TIMER_STOP:
		item = p->timers > 0 ? (int)sim_rng_below(rng, (uint32_t)p->timers) : -1;
		break;
	case OP_HIGH_WATER:
		op->value %= 4;
		item = (int)sim_rng_below(rng, 2);
		op->other = (uint8_t)sim_rng_below(rng, (uint32_t)p->colors);
		break;
	case OP_FD_WATCH: case OP_FD_WRITE: case OP_FD_STOP:
		item = (int)sim_rng_below(rng, PROGRAM_FDS);
		break;
	default:
		break;
	}
	if (item < 0)
		op->kind = OP_WORK;
	else
		op->item = (uint8_t)item;
}

/* ---- a crowd --------------------------------------------------------------------------------- */

/* Bursts of posts, and writes to descriptors, to a runtime that falls asleep between the bursts.
 * Most fences matter only then. For seeds with store buffers (strategy.h). */

static struct op *
add_op(struct program *p, struct script *s, enum operation kind, struct sim_rng *rng)
{
	struct op *op = &p->op[p->ops++];

	op->kind = (uint8_t)kind;
	op->color = (uint8_t)sim_rng_below(rng, (uint32_t)p->colors);
	op->item = (uint8_t)sim_rng_below(rng, PROGRAM_FDS);
	s->count++;
	return op;
}

static void
add_post(struct program *p, struct script *s, int later, struct sim_rng *rng)
{
	add_op(p, s, OP_POST, rng)->script = (uint8_t)sim_rng_between(rng, (uint32_t)later,
	    (uint32_t)p->scripts - 1);
}

static void
add_bursts(struct program *p, struct script *s, bool watched, struct sim_rng *rng)
{
	uint32_t i, j, posts;

	for (i = 0; i < 6; i++) {
		posts = sim_rng_between(rng, 2, 5);
		for (j = 0; j < posts; j++) {
			if (watched && sim_rng_percent(rng, 50))
				add_op(p, s, OP_FD_WRITE, rng);
			else
				add_post(p, s, p->threads + 1, rng);
		}
		add_op(p, s, OP_SLEEP, rng)->value = sim_rng_between(rng, 5000, 200000);
	}
}

static void
make_crowd(struct program *p, struct sim_rng *rng)
{
	struct runtime_plan *rt = &p->runtime[0];
	bool watched = sim_rng_percent(rng, 30);
	int i, posts;

	p->runtimes = 1;
	make_runtime(rt, rng);
	rt->cores = rt->processors = (int)sim_rng_between(rng, 3, 5);
	rt->once = false;
	rt->steal = rt->runs = 1;
	rt->spin_us = 0;
	if (sim_rng_percent(rng, 70))
		rt->heuristics &= ~1u; /* MELY_STEAL_TIME_LEFT: a thief takes any color */
	p->handlers = PROGRAM_HANDLERS;
	p->posts_max = 200;
	p->colors = (int)sim_rng_between(rng, 3, 8);
	for (i = 0; i < p->colors; i++) {
		p->color[i].kind = COLOR_OBJECT;
		p->color[i].id = (uint32_t)i;
		p->color[i].core = sim_rng_percent(rng, 50) ? 0 :
		    (int16_t)sim_rng_below(rng, (uint32_t)rt->cores);
	}
	p->threads = (int)sim_rng_between(rng, 1, 2);
	p->scripts = 1 + p->threads + 4;
	for (i = 0; i < PROGRAM_FDS && watched; i++)
		add_op(p, &p->script[0], OP_FD_WATCH, rng)->item = (uint8_t)i;
	for (i = 1; i < p->scripts; i++) {
		struct script *s = &p->script[i];

		s->first = (uint16_t)p->ops;
		if (i <= p->threads) {
			add_bursts(p, s, watched, rng);
			continue;
		}
		posts = i < p->scripts - 1 ? (int)sim_rng_below(rng, 3) : 0;
		while (posts-- > 0)
			add_post(p, s, i + 1, rng);
		if (sim_rng_percent(rng, 95))
			add_op(p, s, OP_WORK, rng)->value = sim_rng_between(rng, 100, 100000);
	}
}

void
program_make(struct program *p, uint64_t seed)
{
	struct sim_rng rng;
	uint32_t weights[OP_COUNT], about;
	int i, j, longest;

	memset(p, 0, sizeof *p);
	p->seed = seed;
	sim_rng_init(&rng, seed, 2);
	if (sim_strategy_buffered(seed) && sim_rng_percent(&rng, 60)) {
		make_crowd(p, &rng);
		return;
	}
	make_things(p, &rng);
	draw_weights(p, weights, &rng);
	p->threads = (int)sim_rng_below(&rng, PROGRAM_THREADS + 1);
	p->events = (int)sim_rng_below(&rng, PROGRAM_EVENTS + 1);
	about = sim_rng_below(&rng, 100);
	if (about < 8)
		make_about_cancels(p, weights, &rng);
	else if (about < 11)
		make_about_pins(p, weights, &rng);
	p->scripts = 1 + p->threads +
	    (int)sim_rng_between(&rng, 3, PROGRAM_SCRIPTS - PROGRAM_THREADS - 1);
	p->timers = (int)sim_rng_below(&rng, PROGRAM_TIMERS + 1);
	for (i = 0; i < p->events; i++)
		p->event_script[i] = (uint8_t)sim_rng_between(&rng, (uint32_t)p->threads + 1,
		    (uint32_t)p->scripts - 1);
	for (i = 0; i < p->timers; i++)
		p->timer_script[i] = (uint8_t)sim_rng_between(&rng, (uint32_t)p->threads + 1,
		    (uint32_t)p->scripts - 1);
	longest = (int)sim_rng_between(&rng, 2, 10);
	for (i = 0; i < p->scripts; i++) {
		struct script *s = &p->script[i];
		int count = (int)sim_rng_below(&rng, (uint32_t)longest + 1);

		if (i <= p->threads)
			count += 2;
		if (p->ops + count > PROGRAM_OPS)
			count = PROGRAM_OPS - p->ops;
		s->first = (uint16_t)p->ops;
		s->count = (uint16_t)count;
		s->handler = (uint8_t)sim_rng_below(&rng, (uint32_t)p->handlers);
		for (j = 0; j < count; j++)
			make_op(p, &p->op[p->ops++], i, weights, &rng);
	}
}

int
program_size(const struct program *p)
{
	int i, n = 0;

	for (i = 0; i < p->ops; i++)
		n += p->op[i].kind != OP_NONE;
	return n;
}

/* ---- printing -------------------------------------------------------------------------------- */

static void
print_op(const struct program *p, const struct op *op, FILE *out)
{
	static const char *const names[] = {
#define PROGRAM_NAME(name, text) text,
		PROGRAM_OPERATIONS(PROGRAM_NAME)
#undef PROGRAM_NAME
	};

	fprintf(out, "    %3d %s", (int)(op - p->op), names[op->kind]);
	switch (op->kind) {
	case OP_WORK: case OP_SLEEP:
		fprintf(out, " %u ns", op->value);
		break;
	case OP_POST: case OP_POST_HEAD: case OP_POST_ID: case OP_POST_TIMED:
		fprintf(out, " script %d to color %d", op->script, op->color);
		break;
	case OP_WORKER:
		fprintf(out, ", then script %d in color %d", op->script, op->color);
		break;
	case OP_FD_WATCH:
		fprintf(out, " descriptor %d in color %d", op->item, op->color);
		break;
	case OP_FD_WRITE: case OP_FD_STOP:
		fprintf(out, " descriptor %d", op->item);
		break;
	case OP_EVENT_POST: case OP_EVENT_HEAD:
		fprintf(out, " event %d to color %d", op->item, op->color);
		break;
	case OP_EVENT_CANCEL:
		fprintf(out, op->value % 8 == 7 ? " the completion of event %d" : " event %d",
		    op->item);
		break;
	case OP_TIMER_START: case OP_TIMER_AGAIN:
		fprintf(out, " timer %d of color %d in %u ns", op->item, op->color, op->value);
		break;
	case OP_TIMER_STOP:
		fprintf(out, " timer %d", op->item);
		break;
	case OP_HEURISTICS:
		fprintf(out, " of color %d's runtime to %u", op->color, op->value & 31);
		break;
	case OP_PIN:
		fprintf(out, " color %d to core %u", op->color, op->value);
		break;
	case OP_HIGH_WATER:
		fprintf(out, " color %d at %u", op->color, op->value);
		if (op->item)
			fprintf(out, ", told to color %d", op->other);
		break;
	case OP_RELEASE:
		fprintf(out, " color %d", op->color);
		if (op->value & 1)
			fprintf(out, ", with event %d posted before and cancelled after", op->item);
		break;
	case OP_UNPIN: case OP_CLOSE: case OP_STEALING: case OP_TRIM:
	case OP_STOP_DRAIN: case OP_STOP_DISCARD: case OP_SPREAD:
		fprintf(out, " color %d (or its runtime)", op->color);
		break;
	default:
		break;
	}
	fputc('\n', out);
}

static void
print_runtime(const struct runtime_plan *rt, int i, FILE *out)
{
	fprintf(out, "  runtime %d: %d cores on \"%s\", %d processors; %s, %d run(s), ends by %s\n",
	    i, rt->cores, topologies[rt->topology], rt->processors,
	    rt->once ? "mely_run_once" : "mely_run", rt->runs,
	    rt->discard ? "discard" : "drain");
	fprintf(out, "    steal %d (heuristics %u) balance %d pollers %d; batch %d events, %d us\n",
	    rt->steal, rt->heuristics, rt->balance, rt->pollers, rt->batch_events, rt->batch_us);
	fprintf(out, "    spin %d us; stuck %d ms; priority rule %d\n", rt->spin_us, rt->stuck_ms,
	    rt->priority_rule);
	fprintf(out, "    look %u..%u ns, tick %u ns, decay %u ns, aged %u ns\n", rt->look_ns,
	    rt->look_max_ns, rt->tick_ns, rt->decay_ns, rt->aged_ns);
	fprintf(out, "    the outbox opens after %u posts and takes up to %u\n", rt->outbox_after,
	    rt->outbox_full);
	if (rt->drain_ns != 0)
		fprintf(out, "    a drain takes at most %u ns\n", rt->drain_ns);
}

void
program_print(const struct program *p, FILE *out)
{
	static const char *const kinds[] = {"object", "dense id", "scattered id"};
	int i, j;

	for (i = 0; i < p->runtimes; i++)
		print_runtime(&p->runtime[i], i, out);
	for (i = 0; i < p->colors; i++)
		fprintf(out, "  color %d: %s 0x%x of runtime %d, core %d\n", i,
		    kinds[p->color[i].kind], p->color[i].id, p->color[i].runtime,
		    p->color[i].core);
	if (p->early_ns != 0)
		fprintf(out, "  stopped %u ns after the threads have ended\n", p->early_ns);
	if (p->answers != 0)
		fprintf(out, "  descriptors get up to %d answers\n", p->answers);
	if (p->cancels_left)
		fputs("  the hand-back function cancels events\n", out);
	for (i = 0; i < p->handlers && p->priorities; i++)
		fprintf(out, "  handler %d: priority %d\n", i, p->handler[i].priority);
	for (i = 0; i < p->events; i++)
		fprintf(out, "  event %d runs script %d\n", i, p->event_script[i]);
	for (i = 0; i < p->timers; i++)
		fprintf(out, "  timer %d runs script %d\n", i, p->timer_script[i]);
	for (i = 0; i < p->scripts; i++) {
		const struct script *s = &p->script[i];

		fprintf(out, "  script %d%s, handler %d:\n", i, i == 0 ? " (before the runs)" :
		    i <= p->threads ? " (a thread that is not a core)" : "", s->handler);
		for (j = s->first; j < s->first + s->count; j++) {
			if (p->op[j].kind != OP_NONE)
				print_op(p, &p->op[j], out);
		}
	}
}
