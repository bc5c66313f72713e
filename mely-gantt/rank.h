/* SPDX-License-Identifier: MIT */
/*
 * rank.h: the classes that slices are painted by: the handlers (or colors) with most time in the
 * view, one for all others, and what is not an event. Read-only after it has been made.
 */
#ifndef GANTT_RANK_H
#define GANTT_RANK_H

#include <stdbool.h>
#include <stdint.h>

#include "view.h"

enum {
	GANTT_NAMED_MAX = 10,
	GANTT_OTHER = GANTT_NAMED_MAX,
	GANTT_CLASS_STEAL,
	GANTT_CLASS_POLL,
	GANTT_CLASS_SLEEP,
	GANTT_CLASSES
};

struct gantt_rank {
	int named;                          /**< classes 0 up to this have names */
	uint32_t name[GANTT_NAMED_MAX];     /**< most time first */
	uint32_t others;                    /**< names in GANTT_OTHER */
	double time[GANTT_CLASSES];         /**< ns of the view in each class */
	uint64_t count[GANTT_CLASSES];      /**< slices */
	uint8_t *class_of;                  /**< by name */
};

/** False: no memory. */
bool gantt_rank_init(struct gantt_rank *rank, const struct gantt_view *view);
void gantt_rank_free(struct gantt_rank *rank);

/** The class of a slice. */
int gantt_rank_class(const struct gantt_rank *rank, const struct gantt_view *view,
    const struct gantt_slice *slice);

/** What a class is called. */
const char *gantt_rank_name(const struct gantt_rank *rank, const struct gantt_view *view,
    int class_number);

#endif
