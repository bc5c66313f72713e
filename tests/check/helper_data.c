/* SPDX-License-Identifier: MIT */
/*
 * Fault: a helper thread (mely_work) sums up the numbers of a color while the color still adds
 * numbers.
 * Twin: the helper gets a copy.
 * expect: on_add sum_up table
 */
#include "fault.h"

struct numbers {
	int n[16];
	int sum;
};

static struct numbers table;
static struct mely_color *owner;

static void
sum_up(void *arg)
{
	struct numbers *numbers = arg;
	int i, sum = 0;

	for (i = 0; i < 16; i++)
		sum += numbers->n[i];
	numbers->sum = sum;
}

static void
on_sum(void *arg)
{
#ifdef FIXED
	free(arg);
#else
	(void)arg;
#endif
	done();
}

static struct mely_handler summed = MELY_HANDLER(on_sum);

static void
on_add(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 16; i++)
		table.n[i]++;
}

static struct mely_handler add = MELY_HANDLER(on_add);

static void
on_start(void *arg)
{
	struct numbers *numbers = &table;

	(void)arg;
#ifdef FIXED
	numbers = malloc(sizeof *numbers);
	if (numbers == NULL)
		exit(2);
	*numbers = table;
#endif
	MUST(mely_work(owner, MELY_WORK_USER, sum_up, &summed, numbers, NULL));
	MUST(mely_post(owner, &add, NULL));
}

static struct mely_handler start = MELY_HANDLER(on_start);

int
main(void)
{
	begin(1);
	owner = color(3, "owner");
	MUST(mely_post(owner, &start, NULL));
	return run();
}
