/* SPDX-License-Identifier: MIT */
/*
 * look.c: see look.h. The first colors by length or age are kept in a heap whose top is the one
 * that goes when a better one comes.
 */
#include "look/look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

enum {
	SEEN_MIN = 256,
	ANSWER_NAP_NS = 200000,
	ANSWER_NAPS_MAX = 10
};

/* ---- a set of colors: B of NOTE(look) ------------------------------------------------------ */

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

/* 1: it is new; 0: it is not; or -ENOMEM. */
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

/* ---- the first of them --------------------------------------------------------------------- */

/* Does a come before b? */
static bool
before(const struct melyint_look *look, const struct melyint_sight *a,
    const struct melyint_sight *b)
{
	uint64_t a_first = look->by_age ? a->row.oldest_ns : a->row.length;
	uint64_t b_first = look->by_age ? b->row.oldest_ns : b->row.length;
	uint64_t a_then = look->by_age ? a->row.length : a->row.oldest_ns;
	uint64_t b_then = look->by_age ? b->row.length : b->row.oldest_ns;

	if (a_first != b_first)
		return a_first > b_first;
	if (a_then != b_then)
		return a_then > b_then;
	return (uintptr_t)a->color < (uintptr_t)b->color;
}

static void
swap(struct melyint_sight *a, struct melyint_sight *b)
{
	struct melyint_sight kept = *a;

	*a = *b;
	*b = kept;
}

/* The heap of count sights, whose top is before none of the others, below place at. */
static void
sift_down(struct melyint_look *look, uint32_t count, uint32_t at)
{
	struct melyint_sight *s = look->sights;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= count)
			return;
		if (child + 1 < count && before(look, &s[child], &s[child + 1]))
			child++;
		if (!before(look, &s[at], &s[child]))
			return;
		swap(&s[at], &s[child]);
		at = child;
	}
}

static void
sift_up(struct melyint_look *look, uint32_t at)
{
	struct melyint_sight *s = look->sights;

	while (at > 0 && before(look, &s[(at - 1) / 2], &s[at])) {
		swap(&s[(at - 1) / 2], &s[at]);
		at = (at - 1) / 2;
	}
}

static void
keep(struct melyint_look *look, const struct melyint_sight *sight)
{
	if (look->count < look->room) {
		look->sights[look->count] = *sight;
		sift_up(look, look->count++);
	} else if (look->room > 0 && before(look, sight, &look->sights[0])) {
		look->sights[0] = *sight;
		sift_down(look, look->count, 0);
	}
}

/* The heap into the order asked for. */
static void
sort(struct melyint_look *look)
{
	uint32_t n;

	for (n = look->count; n > 1; n--) {
		swap(&look->sights[0], &look->sights[n - 1]);
		sift_down(look, n - 1, 0);
	}
}

/* ---- the walk ------------------------------------------------------------------------------ */

void
melyint_look_color(struct melyint_core *core, const struct mely_color *color,
    const struct mely_event *first, struct melyint_sight *sight)
{
	unsigned flags = MELY_LOAD(&color->_flags, relaxed); /* under the lock */
	struct mely_stats_color *row = &sight->row;

	memset(sight, 0, sizeof *sight);
	sight->color = color;
	row->kind = flags & MELYINT_COLOR_OBJECT ? MELY_STATS_COLOR_OBJECT : MELY_STATS_COLOR_ID;
	row->id = flags & MELYINT_COLOR_OBJECT ? 0 : color->_id;
	row->object = (uint64_t)(uintptr_t)color;
	row->owner = (uint32_t)core->index;
	row->flags = flags & MELYINT_COLOR_PINNED ? MELY_STATS_COLOR_PINNED : 0;
	row->priority = color->_priority;
	if (first == NULL)
		return;
	/* relaxed: given once. As long as an event is queued its handler is there. */
	row->handler = MELY_LOAD(&first->_handler->_number, relaxed);
	sight->stamp_ticks = first->_stamp;
}

