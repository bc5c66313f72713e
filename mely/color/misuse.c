/* SPDX-License-Identifier: MIT */
/*
 * misuse.c: examining what the program passes to public calls, and the lines about it. Any thread.
 *
 * Developer builds keep a list of the runtimes of the process, with the addresses of their cores. A
 * color names the core that owns it, so the list tells a color of a living runtime from one of a
 * freed runtime and from memory that is not a color, without reading what the owner points to. The
 * list is read without a lock: a line about a call that races with a free may name either fault.
 */
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "color/misuse.h"
#include "color/names_marks.h"
#include "core/handlers.h"

bool
melyint_released_admits(const struct mely_color *color, const struct mely_event *ev, bool internal)
{
	const struct melyint_core *self = melyint_self;
	struct mely_runtime *rt = mely_color_runtime(color);

	MELY_DEBUG_ASSERT(melyint_lock_held(&MELY_PEEK(&color->_owner)->lock));
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_flags) & MELYINT_COLOR_RELEASED);
	if (internal || (self != NULL && self->batch.color == color))
		return true;
#ifdef MELY_DEVELOPER
	char name[64];

	(void)melyint_colorext_name(rt->colorext, color, name, sizeof name);
	melyint_misuse("event %p of handler '%s' is posted to color %p '%s', which was released",
	    (const void *)ev, melyint_handler_name(melyint_handler_number(ev->_handler)),
	    (const void *)color, name);
#else
	(void)ev;
#endif
	MELY_ADD(&rt->misuses, 1, relaxed); /* relaxed: a count */
	return false;
}

#ifdef MELY_DEVELOPER

/* ---- the runtimes of the process ------------------------------------------------------------- */

enum { RUNTIMES = 64 };

enum life { NEVER, FREED, ALIVE };

/* relaxed, all: see above. Written under the lock. */
static struct known {
	_Atomic uintptr_t rt;          /* 0: this place is free */
	_Atomic uintptr_t cores, end;
	_Atomic bool alive;
} known[RUNTIMES] MELY_LASTING;
static _Atomic bool overflowed MELY_LASTING; /* more runtimes lived than the list holds */
#ifndef MELYINT_SIM
static struct melyint_lock known_lock;
#endif

static void
lock_known(void)
{
#ifndef MELYINT_SIM /* one thread, and no interleaving point */
	melyint_lock_take(&known_lock);
#endif
}

static void
unlock_known(void)
{
#ifndef MELYINT_SIM
	melyint_lock_drop(&known_lock);
#endif
}

/* Under the lock: a place for a runtime. Forgets freed ones whose memory it reuses, and any freed
 * one when the list is full. */
static struct known *
place_for(uintptr_t rt, uintptr_t cores, uintptr_t end)
{
	struct known *place = NULL, *freed = NULL;
	int i;

	MELY_DEBUG_ASSERT(cores < end && cores % _Alignof(struct melyint_core) == 0);
	for (i = 0; i < RUNTIMES; i++) {
		struct known *k = &known[i];

		/* Two living runtimes share no memory. */
		MELY_DEBUG_ASSERT(MELY_PEEK(&k->rt) == 0 || !MELY_PEEK(&k->alive) ||
		    (MELY_PEEK(&k->rt) != rt &&
		    (MELY_PEEK(&k->cores) >= end || cores >= MELY_PEEK(&k->end))));
		if (MELY_PEEK(&k->rt) != 0 && !MELY_PEEK(&k->alive) && (MELY_PEEK(&k->rt) == rt ||
		    (MELY_PEEK(&k->cores) < end && cores < MELY_PEEK(&k->end))))
			MELY_POKE(&k->rt, 0);
		if (MELY_PEEK(&k->rt) == 0)
			place = place != NULL ? place : k;
		else if (!MELY_PEEK(&k->alive))
			freed = freed != NULL ? freed : k;
	}
	return place != NULL ? place : freed;
}

void
melyint_runtime_known(const struct mely_runtime *rt)
{
	uintptr_t cores = (uintptr_t)rt->cores;
	uintptr_t end = cores + (uintptr_t)rt->cores_count * sizeof rt->cores[0];
	struct known *place;

	lock_known();
	place = place_for((uintptr_t)rt, cores, end);
	MELY_DEBUG_ASSERT(place == NULL || MELY_PEEK(&place->rt) == 0 ||
	    !MELY_PEEK(&place->alive));
	if (place != NULL) {
		MELY_POKE(&place->cores, cores);
		MELY_POKE(&place->end, end);
		MELY_POKE(&place->alive, true);
		MELY_POKE(&place->rt, (uintptr_t)rt);
	} else {
		MELY_POKE(&overflowed, true);
	}
	unlock_known();
}

void
melyint_runtime_unknown(const struct mely_runtime *rt)
{
	int i;

	lock_known();
	for (i = 0; i < RUNTIMES; i++) {
		if (MELY_PEEK(&known[i].rt) == (uintptr_t)rt)
			MELY_POKE(&known[i].alive, false);
	}
	unlock_known();
}

