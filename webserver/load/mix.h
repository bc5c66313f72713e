/* SPDX-License-Identifier: MIT */
/*
 * mix.h: what is asked for: the targets with their prebuilt requests, and which one is next. The
 * mix never changes, so all cores share it; what a core has drawn is in its cursor.
 */
#ifndef LOAD_MIX_H
#define LOAD_MIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "load/options.h"
#include "load/random.h"

struct load_target {
	const char *path;
	const char *request;   /* HTTP/1.1 */
	uint32_t request_len;
	const char *file;      /* with --verify: what its body must be */
	size_t file_size;
};

struct load_mix {
	uint32_t count;
	struct load_target *targets;
	size_t request_len_max;
	bool drawn;            /* by weights, else in turn */
	struct load_draw draw;
};

struct load_cursor {
	uint64_t state; /* of the random numbers */
	uint32_t next;
};

/**
 * Make the targets of the options. list: the text of the file of paths, or NULL. Reads the files
 * for --verify. Prints what is wrong and returns false.
 */
bool load_mix_init(struct load_mix *mix, const struct load_options *o, const char *list);
void load_mix_fini(struct load_mix *mix);

/** The cursor of one core of several. */
void load_cursor_init(struct load_cursor *c, const struct load_mix *mix, uint64_t seed,
    uint32_t index, uint32_t count);

/** The number of the next target. */
static inline uint32_t
load_mix_next(const struct load_mix *mix, struct load_cursor *c)
{
	uint32_t i = c->next;

	if (mix->drawn)
		return load_draw_next(&mix->draw, &c->state);
	c->next = i + 1 < mix->count ? i + 1 : 0;
	return i;
}

#endif
