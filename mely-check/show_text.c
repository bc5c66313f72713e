/* SPDX-License-Identifier: MIT */
/* show_text.c: the summary for people: a paragraph for each fault. */
#include <string.h>

#include "show.h"

enum { MORE_SHOWN = 3 };

static void
show_side(FILE *out, const struct side *side)
{
	const struct access *access = side->access;

	fprintf(out, "     %s %s %u byte%s at %s, in %s\n", side->handler, side->verb, access->size,
	    access->size == 1 ? "" : "s", faults_place(&side->site), side->where);
}

/* Text folded at 80 columns, behind a label. */
static void
show_folded(FILE *out, const char *label, const char *text)
{
	size_t column = 5 + strlen(label), length;

	fprintf(out, "     %s", label);
	for (; *text != '\0'; text += length + (text[length] == ' ')) {
		length = strcspn(text, " ");
		if (column + 1 + length > 80) {
			fprintf(out, "\n          ");
			column = 9;
		}
		fprintf(out, " %.*s", (int)length, text);
		column += 1 + length;
	}
	fputc('\n', out);
}

static void
show_fault(FILE *out, size_t number, const struct fault *fault)
{
	size_t i;

	fprintf(out, "\n%3zu. %s and %s touch %s", number, fault->sides[0].handler,
	    fault->sides[1].handler, fault->object);
	if (fault->place != NULL)
		fprintf(out, "\n     (%s)", fault->place);
	fprintf(out, "\n");
	show_side(out, &fault->sides[0]);
	show_side(out, &fault->sides[1]);
	for (i = 0; i < fault->more_count && i < MORE_SHOWN; i++)
		fprintf(out, "     and at %s with %s\n", faults_place(&fault->more[i][0]),
		    faults_place(&fault->more[i][1]));
	if (fault->more_count > MORE_SHOWN)
		fprintf(out, "     and in %zu more pairs of places\n",
		    fault->more_count - MORE_SHOWN);
	fprintf(out, "     reported %u time%s%s\n", fault->times, fault->times == 1 ? "" : "s",
	    strcmp(fault->report->kind, "data race") == 0 ? "" : "; the memory had been freed");
	show_folded(out, "try:", fault->advice);
}

void
show_text(FILE *out, const struct faults *faults, const struct child *child, char **argv)
{
	size_t i;

	if (child != NULL)
		fprintf(out, "mely-check: %s %s\n", argv[0], child_words(child));
	if (faults->count == 0)
		fprintf(out, "mely-check: no two colors touched the same data without an order\n");
	else
		fprintf(out, "mely-check: %zu pair%s of handlers touch%s the same data, and "
		    "nothing orders them\n", faults->count, faults->count == 1 ? "" : "s",
		    faults->count == 1 ? "es" : "");
	for (i = 0; i < faults->count; i++)
		show_fault(out, i + 1, &faults->list[i]);
	for (i = 0; i < faults->others_count; i++)
		fprintf(out, "%smely-check: the sanitizer also reports: %s\n", i == 0 ? "\n" : "",
		    faults->others[i]->kind);
	fflush(out);
}
