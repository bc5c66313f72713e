/* SPDX-License-Identifier: MIT */
/*
 * stats.c: take a snapshot: mely_stats_take. Any thread. It reads counters where their writers
 * store them (core/tally.h), and takes the lock of a core only to follow a color.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "color/misuse.h"
#include "color/names_marks.h"
#include "look/census.h"
#include "base/text.h"
#include "core/weight.h"

/* A snapshot in the making. Rows move while the block grows: offsets name them. */
struct making {
	struct mely_runtime *rt;
	struct melyint_text block;
	struct melyint_census census;
	uint64_t now_ticks;
	bool counters_only;
};

static struct mely_stats *
head_of(struct making *m)
{
	return melyint_text_at(&m->block, 0);
}

/* Reserve rows of zeros. Returns their offset; 0 without memory. */
static uint64_t
rows(struct making *m, size_t count, size_t size)
{
	return melyint_text_reserve(&m->block, count * size, sizeof(uint64_t));
}

/* Copy a name. Returns its offset; 0 without memory. */
static uint64_t
name(struct making *m, const char *text)
{
	size_t size = strlen(text) + 1;
	size_t at = melyint_text_reserve(&m->block, size, 1);
	char *copy = melyint_text_at(&m->block, at);

	if (copy != NULL)
		memcpy(copy, text, size);
	return at;
}

/* ---- cores --------------------------------------------------------------------------------- */

/* relaxed, all loads in this file without a comment: figures, each right by itself */
#define READ(p) MELY_LOAD((p), relaxed)

static void
read_counters(struct mely_counters *to, struct melyint_core *core)
{
	const struct melyint_counters *from = &core->counters;
	int d;

#define MELY_COUNTER_TALLY(name, unit, help) to->name = melyint_tally_##name(&core->tallies);
#define MELY_COUNTER(name, unit, help) to->name = READ(&from->name);
#define MELY_COUNTER_AT(name, unit, help) \
	for (d = 0; d < MELY_DISTANCES; d++) \
		to->name[d] = READ(&from->name[d]);
#include <mely/counters.def>
}

static void
add_counters(struct mely_counters *to, const struct mely_counters *each)
{
	int d;

#define MELY_COUNTER_TALLY(name, unit, help) to->name += each->name;
#define MELY_COUNTER(name, unit, help) to->name += each->name;
#define MELY_COUNTER_AT(name, unit, help) \
	for (d = 0; d < MELY_DISTANCES; d++) \
		to->name[d] += each->name[d];
#include <mely/counters.def>
}

/* The batch that runs now. The lock keeps its color: C of NOTE(census). */
static void
read_running(struct mely_stats_core *row, struct melyint_core *core, uint64_t now_ticks)
{
	uint64_t began = READ(&core->pace.turn_ticks);
	struct mely_color *color;
	unsigned flags;

	melyint_lock_take(&core->lock);
	/* acquire: pairs with the release of the core that took the batch */
	color = MELY_LOAD(&core->shown.running, acquire);
	if (color != NULL) {
		flags = READ(&color->_flags);
		row->color_kind = flags & MELYINT_COLOR_OBJECT ? MELY_STATS_COLOR_OBJECT :
		    MELY_STATS_COLOR_ID;
		row->color_id = flags & MELYINT_COLOR_OBJECT ? 0 : color->_id;
	}
	melyint_lock_drop(&core->lock);
	if (color == NULL)
		return;
	row->color_object = (uint64_t)(uintptr_t)color;
	if (READ(&core->tallies.handler) != MELYINT_NO_HANDLER)
		row->handler = READ(&core->tallies.handler);
	row->events_in_batch = READ(&core->tallies.begun);
	if (now_ticks > began)
		row->running_ns = melyint_ticks_to_ns(now_ticks - began);
}

