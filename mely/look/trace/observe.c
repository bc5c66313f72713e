/* SPDX-License-Identifier: MIT */
/*
 * observe.c: what cores do, as records of a trace and as arguments of probes. Addresses of live
 * objects become numbers that remain valid. NOTE(observe) is in observe.h.
 */
#include "look/trace/observe.h"
#include "sched/run.h"

#ifndef MELYINT_SIM
_Atomic unsigned melyint_observing;
#endif

#if defined(MELY_PROBES) && !defined(MELYINT_SIM)
/* In the section that sys/sdt.h prescribes, where tools find it in the file. */
#define MELYINT_PROBE(name) \
	_Atomic unsigned short mely_##name##_semaphore __attribute__((section(".probes")))
MELYINT_PROBE(post);
MELYINT_PROBE(run_begin);
MELYINT_PROBE(run_end);
MELYINT_PROBE(steal);
MELYINT_PROBE(sleep);
MELYINT_PROBE(wake);
MELYINT_PROBE(poll);
#endif

/* ---- names ----------------------------------------------------------------------------------- */

static unsigned
flags_of(const struct mely_color *color)
{
	/* relaxed: this flag never changes */
	return MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_OBJECT ?
	    MELYINT_TRACE_OBJECT : 0;
}

static uint64_t
key_of(const struct mely_color *color)
{
	return flags_of(color) ? (uint64_t)(uintptr_t)color : color->_id;
}

static const char *
name_of(uint32_t number)
{
	const char *name = melyint_handler_name(number);

	return name != NULL ? name : "";
}

/* ---- on and off ------------------------------------------------------------------------------ */

/* The tracer of rt, if a trace is on, or NULL. */
static struct melyint_tracer *
tracer_of(const struct mely_runtime *rt)
{
	/* acquire, both: pair with the release stores in trace.c */
	struct melyint_tracer *tracer = MELY_LOAD(&rt->look.tracer, acquire);

	return tracer != NULL && MELY_LOAD(&tracer->on, acquire) ? tracer : NULL;
}

/* The ring that core writes to, or NULL. Owner. */
static struct melyint_ring *
ring_of(const struct melyint_core *core)
{
	const struct melyint_tracer *tracer = tracer_of(core->rt);

	return tracer != NULL ? &tracer->rings[core->index] : NULL;
}

void
melyint_observe_look(struct melyint_core *core)
{
	const struct melyint_tracer *tracer = tracer_of(core->rt);
	unsigned before = core->sampling.observe, now = 0;

	if (tracer != NULL)
		now |= MELYINT_OBSERVE_TRACE;
	if (MELY_PROBE_WANTED(run_begin) || MELY_PROBE_WANTED(run_end) || MELY_PROBE_WANTED(post))
		now |= MELYINT_OBSERVE_PROBES;
	if (now == before)
		return;
	core->sampling.observe = (uint8_t)now;
	core->sampling.observe_every = tracer != NULL && !(now & MELYINT_OBSERVE_PROBES) ?
	    tracer->sample : 1;
	if (before == 0 || now == 0)
		melyint_sampling_observe(core, now != 0); /* A of NOTE(observe) */
	if ((before ^ now) & MELYINT_OBSERVE_TRACE)
		melyint_fatal_stack(tracer, core->index);
}

void
melyint_observe_attend(struct melyint_core *core, bool on)
{
	if (on)
		melyint_observe_look(core);
	else if (core->sampling.observe & MELYINT_OBSERVE_TRACE)
		melyint_fatal_stack(NULL, core->index);
	if (!on && core->sampling.observe != 0) {
		melyint_sampling_observe(core, false);
		core->sampling.observe = 0;
	}
}

/* ---- posts ----------------------------------------------------------------------------------- */

/* Whether a post is left out, because its batch is not traced (one batch in N is). */
static bool
left_out(const struct melyint_core *core)
{
	return core->sampling.observe_every > 1 && core->batch.color != NULL &&
	    core->batch.direct == core->batch.color;
}

