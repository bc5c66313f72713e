/* SPDX-License-Identifier: MIT */
/*
 * run.c: a run of this process. Color 0 has the end, the signals and the progress line.
 */
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/assertion.h"
#include "load/conn.h"
#include "load/pace.h"
#include "load/run.h"
#include "load/tls.h"

#define SECOND_NS UINT64_C(1000000000)
/* Descriptors other than connections, for a core. */
#define SPARE_FDS 16

static void stop_fn(void *arg);
static void interrupt_fn(void *arg);
static void progress_fn(void *arg);

static struct mely_handler stop_handler = MELY_HANDLER(stop_fn);
static struct mely_handler interrupt_handler = MELY_HANDLER(interrupt_fn);
static struct mely_handler progress_handler = MELY_HANDLER(progress_fn);

struct watched {
	struct load_run *run;
	load_progress_fn *fn;
	void *arg;
};

static bool
report(const char *what, int status)
{
	fprintf(stderr, "sws-load: %s: %s\n", what, strerror(-status));
	return false;
}

/* ---- handlers of color 0 ------------------------------------------------------------------- */

static void
stop_fn(void *arg)
{
	struct load_run *run = arg;

	mely_stop(run->rt, MELY_STOP_DISCARD);
}

static void
interrupt_fn(void *arg)
{
	struct load_run *run = arg;

	/* relaxed: the main thread reads both after mely_run. */
	atomic_store_explicit(&run->interrupted, true, memory_order_relaxed);
	atomic_store_explicit(&run->stop_ns, mely_now_ns(), memory_order_relaxed);
	mely_stop(run->rt, MELY_STOP_DISCARD);
}

static void
progress_fn(void *arg)
{
	struct watched *w = arg;
	struct load_progress p = {0};

	for (uint32_t i = 0; i < w->run->options->cores; i++) {
		struct load_core *core = &w->run->cores[i];

		/* relaxed: load_core_publish. */
		p.responses += atomic_load_explicit(&core->live_responses, memory_order_relaxed);
		p.errors += atomic_load_explicit(&core->live_errors, memory_order_relaxed);
		p.bytes += atomic_load_explicit(&core->live_bytes, memory_order_relaxed);
	}
	w->fn(w->arg, &p);
}

/* ---- making ready -------------------------------------------------------------------------- */

static bool
resolve(struct load_run *run)
{
	const struct load_url *url = &run->options->url;
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
	int error = getaddrinfo(url->host, url->port, &hints, &found);

	if (error != 0) {
		fprintf(stderr, "sws-load: %s: %s\n", url->host, gai_strerror(error));
		return false;
	}
	SWS_ASSERT(found->ai_addrlen <= sizeof run->address);
	memcpy(&run->address, found->ai_addr, found->ai_addrlen);
	run->address_len = found->ai_addrlen;
	freeaddrinfo(found);
	return true;
}

static bool
raise_limit(const struct load_options *o)
{
	struct rlimit limit;
	rlim_t wanted = (rlim_t)o->clients + (rlim_t)o->cores * SPARE_FDS + SPARE_FDS;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
		return true;
	if (limit.rlim_max < wanted) {
		fprintf(stderr, "sws-load: --clients: %u connections want %llu descriptors; the "
		    "limit is %llu\n", o->clients, (unsigned long long)wanted,
		    (unsigned long long)limit.rlim_max);
		return false;
	}
	limit.rlim_cur = wanted;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0 || report("setrlimit", -errno);
}

static int
make_runtime(struct load_run *run)
{
	struct mely_config config;
	int status = mely_config_init(&config);

	if (status != 0)
		return status;
	config.cores = (int)run->options->cores;
	/* A connection stays on its core (core.h). */
	config.stealing = 0;
	config.balance = 0;
	config.stuck_ms = 0;
	config.pollers = 0;
	/* Events wait here when the machine is busy, which is what load is for. */
	if (getenv("MELY_STALL_MS") == NULL)
		config.stall_ms = 0;
	if (getenv("MELY_AGE_MS") == NULL)
		config.age_ms = 0;
	/* The server may want the processor. */
	if (getenv("MELY_SPIN_US") == NULL)
		config.spin_us_max = 0;
	return mely_runtime_new(&run->rt, &config);
}