static void
read_core(struct making *m, struct mely_stats_core *row, struct melyint_core *core)
{
	uint64_t spent[MELYINT_DOINGS];

	row->index = (uint32_t)core->index;
	row->pu = core->fixed.pu;
	row->colors_waiting = READ(&core->hint.waiting);
	row->colors_stealable = READ(&core->hint.stealable);
	row->doing = melyint_doing_read(&core->tallies, m->now_ticks, spent);
	row->busy_ns = melyint_ticks_to_ns(spent[MELY_STATS_BUSY]);
	row->steal_ns = melyint_ticks_to_ns(spent[MELY_STATS_STEALING]);
	row->poll_ns = melyint_ticks_to_ns(spent[MELY_STATS_POLLING]);
	row->sleep_ns = melyint_ticks_to_ns(spent[MELY_STATS_SLEEPING]);
	read_counters(&row->counters, core);
	if (!m->counters_only)
		read_running(row, core, m->now_ticks);
}

static void
put_cores(struct making *m)
{
	uint32_t count = (uint32_t)m->rt->cores_count, i;
	uint64_t at = rows(m, count, sizeof(struct mely_stats_core));
	struct mely_stats_core *row = melyint_text_at(&m->block, at);
	struct mely_stats *head = head_of(m);

	if (row == NULL)
		return;
	head->cores_at = at;
	head->cores_count = count;
	for (i = 0; i < count; i++) {
		read_core(m, &row[i], &m->rt->cores[i]);
		add_counters(&head->total, &row[i].counters);
	}
	head->total.posts_remote += head->outside_posts;
	head->total.wakeups_sent += head->outside_wakeups;
	head->total.refused += head->outside_refused;
}

/* ---- handlers ------------------------------------------------------------------------------ */

/* Sum up a handler's histograms on all cores into the histogram at an offset. */
static void
put_hist(struct making *m, uint64_t hist_at, uint32_t number, bool delay)
{
	struct melyint_hist_sum sum;
	struct mely_stats_hist *hist;
	uint32_t first = 0, end = MELYINT_HIST_BUCKETS;
	uint64_t at;
	int i;

	memset(&sum, 0, sizeof sum);
	for (i = 0; i < m->rt->cores_count; i++) {
		const struct melyint_tally *t = melyint_tally_of(&m->rt->cores[i].tallies, number);
		const struct melyint_hist *each;

		if (t == NULL)
			continue;
		/* acquire: pairs with the release of the core that made it */
		each = MELY_LOAD(delay ? &t->delay : &t->time, acquire);
		if (each != NULL)
			melyint_hist_sum(each, &sum);
	}
	if (sum.count == 0)
		return;
	while (sum.buckets[first] == 0)
		first++;
	while (sum.buckets[end - 1] == 0)
		end--;
	at = rows(m, end - first, sizeof sum.buckets[0]);
	hist = melyint_text_at(&m->block, hist_at);
	if (hist == NULL)
		return;
	memcpy(melyint_text_at(&m->block, at), &sum.buckets[first],
	    (end - first) * sizeof sum.buckets[0]);
	hist->count = sum.count;
	hist->sum_ns = sum.sum_ns;
	hist->max_ns = sum.max_ns;
	hist->first = first;
	hist->buckets = end - first;
	hist->buckets_at = at;
}

/* The time and the penalty that stealing uses. */
static void
read_annotations(struct making *m, struct mely_stats_handler *row,
    const struct melyint_handler_entry *entry)
{
	unsigned weighing = READ(&m->rt->switches.weighing);
	uint32_t home = READ(&entry->measured_ns), away = READ(&entry->away_ns);

	row->time_ns = READ(&entry->time_ns);
	row->penalty = READ(&entry->penalty);
	row->time_from = row->time_ns != 0 ? MELY_STATS_ANNOTATED : MELY_STATS_UNKNOWN;
	row->penalty_from = row->penalty != 0 ? MELY_STATS_ANNOTATED : MELY_STATS_UNKNOWN;
	if (row->time_ns == 0 && melyint_weighs_measured(weighing) && home != 0) {
		row->time_ns = home;
		row->time_from = MELY_STATS_MEASURED;
	}
	if (row->penalty == 0) {
		row->penalty = 1;
		if (melyint_weighs_learned(weighing) && home != 0 && away != 0) {
			row->penalty = melyint_weight_ratio(home, away);
			row->penalty_from = MELY_STATS_MEASURED;
		}
	}
}

