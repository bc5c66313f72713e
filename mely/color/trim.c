/* SPDX-License-Identifier: MIT */
/*
 * trim.c: giving idle colors by id back: C and D of NOTE(colortab) in table.c. Any thread that is
 * not a core of the runtime; it holds no core's lock when it takes the table's mutex.
 *
 * mely_trim gives all idle colors back. The monitor (look/watchdog/spare.c) gives those back that
 * no post has used between two surveys, so that colors that rest for a moment stay. It works in
 * steps, because other steps of the monitor must not wait, nor a post that makes a color.
 */
#include <time.h>

#include "base/assert.h"
#include "base/mutex.h"
#include "base/pages.h"
#include "color/table_private.h"
#include "color/trim.h"

enum {
	CHUNK = MELYINT_DENSE_CHUNK,
	DIRECTORY = MELYINT_DENSE_DIRECTORY,
	SURVEY_CHUNKS = DIRECTORY / 4 /* empty places of the directory take next to no time */
};

/* Does this place of a chunk hold a color? Under the table's mutex. */
static bool
exists(const struct mely_color *color)
{
	return MELY_LOAD(&color->_owner, relaxed) != NULL; /* set under the mutex */
}

/* Is the color idle, with nothing that points to it? Under its owner's lock. */
static bool
spare(const struct mely_color *color)
{
	/* relaxed, both: under the lock */
	return MELY_LOAD(&color->_state, relaxed) == MELYINT_COLOR_IDLE &&
	    (MELY_LOAD(&color->_flags, relaxed) & ~MELYINT_COLOR_MIXED) == 0;
}

/* ---- surveys --------------------------------------------------------------------------------- */

/* True: no post has used it since the last survey. */
static bool
examine(struct mely_color *color, struct melyint_survey *survey)
{
	struct melyint_core *owner = melyint_color_lock(color);
	bool idle = spare(color), unused = idle && melyint_color_unused(color);

	MELY_DEBUG_ASSERT(!(MELY_PEEK(&color->_flags) & MELYINT_COLOR_DEAD)); /* still linked */
	if (idle && !unused) {
		melyint_color_mark_unused(color);
		survey->fresh++;
	}
	melyint_lock_drop(&owner->lock);
	return unused;
}

static void
survey_chunk(struct mely_color *chunk, struct melyint_survey *survey)
{
	bool unused = true;
	int i;

	for (i = 0; i < CHUNK; i++)
		if (exists(&chunk[i]) && !examine(&chunk[i], survey))
			unused = false;
	if (unused)
		survey->unused += MELYINT_BLOCK;
}

static void
survey_chain(struct melyint_entry *e, struct melyint_survey *survey)
{
	for (; e != NULL; e = MELY_LOAD(&e->next, relaxed)) /* under the mutex */
		if (examine(&e->color, survey))
			survey->unused += sizeof *e;
}

bool
melyint_survey_step(struct melyint_colortab *t, struct melyint_survey *survey, size_t slice)
{
	size_t end = survey->at + SURVEY_CHUNKS, buckets, left = slice * CHUNK;
	struct melyint_buckets *b;

	melyint_colortab_take(t);
	b = MELY_LOAD(&t->buckets, relaxed); /* under the mutex */
	buckets = b->count;
	for (; survey->at < DIRECTORY && survey->at < end && left > 0; survey->at++) {
		/* relaxed: under the mutex */
		struct mely_color *chunk =
		    melyint_dense_chunk(MELY_LOAD(&t->dense.directory[survey->at], relaxed));

		if (chunk != NULL) {
			survey_chunk(chunk, survey);
			left -= CHUNK;
		}
	}
	for (; survey->at >= DIRECTORY && survey->at < DIRECTORY + buckets && left > 0; left--) {
		survey_chain(MELY_LOAD(&b->chain[survey->at - DIRECTORY], relaxed), survey);
		survey->at++;
	}
	melyint_mutex_drop(&t->lock);
	return survey->at < DIRECTORY + buckets;
}