static enum life
life_of(uintptr_t address, bool is_core)
{
	enum life life = MELY_PEEK(&overflowed) ? ALIVE : NEVER;
	int i;

	for (i = 0; i < RUNTIMES; i++) {
		const struct known *k = &known[i];
		uintptr_t cores = MELY_PEEK(&k->cores);
		bool is_it;

		if (is_core)
			is_it = address >= cores && address < MELY_PEEK(&k->end) &&
			    (address - cores) % sizeof(struct melyint_core) == 0;
		else
			is_it = address == MELY_PEEK(&k->rt);
		if (MELY_PEEK(&k->rt) == 0 || !is_it)
			continue;
		if (MELY_PEEK(&k->alive))
			return ALIVE;
		life = life == ALIVE ? ALIVE : FREED;
	}
	return life;
}

/* The color checker compiles the public calls under other names: check/names.h. Without either
 * prefix. */
static const char *
bare_name(const char *call)
{
	static const char *const prefixes[] = {"melyint_plain_", "mely_"};
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(call, prefixes[i], strlen(prefixes[i])) == 0)
			return call + strlen(prefixes[i]);
	return call;
}

/* ---- arguments ------------------------------------------------------------------------------- */

void
melyint_examine_runtime(const char *call, const struct mely_runtime *rt)
{
	if (rt == NULL)
		melyint_misuse("mely_%s: the runtime is NULL", bare_name(call));
	switch (life_of((uintptr_t)rt, false)) {
	case NEVER:
		melyint_misuse("mely_%s: %p is not a runtime", bare_name(call), (const void *)rt);
	case FREED:
		melyint_misuse("mely_%s: runtime %p was freed", bare_name(call), (const void *)rt);
	case ALIVE:
		break;
	}
}

void
melyint_examine_color(const char *call, const struct mely_color *color)
{
	if (color == NULL)
		melyint_misuse("mely_%s: the color is NULL", bare_name(call));
	if ((uintptr_t)color % _Alignof(struct mely_color) != 0)
		melyint_misuse("mely_%s: color %p is not aligned to 64", bare_name(call),
		    (const void *)color);
	switch (life_of((uintptr_t)MELY_PEEK(&color->_owner), true)) {
	case NEVER:
		melyint_misuse("mely_%s: color %p is not initialised", bare_name(call),
		    (const void *)color);
	case FREED:
		melyint_misuse("mely_%s: color %p belongs to a runtime that was freed",
		    bare_name(call), (const void *)color);
	case ALIVE:
		break;
	}
}

void
melyint_examine_handler(const char *call, const struct mely_handler *handler)
{
	if (handler == NULL)
		melyint_misuse("mely_%s: the handler is NULL", bare_name(call));
	if (handler->fn == NULL)
		melyint_misuse("mely_%s: handler %p '%s' has no function", bare_name(call),
		    (const void *)handler, handler->name != NULL ? handler->name : "");
	if (MELY_PEEK(&handler->_number) > MELYINT_HANDLER_OTHER)
		melyint_misuse("mely_%s: handler %p is not initialised", bare_name(call),
		    (const void *)handler);
}

static bool
is_state(unsigned state)
{
	return state == MELYINT_EV_IDLE || state == MELYINT_EV_QUEUED ||
	    state == MELYINT_EV_PRIVATE || state == MELYINT_EV_CANCELLED ||
	    state == MELYINT_EV_CLAIMED || state == MELYINT_EV_PROMISED ||
	    state == MELYINT_EV_LEFT;
}

void
melyint_examine_event(const char *call, const struct mely_event *ev)
{
	unsigned state;

	if (ev == NULL)
		melyint_misuse("mely_%s: the event is NULL", bare_name(call));
	state = MELY_PEEK(&ev->_state);
	if (!is_state(state) || (state == MELYINT_EV_IDLE && (ev->_handler == NULL ||
	    (uintptr_t)ev->_handler % _Alignof(struct mely_handler) != 0)))
		melyint_misuse("mely_%s: event %p is not initialised", bare_name(call),
		    (const void *)ev);
}

void
melyint_examine_init(const struct mely_event *ev)
{
	const struct melyint_core *self = melyint_self;
	unsigned state = MELY_PEEK(&ev->_state);

	/* In another batch than this core's the mark may remain from before a fork. */
	if (state == MELYINT_EV_QUEUED || (state == MELYINT_EV_PRIVATE && self != NULL &&
	    self->batch.color != NULL &&
	    melyint_ev_color(MELY_PEEK(&ev->_color)) == self->batch.color))
		melyint_misuse("event %p of handler '%s' is initialised while it is queued",
		    (const void *)ev, ev->_handler->name != NULL ? ev->_handler->name : "");
}

void
melyint_examine_queued(const struct mely_event *ev)
{
	if (MELY_PEEK(&ev->_state) != MELYINT_EV_QUEUED)
		melyint_misuse("event %p was freed or overwritten while it was queued",
		    (const void *)ev);
}

void
melyint_examine_taken(const struct mely_event *ev)
{
	if (MELY_PEEK(&ev->_state) != MELYINT_EV_CANCELLED)
		melyint_misuse("event %p was freed or overwritten while it was queued",
		    (const void *)ev);
}

#endif
