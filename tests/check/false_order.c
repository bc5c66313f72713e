/* SPDX-License-Identifier: MIT */
/*
 * Fault: two colors write one log. Between their accesses both post to the same third color: both
 * take and release the lock of its queue, but that orders neither.
 * Twin: the log belongs to the third color, and the posts carry the entries.
 * expect: on_first on_second entries
 */
#include "fault.h"

static int entries;
static struct mely_color *first, *second, *third;

static void
on_entry(void *arg)
{
	(void)arg;
#ifdef FIXED
	entries++;
#endif
}

static struct mely_handler entry = MELY_HANDLER(on_entry);

static void
on_first(void *arg)
{
	(void)arg;
#ifndef FIXED
	entries++;
#endif
	MUST(mely_post(third, &entry, NULL));
	take_turn(1);
	done();
}

static void on_second(void *arg);
static struct mely_handler second_entry = MELY_HANDLER(on_second);
static struct mely_handler first_entry = MELY_HANDLER(on_first);

static void
on_second(void *arg)
{
	int late = my_turn(1);

	(void)arg;
	MUST(mely_post(third, &entry, NULL));
	if (!late) {
		MUST(mely_post(second, &second_entry, NULL));
		return;
	}
#ifndef FIXED
	entries++;
#endif
	done();
}

int
main(void)
{
	begin(2);
	first = color(1, "first");
	second = color(2, "second");
	third = color(3, "log");
	MUST(mely_post(first, &first_entry, NULL));
	MUST(mely_post(second, &second_entry, NULL));
	return run();
}
