/* SPDX-License-Identifier: MIT */
/*
 * mely_workers.cc: the number of workers of a program of dialect "mely", and their assigned colors.
 * Sections 0.2 and 0.5 of the facts.
 */
#define NB_THREADS 3
#include "mely.h"

#include "facts.h"

/* Indexed by get_current_proc, as in programs. */
static int events[MAX_THREADS];
static int left;

static void
count_here(int worker)
{
	FACT_EQ(get_current_proc(), worker);
	events[get_current_proc()]++;
	if (facts_add(&left, -1) > 0)
		return;
	FACT(events[0] == 1 && events[1] == 1 && events[2] == 1);
	FACTS_END();
}

/* The number compiled in overrides the environment. */
static void
as_compiled()
{
	int i;

	FACT_EQ(task_get_nthreads(), NB_THREADS);
	left = NB_THREADS;
	for (i = 0; i < NB_THREADS; i++)
		cpucb_tail(cwrap(count_here, i, -(i + 1)));
	amain();
}

static void
is_at_home(int color)
{
	FACT_EQ(get_current_color(), color);
	FACT_EQ(get_current_proc(), color % task_get_nthreads());
	if (facts_add(&left, -1) == 0)
		FACTS_END();
}

/* The worker where a color starts; a thief may move it. */
static void
begins_at_home()
{
	int color;

	if (getenv("MELY_STEAL") == NULL) {
		setenv("MELY_STEAL", "0", 1);
		execl("/proc/self/exe", "facts", "begins_at_home", (char *)NULL);
		_exit(98);
	}
	left = 100;
	for (color = 0; color < 100; color++)
		cpucb_tail(cwrap(is_at_home, color, color));
	amain();
}

static const struct fact facts[] = {
	CASE(as_compiled),
	CASE_ON(2, begins_at_home),
};

FACTS_MAIN(facts)
