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

#include "core/hooks.h"
#include "core/handlers.h"
#include "look/trace/tracer.h"

/* core->sampling.observe */
enum {
	MELYINT_OBSERVE_TRACE = 1,
	MELYINT_OBSERVE_PROBES = 2
};

/* Owner, when the core's thread begins and when it ends: find out whether there are observers. */
void melyint_observe_attend(struct melyint_core *core, bool on);

#endif