static void
trace_post(const struct melyint_core *self, const struct mely_runtime *rt,
    const struct mely_event *ev)
{
	uint64_t event = (uint64_t)(uintptr_t)ev;
	struct melyint_tracer *tracer = tracer_of(rt);

	if (tracer == NULL)
		return;
	if (self == NULL || self->rt != rt)
		melyint_ring_put_shared(&tracer->rings[rt->cores_count], melyint_ticks(), event, 0,
		    melyint_trace_rest(MELYINT_TRACE_POST, 0, 0, 0));
	else if (!left_out(self))
		melyint_ring_put(&tracer->rings[self->index], melyint_ticks(), event, 0,
		    melyint_trace_rest(MELYINT_TRACE_POST, 0, 0, 0));
}

static MELY_NOINLINE void
probe_post(const struct melyint_core *self, const struct mely_color *color,
    const struct mely_event *ev)
{
	/* Possibly under a lock: E of NOTE(handlers). */
	const char *name = melyint_handler_name_known(melyint_handler_number(ev->_handler));
	int core = self != NULL ? self->index : -1;

	MELY_PROBE5(post, ev->_handler->fn, name != NULL ? name : "", key_of(color), core, ev);
}

void
melyint_observe_post(struct melyint_core *self, struct mely_color *color,
    struct mely_event *ev)
{
	/* acquire: as in melyint_color_lock; the runtime of a color does not change */
	const struct mely_runtime *rt = MELY_LOAD(&color->_owner, acquire)->rt;

	trace_post(self, rt, ev);
	if (MELY_PROBE_WANTED(post))
		probe_post(self, color, ev);
}

void
melyint_observe_own(struct melyint_core *core, struct mely_event *ev)
{
	if (MELY_LIKELY(core->sampling.ring != NULL))
		melyint_ring_put(core->sampling.ring, 0, (uint64_t)(uintptr_t)ev, 0,
		    melyint_trace_rest(MELYINT_TRACE_OWN_POST, 0, 0, 0));
	if (MELY_UNLIKELY(core->sampling.observe & MELYINT_OBSERVE_PROBES) &&
	    MELY_PROBE_WANTED(post))
		probe_post(core, core->batch.color, ev);
}

/* ---- batches --------------------------------------------------------------------------------- */

void
melyint_observe_batch(struct melyint_core *core, struct melyint_observed *observed)
{
	const struct mely_color *color = core->batch.color;

	core->sampling.ring = core->sampling.observe & MELYINT_OBSERVE_TRACE ? ring_of(core) : NULL;
	observed->ring = core->sampling.ring;
	observed->color = key_of(color);
	observed->flags = flags_of(color);
	/* B of NOTE(observe); the next batch sets them again */
	core->batch.direct = NULL;
	core->batch.color_id = MELYINT_NO_ID;
}

void
melyint_observe_batch_end(struct melyint_core *core, struct melyint_observed *observed)
{
	uint32_t waiting = MELY_LOAD(&core->hint.waiting, relaxed); /* ours; a count */

	if (observed->ring != NULL)
		melyint_ring_put(observed->ring, melyint_ticks(), 0, 0,
		    melyint_trace_rest(MELYINT_TRACE_BATCH, waiting, 0, 0));
	core->sampling.ring = NULL;
}

static MELY_NOINLINE void
probe_begin(struct melyint_core *core, struct melyint_observed *observed)
{
	const struct melyint_handler_entry *entry = melyint_handler_entry(observed->number);

	if (MELY_PROBE_WANTED(run_begin) && entry != NULL)
		MELY_PROBE5(run_begin, entry->fn, name_of(observed->number), observed->color,
		    core->index, observed->event);
	observed->began_ticks = melyint_ticks();
}

