/* SPDX-License-Identifier: MIT */
/*
 * census.c: which colors have events, on all cores, seen by any thread.
 *
 * NOTE(census)
 *   A. The lock of a core keeps all that waits there in place. The walk holds it for a few
 *      microseconds, until it has touched a number of colors or events. Between two holds a cursor
 *      in the core-queue keeps its place: a thread that unlinks the color under the cursor moves
 *      the cursor on. So only one census runs at a time (rt->walks.lock), and without one the
 *      cursor costs an unlink one comparison.
 *   B. Colors move to the end of the queue during the walk. The walk ends after as many steps as
 *      the queue had colors at the start, and remembers the colors that it has seen. So it may
 *      miss a color, and counts none twice.
 *   C. The running color is in no queue. A core sets core->shown.running under its own lock or, in
 *      a steal, under the victim's, and clears it only under its own. So under that lock the color
 *      that core->shown.running names cannot end.
 *   D. Only the core itself may walk the events that it has taken into its batch. So a census first
 *      announces itself (rt->walks.begun). A core that ticks, every millisecond unless its handler
 *      runs for longer, counts what is left of its batch and stores the answer. The census waits
 *      a little for the answers. Where one is missing, more events may wait than it counts.
 * The walk touches no color without the lock; it reads the copies afterwards.
 */
#include "look/census.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"

enum {
	COLORS_MAX = 16, /* read under one hold of a lock */
	SEEN_MIN = 256,
	ANSWER_NAP_NS = 200000,
	ANSWER_NAPS_MAX = 10
};

/* ---- a set of colors: B of NOTE(census) ------------------------------------------------------ */

struct seen {
	const struct mely_color **slots;
	size_t size, count;
};

static size_t
slot_of(const struct seen *seen, const struct mely_color *color)
{
	uint64_t h = (uint64_t)(uintptr_t)color * 0x9e3779b97f4a7c15u;
	size_t at = (size_t)(h >> 32) & (seen->size - 1);

	while (seen->slots[at] != NULL && seen->slots[at] != color)
		at = (at + 1) & (seen->size - 1);
	return at;
}

static int
seen_grow(struct seen *seen)
{
	struct seen larger = {NULL, seen->size != 0 ? 2 * seen->size : SEEN_MIN, seen->count};
	size_t i;

	larger.slots = calloc(larger.size, sizeof *larger.slots);
	if (larger.slots == NULL)
		return -ENOMEM;
	for (i = 0; i < seen->size; i++)
		if (seen->slots[i] != NULL)
			larger.slots[slot_of(&larger, seen->slots[i])] = seen->slots[i];
	free(seen->slots);
	*seen = larger;
	return 0;
}

/* 1: new; 0: seen before; or -ENOMEM. */
static int
seen_add(struct seen *seen, const struct mely_color *color)
{
	size_t at;

	if (2 * seen->count >= seen->size && seen_grow(seen) != 0)
		return -ENOMEM;
	at = slot_of(seen, color);
	if (seen->slots[at] != NULL)
		return 0;
	seen->slots[at] = color;
	seen->count++;
	return 1;
}

/* ---- the colors kept ----------------------------------------------------------------------- */

/* Does a come before b? */
static bool
before(const struct melyint_census *census, const struct melyint_waiting *a,
    const struct melyint_waiting *b)
{
	uint64_t a_first = census->by_age ? a->row.oldest_ns : a->row.length;
	uint64_t b_first = census->by_age ? b->row.oldest_ns : b->row.length;
	uint64_t a_then = census->by_age ? a->row.length : a->row.oldest_ns;
	uint64_t b_then = census->by_age ? b->row.length : b->row.oldest_ns;

	if (a_first != b_first)
		return a_first > b_first;
	if (a_then != b_then)
		return a_then > b_then;
	return (uintptr_t)a->color < (uintptr_t)b->color;
}

static void
swap(struct melyint_waiting *a, struct melyint_waiting *b)
{
	struct melyint_waiting kept = *a;

	*a = *b;
	*b = kept;
}

/* Restore the heap of count colors below place at: the top comes last in the order. */
static void
sift_down(struct melyint_census *census, uint32_t count, uint32_t at)
{
	struct melyint_waiting *s = census->kept;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= count)
			return;
		if (child + 1 < count && before(census, &s[child], &s[child + 1]))
			child++;
		if (!before(census, &s[at], &s[child]))
			return;
		swap(&s[at], &s[child]);
		at = child;
	}
}

static void
sift_up(struct melyint_census *census, uint32_t at)
{
	struct melyint_waiting *s = census->kept;

	while (at > 0 && before(census, &s[(at - 1) / 2], &s[at])) {
		swap(&s[(at - 1) / 2], &s[at]);
		at = (at - 1) / 2;
	}
}

static void
keep(struct melyint_census *census, const struct melyint_waiting *waiting)
{
	if (census->count < census->room) {
		census->kept[census->count] = *waiting;
		sift_up(census, census->count++);
	} else if (census->room > 0 && before(census, waiting, &census->kept[0])) {
		census->kept[0] = *waiting;
		sift_down(census, census->count, 0);
	}
}

