/* SPDX-License-Identifier: MIT */
/*
 * weight.c: see weight.h. What the programmer wrote into a handler always wins; a time that is not
 * there is measured, a penalty that is not there is learned (measure.c).
 */
#include "core/core.h"
#include "core/measure.h"
#include "core/weight.h"

static uint32_t
divided(uint32_t weight, uint32_t penalty)
{
	if (penalty > 1)
		weight /= penalty;
	return weight != 0 ? weight : 1;
}

static uint32_t
penalty_of(unsigned weighing, const struct mely_handler *handler)
{
	return melyint_weighs_penalties(weighing) ? melyint_measure_penalty(weighing, handler) : 1;
}

/* The weight of an ordinary event of a handler, found and kept in the handler. */
static uint32_t
weight_of_handler(unsigned weighing, struct mely_handler *handler)
{
	uint32_t ns = melyint_measure_time(weighing, handler);
	uint32_t plain = divided(melyint_weight_from_ns(ns), 1);
	uint32_t weighted = divided(plain, penalty_of(weighing, handler));

	/* relaxed, both: who finds the same twice stores the same */
	MELY_STORE(&handler->_weight[melyint_weighing_plain(weighing) - 1], plain, relaxed);
	MELY_STORE(&handler->_weight[weighing - 1], weighted, relaxed);
	return weighted;
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
weigh_timed(unsigned weighing, struct mely_event *ev)
{
	unsigned shift = shift_of(penalty_of(weighing, ev->_handler));

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
			return weigh_timed(weighing, ev);
		weight = divided(melyint_weight_from_ns(ev->_time),
		    penalty_of(weighing, ev->_handler));
		ev->_flags &= (uint16_t)~MELYINT_EV_TIMED;
	} else if (weight == 0 && !melyint_measure_wanted(rt, weighing, ev->_handler)) {
		weight = weight_of_handler(weighing, ev->_handler);
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
