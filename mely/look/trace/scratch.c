/* SPDX-License-Identifier: MIT */
/*
 * scratch.c: the copy that a trace is written from, and the names of colors. Calls nothing
 * that a signal handler may not call.
 */
#include "look/trace/scratch.h"

#include <string.h>

#include "base/clock.h"

/* ---- room ------------------------------------------------------------------------------------ */

static size_t
rounded(size_t size)
{
	return (size + MELY_CACHE_LINE - 1) & ~(size_t)(MELY_CACHE_LINE - 1);
}

/* Half of it stays empty. */
static uint64_t
posted_room(int rings, uint64_t records)
{
	uint64_t room = 1;

	while (room < 2 * records * (uint64_t)rings)
		room *= 2;
	return room;
}

size_t
melyint_scratch_size(int rings, uint64_t records)
{
	size_t n = (size_t)rings;

	return rounded(sizeof(struct melyint_scratch)) + rounded(n * sizeof(struct melyint_row)) +
	    rounded(2 * n * sizeof(uint32_t)) +
	    rounded(n * records * sizeof(struct melyint_record)) +
	    rounded(posted_room(rings, records) * sizeof(struct melyint_posted)) +
	    rounded(MELYINT_TRACE_NAMES * sizeof(struct melyint_trace_name)) +
	    rounded(MELYINT_TRACE_NAMES * sizeof(uint32_t));
}

struct melyint_scratch *
melyint_scratch_init(void *memory, int rings, uint64_t records)
{
	struct melyint_scratch *s = memory;
	char *at = (char *)memory + rounded(sizeof *s);
	size_t n = (size_t)rings;
	int i;

	s->rows_count = rings;
	s->rows = (void *)at;
	at += rounded(n * sizeof s->rows[0]);
	s->heap = (void *)at;
	at += rounded(2 * n * sizeof s->heap[0]);
	for (i = 0; i < rings; i++)
		s->rows[i].records = (struct melyint_record *)(void *)at + (size_t)i * records;
	at += rounded(n * records * sizeof s->rows[0].records[0]);
	s->posted = (void *)at;
	s->posted_max = posted_room(rings, records);
	at += rounded(s->posted_max * sizeof s->posted[0]);
	s->names = (void *)at;
	at += rounded(MELYINT_TRACE_NAMES * sizeof s->names[0]);
	s->names_order = (void *)at;
	return s;
}

/* ---- the copy -------------------------------------------------------------------------------- */

static void
copy_record(struct melyint_record *to, const _Atomic uint64_t *from)
{
	uint64_t rest;

	/* relaxed, all: B and C of NOTE(ring) */
	to->ticks = MELY_LOAD(&from[0], relaxed);
	to->what = MELY_LOAD(&from[1], relaxed);
	to->color = MELY_LOAD(&from[2], relaxed);
	rest = MELY_LOAD(&from[3], relaxed);
	to->number = (uint32_t)rest;
	to->other = (uint16_t)(rest >> 32);
	to->flags = (uint8_t)(rest >> 48);
	to->kind = (uint8_t)(rest >> 56);
}

/* C of NOTE(ring). */
static uint64_t
copy_shared(const struct melyint_ring *ring, struct melyint_record *to, uint64_t from,
    uint64_t head)
{
	uint64_t n = 0;

	for (; from < head; from++) {
		uint64_t i = from & ring->mask;

		/* acquire: pairs with the release in melyint_ring_put_shared */
		if (MELY_LOAD(&ring->stamps[i], acquire) != from + 1)
			continue;
		copy_record(&to[n], &ring->words[i * MELYINT_RECORD_WORDS]);
#ifndef MELYINT_TSAN
		MELY_FENCE(acquire); /* pairs with the fence in melyint_ring_put_shared */
#endif
		if (MELY_LOAD(&ring->stamps[i], relaxed) == from + 1) /* after the fence */
			n++;
	}
	return n;
}

uint64_t
melyint_ring_copy(const struct melyint_ring *ring, struct melyint_record *to, uint64_t *lost)
{
	/* acquire: pairs with the release in melyint_ring_put */
	uint64_t head = MELY_LOAD(&ring->head, acquire), from = ring->from, first = from, i, n;

	if (head - from > ring->mask + 1)
		first = head - (ring->mask + 1);
	if (ring->stamps != NULL) {
		n = copy_shared(ring, to, first, head);
		*lost = head - from - n;
		return n;
	}
	for (i = first; i < head; i++)
		copy_record(&to[i - first],
		    &ring->words[(i & ring->mask) * MELYINT_RECORD_WORDS]);
	n = head - first;
#ifndef MELYINT_TSAN
	MELY_FENCE(acquire); /* pairs with the fence in melyint_ring_put */
#endif
	/* Of what may have been overwritten since: number `head - size` is just being. */
	head = MELY_LOAD(&ring->head, relaxed); /* after the fence */
	if (head - first > ring->mask) {
		uint64_t gone = head - first - ring->mask;

		gone = gone < n ? gone : n;
		memmove(to, to + gone, (size_t)(n - gone) * sizeof to[0]);
		n -= gone;
		first += gone;
	}
	*lost = first - from;
	return n;
}

