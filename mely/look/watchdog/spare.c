/* SPDX-License-Identifier: MIT */
/*
 * spare.c: memory that was used once and is not any more goes back to the system by itself. The
 * cores give nothing back: they keep what the next burst may need, and one that sleeps does
 * nothing.
 *
 * NOTE(spare)
 *   A. Events. The monitor checks whether events were freed, as often as it checks for stalls. As
 *      soon as a second has passed without any, it trims the depot.
 *   B. Colors by id. It surveys for colors that no post has used since the last survey
 *      (color/trim.h), and gives them back. Surveys are a second apart, more where one takes
 *      longer than a hundredth of that, up to four: so a color goes within ten seconds.
 *   C. Slots of watchers. What has been free for a second goes (io/slotmem.h).
 *   D. Less than WORTH is left alone. Nothing waits here: a grace period that has not passed is
 *      asked for again a little later, and what takes long is done in slices.
 *   E. While there is more to give back, this goes on while all cores sleep, too. Then it rests
 *      with them, so that an idle program makes no system calls.
 */
#include "look/watchdog/spare.h"

#ifndef MELYINT_SIM
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/pages.h"
#include "color/trim.h"
#include "core/grace.h"
#include "io/state.h"
#include "look/watchdog/monitor.h"
#include "queue/eventmem.h"

#define MS 1000000ull
#define QUIET_NS (1000 * MS)
#define SURVEY_MAX_NS (4000 * MS)
#define GRACE_NS MS

enum {
	REST = 0,             /* how long to wait: with the cores */
	SLICE = 16,           /* chunks of colors */
	WORTH = MELYINT_BLOCK
};

enum stage { QUIET, SURVEY, TRIM, GRACE, GIVE_BACK };

struct spare_events {
	uint64_t seen;      /* melyint_events_freed ... */
	uint64_t seen_ns;   /* ... and when it rose to that */
	uint64_t trimmed;   /* ... at the last trim */
};

struct spare_ids {
	enum stage stage;   /* QUIET, SURVEY, TRIM */
	uint64_t due_ns;    /* the next survey */
	uint64_t began_ns;  /* the last one */
	struct melyint_survey survey;
	struct melyint_trim trim;
};

struct spare_slots {
	enum stage stage;   /* QUIET, GRACE, GIVE_BACK */
	uint64_t due_ns;    /* when to ask again what is free */
	struct melyint_grace grace;
};

/* The monitor's thread. */
struct melyint_spare {
	struct melyint_step step;
	struct mely_runtime *rt; /* constant */
	uint64_t period_ns; /* while the cores are awake; constant */
	struct spare_events events;
	struct spare_ids ids;
	struct spare_slots slots;
};

/* ---- each returns the time until its next step; REST: nothing is left to do ------------------ */

/* A of NOTE(spare). The monitor may call it earlier than it has asked for. */
static uint64_t
look_events(struct mely_runtime *rt, struct spare_events *events, uint64_t now_ns)
{
	uint64_t freed = melyint_events_freed();

	if (freed != events->seen) {
		events->seen_ns = now_ns;
	} else if (freed != events->trimmed && now_ns - events->seen_ns >= QUIET_NS) {
		(void)melyint_depot_trim(&rt->depot);
		freed = events->trimmed = melyint_events_freed();
	}
	events->seen = freed;
	return freed == events->trimmed ? REST : QUIET_NS;
}

/* A survey has ended. False: another one would find the same, unless a core wakes up. */
static bool
surveyed(struct mely_runtime *rt, struct spare_ids *ids)
{
	uint64_t now_ns = melyint_now_ns(), pause_ns = (now_ns - ids->began_ns) * 100;

	if (pause_ns < QUIET_NS)
		pause_ns = QUIET_NS;
	else if (pause_ns > SURVEY_MAX_NS)
		pause_ns = SURVEY_MAX_NS;
	ids->due_ns = now_ns + pause_ns;
	ids->stage = QUIET;
	if (ids->survey.unused >= WORTH) {
		melyint_trim_begin(&ids->trim, rt, true, SLICE);
		ids->stage = TRIM;
		return true;
	}
	return ids->survey.fresh != 0;
}

