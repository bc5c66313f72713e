/* SPDX-License-Identifier: MIT */
/*
 * ring.c: rings of trace records, read while they are written.
 *
 * NOTE(ring)
 *   A. A core's ring has one writer, its core, which overwrites the oldest record: first the words
 *      of the record, then head, which counts records (release). A fence keeps the words of the
 *      next record behind that store.
 *   B. Any thread reads at any time, also while the process dies: head (acquire), a copy of the
 *      words, a fence, and head again. It drops the records that lie so far behind the second head
 *      that the core may have overwritten them during the copy, and the one that the core may
 *      have been writing. No thread waits for another.
 *   C. The shared ring has many writers. A writer takes a number from head, clears the stamp of its
 *      record, fills the record, and stores the number as the stamp (release). A reader takes only
 *      records that have the right stamp before and after its copy. Two writers can meet in one
 *      record only if the ring goes round while one of them fills it; then the record may mix
 *      both, and the trace shows a wrong arrow at worst.
 *   D. Rings live as long as their runtime. A trace that begins notes the heads; older records
 *      belong to an older trace. So a core that has not yet seen the end of a trace may go on
 *      writing.
 */
#include <string.h>

#include "base/assert.h"
#include "look/trace/tracer.h"

void
melyint_ring_put_shared(struct melyint_ring *ring, uint64_t ticks, uint64_t what,
    uint64_t color, uint64_t rest)
{
	uint64_t number = MELY_ADD(&ring->head, 1, relaxed); /* only to be unique */
	uint64_t i = number & ring->mask;
	_Atomic uint64_t *at = &ring->words[i * MELYINT_RECORD_WORDS];

	MELY_DEBUG_ASSERT(ring->stamps != NULL);
	/* relaxed, all: published by the stamp. C of NOTE(ring). */
	MELY_STORE(&ring->stamps[i], 0, relaxed);
	MELY_FENCE(release); /* pairs with the fence in copy_shared */
	MELY_STORE(&at[0], ticks, relaxed);
	MELY_STORE(&at[1], what, relaxed);
	MELY_STORE(&at[2], color, relaxed);
	MELY_STORE(&at[3], rest, relaxed);
	/* release: pairs with the acquire in copy_shared */
	MELY_STORE(&ring->stamps[i], number + 1, release);
}

static void
copy_record(const struct melyint_ring *ring, uint64_t number, struct melyint_record *to)
{
	const _Atomic uint64_t *from = &ring->words[(number & ring->mask) * MELYINT_RECORD_WORDS];

	/* relaxed, all: B and C of NOTE(ring) */
	to->ticks = MELY_LOAD(&from[0], relaxed);
	to->what = MELY_LOAD(&from[1], relaxed);
	to->color = MELY_LOAD(&from[2], relaxed);
	to->rest = MELY_LOAD(&from[3], relaxed);
}

/* C of NOTE(ring). */
static uint64_t
copy_shared(const struct melyint_ring *ring, uint64_t first, uint64_t end,
    struct melyint_record *to)
{
	uint64_t n = 0, number;

	for (number = first; number < end; number++) {
		const _Atomic uint64_t *stamp = &ring->stamps[number & ring->mask];

		/* acquire: pairs with the release in melyint_ring_put_shared */
		if (MELY_LOAD(stamp, acquire) != number + 1)
			continue;
		copy_record(ring, number, &to[n]);
		MELY_FENCE(acquire); /* pairs with the fence in melyint_ring_put_shared */
		if (MELY_LOAD(stamp, relaxed) == number + 1) /* after the fence */
			n++;
	}
	return n;
}

/* B of NOTE(ring). */
static uint64_t
copy_owned(const struct melyint_ring *ring, uint64_t first, uint64_t end,
    struct melyint_record *to)
{
	uint64_t number, head, n = end - first, gone = 0;

	for (number = first; number < end; number++)
		copy_record(ring, number, &to[number - first]);
	MELY_FENCE(acquire); /* pairs with the fence in melyint_ring_put */
	head = MELY_LOAD(&ring->head, relaxed); /* after the fence */
	/* The core may be writing record `head` now, over number head - (mask + 1). */
	if (head - first > ring->mask)
		gone = head - first - ring->mask;
	gone = gone < n ? gone : n;
	memmove(to, to + gone, (size_t)(n - gone) * sizeof to[0]);
	return n - gone;
}

uint64_t
melyint_ring_head(const struct melyint_ring *ring)
{
	/* acquire: pairs with the release in melyint_ring_put */
	return MELY_LOAD(&ring->head, acquire);
}

uint64_t
melyint_ring_copy(const struct melyint_ring *ring, uint64_t first, uint64_t end,
    struct melyint_record *to)
{
	MELY_ASSERT(first <= end && end - first <= ring->mask + 1);
	return ring->stamps != NULL ? copy_shared(ring, first, end, to) :
	    copy_owned(ring, first, end, to);
}
