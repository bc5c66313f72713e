/* SPDX-License-Identifier: MIT */
/*
 * color.c: making, releasing and pinning colors, and the calls that describe one. Any thread. The
 * state and the flags of a color change under the lock of the core that owns it.
 */
#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "core/hooks.h"
#include "color/misuse.h"
#include "color/names_marks.h"
#include "color/table.h"
#include "core/core.h"
#include "core/worth.h"
#include "core/upcalls.h"

void
melyint_color_setup(struct mely_color *color, struct melyint_core *owner, uint32_t id,
    unsigned flags)
{
	MELY_ASSERT((uintptr_t)color % MELY_CACHE_LINE == 0);
	MELY_DEBUG_ASSERT(owner == &owner->rt->cores[owner->index]);
	MELY_DEBUG_ASSERT((flags & (MELYINT_COLOR_RELEASED | MELYINT_COLOR_DEAD)) == 0);
	/* The owner comes last: look-ups may read this place of a chunk already. */
	color->_tails = NULL;
	color->_next = color->_prev = NULL;
	color->_id = id;
	color->_priority = 0;
	memset(&color->_u, 0, sizeof color->_u);
	/* relaxed, all: the store of the owner publishes them */
	MELY_STORE(&color->_heads, NULL, relaxed);
	MELY_STORE(&color->_state, MELYINT_COLOR_IDLE, relaxed);
	MELY_STORE(&color->_flags, (uint16_t)flags, relaxed);
	/* release: pairs with the acquire in color/table.h, where an owner makes a color exist */
	MELY_STORE(&color->_owner, owner, release);
}

int
mely_color_init_on(struct mely_color *color, struct mely_runtime *rt, int core)
{
	melyint_examine_runtime(__func__, rt);
	if (color == NULL || rt == NULL || core < 0 || core >= rt->cores_count ||
	    ((uintptr_t)color & (MELY_CACHE_LINE - 1)) != 0)
		return -EINVAL;
	/* acquire: pairs with the store in the child of a fork */
	if (MELY_LOAD(&rt->phase, acquire) == MELYINT_FORKED)
		return -ECHILD;
	melyint_color_setup(color, &rt->cores[core], 0, MELYINT_COLOR_OBJECT);
	return 0;
}

int
mely_color_init(struct mely_color *color, struct mely_runtime *rt)
{
	struct melyint_core *self = melyint_self;

	melyint_examine_runtime(__func__, rt);
	if (rt == NULL)
		return -EINVAL;
	if (self != NULL && self->rt == rt)
		return mely_color_init_on(color, rt, self->index);
	/* relaxed: only spreads the colors over the cores */
	return mely_color_init_on(color, rt,
	    (int)(MELY_ADD(&rt->flow.placed, 1, relaxed) % (uint32_t)rt->cores_count));
}

int
mely_color_release(struct mely_color *color, void (*fn)(void *arg), void *arg)
{
	struct melyint_core *owner, *self = melyint_self;
	unsigned flags;
	bool idle;

	melyint_examine_color(__func__, color);
	if (color == NULL)
		return -EINVAL;
	melyint_outbox_deliver_all(mely_color_runtime(color), self); /* E of NOTE(outbox) */
	owner = melyint_color_lock(color);
	MELY_DEBUG_ASSERT(melyint_lock_held(&owner->lock));
	flags = MELY_LOAD(&color->_flags, relaxed); /* relaxed, all: under the lock */
	if (!(flags & MELYINT_COLOR_OBJECT) || (flags & MELYINT_COLOR_RELEASED)) {
		melyint_lock_drop(&owner->lock);
		return flags & MELYINT_COLOR_OBJECT ? -EALREADY : -EINVAL;
	}
	if (MELY_LOAD(&color->_state, relaxed) == MELYINT_COLOR_QUEUED)
		melyint_core_unworthy(owner, color);
	melyint_check_released(color);
	/* In no stealing-queue: the release function takes the place of its slot. */
	MELY_DEBUG_ASSERT(color->_u._worth._steal_slot == 0);
	MELY_OR(&color->_flags, MELYINT_COLOR_RELEASED, relaxed);
	color->_u._release._fn = fn;
	color->_u._release._arg = arg;
	idle = MELY_LOAD(&color->_state, relaxed) == MELYINT_COLOR_IDLE;
	MELY_DEBUG_ASSERT(!idle || (MELY_PEEK(&color->_heads) == NULL && color->_tails == NULL));
	melyint_lock_drop(&owner->lock);
	if (idle)
		melyint_color_finish(color);
	return 0;
}

void
melyint_color_hold(struct mely_color *color)
{
	struct melyint_core *self = melyint_self, *owner;

	if (melyint_color_stays(color))
		return;
	if (self != NULL && self->batch.color == color) {
		MELY_DEBUG_ASSERT(MELY_PEEK(&color->_state) == MELYINT_COLOR_RUNNING);
		/* relaxed: a running color's flags change by atomics, or by a pin, which holds */
		MELY_OR(&color->_flags, MELYINT_COLOR_HELD, relaxed);
		return;
	}
	owner = melyint_color_lock(color);
	MELY_DEBUG_ASSERT(!(MELY_PEEK(&color->_flags) & MELYINT_COLOR_DEAD)); /* as promised */
	MELY_OR(&color->_flags, MELYINT_COLOR_HELD, relaxed); /* under the lock */
	melyint_lock_drop(&owner->lock);
}

