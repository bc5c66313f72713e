/* SPDX-License-Identifier: MIT */
/*
 * names_marks.c: the names and high-water marks of colors, in a small hash table per runtime, under
 * a mutex. A color without either has no entry and never takes the mutex. Any thread; posts and
 * release functions are called without the mutex.
 *
 * NOTE(marks)
 *   A post that counts against a mark is taken off it after its event has left the color's queue,
 *   without the lock of the color's owner. So a color that was released meanwhile is finished only
 *   when no post counts any more, by the thread that takes off the last one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/mutex.h"
#include "core/hooks.h"
#include "color/misuse.h"
#include "color/names_marks.h"
#include "core/upcalls.h"

enum { BUCKETS_MIN = 16 };

/* What to post when a color has drained. */
struct report {
	struct mely_color *color;
	struct mely_event *drained;
};

struct entry {
	struct entry *next;
	const struct mely_color *color;
	char *name;
	uint32_t mark;     /* 0: none */
	uint32_t pending;  /* counted posts that have not run */
	bool crossed;      /* a post was refused since it last drained */
	bool finishing;    /* the color is released and idle: NOTE(marks) */
	struct report report;
};

struct melyint_colorext {
	struct melyint_mutex lock;
	size_t buckets_count, entries_count;
	struct entry **buckets;
};

static size_t
hash(const struct mely_color *color, size_t buckets)
{
	uint64_t h = (uint64_t)(uintptr_t)color >> 6;

	MELY_DEBUG_ASSERT((buckets & (buckets - 1)) == 0); /* the mask below */
	h *= 0x9e3779b97f4a7c15u;
	return (size_t)(h >> 32) & (buckets - 1);
}

int
melyint_colorext_new(struct melyint_colorext **table)
{
	struct melyint_colorext *t = calloc(1, sizeof *t);

	if (t == NULL)
		return -ENOMEM;
	t->buckets = calloc(BUCKETS_MIN, sizeof *t->buckets);
	if (t->buckets == NULL) {
		free(t);
		return -ENOMEM;
	}
	t->buckets_count = BUCKETS_MIN;
	melyint_mutex_init(&t->lock);
	*table = t;
	return 0;
}

void
melyint_colorext_free(struct melyint_colorext *table)
{
	size_t i;

	if (table == NULL)
		return;
	for (i = 0; i < table->buckets_count; i++) {
		while (table->buckets[i] != NULL) {
			struct entry *e = table->buckets[i];

			table->buckets[i] = e->next;
			free(e->name);
			free(e);
			table->entries_count--;
		}
	}
	MELY_DEBUG_ASSERT(table->entries_count == 0); /* the buckets had all */
	free(table->buckets);
	melyint_mutex_fini(&table->lock);
	free(table);
}

void
melyint_colorext_lock(struct melyint_colorext *table)
{
	melyint_mutex_take(&table->lock);
}

void
melyint_colorext_unlock(struct melyint_colorext *table)
{
	melyint_mutex_drop(&table->lock);
}

static struct melyint_colorext *
table_of(const struct mely_color *color)
{
	/* acquire: as in melyint_color_lock; only the runtime is read, which all owners share */
	return MELY_LOAD(&color->_owner, acquire)->rt->colorext;
}

static struct entry **
find(struct melyint_colorext *t, const struct mely_color *color)
{
	struct entry **e = &t->buckets[hash(color, t->buckets_count)];

	MELY_DEBUG_ASSERT(melyint_mutex_held(&t->lock));
	while (*e != NULL && (*e)->color != color)
		e = &(*e)->next;
	return e;
}

static void
grow(struct melyint_colorext *t)
{
	size_t count = t->buckets_count * 2, i, moved = 0;
	struct entry **buckets = calloc(count, sizeof *buckets);

	MELY_DEBUG_ASSERT(melyint_mutex_held(&t->lock));
	if (buckets == NULL)
		return; /* the chains only get longer */
	for (i = 0; i < t->buckets_count; i++) {
		while (t->buckets[i] != NULL) {
			struct entry *e = t->buckets[i];
			size_t h = hash(e->color, count);

			t->buckets[i] = e->next;
			e->next = buckets[h];
			buckets[h] = e;
			moved++;
		}
	}
	MELY_DEBUG_ASSERT(moved == t->entries_count); /* no entry was lost */
	free(t->buckets);
	t->buckets = buckets;
	t->buckets_count = count;
}