static int
enter(struct melyint_look *look, struct seen *seen, struct melyint_sight *sight)
{
	int new = seen_add(seen, sight->color);

	if (new <= 0)
		return new;
	if (sight->stamp_ticks != 0 && look->now_ticks > sight->stamp_ticks)
		sight->row.oldest_ns = melyint_ticks_to_ns(look->now_ticks - sight->stamp_ticks);
	look->found++;
	if (look->events != NULL)
		look->events[sight->row.owner] += sight->row.length;
	keep(look, sight);
	return 0;
}

/* C of NOTE(look). */
static int
look_at_running(struct melyint_look *look, struct seen *seen, struct melyint_core *core)
{
	struct melyint_sight sight;
	struct mely_color *color;

	melyint_lock_take(&core->lock);
	/* acquire: pairs with the release of who took the batch */
	color = MELY_LOAD(&core->shown.running, acquire);
	/* acquire: as in melyint_color_lock; it may still be the victim's for a moment */
	if (color != NULL && MELY_LOAD(&color->_owner, acquire) == core) {
		melyint_look_running(core, color, &sight);
		sight.row.flags |= MELY_STATS_COLOR_RUNNING;
		sight.row.handler = MELY_LOAD(&core->tallies.handler, relaxed); /* a figure */
	} else {
		color = NULL;
	}
	melyint_lock_drop(&core->lock);
	return color != NULL ? enter(look, seen, &sight) : 0;
}

/* A of NOTE(look): one hold of the lock. How many colors it came to. */
static uint32_t
look_on(struct melyint_core *core, struct melyint_sight *sights)
{
	uint32_t n = 0, touched = 0;

	melyint_lock_take(&core->lock);
	while (n < MELYINT_LOOK_COLORS && touched < MELYINT_LOOK_EVENTS &&
	    melyint_look_next(core, &sights[n]))
		touched += sights[n++].touched;
	melyint_lock_drop(&core->lock);
	return n;
}

static int
look_at_core(struct melyint_look *look, struct seen *seen, struct melyint_core *core)
{
	struct melyint_sight sights[MELYINT_LOOK_COLORS];
	uint32_t ahead, n, i;
	int error;

	error = look_at_running(look, seen, core);
	melyint_lock_take(&core->lock);
	ahead = melyint_look_begin(core);
	melyint_lock_drop(&core->lock);
	while (error == 0 && ahead > 0) {
		n = look_on(core, sights);
		if (n == 0)
			break;
		ahead = ahead > n ? ahead - n : 0;
		for (i = 0; i < n && error == 0; i++)
			error = enter(look, seen, &sights[i]);
	}
	melyint_lock_take(&core->lock);
	core->ready.cursor = NULL;
	melyint_lock_drop(&core->lock);
	return error;
}

/* Is an answer still to come from a core that runs a batch? */
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

/* D of NOTE(look). A handler does not wait: its core could not answer. */
static void
ask(struct mely_runtime *rt)
{
	const struct timespec nap = {0, ANSWER_NAP_NS};
	int naps;

	MELY_COUNT(&rt->walks.begun, 1); /* under look_lock */
	if (melyint_self != NULL)
		return;
	for (naps = 0; naps < ANSWER_NAPS_MAX && unanswered(rt); naps++)
		nanosleep(&nap, NULL);
}

int
melyint_look(struct mely_runtime *rt, struct melyint_look *look)
{
	struct seen seen = {NULL, 0, 0};
	int error = 0, i;

	look->count = 0;
	look->found = 0;
	look->sights = NULL;
	if (look->room > 0) {
		look->sights = malloc(look->room * sizeof look->sights[0]);
		if (look->sights == NULL)
			return -ENOMEM;
	}
	pthread_mutex_lock(&rt->walks.lock);
	ask(rt);
	look->now_ticks = melyint_ticks();
	for (i = 0; i < rt->cores_count && error == 0; i++)
		error = look_at_core(look, &seen, &rt->cores[i]);
	pthread_mutex_unlock(&rt->walks.lock);
	free(seen.slots);
	sort(look);
	return error;
}
