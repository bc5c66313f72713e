/* SPDX-License-Identifier: MIT */
/*
 * stats_read.c: read the rows of a snapshot, and check a snapshot from another source. Any thread;
 * nothing here uses a runtime.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <mely/stats.h>

#include "base/compiler.h"

/* Row i of the count rows at an offset, or NULL. */
static const void *
row(const struct mely_stats *stats, uint64_t at, uint32_t size, uint32_t count, uint32_t i)
{
	return i < count ? (const char *)stats + at + (uint64_t)i * size : NULL;
}

const struct mely_stats_core *
mely_stats_core_row(const struct mely_stats *stats, uint32_t i)
{
	if (stats == NULL)
		return NULL;
	return row(stats, stats->cores_at, stats->core_size, stats->cores_count, i);
}

const struct mely_stats_handler *
mely_stats_handler_row(const struct mely_stats *stats, uint32_t i)
{
	if (stats == NULL)
		return NULL;
	return row(stats, stats->handlers_at, stats->handler_size, stats->handlers_count, i);
}

const struct mely_stats_color *
mely_stats_color_row(const struct mely_stats *stats, uint32_t i)
{
	if (stats == NULL)
		return NULL;
	return row(stats, stats->colors_at, stats->color_size, stats->colors_count, i);
}

const struct mely_stats_handler *
mely_stats_handler_numbered(const struct mely_stats *stats, uint32_t number)
{
	uint32_t low = 0, high = stats != NULL ? stats->handlers_count : 0;

	/* The rows are sorted by number. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct mely_stats_handler *h = mely_stats_handler_row(stats, middle);

		if (h->number == number)
			return h;
		if (h->number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const char *
mely_stats_name(const struct mely_stats *stats, uint64_t at)
{
	return stats != NULL && at != 0 ? (const char *)stats + at : "";
}

const char *
mely_distance_name(int distance)
{
	static const char *const names[MELY_DISTANCES] = {
	    [MELY_DISTANCE_CORE] = "core", [MELY_DISTANCE_L2] = "l2", [MELY_DISTANCE_L3] = "l3",
	    [MELY_DISTANCE_PACKAGE] = "package", [MELY_DISTANCE_FAR] = "far"};

	return distance >= 0 && distance < MELY_DISTANCES ? names[distance] : "?";
}

/* ---- the check ----------------------------------------------------------------------------- */

/* Do count records of size bytes fit into the block at an offset? */
static bool
fits(const struct mely_stats *stats, uint64_t at, uint64_t count, uint64_t size, uint64_t least)
{
	if (size < least || size % sizeof(uint64_t) != 0 || at % sizeof(uint64_t) != 0)
		return false;
	if (count == 0)
		return true;
	return at >= stats->header_size && at < stats->size && count <= (stats->size - at) / size;
}

static bool
is_name(const struct mely_stats *stats, uint64_t at)
{
	return at == 0 || (at >= stats->header_size && at < stats->size &&
	    memchr((const char *)stats + at, '\0', (size_t)(stats->size - at)) != NULL);
}

static bool
is_hist(const struct mely_stats *stats, const struct mely_stats_hist *hist)
{
	return hist->first <= MELY_STATS_BUCKETS &&
	    hist->buckets <= MELY_STATS_BUCKETS - hist->first &&
	    fits(stats, hist->buckets_at, hist->buckets, sizeof(uint64_t), sizeof(uint64_t));
}

static bool
rows_are_good(const struct mely_stats *stats)
{
	uint32_t i;

	for (i = 0; i < stats->cores_count; i++)
		if (!is_name(stats, mely_stats_core_row(stats, i)->color_name_at))
			return false;
	for (i = 0; i < stats->handlers_count; i++) {
		const struct mely_stats_handler *h = mely_stats_handler_row(stats, i);

		if (!is_name(stats, h->name_at) || !is_hist(stats, &h->time) ||
		    !is_hist(stats, &h->delay))
			return false;
	}
	for (i = 0; i < stats->colors_count; i++)
		if (!is_name(stats, mely_stats_color_row(stats, i)->name_at))
			return false;
	return true;
}

int
mely_stats_check(const void *block, size_t size)
{
	const struct mely_stats *stats = block;

	if (block == NULL || (uintptr_t)block % sizeof(uint64_t) != 0 || size < sizeof *stats ||
	    stats->magic != MELY_STATS_MAGIC)
		return -EINVAL;
	if (stats->version != MELY_STATS_VERSION)
		return -EPROTONOSUPPORT;
	if (stats->header_size < sizeof *stats || stats->size != size ||
	    !fits(stats, stats->cores_at, stats->cores_count, stats->core_size,
	    sizeof(struct mely_stats_core)) ||
	    !fits(stats, stats->handlers_at, stats->handlers_count, stats->handler_size,
	    sizeof(struct mely_stats_handler)) ||
	    !fits(stats, stats->colors_at, stats->colors_count, stats->color_size,
	    sizeof(struct mely_stats_color)) ||
	    !is_name(stats, stats->version_at) || !is_name(stats, stats->program_at) ||
	    !rows_are_good(stats))
		return -EINVAL;
	return 0;
}
