/* SPDX-License-Identifier: MIT */
/*
 * spare.c: a core that frees events keeps what the next burst may need, and a core that sleeps
 * gives nothing back. So the monitor checks whether events were freed, as often as it checks for
 * stalls. If so, it checks every second, also while all cores sleep. As soon as a second has passed
 * without any, it trims; from then on it rests with the cores, so that an idle program makes no
 * system calls.
 */
#include "look/watchdog/spare.h"

#ifndef MELYINT_SIM
#include <errno.h>
#include <stdlib.h>

#include "look/watchdog/monitor.h"
#include "queue/eventmem.h"

#define QUIET_NS 1000000000ull
#define MS 1000000ull

/* The monitor's thread. */
struct melyint_spare {
	struct melyint_step step;
	struct mely_runtime *rt; /* constant */
	uint64_t period_ns; /* while the cores are awake; constant */
	uint64_t seen;      /* melyint_events_freed ... */
	uint64_t seen_ns;   /* ... and when it rose to that */
	uint64_t trimmed;   /* ... at the last trim */
};

static uint64_t
look(struct melyint_step *step, uint64_t now_ns)
{
	struct melyint_spare *spare = MELY_CONTAINER_OF(step, struct melyint_spare, step);
	uint64_t freed = melyint_events_freed();

	/* The monitor may call it earlier than it has asked for. */
	if (freed != spare->seen) {
		spare->seen_ns = now_ns;
	} else if (freed != spare->trimmed && now_ns - spare->seen_ns >= QUIET_NS) {
		(void)melyint_depot_trim(&spare->rt->depot);
		freed = spare->trimmed = melyint_events_freed();
	}
	spare->seen = freed;
	step->while_awake = freed == spare->trimmed;
	return now_ns + (step->while_awake ? spare->period_ns : QUIET_NS);
}

static int
add(struct mely_runtime *rt)
{
	rt->look.spare->step = (struct melyint_step){.look = look, .fd = -1, .while_awake = true};
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
	/* As long as that of stall.c, so that the monitor wakes no more often. */
	rt->look.spare->period_ns = (rt->config.stall_ms > 20 ? rt->config.stall_ms : 20) * MS / 4;
	return add(rt);
}

void
melyint_spare_free(struct mely_runtime *rt)
{
	free(rt->look.spare);
	rt->look.spare = NULL;
}

int
melyint_spare_renew(struct mely_runtime *rt)
{
	return rt->look.spare != NULL ? add(rt) : 0;
}
#endif
