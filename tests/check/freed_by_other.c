/* SPDX-License-Identifier: MIT */
/*
 * Fault: two colors share a line of text; the color that prints it frees it, though the other
 * may still count its letters.
 * Twin: a join counter finds the last of the two, which frees it.
 * expect: on_print on_count heap
 */
#include "fault.h"

static size_t letters, printed;
static struct mely_join both;

static void
on_free(void *arg)
{
	free(arg);
	done();
}

static struct mely_handler free_it = MELY_HANDLER(on_free);

static void
leave(char *line)
{
#ifdef FIXED
	(void)line;
	if (mely_join_done(&both) < 0)
		exit(2);
#else
	(void)line;
	done();
#endif
}

static void
on_count(void *arg)
{
	char *line = arg;
	int i;

	for (i = 0; line[i] != '\0'; i++)
		letters += line[i] != ' ';
	take_turn(1);
	leave(line);
}

static struct mely_color *printer;

static void on_print(void *arg);
static struct mely_handler print = MELY_HANDLER(on_print);
static struct mely_handler count = MELY_HANDLER(on_count);

static void
on_print(void *arg)
{
	char *line = arg;

	if (!my_turn(1)) {
		/* Wait until the other color has counted, so that the free does no harm. */
		MUST(mely_post(printer, &print, line));
		return;
	}
	printed++;
#ifndef FIXED
	free(line);
#endif
	leave(line);
}

int
main(void)
{
	struct mely_event both_through;
	char *line = strdup("one line of text");

	if (line == NULL)
		return 2;
#ifdef FIXED
	begin(1);
#else
	begin(2);
#endif
	mely_event_init(&both_through, &free_it, line);
	MUST(mely_join_init(&both, 2, color(3, "owner"), &both_through));
	printer = color(1, "printer");
	MUST(mely_post(color(2, "counter"), &count, line));
	MUST(mely_post(printer, &print, line));
	return run();
}
