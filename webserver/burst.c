/* SPDX-License-Identifier: MIT */
/*
 * burst.c: allocating bursts, keeping spare ones, and what answers hold.
 */
#include <stdlib.h>
#include <unistd.h>

#include "burst.h"
#include "stream.h"

/* Most spare bursts of a core. */
#define SPARE_MAX 64

_Static_assert(SWS_BURST_MAX < UINT8_MAX, "the counters are 8 bits wide");

struct sws_burst *
sws_burst_new(void)
{
	struct sws_burst *burst = malloc(sizeof *burst);

	/* The scanners read up to HTTP_PAD bytes after the input; initialize them. */
	if (burst != NULL)
		memset(burst->in, 0, sizeof burst->in);
	return burst;
}

void
sws_burst_put(struct sws_core *core, struct sws_burst *burst)
{
	SWS_DEBUG_ASSERT(burst->out == burst->checked);
	/* A helper would write to it. */
	SWS_DEBUG_ASSERT(burst->asker.job == NULL && burst->rest == NULL);
	/* Two connections would share a burst that is returned twice. */
	SWS_DEBUG_ASSERT(burst != core->bursts);
	SWS_DEBUG_ASSERT(core->bursts_count <= SPARE_MAX);
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
sws_answer_close(struct sws_answer *a, int core)
{
	SWS_ASSERT(a->fd >= 0 || a->fd == SWS_FD_STREAM);
	if (a->fd == SWS_FD_STREAM)
		a->stream->ops->free(a->stream, core);
	else
		close(a->fd);
	a->fd = SWS_FD_NONE;
}
