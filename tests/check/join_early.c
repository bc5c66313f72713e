/* SPDX-License-Identifier: MIT */
/*
 * Fault: a worker reports to the join counter before it writes its part; the joined event adds up
 * parts that the workers still write.
 * Twin: the worker writes its part first, then reports.
 * expect: on_part on_total parts
 */
#include "fault.h"

enum { WORKERS = 4 };

static long parts[WORKERS];
static long total;
static struct mely_join all;

static void
on_part(void *arg)
{
	long *part = arg;

#ifdef FIXED
	*part = 5;
#endif
	if (mely_join_done(&all) < 0)
		exit(2);
#ifndef FIXED
	*part = 5;
#endif
}

static void
on_total(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < WORKERS; i++)
		total += parts[i];
	done();
}

static struct mely_handler one_part = MELY_HANDLER(on_part);
static struct mely_handler add_up = MELY_HANDLER(on_total);

int
main(void)
{
	struct mely_event sum = MELY_EVENT(&add_up, NULL);
	uint32_t i;

	begin(1);
	MUST(mely_join_init(&all, WORKERS, color(10, "total"), &sum));
	for (i = 0; i < WORKERS; i++)
		MUST(mely_post(color(20 + i, "worker"), &one_part, &parts[i]));
	return run();
}
