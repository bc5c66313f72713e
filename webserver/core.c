/* SPDX-License-Identifier: MIT */
/*
 * core.c: making and freeing the data of a core, its sweep, and the date.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/policy.h"
#include "burst.h"
#include "core.h"
#include "h2.h"

static void
sweep(void *arg)
{
	struct sws_core *core = arg;

	/* The color is pinned, so this handler runs on the core that owns the index. */
	SWS_ASSERT(mely_current_core() == core->number);
	sws_index_sweep(&core->index);
}

static struct mely_handler sweep_handler = SWS_SWEEP(sweep);

static bool
is_paced(const struct sws_options *o)
{
	return o->rate > 0 || o->rate_connection > 0 || o->rate_address > 0;
}

/* A reload has made another setup: from now on this core uses it. */
static void
adopt(void *arg)
{
	struct sws_core *core = arg;
	struct sws_setup *before = core->setup;

	SWS_ASSERT(mely_current_core() == core->number);
	/* NOTE(reload), step c. */
	core->setup = core->server->reload.setup;
	sws_setup_ref(core->setup);
	core->paced = is_paced(&core->setup->options);
	SWS_LOCAL_GIVE(&core->setup);
	SWS_LOCAL_TAKE(&core->adopt);
	if (sws_setup_unref(before))
		sws_cores_sweep(core->server);
	sws_reload_adopted(core->server);
}

static struct mely_handler adopt_handler = SWS_ADOPT(adopt);

int
sws_core_new(struct sws_core **out, struct sws_server *server, int number,
    struct sws_setup *setup)
{
	struct sws_core *core = aligned_alloc(64, (sizeof *core + 63) & ~(size_t)63);
	int status;

	SWS_ASSERT(number >= 0 && number < server->cores_count);
	if (core == NULL)
		return -ENOMEM;
	memset(core, 0, sizeof *core);
	SWS_LOCAL_MEMORY(core, sizeof *core);
	core->server = server;
	core->number = number;
	core->date_s = -1;
	status = sws_index_init(&core->index, number);
	if (status == 0)
		status = mely_color_init_on(&core->color, server->rt, number);
	if (status == 0)
		status = mely_color_pin(&core->color, number);
	if (status != 0) {
		sws_index_fini(&core->index);
		free(core);
		return status;
	}
	mely_color_set_name(&core->color, "sweep");
	mely_event_init(&core->sweep, &sweep_handler, core);
	mely_event_init(&core->adopt, &adopt_handler, core);
	sws_setup_ref(setup);
	core->setup = setup;
	core->paced = is_paced(&setup->options);
	*out = core;
	return 0;
}

void
sws_core_free(struct sws_core *core)
{
	if (core == NULL)
		return;
	SWS_ASSERT(mely_current_core() < 0);
	while (core->bursts != NULL) {
		struct sws_burst *burst = core->bursts;

		core->bursts = burst->next;
		core->bursts_count--;
		free(burst);
	}
	SWS_ASSERT(core->bursts_count == 0);
	sws_h2_free_spares(core);
	sws_index_fini(&core->index);
	sws_setup_unref(core->setup);
	free(core);
}

void
sws_cores_sweep(struct sws_server *server)
{
	for (int i = 0; i < server->cores_count; i++) {
		struct sws_core *core = server->cores[i];
		int status = mely_event_post(&core->color, &core->sweep);

		/* -EALREADY: an earlier request for a sweep is still queued. */
		SWS_ASSERT(status == 0 || status == -EALREADY);
	}
}

void
sws_cores_adopt(struct sws_server *server)
{
	for (int i = 0; i < server->cores_count; i++) {
		struct sws_core *core = server->cores[i];
		int status = mely_event_post(&core->color, &core->adopt);

		SWS_ASSERT(status == 0);
	}
}

/* Read again at the next full second; and, since the clock can be set, after a tenth of one. */
void
sws_core_date(struct sws_core *core)
{
	struct timespec t;
	uint64_t left;

	clock_gettime(CLOCK_REALTIME_COARSE, &t);
	SWS_ASSERT(t.tv_nsec >= 0 && t.tv_nsec < (long)SWS_SECOND_NS);
	if (t.tv_sec != core->date_s)
		http_date_format(t.tv_sec, core->date);
	core->date_s = t.tv_sec;
	left = SWS_SECOND_NS - (uint64_t)t.tv_nsec;
	core->date_until_ns = core->now_ns + (left < SWS_SECOND_NS / 10 ? left
	    : SWS_SECOND_NS / 10);
}

