/* SPDX-License-Identifier: MIT */
/*
 * timers.c: a one-shot timer, a repeating one that its own handler stops, and an idle time limit,
 * which is moved to a later time before it is due. All have one color, so there are no locks.
 */
#include <stdio.h>
#include <mely/mely.h>

#define MILLISECONDS UINT64_C(1000000)

static struct mely_runtime *rt;
static struct mely_color *color;
static mely_watch tick_timer, limit_timer;
static int ticks;

static void
on_limit(void *arg)
{
	(void)arg;
	printf("nothing has happened for 30 ms: stop\n");
	mely_stop(rt, MELY_STOP_DRAIN);
}

static void
on_tick(void *arg)
{
	(void)arg;
	printf("tick %d\n", ++ticks);
	/* Something happened: restart the limit. */
	mely_timer_again(rt, limit_timer, 30 * MILLISECONDS, 0);
	if (ticks == 3)
		mely_watch_stop(rt, tick_timer, NULL, NULL);
}

static void
on_start(void *arg)
{
	printf("%s\n", (const char *)arg);
}

static struct mely_handler limit = MELY_HANDLER(on_limit);
static struct mely_handler tick = MELY_HANDLER(on_tick);
static struct mely_handler start = MELY_HANDLER(on_start);

int
main(void)
{
	static char text[] = "one millisecond has passed";
	mely_watch once;

	if (mely_runtime_new(&rt, NULL) != 0 || mely_color_of_id(rt, 1, &color) != 0)
		return 1;
	if (mely_timer_start(color, 1 * MILLISECONDS, 0, 0, &start, text, &once) != 0 ||
	    mely_timer_start(color, 10 * MILLISECONDS, 10 * MILLISECONDS, 0, &tick, NULL,
	    &tick_timer) != 0 ||
	    mely_timer_start(color, 3600 * 1000 * MILLISECONDS, 0, 0, &limit, NULL,
	    &limit_timer) != 0)
		return 1;
	if (mely_run(rt) != 0)
		return 1;
	return mely_runtime_free(rt);
}
