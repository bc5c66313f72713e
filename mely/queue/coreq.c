/* SPDX-License-Identifier: MIT */
/*
 * coreq.c: which color-queue is next when several priorities wait (paper, section 4.1, with ageing,
 * so that a low priority waits but does not starve), and walks through the queue. The caller holds
 * the owner's lock.
 */
#include "queue/coreq.h"

unsigned
melyint_coreq_pick_slow(struct melyint_coreq *q)
{
	unsigned best = 0, best_rank = 0;
	uint32_t rest;

	MELY_DEBUG_ASSERT(q->length > 1 && (q->levels & (q->levels - 1)) != 0);
	for (rest = q->levels; rest != 0; rest &= rest - 1) {
		unsigned level = (unsigned)__builtin_ctz(rest);
		unsigned rank = level + q->passed[level];

		/* Of two equal ranks the lower level has waited longer. */
		if (rank > best_rank || rest == q->levels) {
			best = level;
			best_rank = rank;
		}
	}
	for (rest = q->levels; rest != 0; rest &= rest - 1) {
		unsigned level = (unsigned)__builtin_ctz(rest);

		if (level != best && q->passed[level] < MELYINT_LEVELS)
			q->passed[level]++;
	}
	q->passed[best] = 0;
	MELY_DEBUG_ASSERT(melyint_coreq_level_agrees(q, best));
	return best;
}

/* The first color of the highest level below this one, or NULL. */
static struct mely_color *
first_below(const struct melyint_coreq *q, unsigned level)
{
	uint32_t levels = q->levels & ((1u << level) - 1);

	MELY_DEBUG_ASSERT(levels == 0 ||
	    melyint_coreq_level_agrees(q, 31 - (unsigned)__builtin_clz(levels)));
	return levels != 0 ? q->first[31 - __builtin_clz(levels)] : NULL;
}

struct mely_color *
melyint_coreq_next(const struct melyint_coreq *q, const struct mely_color *color)
{
	unsigned level = melyint_coreq_level(color);

	MELY_DEBUG_ASSERT(q->first[level] != NULL && melyint_coreq_linked(q, color));
	return color->_next != q->first[level] ? color->_next : first_below(q, level);
}

struct mely_color *
melyint_coreq_highest(const struct melyint_coreq *q)
{
	MELY_DEBUG_ASSERT((q->levels == 0) == (q->length == 0));
	return q->levels != 0 ? q->first[31 - __builtin_clz(q->levels)] : NULL;
}

bool
melyint_coreq_validate(const struct melyint_coreq *q)
{
	uint32_t count = 0;
	unsigned level;

	for (level = 0; level < MELYINT_LEVELS; level++) {
		const struct mely_color *color = q->first[level];

		if ((color != NULL) != ((q->levels >> level & 1) != 0))
			return false;
		if (color == NULL)
			continue;
		do {
			if (melyint_coreq_level(color) != level || color->_next->_prev != color)
				return false;
			count++;
			color = color->_next;
		} while (color != q->first[level] && count <= q->length);
	}
	return count == q->length;
}
