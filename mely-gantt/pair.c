/* SPDX-License-Identifier: MIT */
/*
 * pair.c: the arrows from posts to the events that they have posted.
 *
 * NOTE(pair)
 *   A. Records name events by address. Between the post of an event and its run there is no other
 *      post of that address, so the post of a run is the last one before it. This file goes
 *      through all rows together in the order of time.
 *   B. A post to the running color has no time of its own, because reading the clock costs more
 *      than the post. But that color runs nothing before the handler has ended, and the address was
 *      free at some time while the handler ran; so such a post counts as made at the end of the
 *      handler's slice. Therefore each row is two streams.
 *   C. At the same time, a post comes before a run.
 *   D. If an event is cancelled, or runs where the trace does not see it, the next post of the same
 *      address replaces its post, which stays without an arrow.
 */
#include "pair.h"

#include <assert.h>
#include <stdlib.h>

/* How far a row has been read. */
struct place {
	size_t at;      /* the next run, or post with a time */
	size_t own;     /* the next post to the running color, */
	size_t own_end; /* ... which counts as made at this record */
};

/* The last post of an event. */
struct posted {
	uint64_t event;
	struct gantt_raw_record *post; /* NULL: the event has run since */
};

struct pairing {
	struct gantt_raw *raw;
	struct gantt_pairs *pairs;
	struct place *place;     /* by row */
	uint32_t *heap;          /* streams, two for each row, by the time of their next record */
	size_t heap_count;
	struct posted *posted;   /* hash table, at most half full */
	uint64_t posted_mask;
};

/* ---- streams --------------------------------------------------------------------------------- */

/* Move to the next record of a stream, from where it is. False: there is none. */
static bool
settle(struct pairing *p, uint32_t stream)
{
	const struct gantt_raw_row *row = &p->raw->row[stream / 2];
	struct place *place = &p->place[stream / 2];

	if (stream % 2 == 0) {
		while (place->at < row->count && row->record[place->at].kind != RAW_RUN &&
		    row->record[place->at].kind != RAW_POST)
			place->at++;
		return place->at < row->count;
	}
	while (place->own < row->count && row->record[place->own].kind != RAW_OWN_POST)
		place->own++;
	if (place->own < row->count && place->own_end <= place->own)
		place->own_end = gantt_raw_slice_end(row, place->own);
	return place->own < row->count;
}

static struct gantt_raw_record *
first_of(const struct pairing *p, uint32_t stream)
{
	const struct place *place = &p->place[stream / 2];

	return &p->raw->row[stream / 2].record[stream % 2 != 0 ? place->own : place->at];
}

/* B of NOTE(pair). */
static uint64_t
time_of(const struct pairing *p, uint32_t stream)
{
	const struct gantt_raw_row *row = &p->raw->row[stream / 2];
	const struct place *place = &p->place[stream / 2];

	if (stream % 2 == 0)
		return row->record[place->at].ticks;
	return place->own_end < row->count ? row->record[place->own_end].ticks :
	    p->raw->end_ticks;
}

static bool
before(const struct pairing *p, uint32_t a, uint32_t b)
{
	uint64_t time_a = time_of(p, a), time_b = time_of(p, b);

	if (time_a != time_b)
		return time_a < time_b;
	/* C of NOTE(pair) */
	return first_of(p, a)->kind != RAW_RUN && first_of(p, b)->kind == RAW_RUN;
}

/* The stream at place i of the heap has moved to a later record. */
static void
sink(struct pairing *p, size_t i)
{
	for (;;) {
		size_t least = i, child = 2 * i + 1;
		uint32_t stream = p->heap[i];

		if (child < p->heap_count && before(p, p->heap[child], p->heap[least]))
			least = child;
		if (child + 1 < p->heap_count && before(p, p->heap[child + 1], p->heap[least]))
			least = child + 1;
		if (least == i)
			return;
		p->heap[i] = p->heap[least];
		p->heap[least] = stream;
		i = least;
	}
}

static void
begin_streams(struct pairing *p)
{
	uint32_t stream;
	size_t i;

	for (stream = 0; stream < 2 * p->raw->rows; stream++) {
		if (settle(p, stream))
			p->heap[p->heap_count++] = stream;
	}
	for (i = p->heap_count; i > 0; i--)
		sink(p, i - 1);
}

/* The earliest record that is left, or NULL. */
static struct gantt_raw_record *
next_record(struct pairing *p)
{
	struct gantt_raw_record *record;
	uint32_t stream;

	if (p->heap_count == 0)
		return NULL;
	stream = p->heap[0];
	record = first_of(p, stream);
	if (stream % 2 != 0)
		p->place[stream / 2].own++;
	else
		p->place[stream / 2].at++;
	if (!settle(p, stream))
		p->heap[0] = p->heap[--p->heap_count];
	if (p->heap_count > 0)
		sink(p, 0);
	return record;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* The entry of an event, or the free one where it belongs. */
static struct posted *
find(const struct pairing *p, uint64_t event)
{
	uint64_t i = (event * 0x9e3779b97f4a7c15u) >> 20;

	for (;; i++) {
		struct posted *posted = &p->posted[i & p->posted_mask];

		if (posted->event == event || posted->event == 0)
			return posted;
	}
}

/* A of NOTE(pair). */
static void
pair(struct pairing *p, struct gantt_raw_record *run)
{
	struct posted *posted = find(p, run->what);

	run->what = 0;
	if (posted->post == NULL)
		return;
	run->what = posted->post->color = ++p->pairs->pairs;
	posted->post = NULL;
}

static bool
make_room(struct pairing *p)
{
	struct gantt_pairs *pairs = p->pairs;
	uint64_t room = 2;
	size_t rows = p->raw->rows, r, i;

	for (r = 0; r < rows; r++) {
		for (i = 0; i < p->raw->row[r].count; i++) {
			unsigned kind = p->raw->row[r].record[i].kind;

			pairs->runs += kind == RAW_RUN;
			pairs->posts += kind == RAW_OWN_POST || kind == RAW_POST;
		}
	}
	while (room < 2 * pairs->posts)
		room *= 2;
	p->posted_mask = room - 1;
	p->posted = calloc(room, sizeof p->posted[0]);
	p->place = calloc(rows, sizeof p->place[0]);
	p->heap = calloc(2 * rows, sizeof p->heap[0]);
	return p->posted != NULL && p->place != NULL && p->heap != NULL;
}

bool
gantt_pair(struct gantt_raw *raw, struct gantt_pairs *pairs)
{
	struct pairing p = {.raw = raw, .pairs = pairs};
	struct gantt_raw_record *record;
	bool ok;

	*pairs = (struct gantt_pairs){0};
	ok = make_room(&p);
	if (ok)
		begin_streams(&p);
	while (ok && (record = next_record(&p)) != NULL) {
		if (record->kind == RAW_RUN) {
			pair(&p, record);
		} else {
			struct posted *posted = find(&p, record->what);

			posted->event = record->what;
			posted->post = record;
			record->color = 0;
		}
	}
	assert(pairs->pairs <= pairs->posts && pairs->pairs <= pairs->runs);
	free(p.heap);
	free(p.place);
	free(p.posted);
	return ok;
}