/* Bring the heap into order. */
static void
sort(struct melyint_census *census)
{
	uint32_t n;

	for (n = census->count; n > 1; n--) {
		swap(&census->kept[0], &census->kept[n - 1]);
		sift_down(census, n - 1, 0);
	}
}

/* ---- the walk ------------------------------------------------------------------------------ */

static int
enter(struct melyint_census *census, struct seen *seen, struct melyint_waiting *waiting)
{
	int new = seen_add(seen, waiting->color);

	if (new <= 0)
		return new;
	if (waiting->stamp_ticks != 0 && census->now_ticks > waiting->stamp_ticks)
		waiting->row.oldest_ns =
		    melyint_ticks_to_ns(census->now_ticks - waiting->stamp_ticks);
	census->found++;
	if (census->events != NULL)
		census->events[waiting->row.owner] += waiting->row.length;
	keep(census, waiting);
	return 0;
}

/* C of NOTE(census). */
static int
count_running(struct melyint_census *census, struct seen *seen, struct melyint_core *core)
{
	struct melyint_waiting waiting;
	struct mely_color *color;

	melyint_lock_take(&core->lock);
	/* acquire: pairs with the release of the core that took the batch */
	color = MELY_LOAD(&core->shown.running, acquire);
	/* acquire: as in melyint_color_lock; the victim may still own it for a moment */
	if (color != NULL && MELY_LOAD(&color->_owner, acquire) == core) {
		melyint_waiting_running(core, color, &waiting);
		waiting.row.flags |= MELY_STATS_COLOR_RUNNING;
		waiting.row.handler = MELY_LOAD(&core->tallies.handler, relaxed); /* a figure */
	} else {
		color = NULL;
	}
	melyint_lock_drop(&core->lock);
	return color != NULL ? enter(census, seen, &waiting) : 0;
}

/* A of NOTE(census): one hold of the lock. Returns the number of colors read. */
static uint32_t
read_some(struct melyint_core *core, struct melyint_waiting *colors)
{
	uint32_t n = 0, touched = 0;

	melyint_lock_take(&core->lock);
	while (n < COLORS_MAX && touched < MELYINT_WAITING_EVENTS &&
	    melyint_waiting_next(core, &colors[n]))
		touched += colors[n++].touched;
	melyint_lock_drop(&core->lock);
	return n;
}

static int
count_core(struct melyint_census *census, struct seen *seen, struct melyint_core *core)
{
	struct melyint_waiting colors[COLORS_MAX];
	uint32_t ahead, n, i;
	int error;

	error = count_running(census, seen, core);
	melyint_lock_take(&core->lock);
	ahead = melyint_waiting_begin(core);
	melyint_lock_drop(&core->lock);
	while (error == 0 && ahead > 0) {
		n = read_some(core, colors);
		if (n == 0)
			break;
		ahead = ahead > n ? ahead - n : 0;
		for (i = 0; i < n && error == 0; i++)
			error = enter(census, seen, &colors[i]);
	}
	melyint_lock_take(&core->lock);
	core->ready.cursor = NULL;
	melyint_lock_drop(&core->lock);
	return error;
}

/* Does a core that runs a batch still owe an answer? */
static bool
unanswered(struct mely_runtime *rt)
{
	int i;

	for (i = 0; i < rt->cores_count; i++)
		/* relaxed, all: hints */
		if (MELY_LOAD(&rt->cores[i].shown.running, relaxed) != NULL &&
		    MELY_LOAD(&rt->cores[i].tallies.answer.to, relaxed) !=
		    MELY_LOAD(&rt->walks.begun, relaxed))
			return true;
	return false;
}

/* D of NOTE(census). A handler does not wait, for its own core cannot answer. */
static void
ask(struct mely_runtime *rt)
{
	const struct timespec nap = {0, ANSWER_NAP_NS};
	int naps;

	MELY_COUNT(&rt->walks.begun, 1); /* under the lock */
	if (melyint_self != NULL)
		return;
	for (naps = 0; naps < ANSWER_NAPS_MAX && unanswered(rt); naps++)
		nanosleep(&nap, NULL);
}

int
melyint_census(struct mely_runtime *rt, struct melyint_census *census)
{
	struct seen seen = {NULL, 0, 0};
	int error = 0, i;

	census->count = 0;
	census->found = 0;
	census->kept = NULL;
	if (census->room > 0) {
		census->kept = malloc(census->room * sizeof census->kept[0]);
		if (census->kept == NULL)
			return -ENOMEM;
	}
	pthread_mutex_lock(&rt->walks.lock);
	ask(rt);
	census->now_ticks = melyint_ticks();
	for (i = 0; i < rt->cores_count && error == 0; i++)
		error = count_core(census, &seen, &rt->cores[i]);
	pthread_mutex_unlock(&rt->walks.lock);
	free(seen.slots);
	sort(census);
	MELY_ASSERT(census->count <= census->room && census->count <= census->found);
	return error;
}