bool
load_run_init(struct load_run *run, const struct load_options *o, const char *list)
{
	int status;

	memset(run, 0, sizeof *run);
	run->options = o;
	if ((o->url.tls && !load_tls_there()) || (o->http2 && !load_http2_there()))
		return false;
	if (!resolve(run) || !raise_limit(o) || !load_mix_init(&run->mix, o, list))
		return false;
	status = make_runtime(run);
	if (status != 0)
		return report("cannot make the runtime", status);
	run->cores = aligned_alloc(64, o->cores * sizeof run->cores[0]);
	if (run->cores == NULL)
		return report("cores", -ENOMEM);
	memset(run->cores, 0, o->cores * sizeof run->cores[0]);
	for (uint32_t i = 0; i < o->cores; i++) {
		status = load_core_init(&run->cores[i], run, (int)i);
		if (status != 0)
			return report("clients", status);
	}
	return true;
}

void
load_run_fini(struct load_run *run)
{
	if (run->rt != NULL)
		mely_runtime_free(run->rt);
	for (uint32_t i = 0; run->cores != NULL && i < run->options->cores; i++)
		load_core_fini(&run->cores[i]);
	free(run->cores);
	load_mix_fini(&run->mix);
}

/* ---- running ------------------------------------------------------------------------------- */

static int
start(struct load_run *run, struct watched *w)
{
	const struct load_options *o = run->options;
	struct mely_color *color;
	mely_watch watch;
	int status = mely_color_of_id(run->rt, 0, &color);

	run->start_ns = mely_now_ns();
	run->begin_ns = run->start_ns + o->warmup_ns;
	run->end_ns = o->requests > 0 ? UINT64_MAX : run->begin_ns + o->duration_ns;
	/* relaxed: the runtime does not run yet. */
	atomic_store_explicit(&run->cores_left, o->cores, memory_order_relaxed);
	if (status == 0)
		status = mely_signal_watch(color, SIGINT, &interrupt_handler, run, &watch);
	if (status == 0)
		status = mely_signal_watch(color, SIGTERM, &interrupt_handler, run, &watch);
	if (status == 0 && w->fn != NULL)
		status = mely_timer_start(color, SECOND_NS, SECOND_NS, 0, &progress_handler, w,
		    &watch);
	if (status == 0 && o->requests == 0)
		status = mely_timer_start(color, o->warmup_ns + o->duration_ns, 0, 0,
		    &stop_handler, run, &watch);
	for (uint32_t i = 0; status == 0 && i < o->cores; i++)
		status = load_core_start(&run->cores[i]);
	return status;
}

static bool
collect(struct load_run *run, struct load_result *result)
{
	uint64_t end = atomic_load_explicit(&run->stop_ns, memory_order_relaxed);
	bool ok = true;

	if (end == 0 || end > run->end_ns)
		end = run->end_ns;
	if (end <= run->begin_ns)
		end = run->begin_ns;
	/* A row for each second, if nothing was answered in the last ones, too. */
	else if (load_result_second(result, (uint32_t)((end - 1 - run->begin_ns) / SECOND_NS))
	    == NULL)
		return report("result", -ENOMEM);
	for (uint32_t i = 0; i < run->options->cores; i++) {
		struct load_core *core = &run->cores[i];

		core->result.counters[LOAD_unsent] = load_pace_unsent(core, end);
		for (uint32_t n = 0; n < core->conns_count; n++)
			core->result.counters[LOAD_unanswered] += core->conns[n]->in_flight;
		core->result.duration_ns = end - run->begin_ns;
		ok = ok && !core->no_memory && load_result_add(result, &core->result);
	}
	return ok || report("result", -ENOMEM);
}

bool
load_run(struct load_run *run, load_progress_fn *progress, void *arg, struct load_result *result)
{
	struct watched w = {run, progress, arg};
	int status = start(run, &w);

	if (status == 0)
		status = mely_run(run->rt);
	if (status != 0)
		return report("cannot run", status);
	return collect(run, result);
}