static uint64_t
count_of(struct mely_runtime *rt, uint32_t number)
{
	uint64_t count = 0;
	int i;

	for (i = 0; i < rt->cores_count; i++) {
		const struct melyint_tally *t = melyint_tally_of(&rt->cores[i].tallies, number);

		if (t != NULL)
			count += READ(&t->count);
	}
	return count;
}

/* Has any core of this runtime entered the handler, or is about to? */
static bool
is_known(struct mely_runtime *rt, uint32_t number)
{
	int i;

	if (melyint_handler_entry(number) == NULL)
		return false;
	for (i = 0; i < rt->cores_count; i++)
		if (READ(&rt->cores[i].tallies.handler) == number)
			return true;
	return count_of(rt, number) != 0;
}

static void
put_handler(struct making *m, uint64_t at, uint32_t number)
{
	struct melyint_handler_entry *entry = melyint_handler_entry(number);
	uint64_t name_at = name(m, melyint_handler_name(number));
	struct mely_stats_handler *row = melyint_text_at(&m->block, at);

	if (row == NULL)
		return;
	row->number = number;
	row->name_at = name_at;
	row->fn = (uint64_t)(uintptr_t)entry->fn;
	row->stall_ms = READ(&entry->stall_ms);
	row->stalls = READ(&entry->stalls);
	row->count = count_of(m->rt, number);
	read_annotations(m, row, entry);
	put_hist(m, at + offsetof(struct mely_stats_handler, time), number, false);
	put_hist(m, at + offsetof(struct mely_stats_handler, delay), number, true);
}

static void
put_handlers(struct making *m)
{
	uint32_t end = melyint_handlers_end(), count = 0, i, n;
	uint32_t *numbers = malloc(((size_t)end + 1) * sizeof *numbers);
	struct mely_stats *head;
	uint64_t at;

	if (numbers == NULL) {
		melyint_text_fail(&m->block);
		return;
	}
	for (i = 1; i <= end; i++) {
		n = i < end ? i : MELYINT_HANDLER_OTHER;
		if (is_known(m->rt, n))
			numbers[count++] = n;
	}
	at = rows(m, count, sizeof(struct mely_stats_handler));
	for (i = 0; i < count && !m->block.failed; i++)
		put_handler(m, at + i * sizeof(struct mely_stats_handler), numbers[i]);
	free(numbers);
	head = head_of(m);
	if (head == NULL)
		return;
	head->handlers_at = at;
	head->handlers_count = count;
}

/* ---- colors -------------------------------------------------------------------------------- */

static uint64_t
name_of_color(struct making *m, uint64_t object)
{
	char text[128];

	if (melyint_colorext_name(m->rt->colorext, (const void *)(uintptr_t)object, text,
	    sizeof text) == 0)
		return 0;
	return name(m, text);
}

static void
put_color(struct making *m, uint64_t at, const struct mely_stats_color *color)
{
	uint64_t name_at = name_of_color(m, color->object);
	struct mely_stats_color *row = melyint_text_at(&m->block, at);

	if (row == NULL)
		return;
	*row = *color;
	row->name_at = name_at;
}

/* The parts of the rows of cores that only a census knows. */
static void
put_colors_of_cores(struct making *m, const uint64_t *events)
{
	uint32_t i;

	for (i = 0; i < (uint32_t)m->rt->cores_count && !m->block.failed; i++) {
		uint64_t at = head_of(m)->cores_at + i * sizeof(struct mely_stats_core);
		struct mely_stats_core *core = melyint_text_at(&m->block, at);
		uint64_t name_at;

		core->events_waiting = events[i];
		if (core->color_kind == MELY_STATS_NO_COLOR)
			continue;
		name_at = name_of_color(m, core->color_object);
		core = melyint_text_at(&m->block, at);
		if (core != NULL)
			core->color_name_at = name_at;
	}
}

