/* SPDX-License-Identifier: MIT */
/*
 * coverage.c: see coverage.h. A place in a header has a record in every source that includes it;
 * the list merges them. The simulation cannot reach the files of left_out, and does not count them.
 */
#include "coverage.h"

#include <stdlib.h>
#include <string.h>

#include "engine.h"

struct place {
	const char *file;
	uint32_t line;
	uint8_t kind;
	uint64_t hits;
};

/* Files that only a fork, an exit, a signal or a child of the process reaches. */
static const char *const left_out[] = {"life/fork.c", "life/exit.c", "io/signal.c",
    "io/child.c"};

static const char *
base_of(const char *file)
{
	const char *name = strrchr(file, '/'), *at = file, *next;

	/* Keep the room in the name: two rooms may have files of the same name. */
	while ((next = strstr(at, "mely/")) != NULL)
		name = at = next + strlen("mely/");
	return name != NULL ? name : file;
}

static bool
is_left_out(const char *file)
{
	size_t i;

	for (i = 0; i < sizeof left_out / sizeof left_out[0]; i++) {
		if (strcmp(file, left_out[i]) == 0)
			return true;
	}
	return false;
}

static int
compare(const void *a, const void *b)
{
	const struct place *p = a, *q = b;
	int order = strcmp(p->file, q->file);

	if (order != 0)
		return order;
	if (p->line != q->line)
		return p->line < q->line ? -1 : 1;
	return p->kind < q->kind ? -1 : p->kind > q->kind;
}

void
coverage_print(const uint64_t *hits, bool list, FILE *out)
{
	size_t count = (size_t)(__stop_sim_sites - __start_sim_sites), n = 0, i, reached = 0;
	struct place *places = calloc(count > 0 ? count : 1, sizeof *places);

	if (places == NULL)
		return;
	for (i = 0; i < count; i++) {
		const struct sim_site *site = &__start_sim_sites[i];

		if (!is_left_out(base_of(site->file)))
			places[n++] = (struct place){base_of(site->file), site->line, site->kind,
			    hits[i]};
	}
	qsort(places, n, sizeof *places, compare);
	count = n;
	for (i = n = 0; i < count; i++) {
		if (n > 0 && compare(&places[n - 1], &places[i]) == 0)
			places[n - 1].hits += places[i].hits;
		else
			places[n++] = places[i];
	}
	for (i = 0; i < n; i++)
		reached += places[i].hits > 0;
	fprintf(out, "protocol steps covered: %zu of %zu places that touch shared words\n",
	    reached, n);
	for (i = 0; i < n && list; i++) {
		if (places[i].hits == 0)
			fprintf(out, "  never: %s:%u\n", places[i].file, places[i].line);
	}
	free(places);
}