void
melyint_observe_begin(struct melyint_core *core, struct melyint_observed *observed,
    uint32_t number)
{
	observed->number = number;
	if (MELY_LIKELY(observed->ring != NULL))
		melyint_ring_put(observed->ring, observed->event_ticks, observed->event,
		    observed->color, melyint_trace_rest(MELYINT_TRACE_RUN, number, 0,
		    observed->flags));
	if (MELY_UNLIKELY(core->sampling.observe & MELYINT_OBSERVE_PROBES))
		probe_begin(core, observed);
}

static MELY_NOINLINE void
probe_end(struct melyint_core *core, struct melyint_observed *observed)
{
	const struct melyint_handler_entry *entry = melyint_handler_entry(observed->number);

	if (MELY_PROBE_WANTED(run_end) && entry != NULL) {
		uint64_t ns = melyint_ticks_to_ns(melyint_ticks() - observed->began_ticks);

		MELY_PROBE5(run_end, entry->fn, name_of(observed->number), observed->color,
		    core->index, ns);
	}
}

void
melyint_observe_end(struct melyint_core *core, struct melyint_observed *observed)
{
	if (MELY_UNLIKELY(core->sampling.observe & MELYINT_OBSERVE_PROBES))
		probe_end(core, observed);
}

/* ---- the rest -------------------------------------------------------------------------------- */

void
melyint_observe_steal(struct melyint_core *thief, const struct melyint_core *victim,
    const struct mely_color *color, uint64_t began_ticks, uint32_t i, uint32_t of, bool balance)
{
	struct melyint_ring *ring = ring_of(thief);
	uint64_t took = melyint_ticks() - began_ticks;
	uint64_t from = began_ticks + took * i / of, to = began_ticks + took * (i + 1) / of;

	if (ring != NULL)
		melyint_ring_put(ring, from, to, key_of(color),
		    melyint_trace_rest(MELYINT_TRACE_STEAL, balance, (unsigned)victim->index,
		        flags_of(color)));
	if (MELY_PROBE_WANTED(steal))
		MELY_PROBE4(steal, thief->index, victim->index, key_of(color),
		    melyint_ticks_to_ns(to - from));
}

static void
put_plain(struct melyint_core *core, enum melyint_trace_kind kind, uint32_t number)
{
	struct melyint_ring *ring = ring_of(core);

	if (ring != NULL)
		melyint_ring_put(ring, melyint_ticks(), 0, 0,
		    melyint_trace_rest(kind, number, 0, 0));
}

void
melyint_observe_sleep(struct melyint_core *core, uint64_t timeout_ns)
{
	put_plain(core, MELYINT_TRACE_SLEEP, 0);
	if (MELY_PROBE_WANTED(sleep))
		MELY_PROBE2(sleep, core->index, timeout_ns);
}

void
melyint_observe_awake(struct melyint_core *core)
{
	put_plain(core, MELYINT_TRACE_AWAKE, 0);
}

void
melyint_observe_wake(struct melyint_core *self, const struct melyint_core *core)
{
	const struct melyint_tracer *tracer = tracer_of(core->rt);
	uint64_t rest = melyint_trace_rest(MELYINT_TRACE_WAKE, 0, (unsigned)core->index, 0);

	if (self != NULL && self->rt != core->rt)
		self = NULL;
	if (tracer != NULL && self != NULL)
		melyint_ring_put(&tracer->rings[self->index], melyint_ticks(), 0, 0, rest);
	else if (tracer != NULL)
		melyint_ring_put_shared(&tracer->rings[core->rt->cores_count], melyint_ticks(), 0,
		    0, rest);
	if (MELY_PROBE_WANTED(wake))
		MELY_PROBE2(wake, core->index, self != NULL ? self->index : -1);
}

void
melyint_observe_poll(struct melyint_core *self)
{
	put_plain(self, MELYINT_TRACE_POLL, 0);
}

void
melyint_observe_polled(struct melyint_core *self, const struct melyint_core *of, int found)
{
	put_plain(self, MELYINT_TRACE_POLLED, (uint32_t)found);
	if (MELY_PROBE_WANTED(poll))
		MELY_PROBE3(poll, self->index, of->index, found);
}
