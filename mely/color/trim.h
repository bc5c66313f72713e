/* SPDX-License-Identifier: MIT */
/*
 * trim.h: giving idle colors by id back, in steps that do not wait. C and D of NOTE(colortab) in
 * color/table.c. One thread uses a trim or a survey, which is not a core of its runtime and holds
 * no lock; any number of trims may go on at the same time.
 */
#ifndef MELYINT_COLOR_TRIM_H
#define MELYINT_COLOR_TRIM_H

#include "color/slab.h"
#include "color/table.h"
#include "core/grace.h"

struct melyint_buckets;

/* What a step leaves to do. */
enum melyint_trim_left {
	MELYINT_TRIM_OVER = 0,
	MELYINT_TRIM_MORE, /* call the next step */
	MELYINT_TRIM_WAITS /* call it in a moment: a grace period has not passed */
};

/* All but bytes is the trim's own. */
struct melyint_trim {
	struct mely_runtime *rt;
	enum { MELYINT_TRIM_BEFORE, MELYINT_TRIM_UNLINKS, MELYINT_TRIM_AFTER } stage;
	bool unused_only;
	size_t slice;      /* chunks of colors in a step */
	size_t at;         /* how far it has unlinked */
	struct melyint_grace grace;
	/* the graves: unlinked memory until the grace period ends */
	struct mely_color *chunks;     /* linked by _next of the last color; only owners use it */
	struct melyint_entry *entries; /* linked by free */
	struct melyint_buckets *older;
	size_t bytes;      /* given back */
};

/* Begin a trim. unused_only: of what melyint_survey_step has found twice. slice: chunks of colors
 * in a step. */
void melyint_trim_begin(struct melyint_trim *trim, struct mely_runtime *rt, bool unused_only,
    size_t slice);
enum melyint_trim_left melyint_trim_step(struct melyint_trim *trim);
/* Free what a trim that is not over has unlinked, with no other thread in the runtime: its end, or
 * the child of a fork, which resets flow.direct. */
void melyint_trim_abandon(struct melyint_trim *trim);

/*
 * A survey of colors that no post has used since the last one. It marks each idle color; the next
 * post to the color takes the mark off. Zero when the survey begins.
 */
struct melyint_survey {
	size_t at;
	size_t fresh;  /* colors that it marked */
	size_t unused; /* bytes of what had a mark, and can be given back */
};

/* true: it is not over. */
bool melyint_survey_step(struct melyint_colortab *table, struct melyint_survey *survey,
    size_t slice);

#endif