/* ---- unlinking ------------------------------------------------------------------------------- */

/* C of NOTE(colortab): mark a color that can go. */
static bool
bury(const struct melyint_trim *trim, struct mely_color *color)
{
	struct melyint_core *owner = melyint_color_lock(color);
	bool goes = spare(color) && (!trim->unused_only || melyint_color_unused(color));

	MELY_DEBUG_ASSERT(melyint_lock_held(&owner->lock));
	MELY_DEBUG_ASSERT(!(MELY_PEEK(&color->_flags) & MELYINT_COLOR_DEAD)); /* still linked */
	if (goes) {
		MELY_STORE(&color->_flags, MELYINT_COLOR_DEAD, relaxed); /* under the lock */
		melyint_assert_dead(color);
	}
	melyint_lock_drop(&owner->lock);
	return goes;
}

static void
unbury(struct mely_color *color)
{
	struct melyint_core *owner = melyint_color_lock(color);

	melyint_assert_dead(color);
	MELY_STORE(&color->_flags, 0, relaxed); /* under the owner's lock */
	melyint_lock_drop(&owner->lock);
}

/* Bury a chunk whole or not at all. Under the table's mutex. */
static bool
bury_chunk(const struct melyint_trim *trim, struct mely_color *chunk)
{
	int i, j;

	for (i = 0; i < CHUNK; i++) {
		if (!exists(&chunk[i]) || bury(trim, &chunk[i]))
			continue;
		for (j = 0; j < i; j++) {
			if (exists(&chunk[j]))
				unbury(&chunk[j]);
		}
		return false;
	}
	return true;
}

static void
unlink_chunk(struct melyint_colortab *t, struct melyint_trim *trim, size_t number)
{
	/* relaxed: under the mutex */
	struct mely_color *chunk =
	    melyint_dense_chunk(MELY_LOAD(&t->dense.directory[number], relaxed));

	if (chunk == NULL || !bury_chunk(trim, chunk))
		return;
	melyint_assert_chunk(t, number);
	MELY_DEBUG_ASSERT(t->chunks > 0);
	t->chunks--;
	t->colors -= t->used[number];
	MELY_DEBUG_ASSERT(t->chunks != 0 || t->colors == 0); /* the chunks had all */
	/* release: A of NOTE(colortab) */
	MELY_STORE(&t->dense.directory[number], 0, release);
	chunk[CHUNK - 1]._next = trim->chunks;
	trim->chunks = chunk;
}

static void
unlink_entries(struct melyint_colortab *t, struct melyint_trim *trim,
    _Atomic(struct melyint_entry *) *link)
{
	struct melyint_entry *e;

	/* relaxed loads: under the mutex; the release stores: A of NOTE(colortab) */
	while ((e = MELY_LOAD(link, relaxed)) != NULL) {
		if (!bury(trim, &e->color)) {
			link = &e->next;
			continue;
		}
		MELY_STORE(link, MELY_LOAD(&e->next, relaxed), release);
		MELY_DEBUG_ASSERT(t->scattered > 0);
		t->scattered--;
		e->free = trim->entries;
		trim->entries = e;
	}
}

/* All is unlinked. Under the table's mutex. */
static void
shrink_buckets(struct melyint_colortab *t, struct melyint_trim *trim)
{
	struct melyint_buckets *b = MELY_LOAD(&t->buckets, relaxed); /* under the mutex */
	size_t count;

	for (count = b->count; count > MELYINT_BUCKETS_MIN && count > 4 * t->scattered; count /= 2)
		;
	if (count != b->count)
		melyint_colortab_resize(t, count);
	b = MELY_LOAD(&t->buckets, relaxed);
	trim->older = b->older;
	b->older = NULL;
}

/* Unlink a slice. True: that was the last. Another thread may make colors and buckets between two
 * slices; what this trim then misses is left to the next. */