int
mely_color_of_id(struct mely_runtime *rt, uint32_t id, struct mely_color **color)
{
	struct melyint_core *self = melyint_self;
	bool dead;

	melyint_examine_runtime(__func__, rt);
	if (rt == NULL || color == NULL)
		return -EINVAL;
	do {
		struct melyint_core *owner;
		int error = melyint_colortab_enter(rt, self, id, color);

		if (error != 0)
			return error;
		owner = melyint_color_lock(*color);
		/* relaxed: under the lock; C of NOTE(colortab) */
		dead = (MELY_LOAD(&(*color)->_flags, relaxed) & MELYINT_COLOR_DEAD) != 0;
		if (!dead)
			MELY_OR(&(*color)->_flags, MELYINT_COLOR_HELD, relaxed);
		melyint_lock_drop(&owner->lock);
		melyint_colortab_leave(rt, self);
	} while (dead && melyint_colortab_settle(rt));
	MELY_DEBUG_ASSERT((*color)->_id == id);
	MELY_DEBUG_ASSERT(MELY_PEEK(&(*color)->_flags) & MELYINT_COLOR_HELD); /* it stays */
	return 0;
}

struct mely_color *
mely_current_color(void)
{
	struct melyint_core *self = melyint_self;

	/* C of NOTE(colortab): a running color stays; calls that keep its address hold it. */
	return self != NULL ? self->batch.color : NULL;
}

struct mely_runtime *
mely_current_runtime(void)
{
	struct melyint_core *self = melyint_self;

	return self != NULL && self->batch.color != NULL ? self->rt : NULL;
}

int
mely_current_core(void)
{
	struct melyint_core *self = melyint_self;

	return self != NULL && self->batch.color != NULL ? self->index : -1;
}

uint32_t
mely_color_id(const struct mely_color *color)
{
	melyint_examine_color(__func__, color);
	return color != NULL ? color->_id : 0;
}

int
mely_color_is_object(const struct mely_color *color)
{
	melyint_examine_color(__func__, color);
	/* relaxed: the bit never changes */
	return color != NULL && (MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_OBJECT) != 0;
}

struct mely_runtime *
mely_color_runtime(const struct mely_color *color)
{
	melyint_examine_color(__func__, color);
	/* acquire: as in melyint_color_lock */
	return color != NULL ? MELY_LOAD(&color->_owner, acquire)->rt : NULL;
}

int
mely_color_core(const struct mely_color *color)
{
	melyint_examine_color(__func__, color);
	/* acquire: as in melyint_color_lock */
	return color != NULL ? MELY_LOAD(&color->_owner, acquire)->index : -1;
}

/* ---- pins ------------------------------------------------------------------------------------ */

void
melyint_color_arrive(struct mely_color *color)
{
	struct melyint_core *home = melyint_color_lock(color);
	bool woken;

	MELY_DEBUG_ASSERT(melyint_lock_held(&home->lock));
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_state) == MELYINT_COLOR_MOVING);
	melyint_core_link(home, color);
	MELY_DEBUG_ASSERT(MELY_PEEK(&home->rt->flow.arriving) > 0);
	/* relaxed: the drain reads it under all locks */
	MELY_SUB(&home->rt->flow.arriving, 1, relaxed);
	woken = melyint_wake_locked(home);
	melyint_lock_drop(&home->lock);
	if (woken)
		melyint_wake_finish(melyint_self, home);
	else
		melyint_offer(melyint_self, home); /* it may be unpinned by now */
}

int
mely_color_pin(struct mely_color *color, int core)
{
	struct mely_runtime *rt = mely_color_runtime(color);
	struct melyint_core *owner, *home;
	unsigned flags, state;
	bool moves;

	if (rt == NULL)
		return -EINVAL;
	if (core != MELY_ANY_CORE && (core < 0 || core >= rt->cores_count))
		return -EINVAL;
	owner = melyint_color_lock(color);
	/* relaxed, all: under the lock */
	flags = MELY_LOAD(&color->_flags, relaxed) & ((1u << MELYINT_COLOR_PIN_SHIFT) - 1);
	state = MELY_LOAD(&color->_state, relaxed);
	MELY_DEBUG_ASSERT(owner->rt == rt && !(flags & MELYINT_COLOR_DEAD));
	home = core == MELY_ANY_CORE ? owner : &rt->cores[core];
	moves = home != owner &&
	    (state == MELYINT_COLOR_IDLE || state == MELYINT_COLOR_QUEUED);
	/* Unlink it and link it again, because the hints count pinned colors separately. */
	if (state == MELYINT_COLOR_QUEUED)
		melyint_core_unlink(owner, color);
	if (core == MELY_ANY_CORE)
		flags &= ~(unsigned)MELYINT_COLOR_PINNED;
	else
		flags |= MELYINT_COLOR_PINNED | (unsigned)core << MELYINT_COLOR_PIN_SHIFT;
	MELY_STORE(&color->_flags, (uint16_t)(flags | MELYINT_COLOR_HELD), relaxed);
	if (state == MELYINT_COLOR_QUEUED && !moves)
		melyint_core_link(owner, color);
	if (state == MELYINT_COLOR_QUEUED && moves) {
		melyint_color_become(color, MELYINT_COLOR_MOVING);
		MELY_ADD(&rt->flow.arriving, 1, relaxed); /* in no queue: a drain waits for it */
	}
	if (moves) {
		/* release: pairs with the acquire in melyint_color_lock */
		MELY_STORE(&color->_owner, home, release);
	}
	MELY_DEBUG_ASSERT(!moves || MELY_PEEK(&color->_state) != MELYINT_COLOR_QUEUED);
	melyint_lock_drop(&owner->lock);
	if (moves && state == MELYINT_COLOR_QUEUED)
		melyint_color_arrive(color);
	else if (core == MELY_ANY_CORE && state == MELYINT_COLOR_QUEUED)
		melyint_offer(melyint_self, owner); /* thieves may take it now */
	return 0;
}
