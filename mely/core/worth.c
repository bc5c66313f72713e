/* SPDX-License-Identifier: MIT */
/*
 * worth.c: what a color is worth to a thief, and its place in the stealing-queue: NOTE(worth) in
 * worth.h. Under the lock of the color's owner, unless noted.
 */
#include "base/assert.h"
#include "core/worth.h"

/* The second interval: worth this many steals. The third: worth a wake-up. */
enum { INTERVAL_FACTOR = 8 };

static unsigned
interval_of(uint64_t worth, uint64_t price)
{
	if (worth >= (uint64_t)MELYINT_WAKEUP_NS << MELYINT_WEIGHT_SHIFT)
		return 2;
	return worth >= price * INTERVAL_FACTOR;
}

uint64_t
melyint_core_worthy_ns(const struct melyint_core *core)
{
	const struct melyint_stealq *q = &core->stealq;
	/* relaxed: a hint */
	uint64_t price_ns = MELY_LOAD(&core->hint.worth_min, relaxed) >> MELYINT_WEIGHT_SHIFT;

	return melyint_stealq_length_in(q, 0) * price_ns +
	    melyint_stealq_length_in(q, 1) * price_ns * INTERVAL_FACTOR +
	    melyint_stealq_length_in(q, 2) * (uint64_t)MELYINT_WAKEUP_NS;
}

uint64_t
melyint_color_worth(const struct melyint_core *core, const struct mely_color *color)
{
	/* relaxed, all: under the lock, and measurements */
	const struct mely_event *first = MELY_LOAD(&color->_heads, relaxed);
	const struct mely_handler *handler;
	uint64_t recent = color->_u._worth._recent; /* ns: shifted, the product would overflow */
	unsigned weighing = MELY_LOAD(&core->rt->switches.weighing, relaxed);
	uint64_t plain, divided;

	MELY_DEBUG_ASSERT(melyint_lock_held(&core->lock));
	if (first == NULL)
		first = color->_tails;
	if (first == NULL)
		return 0; /* its last event was cancelled while it moved */
	if (melyint_weighs_penalties(weighing)) {
		handler = first->_handler;
		plain = MELY_LOAD(&handler->_weight[melyint_weighing_plain(weighing) - 1], relaxed);
		divided = MELY_LOAD(&handler->_weight[weighing - 1], relaxed);
		if (divided < plain)
			recent = recent * divided / plain;
	}
	return color->_u._worth._time_left + (recent << MELYINT_WEIGHT_SHIFT);
}

bool
melyint_core_weigh_slow(struct melyint_core *core, struct mely_color *color)
{
	uint64_t worth = melyint_color_worth(core, color);
	uint64_t price = MELY_LOAD(&core->hint.worth_min, relaxed); /* a hint */

	/* C of NOTE(worth) */
	MELY_DEBUG_ASSERT(!(MELY_PEEK(&color->_flags) & MELYINT_COLOR_NO_WORTH));
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_state) == MELYINT_COLOR_QUEUED);
	if (worth <= price) {
		melyint_core_unworthy(core, color);
		return false;
	}
	/* By penalties alone any color will do, but a heavy one does better. */
	if (price == 0)
		price = melyint_weight_from_ns(MELYINT_STEAL_NS_MIN);
	return melyint_stealq_put(&core->stealq, color, interval_of(worth, price));
}