static int
put_colors(struct making *m)
{
	struct melyint_census *census = &m->census;
	struct mely_stats *head;
	uint64_t at;
	uint32_t i;
	int error;

	census->events = calloc((size_t)m->rt->cores_count, sizeof census->events[0]);
	error = census->events != NULL ? melyint_census(m->rt, census) : -ENOMEM;
	if (error == 0) {
		at = rows(m, census->count, sizeof(struct mely_stats_color));
		head = head_of(m);
		if (head != NULL) {
			head->colors_at = at;
			head->colors_count = census->count;
			head->colors_found = census->found;
		}
		for (i = 0; i < census->count && !m->block.failed; i++)
			put_color(m, at + i * sizeof(struct mely_stats_color),
			    &census->kept[i].row);
		put_colors_of_cores(m, census->events);
	}
	free(census->kept);
	free(census->events);
	return error;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void
put_head(struct making *m, uint32_t colors_max)
{
	struct mely_stats *head;
	struct timespec now;

	(void)melyint_text_reserve(&m->block, sizeof *head, sizeof(uint64_t));
	head = head_of(m);
	if (head == NULL)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	head->magic = MELY_STATS_MAGIC;
	head->version = MELY_STATS_VERSION;
	head->header_size = sizeof *head;
	head->taken_ns = melyint_now_ns();
	head->made_ns = m->rt->life.made_ns;
	head->wall_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	head->pid = (uint32_t)getpid();
	head->stealing = (uint32_t)READ(&m->rt->switches.stealing);
	head->sample_every = MELYINT_SAMPLE_EVERY;
	head->sample_events = MELYINT_SAMPLED_MAX;
	head->delay_every = MELYINT_STAMP_EVERY;
	head->core_size = sizeof(struct mely_stats_core);
	head->handler_size = sizeof(struct mely_stats_handler);
	head->color_size = sizeof(struct mely_stats_color);
	head->colors_asked = colors_max;
	head->outside_posts = READ(&m->rt->outside.posts);
	head->outside_wakeups = READ(&m->rt->outside.wakeups);
	head->outside_refused = READ(&m->rt->outside.refused);
	head->misuses = READ(&m->rt->misuses);
}

/* The names and the size in the head. */
static void
put_end(struct making *m)
{
	uint64_t version_at = name(m, mely_version());
	uint64_t program_at = name(m, program_invocation_short_name);
	struct mely_stats *head;

	(void)melyint_text_reserve(&m->block, 0, sizeof(uint64_t));
	head = head_of(m);
	if (head == NULL)
		return;
	head->version_at = version_at;
	head->program_at = program_at;
	head->size = m->block.length;
}

int
mely_stats_take(struct mely_runtime *rt, unsigned flags, uint32_t colors_max,
    struct mely_stats **stats)
{
	struct making m;
	int error = 0;

	if (stats == NULL)
		return -EINVAL;
	*stats = NULL;
	melyint_examine_runtime(__func__, rt);
	if (rt == NULL || (flags & ~(unsigned)(MELY_STATS_BY_AGE | MELY_STATS_COUNTERS)) != 0 ||
	    ((flags & MELY_STATS_COUNTERS) != 0 && colors_max != 0))
		return -EINVAL;
	/* acquire: pairs with the store in the child of a fork */
	if (MELY_LOAD(&rt->phase, acquire) == MELYINT_FORKED)
		return -ECHILD;
	if (colors_max > MELY_STATS_COLORS_MAX)
		colors_max = MELY_STATS_COLORS_MAX;
	memset(&m, 0, sizeof m);
	m.rt = rt;
	m.census.by_age = (flags & MELY_STATS_BY_AGE) != 0;
	m.census.room = colors_max;
	m.now_ticks = melyint_ticks();
	m.counters_only = (flags & MELY_STATS_COUNTERS) != 0;
	put_head(&m, colors_max);
	put_cores(&m);
	if (!m.block.failed && !m.counters_only)
		put_handlers(&m);
	if (!m.block.failed && colors_max > 0)
		error = put_colors(&m);
	put_end(&m);
	if (m.block.failed)
		error = -ENOMEM;
	if (error != 0) {
		free(m.block.data);
		return error;
	}
	*stats = (struct mely_stats *)(void *)m.block.data;
	return 0;
}

void
mely_stats_free(struct mely_stats *stats)
{
	free(stats);
}
