/* SPDX-License-Identifier: MIT */
/*
 * age.c: report queues in which events wait for too long.
 *
 * NOTE(age)
 *   A. Each event that waits has a stamp (NOTE(tally)). The monitor reads the stamp of the first
 *      event of the colors at the front of each core's queue, a few dozen of them, under the core's
 *      lock. Colors come to the front in turn, so none is overlooked for long, unless nothing
 *      moves: then those in front have waited longest.
 *   B. No other thread may read a batch that a core has taken, and a color that has the core to
 *      itself is hardly ever in the queue. So the core itself reports an event that has waited for
 *      too long, among those whose delay it measures anyway.
 *   C. Then the monitor asks the core to count the events of its batch and its queue, which the
 *      core does between two batches. If it has not done so after ANSWER_NS, a handler runs for
 *      long: the monitor counts the queue itself, without the events of the batch.
 *   D. Counting a queue holds the core's lock, so it ends at COUNTED_MAX events.
 */
#include "look/watchdog/age.h"

#ifndef MELYINT_SIM
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "core/handlers.h"
#include "look/watchdog/monitor.h"
#include "look/report.h"
#include "sched/waiting.h"

/* aging->stage */
enum { NONE, WANTED, COUNTED };

enum {
	MS = 1000000,
	PERIOD_MIN_NS = 5 * MS,
	ANSWER_NS = 250 * MS,
	COUNTED_MAX = 2048,
	SHOWN = 5            /* handlers */
};

#define AGAIN_NS 10000000000u /* until the same core is reported again */

/* ---- counting: C and D of NOTE(age) ---------------------------------------------------------- */

struct count {
	struct melyint_census *census;
	bool stopped;    /* before the last event */
};

static void
enter(struct melyint_census *census, uint32_t handler)
{
	uint32_t i;

	census->events++;
	for (i = 0; i < census->used && census->rows[i].handler != handler; i++)
		;
	if (i == MELYINT_CENSUS_ROWS) {
		census->others++;
		return;
	}
	if (i == census->used) {
		census->used++;
		census->rows[i].handler = handler;
		census->rows[i].events = 0;
	}
	census->rows[i].events++;
}

static bool
count_one(void *ctx, struct mely_event *ev)
{
	struct count *count = ctx;

	if (count->census->events == COUNTED_MAX) {
		count->stopped = true;
		return false;
	}
	enter(count->census, melyint_handler_number(ev->_handler));
	return true;
}

static void
count_queue(struct melyint_core *core, struct melyint_census *census)
{
	struct count count = {.census = census};

	melyint_lock_take(&core->lock);
	melyint_waiting_each(core, count_one, &count);
	melyint_lock_drop(&core->lock);
	census->more = census->more || count.stopped;
}

void
melyint_age_count_slow(struct melyint_core *core)
{
	struct melyint_aging *aging = core->fixed.aging;
	struct count count = {.census = &aging->census};
	struct melyint_batch *batch = &core->batch;

	/* acquire: pairs with the release in ask: the monitor does not use the census */
	if (MELY_LOAD(&aging->stage, acquire) != WANTED)
		return;
	memset(&aging->census, 0, sizeof aging->census);
	if (batch->color != NULL) {
		(void)melyint_waiting_walk(batch->heads, count_one, &count);
		(void)melyint_waiting_walk(batch->tails, count_one, &count);
		(void)melyint_waiting_walk(batch->own, count_one, &count);
	}
	aging->census.more = count.stopped;
	count_queue(core, &aging->census);
	/* release: pairs with the acquire in look_at */
	MELY_STORE(&aging->stage, COUNTED, release);
}

/* ---- B of NOTE(age) -------------------------------------------------------------------------- */

void
melyint_age_saw_slow(struct melyint_core *core, uint64_t stamp_ticks)
{
	const struct mely_runtime *rt = core->rt;
	struct melyint_aging *aging = core->fixed.aging;
	uint64_t now = melyint_ticks(), since = rt->look.aging_from_ticks;

	/* An event posted before the run has waited since the run began. */
	since = stamp_ticks > since ? stamp_ticks : since;
	if (now < since || now - since < rt->look.aging_ticks)
		return;
	/* relaxed, both: the monitor sees a new count soon, and then any of the times */
	MELY_STORE(&aging->late_ticks, now - since, relaxed);
	MELY_COUNT(&aging->lates, 1);
}