/* The entry of a color; makes one when it is missing. NULL: no memory. Under the table's lock. */
static struct entry *
obtain(struct melyint_colorext *t, const struct mely_color *color)
{
	struct entry **slot = find(t, color), *e = *slot;

	if (e != NULL)
		return e;
	e = calloc(1, sizeof *e);
	if (e == NULL)
		return NULL;
	e->color = color;
	*slot = e;
	if (++t->entries_count > t->buckets_count)
		grow(t);
	MELY_DEBUG_ASSERT(*find(t, color) == e);
	return e;
}

static void
set_flag(struct mely_color *color, unsigned flag, bool on)
{
	struct melyint_core *owner = melyint_color_lock(color);

	MELY_DEBUG_ASSERT(melyint_lock_held(&owner->lock));
	MELY_DEBUG_ASSERT(!(MELY_PEEK(&color->_flags) & MELYINT_COLOR_DEAD));
	if (on)
		MELY_OR(&color->_flags, (uint16_t)flag, relaxed); /* under the lock */
	else
		MELY_AND(&color->_flags, (uint16_t)~flag, relaxed);
	melyint_lock_drop(&owner->lock);
}

int
mely_color_set_name(struct mely_color *color, const char *name)
{
	struct melyint_colorext *t;
	struct entry *e;
	char *copy;

	melyint_examine_color(__func__, color);
	if (color == NULL)
		return -EINVAL;
	t = table_of(color);
	copy = name != NULL ? strdup(name) : NULL;
	if (name != NULL && copy == NULL)
		return -ENOMEM;
	melyint_mutex_take(&t->lock);
	e = obtain(t, color);
	if (e != NULL) {
		free(e->name);
		e->name = copy;
	}
	melyint_mutex_drop(&t->lock);
	if (e == NULL) {
		free(copy);
		return -ENOMEM;
	}
	set_flag(color, MELYINT_COLOR_NOTED, true);
	melyint_trace_named(mely_color_runtime(color), color, name);
	melyint_check_named(color, name);
	return 0;
}

void
melyint_colorext_each_name(struct melyint_colorext *t,
    void (*fn)(void *arg, const struct mely_color *color, const char *name), void *arg)
{
	size_t i;

	melyint_mutex_take(&t->lock);
	for (i = 0; i < t->buckets_count; i++) {
		const struct entry *e;

		for (e = t->buckets[i]; e != NULL; e = e->next) {
			MELY_DEBUG_ASSERT(hash(e->color, t->buckets_count) == i);
			if (e->name != NULL)
				fn(arg, e->color, e->name);
		}
	}
	melyint_mutex_drop(&t->lock);
}

int
mely_color_name(const struct mely_color *color, char *buf, size_t size)
{
	melyint_examine_color(__func__, color);
	if (color == NULL || (buf == NULL && size > 0))
		return -EINVAL;
	return melyint_colorext_name(table_of(color), color, buf, size);
}

int
melyint_colorext_name(struct melyint_colorext *t, const struct mely_color *color, char *buf,
    size_t size)
{
	struct entry *e;
	int length = 0;

	if (size > 0)
		buf[0] = '\0';
	melyint_mutex_take(&t->lock);
	e = *find(t, color);
	if (e != NULL && e->name != NULL)
		length = snprintf(buf, size, "%s", e->name);
	melyint_mutex_drop(&t->lock);
	return length;
}

/* Under the mutex: the event to post, if a post was refused since the color last drained. */
static struct report
take_report(struct entry *e, struct report report)
{
	if (!e->crossed)
		return (struct report){NULL, NULL};
	e->crossed = false;
	return report;
}

static void
post_report(struct report report)
{
	/* -EALREADY: the event of an earlier crossing is still queued and reports this one, too */
	if (report.drained != NULL && report.color != NULL)
		(void)melyint_post(report.color, report.drained, MELYINT_POST_INTERNAL);
}

int
mely_color_set_high_water(struct mely_color *color, uint32_t events_max,
    struct mely_color *drained_color, struct mely_event *drained)
{
	struct melyint_colorext *t;
	struct report report = {NULL, NULL};
	struct entry *e;

