/* SPDX-License-Identifier: MIT */
/*
 * once.c: a sample as text on standard output.
 */
#include <stdio.h>

#include "once.h"
#include "rows.h"

enum { WIDTH = 100 };

/* Print a line without the blanks at its end. */
static void
say(char *line)
{
	size_t n = 0, i;

	for (i = 0; line[i] != '\0'; i++)
		n = line[i] != ' ' ? i + 1 : n;
	printf("%.*s\n", (int)n, line);
}

void
once_text(const struct sample *sample)
{
	char line[ROW_MOST];
	int bar, bar_width;
	uint32_t i;

	row_title(line, WIDTH, sample);
	say(line);
	row_totals(line, WIDTH, sample);
	say(line);
	row_steals(line, ROW_MOST, sample);
	say(line);
	printf("\nCORES  # busy  + stealing  - polling  . asleep\n");
	for (i = 0; i < sample->now->cores_count; i++) {
		row_core(line, WIDTH, sample, i, &bar, &bar_width);
		say(line);
	}
	printf("\n");
	row_handlers_head(line, WIDTH, "");
	say(line);
	for (i = 0; i < sample->handlers_count; i++) {
		row_handler(line, WIDTH, sample, &sample->handlers[i]);
		say(line);
	}
	if (sample->now->colors_asked == 0)
		return;
	printf("\n");
	row_colors_head(line, WIDTH, "");
	say(line);
	for (i = 0; i < sample->now->colors_count; i++) {
		row_color(line, WIDTH, sample, mely_stats_color_row(sample->now, i));
		say(line);
	}
	if (sample->now->colors_found > sample->now->colors_count)
		printf("and %llu more\n", (unsigned long long)(sample->now->colors_found -
		    sample->now->colors_count));
}
