/* SPDX-License-Identifier: MIT */
/*
 * random.c: draws from weighted items.
 */
#include <math.h>
#include <stdlib.h>

#include "base/assertion.h"
#include "load/random.h"

bool
load_draw_init(struct load_draw *d, const double *weights, uint32_t count)
{
	double *share = malloc(count * sizeof *share);
	uint32_t *todo = malloc(count * sizeof *todo);
	uint32_t small = 0, large = count;
	double sum = 0;

	SWS_ASSERT(count > 0);
	d->count = count;
	d->items = malloc(count * sizeof d->items[0]);
	for (uint32_t i = 0; i < count; i++)
		sum += weights[i];
	if (share == NULL || todo == NULL || d->items == NULL || !(sum > 0)) {
		free(share);
		free(todo);
		load_draw_fini(d);
		return false;
	}
	/* The small ones at the front of todo, the large ones at its end. */
	for (uint32_t i = 0; i < count; i++) {
		share[i] = weights[i] * count / sum;
		if (share[i] < 1)
			todo[small++] = i;
		else
			todo[--large] = i;
		d->items[i] = (struct load_draw_item){UINT32_MAX, i};
	}
	while (small > 0 && large < count) {
		uint32_t s = todo[--small], l = todo[large];

		d->items[s].keep = (uint32_t)(share[s] * UINT32_MAX);
		d->items[s].other = l;
		share[l] -= 1 - share[s];
		if (share[l] < 1) {
			large++;
			todo[small++] = l;
		}
	}
	free(share);
	free(todo);
	return true;
}

void
load_draw_fini(struct load_draw *d)
{
	free(d->items);
	d->items = NULL;
	d->count = 0;
}

double
load_zipf_weight(uint32_t rank, double s)
{
	return pow((double)rank + 1, -s);
}
