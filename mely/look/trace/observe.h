/* SPDX-License-Identifier: MIT */
/*
 * observe.h: where the runtime reports what it does, to a trace (tracer.h) and to probes
 * (probes.h).
 *
 * NOTE(observe)
 *   A. While tracing is off, an event pays nothing. A core checks once a millisecond (tick), and
 *      when it begins, whether a trace or a probe is on. If so, it keeps the countdown to its next
 *      sampled batch at 1, so that each batch takes the way of the sampled ones, where sched/run.c
 *      sees that it is an observed one.
 *   B. In an observed batch, the core reports each event before it enters the handler. It clears
 *      the words that let a post to the running color take the short way (batch.direct,
 *      batch.color_id), so such a post takes the long way, which reports it and then puts it into
 *      the batch as usual.
 *   C. Steals, sleeps, wake-ups, polls and posts to other colors are on long ways anyway: there a
 *      test of one word, MELYINT_OBSERVED, decides.
 *   D. A batch is traced as a whole: a core switches between batches only.
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
/* Traces that are on in this process. Any thread, under the trace lock. */
extern _Atomic unsigned melyint_observing;
/* Whether to report. relaxed: seen sooner or later */
#define MELYINT_OBSERVED(probe) \
	MELY_UNLIKELY(MELY_LOAD(&melyint_observing, relaxed) != 0 || MELY_PROBE_WANTED(probe))
#endif

/* Owner, between batches: check whether a trace or a probe is on. A of NOTE(observe). */
void melyint_observe_look(struct melyint_core *core);
/* Like melyint_observe_look, when the core's thread begins, and when it ends. */
void melyint_observe_attend(struct melyint_core *core, bool on);

/* Owner: its countdown of batches to the next sampled one. */
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
/* The thief has taken a color, which no other core can take yet. It is color number i of `of` that
 * were taken at the same time. */
void melyint_observe_steal(struct melyint_core *thief, const struct melyint_core *victim,
    const struct mely_color *color, uint64_t began_ticks, uint32_t i, uint32_t of, bool balance);
void melyint_observe_sleep(struct melyint_core *core, uint64_t timeout_ns);
void melyint_observe_awake(struct melyint_core *core);
void melyint_observe_wake(struct melyint_core *self, const struct melyint_core *core);
void melyint_observe_poll(struct melyint_core *self);
void melyint_observe_polled(struct melyint_core *self, const struct melyint_core *of, int found);

/* ---- an observed batch ----------------------------------------------------------------------- */

/* The owner's, on the stack of the batch. */
struct melyint_observed {
	struct melyint_ring *ring;  /* core->sampling.ring; NULL: only probes are on */
	uint64_t color;
	unsigned flags;
	uint32_t number;            /* of the running handler */
	uint64_t began_ticks;
};

/* core has taken a batch, which it observes. */
void melyint_observe_batch(struct melyint_core *core, struct melyint_observed *observed);
/* The batch has ended. */
void melyint_observe_batch_end(struct melyint_core *core, struct melyint_observed *observed);
/* Probes. */
void melyint_observe_begin_slow(struct melyint_core *core, struct melyint_observed *observed,
    uint64_t event);
void melyint_observe_end_slow(struct melyint_core *core, struct melyint_observed *observed);

/* The running handler posts ev to its own color. */
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

/* The time at which the next event begins, and the one before it has ended. */
MELY_INLINE uint64_t
melyint_observe_now(const struct melyint_observed *observed)
{
	return MELY_LIKELY(observed->ring != NULL) ? melyint_ticks() : 0;
}

/* The core is about to enter the handler of this event, which already belongs to its poster. */
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

/* The handler has returned. */
MELY_INLINE void
melyint_observe_end(struct melyint_core *core, struct melyint_observed *observed)
{
	if (MELY_UNLIKELY(core->sampling.observe & MELYINT_OBSERVE_PROBES))
		melyint_observe_end_slow(core, observed);
}

#endif
