/* SPDX-License-Identifier: MIT */
/*
 * weight.c: see weight.h. What the programmer wrote into a handler always wins; a time that is not
 * there is measured, a penalty that is not there is learned (measure.c).
 */
#include "core.h"
#include "measure.h"
#include "weight.h"

static uint32_t
divided(uint32_t weight, uint32_t penalty)
{
	if (penalty > 1)
		weight /= penalty;
	return weight != 0 ? weight : 1;
}

/* The weight of an ordinary event of a handler, found and kept in the handler. */
static uint32_t
weight_of_handler(struct mely_runtime *rt, unsigned weighing, struct mely_handler *handler)
{
	uint32_t ns = melyint_measure_time(rt, handler);
	uint32_t plain = divided(melyint_weight_from_ns(ns), 1);
	uint32_t weighted = divided(plain, melyint_measure_penalty(rt, handler));

	/* relaxed, both: who finds the same twice stores the same */
	MELY_STORE(&handler->_weight[MELYINT_WEIGH_TIME - 1], plain, relaxed);
	MELY_STORE(&handler->_weight[MELYINT_WEIGH_PENALTY - 1], weighted, relaxed);
	return weighing == MELYINT_WEIGH_PENALTY ? weighted : plain;
}

/* The power of two that is nearest to a penalty from above. */
static unsigned
shift_of(uint32_t penalty)
{
	unsigned shift = 0;

	while (shift < MELYINT_DIVIDED_MAX && penalty > 1u << shift)
		shift++;
	return shift;
}

/* An embedded event with a time of its own: the time stays, a shift says what was counted. */
static uint32_t
weigh_timed(struct mely_runtime *rt, unsigned weighing, struct mely_event *ev)
{
	unsigned shift = 0;

	if (weighing == MELYINT_WEIGH_PENALTY)
		shift = shift_of(melyint_measure_penalty(rt, ev->_handler));
	ev->_flags |= (uint16_t)(MELYINT_EV_WEIGHED | shift << MELYINT_DIVIDED_SHIFT);
	return melyint_weight_of_timed(ev);
}

uint32_t
melyint_weigh_slow(struct mely_runtime *rt, unsigned weighing, struct mely_event *ev)
{
	/* relaxed: a measurement */
	uint32_t weight = MELY_LOAD(&ev->_handler->_weight[weighing - 1], relaxed);

	if (ev->_flags & MELYINT_EV_TIMED) {
		if (!(ev->_flags & MELYINT_EV_POOLED))
			return weigh_timed(rt, weighing, ev);
		weight = divided(melyint_weight_from_ns(ev->_time),
		    weighing == MELYINT_WEIGH_PENALTY ?
		    melyint_measure_penalty(rt, ev->_handler) : 1);
		ev->_flags &= (uint16_t)~MELYINT_EV_TIMED;
	} else if (weight == 0 && !melyint_measure_wanted(rt, ev->_handler)) {
		weight = weight_of_handler(rt, weighing, ev->_handler);
	} else if (weight == 0) {
		/* The sooner it is known, the better: this very event is measured. */
		ev->_flags |= MELYINT_EV_PROBE;
		weight = MELYINT_WEIGHT_UNKNOWN;
	}
	ev->_time = weight;
	return weight;
}

uint32_t
melyint_weight_of_timed(const struct mely_event *ev)
{
	uint32_t weight;

	if (!(ev->_flags & MELYINT_EV_WEIGHED))
		return 0;
	weight = melyint_weight_from_ns(ev->_time) >> (ev->_flags >> MELYINT_DIVIDED_SHIFT);
	return weight != 0 ? weight : 1;
}