	melyint_examine_color(__func__, color);
	if (color == NULL || (drained != NULL && drained_color == NULL))
		return -EINVAL;
	t = table_of(color);
	if (drained_color != NULL)
		melyint_color_hold(drained_color);
	melyint_check_promise(drained);
	/* relaxed: posts count from about now on */
	MELY_OR(&mely_color_runtime(color)->flow.direct, MELYINT_DIRECT_MARKS, relaxed);
	melyint_mutex_take(&t->lock);
	e = obtain(t, color);
	if (e != NULL) {
		struct report before = e->report;

		e->mark = events_max;
		e->report = (struct report){drained_color, drained};
		if (drained == NULL)
			report = take_report(e, before);
		else if (events_max == 0 || e->pending <= events_max / 2)
			report = take_report(e, e->report);
	}
	melyint_mutex_drop(&t->lock);
	if (e == NULL)
		return -ENOMEM;
	set_flag(color, MELYINT_COLOR_NOTED, true);
	set_flag(color, MELYINT_COLOR_MARKED, events_max != 0);
	post_report(report);
	return 0;
}

/* The caller holds no lock of the color's owner: the mutex comes first, and a mark may post. */
static void
assert_unlocked(const struct mely_color *color)
{
	MELY_DEBUG_ASSERT(!melyint_lock_held(&MELY_PEEK(&color->_owner)->lock));
}

bool
melyint_mark_admit(struct mely_color *color)
{
	struct melyint_colorext *t = table_of(color);
	struct entry *e;
	bool room = true;

	assert_unlocked(color);
	melyint_mutex_take(&t->lock);
	e = *find(t, color);
	if (e != NULL) {
		room = e->mark == 0 || e->pending < e->mark;
		if (room)
			e->pending++;
		else
			e->crossed = true;
	}
	melyint_mutex_drop(&t->lock);
	return room;
}

void
melyint_mark_ran(struct mely_color *color)
{
	struct melyint_colorext *t = table_of(color);
	struct report report = {NULL, NULL};
	bool finish = false;
	struct entry *e;

	assert_unlocked(color);
	melyint_mutex_take(&t->lock);
	e = *find(t, color);
	MELY_DEBUG_ASSERT(e != NULL && e->pending > 0); /* the post was counted */
	if (e != NULL && e->pending > 0) {
		e->pending--;
		if (e->pending <= e->mark / 2)
			report = take_report(e, e->report);
		finish = e->pending == 0 && e->finishing;
	}
	melyint_mutex_drop(&t->lock);
	post_report(report);
	if (finish)
		melyint_color_finish(color);
}

void
melyint_marks_renew(struct melyint_colorext *t)
{
	size_t i;

	for (i = 0; i < t->buckets_count; i++) {
		struct entry *e;

		for (e = t->buckets[i]; e != NULL; e = e->next) {
			e->pending = 0;
			e->crossed = false;
		}
	}
}

/* Remove the entry of a color that is released. False: counted posts are on their way to the
 * program, and the last of them finishes the color: NOTE(marks). */
static bool
forget(struct mely_color *color)
{
	struct melyint_colorext *t = table_of(color);
	struct entry **slot, *e;

	melyint_mutex_take(&t->lock);
	slot = find(t, color);
	e = *slot;
	if (e != NULL && e->pending != 0) {
		MELY_DEBUG_ASSERT(!e->finishing);
		e->finishing = true;
		melyint_mutex_drop(&t->lock);
		return false;
	}
	if (e != NULL) {
		*slot = e->next;
		MELY_DEBUG_ASSERT(t->entries_count > 0);
		t->entries_count--;
	}
	melyint_mutex_drop(&t->lock);
	if (e != NULL && e->name != NULL) {
		melyint_trace_named(mely_color_runtime(color), color, NULL);
		free(e->name);
	}
	free(e);
	return true;
}

void
melyint_color_finish(struct mely_color *color)
{
	void (*fn)(void *arg) = color->_u._release._fn;
	void *arg = color->_u._release._arg;

	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_flags) & MELYINT_COLOR_RELEASED);
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_flags) & MELYINT_COLOR_OBJECT);
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_state) == MELYINT_COLOR_IDLE);
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_heads) == NULL && color->_tails == NULL);
	assert_unlocked(color);
	/* relaxed: no core refers to the color any more */
	if ((MELY_LOAD(&color->_flags, relaxed) & MELYINT_COLOR_NOTED) && !forget(color))
		return;
	melyint_run_release(color, fn, arg);
}