/* ---- the monitor's --------------------------------------------------------------------------- */

/* What the monitor knows of a core. */
struct known {
	uint32_t lates;      /* of the core, as last seen */
	uint64_t asked_ns;   /* since then the core has to count; 0: it has not */
	uint64_t late_ticks; /* the delay to report */
	uint64_t told_ns;    /* the last report; 0: none */
};

struct melyint_ages {
	struct melyint_step step;
	struct mely_runtime *rt;
	struct melyint_rate rate;
	struct melyint_aging *agings; /* by core */
	struct known *known;          /* by core */
};

/* How long an event has waited there; 0: none for too long. */
static uint64_t
late_ticks(struct melyint_core *core, struct known *known)
{
	const struct mely_runtime *rt = core->rt;
	uint64_t now = melyint_ticks(), since = now;
	/* relaxed, both: as in melyint_age_saw_slow */
	uint32_t lates = MELY_LOAD(&core->fixed.aging->lates, relaxed);
	uint64_t ticks = 0;

	if (lates != known->lates)
		ticks = MELY_LOAD(&core->fixed.aging->late_ticks, relaxed);
	known->lates = lates;
	if (MELY_LOAD(&core->hint.waiting, relaxed) != 0) { /* a hint */
		melyint_lock_take(&core->lock);
		since = melyint_waiting_oldest(core, now);
		melyint_lock_drop(&core->lock);
	}
	since = since > rt->look.aging_from_ticks ? since : rt->look.aging_from_ticks;
	if (now > since && now - since >= rt->look.aging_ticks && now - since > ticks)
		ticks = now - since;
	return ticks;
}

static void
add_rows(struct melyint_line *line, struct melyint_census *census)
{
	uint32_t shown, i;

	for (shown = 0; shown < SHOWN && shown < census->used; shown++) {
		uint32_t most = 0;
		const char *name;

		for (i = 1; i < census->used; i++)
			if (census->rows[i].events > census->rows[most].events)
				most = i;
		if (census->rows[most].events == 0)
			break;
		name = melyint_handler_name(census->rows[most].handler);
		melyint_line_add(line, "%s%s ", shown == 0 ? ": " : ", ",
		    name != NULL ? name : "(unknown)");
		melyint_line_number(line, census->rows[most].events);
		census->rows[most].events = 0;
	}
	if (census->used > SHOWN)
		melyint_line_add(line, " (of %u handlers%s)", census->used,
		    census->others != 0 ? " and more" : "");
}

static void
report(struct melyint_ages *ages, struct melyint_core *core, uint64_t ticks,
    struct melyint_census *census, bool by_core)
{
	struct melyint_line line = {0};

	melyint_line_add(&line, "core %d: an event has waited for ", core->index);
	melyint_line_number(&line, melyint_ticks_to_ns(ticks) / MS);
	melyint_line_add(&line, " ms; %s", census->more ? "more than " : "");
	melyint_line_number(&line, census->events);
	melyint_line_add(&line, " queued");
	if (census->more) {
		melyint_line_add(&line, ", of the first ");
		melyint_line_number(&line, census->events);
	}
	add_rows(&line, census);
	if (!by_core)
		melyint_line_add(&line, "; without the color that runs");
	melyint_rate_add(&ages->rate, &line, "reports of queues");
	melyint_report(ages->rt, &line);
}

/* A census is under way: report it, or, if not wait, make it without the core. */
static void
collect(struct melyint_ages *ages, struct melyint_core *core, struct known *known, bool wait)
{
	struct melyint_aging *aging = core->fixed.aging;
	struct melyint_census own = {0};
	int wanted = WANTED;

	/* acquire: pairs with the release in melyint_age_count_slow */
	if (MELY_LOAD(&aging->stage, acquire) == COUNTED) {
		report(ages, core, known->late_ticks, &aging->census, true);
		/* release: pairs with the acquire in melyint_age_count_slow */
		MELY_STORE(&aging->stage, NONE, release);
	} else if (wait) {
		return;
	} else if (MELY_CAS(&aging->stage, &wanted, NONE, relaxed)) { /* publishes nothing */
		count_queue(core, &own);
		report(ages, core, known->late_ticks, &own, false);
	}
	known->asked_ns = 0;
}

