/* SPDX-License-Identifier: MIT */
/*
 * ext.h: what few colors have, kept out of line: names and high-water marks; and the end of a
 * color object.
 */
#ifndef MELYINT_COLOR_NAMES_MARKS_H
#define MELYINT_COLOR_NAMES_MARKS_H

#include "core/core.h"

struct melyint_colorext;

int melyint_colorext_new(struct melyint_colorext **table);
void melyint_colorext_free(struct melyint_colorext *table);

/* The name of whatever color is there now; it is not touched itself. As mely_color_name. */
int melyint_colorext_name(struct melyint_colorext *table, const struct mely_color *color,
    char *buf, size_t size);

/* A color with MELYINT_COLOR_MARKED: count one more pending post; false when it is full. */
bool melyint_mark_admit(struct mely_color *color);
/* One that was counted has run or been cancelled; posts the drained event at half the mark. */
void melyint_mark_ran(struct mely_color *color);

/* Call fn for each color that has a name, with the table locked. */
void melyint_colorext_each_name(struct melyint_colorext *table,
    void (*fn)(void *arg, const struct mely_color *color, const char *name), void *arg);

/* Around a fork: nobody is in the table. No lock of a core is taken by who holds it. */
void melyint_colorext_lock(struct melyint_colorext *table);
void melyint_colorext_unlock(struct melyint_colorext *table);

/* A released color is idle for good: forget it and call its release function. No lock held. */
void melyint_color_finish(struct mely_color *color);

#endif
