/* SPDX-License-Identifier: MIT */
/*
 * core.h: the data of one core. Only handlers that run on that core use it, so never two at a
 * time. A handler must not pass pointers into it to its next event, which may run on another
 * core.
 */
#ifndef SWS_CORE_H
#define SWS_CORE_H

#include <mely/mely.h>
#include <time.h>

#include "base/assertion.h"
#include "base/local.h"
#include "http/date.h"
#include "http/parse.h"
#include "ops/counters.h"
#include "site/index.h"
#include "server.h"
#include "setup.h"

/** Size of the buffer in which heads and small bodies are gathered for one send. */
#define SWS_SCRATCH 65536

#define SWS_SECOND_NS UINT64_C(1000000000)

/** Most spare streams of a core. */
#define SWS_H2_SPARES 256

struct sws_burst;
struct sws_log_ring;
struct sws_h2_stream;

struct sws_core {
	struct sws_server *server;
	struct sws_setup *setup;    /* in force, with a reference; read by sws_core_setup */
	struct sws_index index;
	struct sws_burst *bursts;   /* the spare ones, the last used first */
	unsigned bursts_count;
	struct sws_h2_stream *streams; /* spare ones, too (h2_session.h) */
	unsigned streams_count;
	bool paced;                 /* the setup limits how fast answers are sent */
	size_t room;                /* of this handler: what it may still send (pace.h) */
	int number;
	uint32_t now_s;             /* monotonic */
	uint64_t now_ns;            /* monotonic, to the clock tick */
	int64_t date_s;
	uint64_t date_until_ns;     /* monotonic: when to read the wall clock again */
	char date[HTTP_DATE_LEN];
	struct sws_counters counters;
	bool sees;                  /* the ends of answers are timed: for the log, or metrics */
	struct sws_log_ring *log;   /* or NULL */
	struct mely_color color;    /* of the sweep and the change of setup; pinned to this core */
	struct mely_event sweep;
	struct mely_event adopt;
	char path[HTTP_TARGET_MAX + 2 + SWS_KEY_MORE];
	char scratch[SWS_SCRATCH];
};

/** Make a core that uses a setup, of which it takes a reference. 0 or a negative errno. */
int sws_core_new(struct sws_core **core, struct sws_server *server, int number,
    struct sws_setup *setup);
void sws_core_free(struct sws_core *core);

/** Make all cores use the newest setup. Each calls sws_reload_adopted. */
void sws_cores_adopt(struct sws_server *server);

/** Make all cores drop their references to dead pages. Any handler. */
void sws_cores_sweep(struct sws_server *server);

/** The core that this handler runs on. */
static inline struct sws_core *
sws_core_here(const struct sws_server *server)
{
	int core = mely_current_core();

	SWS_ASSERT(core >= 0);
	SWS_DEBUG_ASSERT(core < server->cores_count && server->cores[core]->number == core);
	return server->cores[core];
}

/** The setup in force on this core, which the caller may use until its handler returns. */
static inline struct sws_setup *
sws_core_setup(struct sws_core *core)
{
	SWS_LOCAL_TAKE(&core->setup);
	return core->setup;
}

/** For the color checker: this handler is done with the setup, which another may free. */
static inline void
sws_core_leave_setup(struct sws_core *core)
{
	SWS_LOCAL_GIVE(&core->adopt);
}

/** Read the wall clock for the Date field. */
void sws_core_date(struct sws_core *core);

/** Update the core's clocks, to the clock tick: HTTP needs no better. */
static inline void
sws_core_tick(struct sws_core *core)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	core->now_s = (uint32_t)t.tv_sec;
	core->now_ns = (uint64_t)t.tv_sec * SWS_SECOND_NS + (uint64_t)t.tv_nsec;
	if (core->now_ns >= core->date_until_ns)
		sws_core_date(core);
	SWS_DEBUG_ASSERT(core->now_ns < core->date_until_ns);
}

#endif