static void
look_at(struct melyint_ages *ages, struct melyint_core *core, struct known *known,
    uint64_t now_ns)
{
	uint64_t ticks;

	if (known->asked_ns != 0) {
		collect(ages, core, known, now_ns - known->asked_ns < ANSWER_NS);
		return;
	}
	ticks = late_ticks(core, known);
	if (ticks == 0 || (known->told_ns != 0 && now_ns - known->told_ns < AGAIN_NS) ||
	    !melyint_rate_allows(&ages->rate, now_ns))
		return;
	known->told_ns = known->asked_ns = now_ns;
	known->late_ticks = ticks;
	/* release: pairs with the acquire in melyint_age_count_slow */
	MELY_STORE(&core->fixed.aging->stage, WANTED, release);
}

static uint64_t
look(struct melyint_step *step, uint64_t now_ns)
{
	struct melyint_ages *ages = MELY_CONTAINER_OF(step, struct melyint_ages, step);
	uint64_t period_ns = ages->rt->config.age_ms * (uint64_t)MS / 4;
	int i;

	for (i = 0; i < ages->rt->cores_count; i++)
		look_at(ages, &ages->rt->cores[i], &ages->known[i], now_ns);
	return now_ns + (period_ns > PERIOD_MIN_NS ? period_ns : PERIOD_MIN_NS);
}

/* ---- life ------------------------------------------------------------------------------------ */

static int
add(struct mely_runtime *rt)
{
	rt->look.ages->step = (struct melyint_step){.look = look, .fd = -1, .while_awake = true};
	return melyint_monitor_add(rt, &rt->look.ages->step);
}

int
melyint_age_new(struct mely_runtime *rt)
{
	size_t n = (size_t)rt->cores_count, i;
	struct melyint_ages *ages;

	if (rt->config.age_ms == 0)
		return 0;
	ages = calloc(1, sizeof *ages);
	if (ages == NULL)
		return -ENOMEM;
	rt->look.ages = ages;
	ages->rt = rt;
	ages->agings = calloc(n, sizeof ages->agings[0]);
	ages->known = calloc(n, sizeof ages->known[0]);
	if (ages->agings == NULL || ages->known == NULL)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		rt->cores[i].fixed.aging = &ages->agings[i];
	rt->look.aging_ticks = melyint_ns_to_ticks(rt->config.age_ms * (uint64_t)MS);
	return add(rt);
}

void
melyint_age_free(struct mely_runtime *rt)
{
	struct melyint_ages *ages = rt->look.ages;

	if (ages == NULL)
		return;
	free(ages->agings);
	free(ages->known);
	free(ages);
	rt->look.ages = NULL;
}

int
melyint_age_renew(struct mely_runtime *rt)
{
	struct melyint_ages *ages = rt->look.ages;

	if (ages == NULL)
		return 0;
	memset(ages->agings, 0, (size_t)rt->cores_count * sizeof ages->agings[0]);
	memset(ages->known, 0, (size_t)rt->cores_count * sizeof ages->known[0]);
	return add(rt);
}

void
melyint_age_begin(struct mely_runtime *rt)
{
	rt->look.aging_from_ticks = melyint_ticks();
}

void
melyint_age_end(struct mely_runtime *rt)
{
	struct melyint_line line = {0};
	int i;

	if (rt->look.ages == NULL)
		return;
	for (i = 0; i < rt->cores_count; i++) {
		if (rt->look.ages->known[i].asked_ns != 0)
			collect(rt->look.ages, &rt->cores[i], &rt->look.ages->known[i], false);
		rt->look.ages->known[i].lates =
		    MELY_LOAD(&rt->cores[i].fixed.aging->lates, relaxed);
	}
	melyint_rate_add(&rt->look.ages->rate, &line, "reports of queues");
	if (line.used != 0)
		melyint_report(rt, &line);
}
#endif
