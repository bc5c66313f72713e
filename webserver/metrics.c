/* SPDX-License-Identifier: MIT */
/*
 * metrics.c: the metrics of the server and of its runtime. All words are read as they are: two of
 * them may be some requests apart.
 */
#include <stdio.h>
#include <stdlib.h>

#include <mely/mely.h>

#include "base/assertion.h"
#include "conn.h"
#include "inside.h"
#include "ops/log.h"

static const char *const methods[SWS_COUNTED_METHODS] = {"get", "head", "other"};

static void
family(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP sws_%s %s\n# TYPE sws_%s %s\n", name, help, name, type);
}

static void
one(FILE *out, const char *name, const char *type, const char *help, uint64_t value)
{
	family(out, name, type, help);
	fprintf(out, "sws_%s %llu\n", name, (unsigned long long)value);
}

/* ---- the counters of the cores ------------------------------------------------------------- */

/* The sum over all cores of a word of their counters. */
static uint64_t
sum(const struct sws_server *server, size_t offset)
{
	uint64_t n = 0;

	for (int i = 0; i < server->cores_count; i++) {
		const char *counters = (const char *)&server->cores[i]->counters;

		/* relaxed: counters.h. */
		n += atomic_load_explicit((const _Atomic(uint64_t) *)(counters + offset),
		    memory_order_relaxed);
	}
	return n;
}

#define SUM(server, member) sum(server, offsetof(struct sws_counters, member))

static void
requests(FILE *out, const struct sws_server *server)
{
	family(out, "requests_total", "counter", "Answers that have ended, sent or not.");
	for (size_t m = 0; m < SWS_COUNTED_METHODS; m++)
		for (size_t c = 2; c < SWS_COUNTED_CLASSES; c++)
			fprintf(out, "sws_requests_total{method=\"%s\",status=\"%zuxx\"} %llu\n",
			    methods[m], c, (unsigned long long)sum(server,
			    offsetof(struct sws_counters, answers)
			    + (m * SWS_COUNTED_CLASSES + c) * sizeof(uint64_t)));
#define SWS_COUNTER(name, help) \
	one(out, #name "_total", "counter", help, SUM(server, name));
#include "ops/counters.def"
#undef SWS_COUNTER
}

static void
durations(FILE *out, const struct sws_server *server)
{
	static const double bounds[SWS_DURATIONS_COUNT] = SWS_DURATIONS;
	uint64_t n = 0;

	family(out, "request_duration_seconds", "histogram",
	    "From the first byte of a request to the last one of its answer.");
	for (size_t i = 0; i <= SWS_DURATIONS_COUNT; i++) {
		n += sum(server, offsetof(struct sws_counters, durations) + i * sizeof(uint64_t));
		if (i < SWS_DURATIONS_COUNT)
			fprintf(out, "sws_request_duration_seconds_bucket{le=\"%g\"} %llu\n",
			    bounds[i], (unsigned long long)n);
	}
	fprintf(out, "sws_request_duration_seconds_bucket{le=\"+Inf\"} %llu\n"
	    "sws_request_duration_seconds_sum %.9f\nsws_request_duration_seconds_count %llu\n",
	    (unsigned long long)n, (double)SUM(server, durations_ns) / 1e9,
	    (unsigned long long)n);
}

/* ---- the server ---------------------------------------------------------------------------- */

static void
gauges(FILE *out, struct sws_server *server)
{
	const struct sws_reload *r = &server->reload;

	/* relaxed: numbers that publish no other data. */
	one(out, "connections", "gauge", "Connections that are open.",
	    (uint64_t)atomic_load_explicit(&server->net.clients, memory_order_relaxed));
	one(out, "connections_max", "gauge", "Connections that may be open at once.",
	    (uint64_t)server->net.clients_max);
	if (server->net.origins != NULL)
		one(out, "connections_refused_total", "counter",
		    "Connections of addresses that have too many.",
		    atomic_load_explicit(&server->net.origins->refused, memory_order_relaxed));
	one(out, "draining", "gauge", "1: the server finishes its answers and ends.",
	    atomic_load_explicit(&server->draining, memory_order_relaxed));
	one(out, "cache_pages", "gauge", "Prebuilt answers.", sws_store_pages(&server->store));
	one(out, "cache_bytes", "gauge", "Bytes of prebuilt answers.",
	    atomic_load_explicit(&server->store.bytes, memory_order_relaxed));
	one(out, "cache_bytes_max", "gauge", "Most bytes of prebuilt answers.", server->store.cap);
	family(out, "reloads_total", "counter", "Reloads of the configuration.");
	fprintf(out, "sws_reloads_total{result=\"success\"} %llu\n"
	    "sws_reloads_total{result=\"failure\"} %llu\n",
	    (unsigned long long)atomic_load_explicit(&r->succeeded, memory_order_relaxed),
	    (unsigned long long)atomic_load_explicit(&r->failed, memory_order_relaxed));
	one(out, "last_reload_time_seconds", "gauge",
	    "When a configuration was last put into force, since 1970.",
	    atomic_load_explicit(&r->at_s, memory_order_relaxed));
	one(out, "start_time_seconds", "gauge", "When the server began, since 1970.",
	    server->began_s);
	if (server->log == NULL)
		return;
	one(out, "log_lines_total", "counter", "Lines written to the access log.",
	    sws_log_written(server->log));
	one(out, "log_lines_dropped_total", "counter", "Lines that the access log lacks.",
	    sws_log_dropped(server->log));
}

/* A text between quotes. */
static void
quoted(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text != '\0'; text++)
		if (*text == '\n')
			fputs("\\n", out);
		else
			fprintf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	fputc('"', out);
}

static void
certificates(FILE *out, struct sws_tls_pairs *pairs)
{
	const char *file;
	int64_t not_after;

	if (pairs == NULL)
		return;
	family(out, "tls_certificate_not_after_seconds", "gauge",
	    "When a certificate expires, since 1970.");
	for (int i = 0; (file = sws_tls_pairs_expiry(pairs, i, &not_after)) != NULL; i++) {
		fputs("sws_tls_certificate_not_after_seconds{file=", out);
		quoted(out, file);
		fprintf(out, "} %lld\n", (long long)not_after);
	}
}

static void
runtime(FILE *out, struct mely_runtime *rt)
{
	struct mely_stats *stats;
	char *text;
	size_t len;

	if (mely_stats_take(rt, 0, 0, &stats) != 0)
		return;
	if (mely_stats_prometheus(stats, &text, &len) == 0) {
		fwrite(text, 1, len, out);
		free(text);
	}
	mely_stats_free(stats);
}

char *
sws_metrics_text(struct sws_core *core, size_t *len)
{
	struct sws_server *server = core->server;
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	if (out == NULL)
		return NULL;
	family(out, "build_info", "gauge", "1, with the version.");
	fprintf(out, "sws_build_info{version=\"%s\"} 1\n", mely_version());
	requests(out, server);
	durations(out, server);
	gauges(out, server);
	certificates(out, sws_core_setup(core)->tls);
	sws_core_leave_setup(core);
	runtime(out, server->rt);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}
