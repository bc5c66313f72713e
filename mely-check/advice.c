/* SPDX-License-Identifier: MIT */
/*
 * advice.c: what a programmer can try against a fault. It depends on the two sides: a helper thread
 * or an outside thread has no color that could be changed, a block that is freed needs a last user,
 * and of two colors one has to change.
 */
#include <stdbool.h>
#include <string.h>

#include "advice.h"
#include "text.h"

static bool
has(const struct fault *fault, enum party_kind party, const struct side **side,
    const struct side **other)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (fault->sides[i].party != party)
			continue;
		*side = &fault->sides[i];
		*other = &fault->sides[1 - i];
		return true;
	}
	return false;
}

static bool
frees(const struct fault *fault, const struct side **side, const struct side **other)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (strcmp(fault->sides[i].verb, "frees") != 0)
			continue;
		*side = &fault->sides[i];
		*other = &fault->sides[1 - i];
		return true;
	}
	return false;
}

/* A counter, a flag, a pointer: small enough for one atomic. */
static bool
is_word(const struct fault *fault)
{
	return fault->report->object.kind == OBJECT_GLOBAL && fault->report->object.size > 0 &&
	    fault->report->object.size <= 8;
}

static const char *
for_colors(const struct fault *fault)
{
	const struct side *a = &fault->sides[0], *b = &fault->sides[1];

	if (text_equal(a->handler, b->handler))
		return text_format("several colors run %s: give what they share a color of its "
		    "own, and post to it what is to be done with it%s", a->handler,
		    is_word(fault) ? "; for a mere counter an atomic will do" : "");
	if (fault->report->object.kind == OBJECT_HEAP)
		return text_format("give both one color (post %s to %s, or %s to %s); or pass the "
		    "block in the event, and let %s not touch it after the post", b->handler,
		    a->where, a->handler, b->where, a->handler);
	return text_format("give both one color (post %s to %s, or %s to %s); or let one of the "
	    "colors own it, and pass the other what it needs in an event%s", b->handler, a->where,
	    a->handler, b->where, is_word(fault) ? "; for a mere counter an atomic will do" : "");
}

const char *
advice_for(const struct fault *fault)
{
	const struct side *side, *other;

	side = faults_owner(fault);
	if (side != NULL)
		return text_format("the variable ends with the handler: let %s pass a copy in the "
		    "event, or a block of the heap that it does not touch after the post",
		    side->handler);
	if (frees(fault, &side, &other))
		return text_format("%s frees it while %s may have it in hand: post the freeing to "
		    "%s, or let a mely_join of all users free it", side->handler, other->handler,
		    other->party == PARTY_COLOR ? other->where : "its last user");
	if (has(fault, PARTY_HELPER, &side, &other))
		return text_format("%s runs on a helper thread, which has no color: give mely_work "
		    "a copy, and take the result over in its handler; or let %s wait for that "
		    "handler",
		    side->handler, other->handler);
	if (has(fault, PARTY_THREAD, &side, &other) && other->party == PARTY_COLOR)
		return text_format("%s runs on a thread without a color: let it finish with the "
		    "data before it posts, or post a copy; or make an event of %s of what it does",
		    side->handler, other->where);
	if (has(fault, PARTY_MAIN, &side, &other) && other->party == PARTY_COLOR)
		return text_format("%s runs outside of any color: do this before the event is "
		    "posted, after mely_run has returned, or in an event of %s", side->handler,
		    other->where);
	if (fault->sides[0].party == PARTY_COLOR && fault->sides[1].party == PARTY_COLOR)
		return for_colors(fault);
	return "neither side is an event: order the two threads as any program has to, by a lock "
	    "or an atomic";
}
