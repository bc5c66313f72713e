/* SPDX-License-Identifier: MIT */
/*
 * burst.c: see burst.h.
 */
#include <stdlib.h>
#include <unistd.h>

#include "burst.h"

/* Spare ones that a core keeps. */
#define SPARE_MAX 64

_Static_assert(SWS_BURST_MAX < UINT8_MAX, "the counters are 8 bits wide");

struct sws_burst *
sws_burst_get(struct sws_core *core)
{
	struct sws_burst *burst = core->bursts;

	if (burst != NULL) {
		SWS_LOCAL_TAKE(burst);
		core->bursts = burst->next;
		core->bursts_count--;
	} else {
		burst = malloc(sizeof *burst);
		if (burst == NULL)
			return NULL;
		/* What lies behind the input is read, though it does not matter. */
		memset(burst->in, 0, sizeof burst->in);
	}
	burst->in_len = burst->in_at = 0;
	burst->count = burst->checked = burst->out = 0;
	burst->stalled = false;
	burst->bad = 0;
	burst->out_at = 0;
	return burst;
}

void
sws_burst_put(struct sws_core *core, struct sws_burst *burst)
{
	if (core->bursts_count == SPARE_MAX) {
		free(burst);
		return;
	}
	burst->next = core->bursts;
	core->bursts = burst;
	core->bursts_count++;
	SWS_LOCAL_GIVE(burst);
}

void
sws_answer_release(struct sws_answer *a, int core)
{
	if (a->fd >= 0)
		close(a->fd);
	if (a->entry != NULL)
		sws_entry_unref(a->entry, core);
	else
		sws_page_unref(a->page);
}

void
sws_burst_drop_answers(struct sws_burst *burst, int core)
{
	while (burst->out < burst->checked)
		sws_answer_release(&burst->answers[burst->out++], core);
}
