/* SPDX-License-Identifier: MIT */
/*
 * pair.c: which post is that of which event. Calls nothing that a signal handler may not
 * call.
 *
 * NOTE(pair)
 *   A. Records name events by their address. Between a post of an event and its run there can be
 *      no other post of that address, so the post of a run is the last one before it. All rings are
 *      gone through together in the order of time.
 *   B. A post to the running color has no time of its own: a look at the clock costs more than the
 *      post. But that color runs nothing before the handler has ended, and the address was free at
 *      some time while it ran; so the post counts as made where the slice of the handler ends.
 *      Therefore each ring is two streams.
 *   C. At the same time, a post comes before a run.
 *   D. A post whose event was cancelled, or ran where it was not seen, is found again when the next
 *      post of that address takes its place: it stays without an arrow.
 */
#include <string.h>

#include "look/trace/scratch.h"

static bool
ends_slice(unsigned kind)
{
	return kind != MELYINT_TRACE_OWN_POST && kind != MELYINT_TRACE_POST &&
	    kind != MELYINT_TRACE_WAKE;
}

uint64_t
melyint_row_end(const struct melyint_row *row, uint64_t i)
{
	do {
		i++;
	} while (i < row->count && !ends_slice(row->records[i].kind));
	return i < row->count ? i : row->count;
}

/* ---- streams --------------------------------------------------------------------------------- */

/* Go on to the next record of a stream, from where it is. False: there is none. */
static bool
settle(struct melyint_row *row, bool own)
{
	if (!own) {
		while (row->at < row->count && row->records[row->at].kind != MELYINT_TRACE_RUN &&
		    row->records[row->at].kind != MELYINT_TRACE_POST)
			row->at++;
		return row->at < row->count;
	}
	while (row->own < row->count && row->records[row->own].kind != MELYINT_TRACE_OWN_POST)
		row->own++;
	if (row->own < row->count && row->own_end <= row->own)
		row->own_end = melyint_row_end(row, row->own);
	return row->own < row->count;
}

static struct melyint_record *
first_of(const struct melyint_scratch *s, uint32_t stream)
{
	struct melyint_row *row = &s->rows[stream / 2];

	return &row->records[stream % 2 != 0 ? row->own : row->at];
}

/* B of NOTE(pair). */
static uint64_t
time_of(const struct melyint_scratch *s, uint32_t stream)
{
	const struct melyint_row *row = &s->rows[stream / 2];

	if (stream % 2 == 0)
		return row->records[row->at].ticks;
	return row->own_end < row->count ? row->records[row->own_end].ticks : s->end_ticks;
}

static bool
before(const struct melyint_scratch *s, uint32_t a, uint32_t b)
{
	uint64_t time_a = time_of(s, a), time_b = time_of(s, b);

	if (time_a != time_b)
		return time_a < time_b;
	/* C of NOTE(pair) */
	return first_of(s, a)->kind != MELYINT_TRACE_RUN &&
	    first_of(s, b)->kind == MELYINT_TRACE_RUN;
}

/* The stream at place i of the heap is later than it was. */
static void
sink(struct melyint_scratch *s, uint32_t i)
{
	for (;;) {
		uint32_t least = i, child = 2 * i + 1, stream = s->heap[i];

		if (child < s->heap_count && before(s, s->heap[child], s->heap[least]))
			least = child;
		if (child + 1 < s->heap_count && before(s, s->heap[child + 1], s->heap[least]))
			least = child + 1;
		if (least == i)
			return;
		s->heap[i] = s->heap[least];
		s->heap[least] = stream;
		i = least;
	}
}

static void
begin_streams(struct melyint_scratch *s)
{
	uint32_t i;

	s->heap_count = 0;
	for (i = 0; i < 2 * (uint32_t)s->rows_count; i++) {
		struct melyint_row *row = &s->rows[i / 2];

		if (i % 2 == 0)
			row->at = row->own = row->own_end = 0;
		if (settle(row, i % 2 != 0))
			s->heap[s->heap_count++] = i;
	}
	for (i = s->heap_count; i > 0; i--)
		sink(s, i - 1);
}

/* The earliest record of all that are left, or NULL. */
static struct melyint_record *
next_record(struct melyint_scratch *s)
{
	struct melyint_record *record;
	struct melyint_row *row;
	uint32_t stream;
	bool own;

	if (s->heap_count == 0)
		return NULL;
	stream = s->heap[0];
	row = &s->rows[stream / 2];
	own = stream % 2 != 0;
	record = first_of(s, stream);
	if (own)
		row->own++;
	else
		row->at++;
	if (!settle(row, own))
		s->heap[0] = s->heap[--s->heap_count];
	sink(s, 0);
	return record;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static struct melyint_posted *
find(struct melyint_scratch *s, uint64_t event)
{
	uint64_t i = (event * 0x9e3779b97f4a7c15u) >> 20;

	for (;; i++) {
		struct melyint_posted *posted = &s->posted[i & s->posted_mask];

		if (posted->event == event || posted->event == 0)
			return posted;
	}
}

/* A of NOTE(pair). */
static void
pair(struct melyint_scratch *s, struct melyint_record *run)
{
	struct melyint_posted *posted = find(s, run->what);

	run->what = 0;
	if (posted->post == NULL)
		return;
	run->what = posted->post->color = ++s->arrows;
	posted->post = NULL;
}

static void
count_records(struct melyint_scratch *s)
{
	uint64_t room = 2, i;
	int r;

	s->arrows = s->posts = s->runs = 0;
	for (r = 0; r < s->rows_count; r++) {
		for (i = 0; i < s->rows[r].count; i++) {
			unsigned kind = s->rows[r].records[i].kind;

			s->runs += kind == MELYINT_TRACE_RUN;
			s->posts += kind == MELYINT_TRACE_OWN_POST || kind == MELYINT_TRACE_POST;
		}
	}
	while (room < 2 * s->posts)
		room *= 2;
	s->posted_mask = (room < s->posted_max ? room : s->posted_max) - 1;
	memset(s->posted, 0, (size_t)(s->posted_mask + 1) * sizeof s->posted[0]);
}

void
melyint_trace_pair(struct melyint_scratch *s)
{
	struct melyint_record *record;

	count_records(s);
	begin_streams(s);
	while ((record = next_record(s)) != NULL) {
		if (record->kind == MELYINT_TRACE_RUN) {
			pair(s, record);
		} else {
			struct melyint_posted *posted = find(s, record->what);

			posted->event = record->what;
			posted->post = record;
			record->color = 0;
		}
	}
}
