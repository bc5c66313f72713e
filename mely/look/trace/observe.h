/* SPDX-License-Identifier: MIT */
/*
 * observe.h: where the runtime tells what it does, to a trace (tracer.h) and to probes
 * (probes.h).
 *
 * NOTE(observe)
 *   A. While nobody looks, an event pays nothing. A core finds out once a millisecond (tick), and
 *      when it begins, whether somebody does; then the countdown to its next sampled batch is
 *      kept at 1, so that each batch takes the way of the sampled ones, and there is seen to be an
 *      observed one (sched/run.c).
 *   B. In an observed batch each event is told of before its handler is entered. The words that let
 *      a post to the running color take the short way (batch.direct, batch.color_id) say that
 *      there is none, so it takes the long way, where it is told of and then put into the batch
 *      just the same.
 *   C. Steals, sleeps, wake-ups, polls and posts to other colors are on long ways anyhow: there a
 *      look at one word, MELYINT_OBSERVED, decides.
 *   D. What is traced of a batch is whole: a core changes its mind between batches only.
 */
#ifndef MELYINT_LOOK_TRACE_OBSERVE_H
#define MELYINT_LOOK_TRACE_OBSERVE_H

#include "base/clock.h"
#include "core/core.h"
#include "core/handlers.h"
#include "look/trace/probes.h"
#include "look/trace/tracer.h"

/* core->sampling.observe */
enum {
	MELYINT_OBSERVE_TRACE = 1,
	MELYINT_OBSERVE_PROBES = 2
};

#ifdef MELYINT_SIM
#define MELYINT_OBSERVED(probe) 0
#else
/* Traces that are on in this process. Anyone, under the trace lock. */
extern _Atomic unsigned melyint_observing;
/* Does anybody want to be told? relaxed: seen sooner or later */
#define MELYINT_OBSERVED(probe) \
	MELY_UNLIKELY(MELY_LOAD(&melyint_observing, relaxed) != 0 || MELY_PROBE_WANTED(probe))
#endif

/* Owner, between batches: is somebody looking, now? A of NOTE(observe). */
void melyint_observe_look(struct melyint_core *core);
/* The same when the core's thread begins, and when it ends. */
void melyint_observe_attend(struct melyint_core *core, bool on);

/* Owner: where it counts the batches until one is sampled. */
MELY_INLINE uint32_t *
melyint_sample_in(struct melyint_core *core)
{
#ifndef MELYINT_LIBASYNC
	if (MELY_UNLIKELY(core->sampling.observe != 0))
		return &core->sampling.plain_in;
#endif
	return &core->sampling.batches_left;
}

/* ---- long ways: behind MELYINT_OBSERVED ------------------------------------------------------ */

/* ev is about to be posted. self: the calling core, also one of another runtime, or NULL. */
void melyint_observe_post(struct melyint_core *self, struct mely_color *color,
    struct mely_event *ev);
/* The thief has taken a color, and nobody else can have it yet. One of several in the same time: of
 * is how many, i which. */
void melyint_observe_steal(struct melyint_core *thief, const struct melyint_core *victim,
    const struct mely_color *color, uint64_t began_ticks, uint32_t i, uint32_t of, bool balance);
void melyint_observe_sleep(struct melyint_core *core, uint64_t timeout_ns);
void melyint_observe_awake(struct melyint_core *core);
void melyint_observe_wake(struct melyint_core *self, const struct melyint_core *core);
void melyint_observe_poll(struct melyint_core *self);
void melyint_observe_polled(struct melyint_core *self, const struct melyint_core *of, int found);

/* ---- an observed batch ----------------------------------------------------------------------- */

/* Owner's, on the stack of the batch. */
struct melyint_observed {
	struct melyint_ring *ring;  /* core->sampling.ring; NULL: there are probes only */
	uint64_t color;
	unsigned flags;
	uint32_t number;            /* of the running handler */
	uint64_t began_ticks;
};

/* The batch of core is taken; it is to be an observed one. */
void melyint_observe_batch(struct melyint_core *core, struct melyint_observed *observed);
/* It is over. */
void melyint_observe_batch_end(struct melyint_core *core, struct melyint_observed *observed);
/* Probes. */
void melyint_observe_begin_slow(struct melyint_core *core, struct melyint_observed *observed,
    uint64_t event);
void melyint_observe_end_slow(struct melyint_core *core, struct melyint_observed *observed);

/* Its handler posts ev to its own color. */
void melyint_observe_own_slow(struct melyint_core *core, struct mely_event *ev);

MELY_INLINE void
melyint_observe_own(struct melyint_core *core, struct mely_event *ev)
{
	if (MELY_LIKELY(core->sampling.ring != NULL))
		melyint_ring_put(core->sampling.ring, 0, (uint64_t)(uintptr_t)ev, 0,
		    melyint_trace_rest(MELYINT_TRACE_OWN_POST, 0, 0, 0));
	if (MELY_UNLIKELY(core->sampling.observe & MELYINT_OBSERVE_PROBES))
		melyint_observe_own_slow(core, ev);
}

/* When the next event begins, and the one before it has ended. */
MELY_INLINE uint64_t
melyint_observe_now(const struct melyint_observed *observed)
{
	return MELY_LIKELY(observed->ring != NULL) ? melyint_ticks() : 0;
}

/* The handler of this event is about to be entered. The event is its poster's already. */
MELY_INLINE void
melyint_observe_begin(struct melyint_core *core, struct melyint_observed *observed,
    uint64_t event, uint32_t number, uint64_t now)
{
	observed->number = number;
	if (MELY_LIKELY(observed->ring != NULL))
		melyint_ring_put(observed->ring, now, event, observed->color,
		    melyint_trace_rest(MELYINT_TRACE_RUN, number, 0, observed->flags));
	if (MELY_UNLIKELY(core->sampling.observe & MELYINT_OBSERVE_PROBES))
		melyint_observe_begin_slow(core, observed, event);
}

/* It has ended. */
MELY_INLINE void
melyint_observe_end(struct melyint_core *core, struct melyint_observed *observed)
{
	if (MELY_UNLIKELY(core->sampling.observe & MELYINT_OBSERVE_PROBES))
		melyint_observe_end_slow(core, observed);
}

#endif
