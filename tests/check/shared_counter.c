/* SPDX-License-Identifier: MIT */
/*
 * Fault: events of two colors increment one global counter, as if each color were a lock for it.
 * Twin: all events have the same color.
 * expect: on_apple on_pear fruits
 */
#include "fault.h"

enum { EVENTS = 50 };

static int fruits;
static int left[2] = {EVENTS, EVENTS};

static void
on_apple(void *arg)
{
	(void)arg;
	fruits++;
	if (--left[0] == 0)
		done();
}

static void
on_pear(void *arg)
{
	(void)arg;
	fruits++;
	if (--left[1] == 0)
		done();
}

static struct mely_handler apple = MELY_HANDLER(on_apple);
static struct mely_handler pear = MELY_HANDLER(on_pear);

int
main(void)
{
	struct mely_color *apples, *pears;
	int i;

	begin(2);
	apples = color(1, "apples");
#ifdef FIXED
	pears = apples;
#else
	pears = color(2, "pears");
#endif
	for (i = 0; i < EVENTS; i++) {
		MUST(mely_post(apples, &apple, NULL));
		MUST(mely_post(pears, &pear, NULL));
	}
	return run();
}
