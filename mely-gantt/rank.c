/* SPDX-License-Identifier: MIT */
/*
 * rank.c: see rank.h.
 */
#include "rank.h"

#include <stdlib.h>
#include <string.h>

/* The name by which a slice is ranked; GANTT_NO_NAME: it has none. */
static uint32_t
key(const struct gantt_view *view, const struct gantt_slice *slice)
{
	return view->options->by == GANTT_BY_COLOR ? slice->color : slice->name;
}

/* Insert a name into the few with most time. */
static void
rank_one(struct gantt_rank *rank, const double *time, uint32_t name)
{
	int at = rank->named;

	if (at == GANTT_NAMED_MAX) {
		if (time[name] <= time[rank->name[at - 1]])
			return;
		at--;
	} else {
		rank->named++;
	}
	for (; at > 0 && time[name] > time[rank->name[at - 1]]; at--)
		rank->name[at] = rank->name[at - 1];
	rank->name[at] = name;
}

static void
add_times(const struct gantt_view *view, double *time)
{
	for (size_t i = 0; i < view->rows; i++) {
		const struct gantt_row *row = &view->trace->row[view->row[i]];

		for (size_t k = 0; k < row->slices; k++) {
			const struct gantt_slice *slice = &row->slice[k];
			int64_t from, to;

			if (slice->kind == GANTT_EVENT && key(view, slice) != GANTT_NO_NAME
			    && gantt_view_clip(view, slice, &from, &to))
				time[key(view, slice)] += (double)(to - from);
		}
	}
}

static void
add_classes(struct gantt_rank *rank, const struct gantt_view *view)
{
	for (size_t i = 0; i < view->rows; i++) {
		const struct gantt_row *row = &view->trace->row[view->row[i]];

		for (size_t k = 0; k < row->slices; k++) {
			int64_t from, to;
			int which;

			if (!gantt_view_clip(view, &row->slice[k], &from, &to))
				continue;
			which = gantt_rank_class(rank, view, &row->slice[k]);
			rank->time[which] += (double)(to - from);
			rank->count[which]++;
		}
	}
}

bool
gantt_rank_init(struct gantt_rank *rank, const struct gantt_view *view)
{
	size_t names = view->trace->names.count;
	double *time = calloc(names + 1, sizeof *time);

	memset(rank, 0, sizeof *rank);
	rank->class_of = malloc(names + 1);
	if (time == NULL || rank->class_of == NULL) {
		free(time);
		gantt_rank_free(rank);
		return false;
	}
	memset(rank->class_of, GANTT_OTHER, names + 1);
	add_times(view, time);
	for (uint32_t name = 0; name < names; name++) {
		if (time[name] > 0) {
			rank_one(rank, time, name);
			rank->others++;
		}
	}
	rank->others -= (uint32_t)rank->named;
	for (int i = 0; i < rank->named; i++)
		rank->class_of[rank->name[i]] = (uint8_t)i;
	free(time);
	add_classes(rank, view);
	return true;
}

void
gantt_rank_free(struct gantt_rank *rank)
{
	free(rank->class_of);
	rank->class_of = NULL;
}

int
gantt_rank_class(const struct gantt_rank *rank, const struct gantt_view *view,
    const struct gantt_slice *slice)
{
	switch (slice->kind) {
	case GANTT_STEAL:
		return GANTT_CLASS_STEAL;
	case GANTT_POLL:
		return GANTT_CLASS_POLL;
	case GANTT_SLEEP:
		return GANTT_CLASS_SLEEP;
	default:
		return key(view, slice) == GANTT_NO_NAME ? GANTT_OTHER
		    : rank->class_of[key(view, slice)];
	}
}

const char *
gantt_rank_name(const struct gantt_rank *rank, const struct gantt_view *view, int class_number)
{
	static const char *const fixed[] = {"other", "steal", "poll", "sleep"};

	if (class_number >= GANTT_OTHER)
		return fixed[class_number - GANTT_OTHER];
	return view->trace->names.text[rank->name[class_number]];
}
