/* SPDX-License-Identifier: MIT */
/*
 * names_marks.h: the names and the high-water marks of colors, which few colors have and which are
 * therefore not in struct mely_color; and the end of a color object, which forgets them.
 */
#ifndef MELYINT_COLOR_NAMES_MARKS_H
#define MELYINT_COLOR_NAMES_MARKS_H

#include "core/core.h"

struct melyint_colorext;

int melyint_colorext_new(struct melyint_colorext **table);
void melyint_colorext_free(struct melyint_colorext *table);

/* The name of the color at this address, which is not read: it may be freed. As mely_color_name. */
int melyint_colorext_name(struct melyint_colorext *table, const struct mely_color *color,
    char *buf, size_t size);

/* A color with MELYINT_COLOR_MARKED: count one more pending post; false: it is at its mark. */
bool melyint_mark_admit(struct mely_color *color);
/* A counted post has run or been cancelled. Posts the drained event at half the mark. */
void melyint_mark_ran(struct mely_color *color);
/* In the child of a fork, which has no events: none counts. */
void melyint_marks_renew(struct melyint_colorext *table);

/* Call fn for each color with a name, while the table is locked. */
void melyint_colorext_each_name(struct melyint_colorext *table,
    void (*fn)(void *arg, const struct mely_color *color, const char *name), void *arg);

/* Lock the table around a fork. A thread that holds this lock takes no core's lock. */
void melyint_colorext_lock(struct melyint_colorext *table);
void melyint_colorext_unlock(struct melyint_colorext *table);

/* A released color is permanently idle: forget it and call its release function. No lock held. */
void melyint_color_finish(struct mely_color *color);

#endif
