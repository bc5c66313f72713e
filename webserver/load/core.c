/* SPDX-License-Identifier: MIT */
/*
 * core.c: what the connections of a core have measured, and their timeouts.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assertion.h"
#include "load/conn.h"
#include "load/core.h"
#include "load/pace.h"
#include "load/tls.h"

#define SECOND_NS UINT64_C(1000000000)

static void sweep_fn(void *arg);
static struct mely_handler sweep_handler = MELY_HANDLER_WITH(sweep_fn, 10000, 0, 0);

/* ---- counting ------------------------------------------------------------------------------ */

void
load_core_second(struct load_core *core, uint64_t now)
{
	uint64_t begin = core->run->begin_ns;
	uint32_t number = (uint32_t)((now - begin) / SECOND_NS);

	SWS_DEBUG_ASSERT(now >= begin);
	core->second = load_result_second(&core->result, number);
	core->second_end_ns = begin + (number + UINT64_C(1)) * SECOND_NS;
}

void
load_core_response(struct load_core *core, unsigned status, uint64_t since, uint64_t now)
{
	uint64_t latency = now > since ? now - since : 0;

	if (load_core_measures(core, now)) {
		core->result.counters[LOAD_responses]++;
		core->result.statuses[status <= LOAD_STATUS_MAX ? status : 0]++;
		load_hist_record(core->result.latency, latency);
		if (now >= core->second_end_ns)
			load_core_second(core, now);
		if (core->second == NULL || !load_result_second_record(core->second, latency))
			core->no_memory = true;
	}
	if (status >= 400)
		load_core_error(core, LOAD_status, 1, "status %u", status);
	load_core_settled(core, 1, now);
}

static void
count_error(struct load_core *core, uint64_t n)
{
	uint64_t now = mely_now_ns();

	/* relaxed: this core alone writes. */
	atomic_store_explicit(&core->live_errors, atomic_load_explicit(&core->live_errors,
	    memory_order_relaxed) + n, memory_order_relaxed);
	if (!load_core_measures(core, now))
		return;
	if (now >= core->second_end_ns)
		load_core_second(core, now);
	if (core->second != NULL)
		core->second->errors += n;
}

void
load_core_error(struct load_core *core, enum load_counter counter, uint64_t n,
    const char *format, ...)
{
	char text[LOAD_SAMPLE_LEN];
	va_list args;

	SWS_ASSERT(load_counter_names[counter].error);
	core->result.counters[counter] += n;
	count_error(core, n);
	if (core->result.samples_count == LOAD_SAMPLES)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	load_result_sample(&core->result, text);
}

void
load_core_settled(struct load_core *core, uint64_t n, uint64_t now)
{
	struct load_run *run = core->run;

	if (core->unsettled == 0)
		return;
	core->unsettled = n < core->unsettled ? core->unsettled - n : 0;
	/* acq_rel: the last core sees that all others are done. */
	if (core->unsettled > 0 || atomic_fetch_sub_explicit(&run->cores_left, 1,
	    memory_order_acq_rel) > 1)
		return;
	/* relaxed: the main thread reads it after mely_run. */
	atomic_store_explicit(&run->stop_ns, now, memory_order_relaxed);
	mely_stop(run->rt, MELY_STOP_DISCARD);
}

void
load_core_forfeit(struct load_core *core, uint64_t now)
{
	if (core->run->options->requests == 0 || core->budget == 0)
		return;
	core->budget--;
	load_core_settled(core, 1, now);
}

/* ---- timeouts ------------------------------------------------------------------------------ */

/* Find connections that have waited for too long. Their own colors look again. */
static void
sweep_fn(void *arg)
{
	struct load_core *core = arg;
	uint64_t now = mely_now_ns();

	SWS_LOCAL_TAKE(core);
	for (uint32_t i = 0; i < core->conns_count; i++)
		if (load_conn_overdue(core->conns[i], now))
			load_conn_expire(core->conns[i]);
	SWS_LOCAL_GIVE(core);
}

/* ---- life ---------------------------------------------------------------------------------- */

int
load_core_init(struct load_core *core, struct load_run *run, int number)
{
	const struct load_options *o = run->options;
	uint32_t i = (uint32_t)number;

	memset(core, 0, sizeof *core);
	core->run = run;
	core->number = number;
	core->timer = -1;
	core->ready_end = &core->ready;
	core->budget = core->unsettled = load_share(o->requests, i, o->cores);
	if (o->requests == 0)
		core->budget = UINT64_MAX;
	core->out_size = run->mix.request_len_max * o->pipeline;
	if (core->out_size < LOAD_OUT_MIN)
		core->out_size = LOAD_OUT_MIN;
	load_cursor_init(&core->cursor, &run->mix, o->seed, i, o->cores);
	core->in = malloc(LOAD_IN_SIZE);
	core->out = malloc(core->out_size);
	core->conns_count = (uint32_t)load_share(o->clients, i, o->cores);
	core->conns = calloc(core->conns_count, sizeof core->conns[0]);
	if (!load_result_init(&core->result) || core->in == NULL || core->out == NULL
	    || core->conns == NULL)
		return -ENOMEM;
	if (o->url.tls && (core->tls = load_tls_core_new(o)) == NULL)
		return -ENOMEM;
	for (uint32_t n = 0; n < core->conns_count; n++)
		if ((core->conns[n] = load_conn_new(core)) == NULL)
			return -ENOMEM;
	return 0;
}

int
load_core_start(struct load_core *core)
{
	uint64_t every = core->run->options->timeout_ns / 8;
	int status = mely_color_of_id(core->run->rt, (uint32_t)core->number + 1, &core->color);

	if (status == 0)
		status = mely_color_pin(core->color, core->number);
	if (status == 0)
		status = load_pace_start(core);
	if (status == 0)
		status = mely_timer_start(core->color, every, every, 0, &sweep_handler, core,
		    &core->sweep);
	for (uint32_t i = 0; status == 0 && i < core->conns_count; i++)
		status = load_conn_start(core->conns[i]);
	return status;
}

void
load_core_fini(struct load_core *core)
{
	for (uint32_t i = 0; core->conns != NULL && i < core->conns_count; i++)
		load_conn_free(core->conns[i]);
	free(core->conns);
	load_pace_fini(core);
	load_tls_core_free(core->tls);
	load_result_fini(&core->result);
	free(core->again);
	free(core->in);
	free(core->out);
}
