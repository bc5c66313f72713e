/* SPDX-License-Identifier: MIT */
/* history.c: see history.h. */
#include "history.h"

#include <stdio.h>
#include <string.h>

#include "engine.h"

enum { HISTORY = 8192 };

static struct {
	uint64_t steps;             /* accesses done */
	uint32_t at[HISTORY];       /* the last of them */
} history;

void
sim_history_begin(void)
{
	history.steps = 0;
}

void
sim_history_note(uint64_t step)
{
	history.at[++history.steps % HISTORY] = (uint32_t)step;
}

void
sim_history(FILE *out, int count)
{
	uint64_t last = history.steps, i;

	for (i = last > (uint64_t)count ? last - (uint64_t)count : 1; i <= last; i++) {
		static const char *const kinds[] = {"load", "store", "change", "compare", "count",
		    "fence"};
		uint32_t step = history.at[i % HISTORY];
		const struct sim_site *site = &__start_sim_sites[step >> 8];

		fprintf(out, "  %6llu  thread %-2u %*s%s:%u %s\n", (unsigned long long)i,
		    step & 0xff, (int)(step & 0xff) * 2, "", strrchr(site->file, '/') != NULL ?
		    strrchr(site->file, '/') + 1 : site->file, site->line, kinds[site->kind]);
	}
}