/* Posts to the running color at the beginning, whose slice has been overwritten: nobody knows when
 * they were made. */
static void
cut_row(struct melyint_row *row)
{
	uint64_t i;

	for (i = 0; i < row->count && row->records[i].kind != MELYINT_TRACE_RUN; i++) {
		if (row->records[i].kind == MELYINT_TRACE_OWN_POST)
			row->records[i].kind = MELYINT_TRACE_NONE;
	}
}

/* A core's records are in order. Its thread, if it is not pinned, finds another clock on another
 * processor, which may be a little behind; and clocks stand still for some ns here and there, but
 * what no time lies between looks like one: an arrow could belong to either of two slices. */
static void
straighten_row(struct melyint_row *row)
{
	uint64_t least = melyint_ns_to_ticks(1) + 1, latest = 0, i;

	for (i = 0; i < row->count; i++) {
		struct melyint_record *record = &row->records[i];

		if (record->kind == MELYINT_TRACE_OWN_POST)
			continue;
		if (record->ticks < latest)
			record->ticks = latest;
		latest = record->ticks;
		if (record->kind == MELYINT_TRACE_STEAL) {
			if (record->what < latest + least)
				record->what = latest + least;
			latest = record->what;
		} else if (melyint_trace_begins(record->kind)) {
			latest += least;
		}
	}
}

/* Threads that write into one ring are not quite in the order of their clocks. */
static void
sort_row(struct melyint_row *row)
{
	uint64_t i, j;

	for (i = 1; i < row->count; i++) {
		struct melyint_record record = row->records[i];

		for (j = i; j > 0 && row->records[j - 1].ticks > record.ticks; j--)
			row->records[j] = row->records[j - 1];
		row->records[j] = record;
	}
}

/* ---- names ----------------------------------------------------------------------------------- */

static int
compare(const struct melyint_trace_name *name, uint64_t color, unsigned flags, uint64_t ticks)
{
	if (name->flags != flags)
		return name->flags < flags ? -1 : 1;
	if (name->color != color)
		return name->color < color ? -1 : 1;
	return name->ticks < ticks ? -1 : name->ticks > ticks;
}

static void
sort_names(struct melyint_scratch *s)
{
	uint32_t gap, i, j;

	for (i = 0; i < s->names_count; i++)
		s->names_order[i] = i;
	for (gap = s->names_count / 2; gap > 0; gap /= 2) {
		for (i = gap; i < s->names_count; i++) {
			uint32_t moved = s->names_order[i];
			const struct melyint_trace_name *name = &s->names[moved];

			for (j = i; j >= gap && compare(&s->names[s->names_order[j - gap]],
			    name->color, name->flags, name->ticks) > 0; j -= gap)
				s->names_order[j] = s->names_order[j - gap];
			s->names_order[j] = moved;
		}
	}
}

static void
copy_names(struct melyint_scratch *s, const struct melyint_tracer *tracer)
{
	/* acquire: pairs with the release in melyint_trace_note_name */
	uint64_t count = MELY_LOAD(&tracer->names_count, acquire);

	s->names_count = (uint32_t)count;
	memcpy(s->names, tracer->names, (size_t)count * sizeof s->names[0]);
	sort_names(s);
}

const char *
melyint_scratch_name(const struct melyint_scratch *s, uint64_t color, unsigned flags,
    uint64_t ticks)
{
	uint32_t low = 0, high = s->names_count;
	const struct melyint_trace_name *name;

	/* The first one that is later than what is wanted. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare(&s->names[s->names_order[middle]], color, flags, ticks) > 0)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == 0)
		return NULL;
	name = &s->names[s->names_order[low - 1]];
	return name->color == color && name->flags == flags && name->name[0] != '\0' ?
	    name->name : NULL;
}

void
melyint_scratch_copy(struct melyint_scratch *s, const struct melyint_tracer *tracer)
{
	int i;

	for (i = 0; i < s->rows_count; i++) {
		struct melyint_row *row = &s->rows[i];

		row->count = melyint_ring_copy(&tracer->rings[i], row->records, &row->lost);
		cut_row(row);
		if (i < s->rows_count - 1)
			straighten_row(row);
	}
	sort_row(&s->rows[s->rows_count - 1]);
	copy_names(s, tracer);
	s->end_ticks = melyint_ticks();
}
