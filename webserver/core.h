/* SPDX-License-Identifier: MIT */
/*
 * core.h: what each core of the runtime has for itself. Used by handlers that run on that core,
 * and so never by two at a time; a handler must not carry pointers into it to its next event,
 * which may run elsewhere.
 */
#ifndef SWS_CORE_H
#define SWS_CORE_H

#include <mely/mely.h>
#include <time.h>

#include "assertion.h"
#include "http_date.h"
#include "http_parse.h"
#include "index.h"
#include "server.h"

/** Where heads and small bodies are put together for one send. */
#define SWS_SCRATCH 65536

#define SWS_SECOND_NS UINT64_C(1000000000)

struct sws_burst;

struct sws_core {
	struct sws_server *server;
	struct sws_index index;
	struct sws_burst *bursts;   /* spare ones, the last used first */
	unsigned bursts_count;
	int number;
	uint32_t now_s;             /* monotonic */
	uint64_t now_ns;            /* monotonic, in clock ticks */
	int64_t date_s;
	uint64_t date_until_ns;     /* monotonic: no new date before */
	char date[HTTP_DATE_LEN];
	struct mely_color color;    /* pinned: the sweep */
	struct mely_event sweep;
	char path[HTTP_TARGET_MAX + 2];
	char scratch[SWS_SCRATCH];
};

int sws_core_new(struct sws_core **core, struct sws_server *server, int number);
void sws_core_free(struct sws_core *core);

/** Ask all cores to give up what they hold of dead pages. Any handler. */
void sws_cores_sweep(struct sws_server *server);

/** The core this handler runs on. */
static inline struct sws_core *
sws_core_here(const struct sws_server *server)
{
	int core = mely_current_core();

	SWS_ASSERT(core >= 0);
	return server->cores[core];
}

/** Read the wall clock for the Date field. */
void sws_core_date(struct sws_core *core);

/** Bring the core's clocks up to date; to the clock tick, which is what HTTP needs. */
static inline void
sws_core_tick(struct sws_core *core)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	core->now_s = (uint32_t)t.tv_sec;
	core->now_ns = (uint64_t)t.tv_sec * SWS_SECOND_NS + (uint64_t)t.tv_nsec;
	if (core->now_ns >= core->date_until_ns)
		sws_core_date(core);
}

#endif
