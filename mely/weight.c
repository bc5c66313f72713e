/* SPDX-License-Identifier: MIT */
/*
 * weight.c: see weight.h. Hand annotations always win; a handler without a time has a running
 * average, measured on a sample of the batches (core_run.c), where that is switched on.
 */
#include "weight.h"

enum {
	AVERAGE_SHIFT = 3,
	SPIKE_FACTOR = 16,   /* a preempted sample is cut to so many times the average ... */
	SPIKE_NS = 10000     /* ... and this */
};

static uint32_t
divided(uint32_t weight, uint32_t penalty)
{
	if (penalty > 1)
		weight /= penalty;
	return weight != 0 ? weight : 1;
}

uint32_t
melyint_weight_find(struct mely_runtime *rt, struct mely_handler *handler)
{
	/* relaxed, all: measurements; who computes the same twice stores the same */
	uint32_t measured = MELY_LOAD(&handler->_measured_ns, relaxed);
	uint32_t ns = handler->time_ns != 0 ? handler->time_ns : measured;
	uint32_t plain, weighted;

	/* Nothing known: next to nothing; such a color gets its worth from what it uses. */
	plain = divided(melyint_weight_from_ns(ns), 1);
	weighted = divided(plain, handler->penalty);
	/* The sooner it is known, the better; where it is posted it often runs. */
	if (ns == 0 && melyint_self != NULL && melyint_self->rt == rt)
		melyint_self->sample_in = 1;
	MELY_STORE(&handler->_weight[0], plain, relaxed);
	MELY_STORE(&handler->_weight[1], weighted, relaxed);
	return melyint_weight_kind(rt) != 0 ? weighted : plain;
}

uint32_t
melyint_weight_timed(const struct mely_runtime *rt, const struct mely_event *ev)
{
	return divided(melyint_weight_from_ns(ev->_time),
	    melyint_weight_kind(rt) != 0 ? ev->_handler->penalty : 1);
}

void
melyint_weight_measured(struct mely_handler *handler, uint64_t ns)
{
	/* relaxed, all: a measurement; two cores that measure at once may lose one sample */
	uint32_t average = MELY_LOAD(&handler->_measured_ns, relaxed);
	uint64_t most = (uint64_t)average * SPIKE_FACTOR + SPIKE_NS;
	int64_t step;

	if (average == 0) {
		average = ns == 0 ? 1 : ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
	} else {
		ns = ns < most ? ns : most;
		step = ((int64_t)ns - (int64_t)average) / (1 << AVERAGE_SHIFT);
		if ((int64_t)average + step > UINT32_MAX)
			step = 0;
		average = (uint32_t)((int64_t)average + step);
		average = average != 0 ? average : 1;
	}
	MELY_STORE(&handler->_measured_ns, average, relaxed);
	if (handler->time_ns == 0) {
		/* Found anew at the next post. */
		MELY_STORE(&handler->_weight[0], 0, relaxed);
		MELY_STORE(&handler->_weight[1], 0, relaxed);
	}
}