/* B of NOTE(spare) */
static uint64_t
look_ids(struct mely_runtime *rt, struct spare_ids *ids, uint64_t now_ns)
{
	enum melyint_trim_left left;

	if (ids->stage == TRIM) {
		left = melyint_trim_step(&ids->trim);
		if (left == MELYINT_TRIM_OVER)
			ids->stage = QUIET;
		return left == MELYINT_TRIM_WAITS ? GRACE_NS : 1;
	}
	if (ids->stage == QUIET) {
		if (melyint_colortab_bytes(rt->colors) < 2 * WORTH)
			return REST;
		if (now_ns < ids->due_ns)
			return ids->due_ns - now_ns;
		ids->survey = (struct melyint_survey){0};
		ids->began_ns = now_ns;
		ids->stage = SURVEY;
	}
	if (melyint_survey_step(rt->colors, &ids->survey, SLICE))
		return 1;
	return surveyed(rt, ids) ? 1 : REST;
}

/* C of NOTE(spare) */
static uint64_t
look_slots(struct mely_runtime *rt, struct spare_slots *slots, uint64_t now_ns)
{
	size_t idle_bytes;

	if (slots->stage == GRACE) {
		if (!melyint_grace_passed(rt, &slots->grace, &rt->io->readers))
			return GRACE_NS;
		slots->stage = GIVE_BACK;
	}
	if (slots->stage == GIVE_BACK) {
		if (!melyint_slots_give_back(&rt->io->slots))
			slots->stage = QUIET;
		return 1;
	}
	if (melyint_slots_free_bytes(&rt->io->slots) < WORTH)
		return REST;
	if (now_ns < slots->due_ns)
		return slots->due_ns - now_ns;
	slots->due_ns = now_ns + QUIET_NS;
	idle_bytes = melyint_slots_idle_bytes(&rt->io->slots);
	if (idle_bytes < WORTH)
		return QUIET_NS;
	melyint_slots_detach(&rt->io->slots, idle_bytes);
	slots->grace = (struct melyint_grace){0};
	slots->stage = GRACE;
	return 1;
}

/* ---- the step -------------------------------------------------------------------------------- */

static uint64_t
look(struct melyint_step *step, uint64_t now_ns)
{
	struct melyint_spare *spare = MELY_CONTAINER_OF(step, struct melyint_spare, step);
	const uint64_t waits_ns[] = {
		look_events(spare->rt, &spare->events, now_ns),
		look_ids(spare->rt, &spare->ids, now_ns),
		look_slots(spare->rt, &spare->slots, now_ns),
	};
	uint64_t least_ns = UINT64_MAX;
	size_t i;

	for (i = 0; i < sizeof waits_ns / sizeof waits_ns[0]; i++)
		if (waits_ns[i] != REST && waits_ns[i] < least_ns)
			least_ns = waits_ns[i];
	step->while_awake = least_ns == UINT64_MAX; /* E of NOTE(spare) */
	return now_ns + (step->while_awake ? spare->period_ns : least_ns);
}

/* ---- life ------------------------------------------------------------------------------------ */

static int
add(struct mely_runtime *rt)
{
	rt->look.spare->step = (struct melyint_step){.look = look, .fd = -1,
	    .while_awake = true, .afterwards = true};
	return melyint_monitor_add(rt, &rt->look.spare->step);
}

int
melyint_spare_new(struct mely_runtime *rt)
{
	/* A program that wants no reports wants no thread for this either. */
	if (rt->config.stall_ms == 0)
		return 0;
	rt->look.spare = calloc(1, sizeof *rt->look.spare);
	if (rt->look.spare == NULL)
		return -ENOMEM;
	rt->look.spare->rt = rt;
	/* As long as that of stall.c, so that the monitor wakes no more often; but a limit of an
	 * hour must not keep a burst for as long. */
	rt->look.spare->period_ns = (rt->config.stall_ms > 20 ? rt->config.stall_ms : 20) * MS / 4;
	if (rt->look.spare->period_ns > QUIET_NS)
		rt->look.spare->period_ns = QUIET_NS;
	return add(rt);
}

/* No thread looks any more. */
static void
abandon(struct melyint_spare *spare)
{
	if (spare->ids.stage == TRIM)
		melyint_trim_abandon(&spare->ids.trim);
	spare->ids = (struct spare_ids){.stage = QUIET};
	spare->slots = (struct spare_slots){.stage = QUIET};
}

void
melyint_spare_free(struct mely_runtime *rt)
{
	if (rt->look.spare != NULL)
		abandon(rt->look.spare);
	free(rt->look.spare);
	rt->look.spare = NULL;
}

int
melyint_spare_renew(struct mely_runtime *rt)
{
	if (rt->look.spare == NULL)
		return 0;
	abandon(rt->look.spare);
	return add(rt);
}
#endif
