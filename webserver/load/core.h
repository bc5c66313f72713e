/* SPDX-License-Identifier: MIT */
/*
 * core.h: the load of one core: its connections, when they may send, and what they have measured.
 *
 * The cores of sws-load do not steal, so a connection stays on the core that it was made for, and
 * all handlers of a core are one thread. They share the data of the core; nothing else is shared
 * between colors while a run lasts, except for what struct load_run says.
 *
 * Closed loop: a connection sends when it has its answers. Open loop: request i of a core is due at
 * a time that depends on i alone. A connection that is free takes the first request that is due and
 * not sent; if there is none, it waits in the list of ready connections, and pace.c gives it one.
 */
#ifndef LOAD_CORE_H
#define LOAD_CORE_H

#include <mely/mely.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "base/local.h"
#include "load/mix.h"
#include "load/options.h"
#include "load/result.h"

/* One read takes so much at most. */
#define LOAD_IN_SIZE 131072
/* A request that is sent later than this after it was due is late. */
#define LOAD_LATE_NS UINT64_C(1000000)

struct load_conn;
struct load_tls_core;
struct load_run;

struct load_core {
	struct load_run *run;
	int number;
	char *in, *out;           /* what is read, and requests that are sent together */
	size_t out_size;
	struct load_cursor cursor;
	struct load_result result;
	struct load_second *second;  /* of the result, until second_end_ns */
	uint64_t second_end_ns;
	uint64_t budget;          /* requests that may still be sent */
	uint64_t unsettled;       /* with --requests: those without an answer or an error */
	struct load_tls_core *tls;
	struct load_conn **conns;
	uint32_t conns_count;
	bool no_memory;           /* for the record of a second */

	/* Open loop. */
	double interval_ns, first_ns;
	uint64_t next;            /* the number of the next request, and when it is due */
	uint64_t next_ns;
	uint64_t *again;          /* when requests were due that are to be sent again */
	uint32_t again_count, again_size;
	struct load_conn *ready, **ready_end;
	int timer;                /* timerfd; -1: closed loop */
	bool armed;
	mely_watch timer_watch;

	struct mely_color *color; /* of Pace and Sweep */
	mely_watch sweep;

	/* For the progress line: this core writes, core 0 reads; all relaxed. */
	_Alignas(64) _Atomic(uint64_t) live_responses;
	_Atomic(uint64_t) live_errors;
	_Atomic(uint64_t) live_bytes;
};

/** A run of one process. The cores only read it, except for what is atomic. */
struct load_run {
	const struct load_options *options;
	struct load_mix mix;
	struct sockaddr_storage address;
	socklen_t address_len;
	struct mely_runtime *rt;
	struct load_core *cores;
	uint64_t start_ns, begin_ns; /* of the load, and of the measured time */
	uint64_t end_ns;             /* UINT64_MAX with --requests */
	_Atomic(uint32_t) cores_left;/* with --requests: not done. acq_rel: the last one stops */
	_Atomic(bool) interrupted;   /* by a signal. relaxed, as the next */
	_Atomic(uint64_t) stop_ns;   /* when the run was stopped; 0: by its end. relaxed: read after
	                              * mely_run */
};

int load_core_init(struct load_core *core, struct load_run *run, int number);
void load_core_fini(struct load_core *core);

/** Start the timers of the core; before mely_run. */
int load_core_start(struct load_core *core);

/** The slow path of load_core_count: another second has begun. */
void load_core_second(struct load_core *core, uint64_t now);

/** Is this in the measured time? */
static inline bool
load_core_measures(const struct load_core *core, uint64_t now)
{
	return now >= core->run->begin_ns && now < core->run->end_ns;
}

/** Add n to a counter, if now is in the measured time. */
static inline void
load_core_count(struct load_core *core, enum load_counter counter, uint64_t n, uint64_t now)
{
	if (load_core_measures(core, now))
		core->result.counters[counter] += n;
}

/** n bytes have arrived. */
static inline void
load_core_received(struct load_core *core, size_t n, uint64_t now)
{
	if (!load_core_measures(core, now))
		return;
	core->result.counters[LOAD_bytes] += n;
	if (now >= core->second_end_ns)
		load_core_second(core, now);
	if (core->second != NULL)
		core->second->bytes += n;
}

/** A request has an answer or an error that it will keep: the last one ends the run. */
void load_core_settled(struct load_core *core, uint64_t n, uint64_t now);

/** No request could be sent: with --requests, one is given up. */
void load_core_forfeit(struct load_core *core, uint64_t now);

/** A complete response to a request of the time since. */
void load_core_response(struct load_core *core, unsigned status, uint64_t since, uint64_t now);

/** Count n errors, and keep the text of one. */
void load_core_error(struct load_core *core, enum load_counter counter, uint64_t n,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

/** Publish the counters for the progress line. */
static inline void
load_core_publish(struct load_core *core)
{
	/* relaxed: a line that is a little old does no harm. */
	atomic_store_explicit(&core->live_responses, core->result.counters[LOAD_responses],
	    memory_order_relaxed);
	atomic_store_explicit(&core->live_bytes, core->result.counters[LOAD_bytes],
	    memory_order_relaxed);
}

/** Open loop: the time of load_core_take. */
bool load_core_take_due(struct load_core *core, uint64_t now, uint64_t *since);

/** May a request be sent now? Then *since is the time from which its latency counts. */
static inline bool
load_core_take(struct load_core *core, uint64_t now, uint64_t *since)
{
	if (core->budget == 0 || now >= core->run->end_ns)
		return false;
	if (core->timer >= 0 && !load_core_take_due(core, now, since))
		return false;
	if (core->timer < 0)
		*since = now;
	core->budget--;
	return true;
}

/** A request was not answered, and is to be sent again. */
void load_core_give_back(struct load_core *core, uint64_t since, uint64_t now);

/** Open loop: conn waits for a request that is due. */
void load_core_ready(struct load_core *core, struct load_conn *conn, uint64_t now);
/** conn is closed: it does not wait. */
void load_core_unready(struct load_core *core, struct load_conn *conn);

#endif
