/* SPDX-License-Identifier: MIT */
/*
 * Fault: the first handler that needs a table makes it, in any color.
 * Twin: main makes the table before it posts the first event.
 * expect: on_use on_use squares
 */
#include "fault.h"

enum { COLORS = 4, SQUARES = 10 };

static int *squares;
static int used[COLORS];

static void
make_table(void)
{
	int *table, i;

	if (squares != NULL)
		return;
	table = malloc(SQUARES * sizeof *table);
	if (table == NULL)
		exit(2);
	for (i = 0; i < SQUARES; i++)
		table[i] = i * i;
	squares = table;
}

static void
on_use(void *arg)
{
	int *mine = arg;

	make_table();
	*mine = squares[SQUARES - 1];
	done();
}

static struct mely_handler use = MELY_HANDLER(on_use);

int
main(void)
{
	uint32_t i;

	begin(COLORS);
#ifdef FIXED
	make_table();
#endif
	for (i = 0; i < COLORS; i++)
		MUST(mely_post(color(i + 1, "user"), &use, &used[i]));
	run();
	free(squares);
	return 0;
}
