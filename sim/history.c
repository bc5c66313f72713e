/* SPDX-License-Identifier: MIT */
/* history.c: see history.h. */
#include "history.h"

#include <stdio.h>
#include <string.h>

#include "engine.h"

struct sim_steps sim_steps;

void
sim_history(FILE *out, int count)
{
	uint64_t last = sim_steps.count, i;

	for (i = last > (uint64_t)count ? last - (uint64_t)count : 1; i <= last; i++) {
		static const char *const kinds[] = {"load", "store", "change", "compare", "count",
		    "fence"};
		uint32_t step = sim_steps.at[i % SIM_HISTORY];
		const struct sim_site *site = &__start_sim_sites[step >> 8];

		fprintf(out, "  %6llu  thread %-2u %*s%s:%u %s\n", (unsigned long long)i,
		    step & 0xff, (int)(step & 0xff) * 2, "", strrchr(site->file, '/') != NULL ?
		    strrchr(site->file, '/') + 1 : site->file, site->line, kinds[site->kind]);
	}
}