static bool
unlink_slice(struct melyint_trim *trim)
{
	struct melyint_colortab *t = trim->rt->colors;
	size_t left = trim->slice, buckets;
	struct melyint_buckets *b;
	bool last;

	melyint_colortab_take(t);
	for (; trim->at < DIRECTORY && left > 0; trim->at++) {
		/* relaxed: under the mutex */
		left -= MELY_LOAD(&t->dense.directory[trim->at], relaxed) != 0;
		unlink_chunk(t, trim, trim->at);
	}
	b = MELY_LOAD(&t->buckets, relaxed); /* under the mutex */
	buckets = b->count;
	left = left < SIZE_MAX / CHUNK ? left * CHUNK : SIZE_MAX;
	for (; trim->at >= DIRECTORY && trim->at < DIRECTORY + buckets && left > 0; left--)
		unlink_entries(t, trim, &b->chain[trim->at++ - DIRECTORY]);
	last = trim->at >= DIRECTORY + buckets;
	if (last)
		shrink_buckets(t, trim);
	melyint_mutex_drop(&t->lock);
	return last;
}

/* ---- freeing --------------------------------------------------------------------------------- */

/* Open the graves, after the grace period. */
static void
free_graves(struct melyint_trim *trim)
{
	struct melyint_colortab *t = trim->rt->colors;
	struct melyint_buckets *older = trim->older;

	trim->older = NULL;
	melyint_buckets_free(older);
	while (trim->chunks != NULL) {
		struct mely_color *chunk = trim->chunks;

		trim->chunks = chunk[CHUNK - 1]._next;
		melyint_assert_dead_chunk(chunk);
		melyint_block_free(chunk);
		trim->bytes += MELYINT_BLOCK;
	}
	melyint_colortab_take(t);
	while (trim->entries != NULL) {
		struct melyint_entry *e = trim->entries;

		trim->entries = e->free;
		melyint_assert_dead(&e->color);
		melyint_entry_free(&t->slabs, e);
		trim->bytes += sizeof *e;
	}
	melyint_mutex_drop(&t->lock);
}

/* ---- a trim ---------------------------------------------------------------------------------- */

void
melyint_trim_begin(struct melyint_trim *trim, struct mely_runtime *rt, bool unused_only,
    size_t slice)
{
	*trim = (struct melyint_trim){.rt = rt, .stage = MELYINT_TRIM_BEFORE,
	    .unused_only = unused_only, .slice = slice};
	/* relaxed, here and below: a core sees it when a grace period has passed, which takes the
	 * core's lock */
	MELY_ADD(&rt->flow.direct, MELYINT_DIRECT_TRIM, relaxed);
}

enum melyint_trim_left
melyint_trim_step(struct melyint_trim *trim)
{
	struct mely_runtime *rt = trim->rt;

	if (trim->stage == MELYINT_TRIM_UNLINKS) {
		if (unlink_slice(trim)) {
			trim->stage = MELYINT_TRIM_AFTER;
			trim->grace = (struct melyint_grace){0};
		}
		return MELYINT_TRIM_MORE;
	}
	if (!melyint_grace_passed(rt, &trim->grace, &rt->colors->readers))
		return MELYINT_TRIM_WAITS;
	if (trim->stage == MELYINT_TRIM_BEFORE) {
		trim->stage = MELYINT_TRIM_UNLINKS;
		return MELYINT_TRIM_MORE;
	}
	MELY_SUB(&rt->flow.direct, MELYINT_DIRECT_TRIM, relaxed);
	free_graves(trim);
	return MELYINT_TRIM_OVER;
}

void
melyint_trim_abandon(struct melyint_trim *trim)
{
	free_graves(trim);
}

size_t
melyint_colortab_trim(struct mely_runtime *rt)
{
	const struct timespec nap = {0, 50000};
	enum melyint_trim_left left;
	struct melyint_trim trim;

	melyint_trim_begin(&trim, rt, false, SIZE_MAX);
	while ((left = melyint_trim_step(&trim)) != MELYINT_TRIM_OVER)
		if (left == MELYINT_TRIM_WAITS)
			nanosleep(&nap, NULL);
	return trim.bytes;
}
