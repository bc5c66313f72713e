/* SPDX-License-Identifier: MIT */
/*
 * dump.c: a text for people about each core and each color with events, made from one snapshot
 * (mely_stats_take) without a lock.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <mely/stats.h>

#include "base/text.h"
#include "look/live/private.h"

/* A duration with three digits and a unit. */
struct spell {
	char text[24];
};

static struct spell
spell(uint64_t ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	struct spell s;
	double value = (double)ns;
	int unit = 0;

	for (; value >= 999.5 && unit < 3; unit++)
		value /= 1000;
	snprintf(s.text, sizeof s.text, "%.*f %s",
	    unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, value, units[unit]);
	return s;
}

/* A name that the program chose, on one line whatever is in it. */
static void
add_name(struct melyint_text *text, const char *name)
{
	for (; *name != '\0'; name++)
		melyint_text_add(text, "%c", (unsigned char)*name < ' ' || *name == 0x7f ? '?' :
		    *name);
}

/* "color 7 (connection)", or the address of an object. */
static void
add_color(struct melyint_text *text, const struct mely_stats *stats, uint32_t kind, uint32_t id,
    uint64_t object, uint64_t name_at)
{
	if (kind == MELY_STATS_COLOR_OBJECT)
		melyint_text_add(text, "color object 0x%llx", (unsigned long long)object);
	else
		melyint_text_add(text, "color %lu", (unsigned long)id);
	if (name_at != 0) {
		melyint_text_add(text, " (");
		add_name(text, mely_stats_name(stats, name_at));
		melyint_text_add(text, ")");
	}
}

static void
add_handler(struct melyint_text *text, const struct mely_stats *stats, uint32_t number)
{
	const struct mely_stats_handler *handler = mely_stats_handler_numbered(stats, number);

	add_name(text, handler != NULL ? mely_stats_name(stats, handler->name_at) :
	    "an unknown handler");
}

static void
add_core(struct melyint_text *text, const struct mely_stats *stats,
    const struct mely_stats_core *core)
{
	static const char *const doing[] = {"not run by a thread", "between two handlers",
	    "searching for work", "polling", "asleep"};

	melyint_text_add(text, "core %lu: ", (unsigned long)core->index);
	if (core->doing == MELY_STATS_BUSY && core->color_kind != MELY_STATS_NO_COLOR) {
		melyint_text_add(text, "runs ");
		add_handler(text, stats, core->handler);
		melyint_text_add(text, " of ");
		add_color(text, stats, core->color_kind, core->color_id, core->color_object,
		    core->color_name_at);
		/* In a batch of one event this is the time of the handler. */
		melyint_text_add(text, ", for %s", spell(core->running_ns).text);
		if (core->events_in_batch > 1)
			melyint_text_add(text, " with the %llu events before it",
			    (unsigned long long)core->events_in_batch - 1);
	} else {
		melyint_text_add(text, "%s", doing[core->doing < 5 ? core->doing : 0]);
	}
	melyint_text_add(text, "; %lu color%s waiting\n", (unsigned long)core->colors_waiting,
	    core->colors_waiting == 1 ? "" : "s");
}

static void
add_color_row(struct melyint_text *text, const struct mely_stats *stats,
    const struct mely_stats_color *color)
{
	bool at_least = color->flags & MELY_STATS_LENGTH_AT_LEAST;

	melyint_text_add(text, "  ");
	add_color(text, stats, color->kind, color->id, color->object, color->name_at);
	melyint_text_add(text, ": core %lu", (unsigned long)color->owner);
	if (color->length > 0 || !at_least)
		melyint_text_add(text, ", %s%llu event%s waiting", at_least ? "at least " : "",
		    (unsigned long long)color->length, color->length == 1 ? "" : "s");
	if (color->length > 0) {
		melyint_text_add(text, ", the oldest for %s%s",
		    color->flags & MELY_STATS_AGE_AT_LEAST ? "at least " : "",
		    spell(color->oldest_ns).text);
		if (mely_stats_handler_numbered(stats, color->handler) != NULL) {
			melyint_text_add(text, ", first ");
			add_handler(text, stats, color->handler);
		}
	}
	melyint_text_add(text, "%s%s\n",
	    color->flags & MELY_STATS_COLOR_RUNNING ? ", runs" : "",
	    color->flags & MELY_STATS_COLOR_PINNED ? ", pinned" : "");
}

int
melyint_dump_text(struct mely_runtime *rt, struct melyint_text *text)
{
	struct mely_stats *stats;
	uint64_t left;
	uint32_t i;
	int error = mely_stats_take(rt, MELY_STATS_BY_AGE, MELYINT_DUMP_COLORS, &stats);

	if (error != 0)
		return error;
	melyint_text_add(text, "mely %s, process %lu (", mely_stats_name(stats, stats->version_at),
	    (unsigned long)stats->pid);
	add_name(text, mely_stats_name(stats, stats->program_at));
	melyint_text_add(text, "): %lu core%s, runtime made %s ago\n",
	    (unsigned long)stats->cores_count, stats->cores_count == 1 ? "" : "s",
	    spell(stats->taken_ns - stats->made_ns).text);
	for (i = 0; i < stats->cores_count; i++)
		add_core(text, stats, mely_stats_core_row(stats, i));
	melyint_text_add(text, "%llu color%s with events or running%s\n",
	    (unsigned long long)stats->colors_found, stats->colors_found == 1 ? "" : "s",
	    stats->colors_count > 0 ? ", oldest first:" : "");
	for (i = 0; i < stats->colors_count; i++)
		add_color_row(text, stats, mely_stats_color_row(stats, i));
	left = stats->colors_found - stats->colors_count;
	if (stats->colors_found > stats->colors_count)
		melyint_text_add(text, "  and %llu more\n", (unsigned long long)left);
	mely_stats_free(stats);
	return text->failed ? -ENOMEM : 0;
}

int
melyint_dump(struct mely_runtime *rt, int fd, uint64_t patience_ns)
{
	struct melyint_text text = {0};
	int error;

	error = melyint_dump_text(rt, &text);
	if (error == 0)
		error = melyint_put(text.data, text.length, fd, patience_ns);
	free(text.data);
	return error;
}
