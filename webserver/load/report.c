/* SPDX-License-Identifier: MIT */
/*
 * report.c: results as text, JSON and CSV.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <mely/mely.h>

#include "load/report.h"

const double load_percentiles[LOAD_PERCENTILES] = {50, 75, 90, 95, 99, 99.9, 99.99, 100};

static double
seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static double
us(uint64_t ns)
{
	return (double)ns / 1e3;
}

static double
per_second(uint64_t n, const struct load_result *r)
{
	return r->duration_ns > 0 ? (double)n / seconds(r->duration_ns) : 0;
}

/* ---- for people ---------------------------------------------------------------------------- */

static void
print_time(double ns, FILE *out)
{
	if (ns < 1e3)
		fprintf(out, " %7.0f ns", ns);
	else if (ns < 1e6)
		fprintf(out, " %7.1f us", ns / 1e3);
	else if (ns < 1e9)
		fprintf(out, " %7.2f ms", ns / 1e6);
	else
		fprintf(out, " %7.2f s ", ns / 1e9);
}

static void
print_bytes(double n, FILE *out)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
	size_t i = 0;

	for (; n >= 1000 && i < sizeof units / sizeof units[0] - 1; i++)
		n /= 1000;
	fprintf(out, "%.*f %s", i > 0 ? 2 : 0, n, units[i]);
}

static void
print_hist(const char *name, const struct load_hist *h, FILE *out)
{
	if (h->count == 0)
		return;
	fprintf(out, "%-8s", name);
	print_time(load_hist_mean(h), out);
	print_time(load_hist_deviation(h), out);
	for (int i = 0; i < LOAD_PERCENTILES; i++)
		print_time((double)load_hist_percentile(h, load_percentiles[i]), out);
	fputc('\n', out);
}

void
load_report_text(const struct load_result *r, const struct load_options *o, FILE *out)
{
	fprintf(out, "%s: %" PRIu64 " responses in %.2f s, %.1f/s, ", o->url_text,
	    r->counters[LOAD_responses], seconds(r->duration_ns),
	    per_second(r->counters[LOAD_responses], r));
	print_bytes((double)r->counters[LOAD_bytes], out);
	fputs(", ", out);
	print_bytes(per_second(r->counters[LOAD_bytes], r), out);
	fputs("/s\n", out);
	fprintf(out, "%-8s %10s %10s", "latency", "mean", "deviation");
	for (int i = 0; i < LOAD_PERCENTILES; i++) {
		char label[16];

		snprintf(label, sizeof label, "%g%%", load_percentiles[i]);
		fprintf(out, " %10s", load_percentiles[i] < 100 ? label : "max");
	}
	fputc('\n', out);
	print_hist("request", r->latency, out);
	print_hist("connect", r->connect, out);
	for (int i = 0; i < LOAD_COUNTERS; i++)
		if (!load_counter_names[i].error && i != LOAD_bytes && i != LOAD_responses
		    && r->counters[i] > 0)
			fprintf(out, "%-60s %12" PRIu64 "\n", load_counter_names[i].what,
			    r->counters[i]);
	for (int i = 0; i <= LOAD_STATUS_MAX; i++)
		if (r->statuses[i] > 0)
			fprintf(out, "responses with status %-38d %12" PRIu64 "\n", i,
			    r->statuses[i]);
	for (int i = 0; i < LOAD_COUNTERS; i++)
		if (load_counter_names[i].error && r->counters[i] > 0)
			fprintf(out, "error: %-53s %12" PRIu64 "\n", load_counter_names[i].what,
			    r->counters[i]);
	for (uint32_t i = 0; i < r->samples_count; i++)
		fprintf(out, "error: for example: %s\n", r->samples[i]);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void
json_string(const char *s, FILE *out)
{
	fputc('"', out);
	for (; *s != '\0'; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < ' ' || c > '~')
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static void
json_hist(const char *name, const struct load_hist *h, FILE *out)
{
	fprintf(out, ",\n  \"%s\": {\"count\": %" PRIu64 ", \"min\": %.3f, \"mean\": %.3f, "
	    "\"deviation\": %.3f", name, h->count, h->count > 0 ? us(h->min) : 0,
	    load_hist_mean(h) / 1e3, load_hist_deviation(h) / 1e3);
	for (int i = 0; i < LOAD_PERCENTILES; i++)
		if (load_percentiles[i] < 100)
			fprintf(out, ", \"p%g\": %.3f", load_percentiles[i],
			    us(load_hist_percentile(h, load_percentiles[i])));
	fprintf(out, ", \"max\": %.3f}", us(h->max));
}

static void
json_options(const struct load_options *o, FILE *out)
{
	fprintf(out, ",\n  \"options\": {\"clients\": %u, \"cores\": %u, \"pipeline\": %u, "
	    "\"streams\": %u, \"requests_per_connection\": %u, \"rate\": %.3f, "
	    "\"warmup_s\": %.3f, \"http2\": %s, \"tls\": %s, \"tls_resume\": %s, "
	    "\"seed\": %" PRIu64 "}", o->clients, o->cores, o->pipeline, o->streams,
	    o->per_connection, o->rate, seconds(o->warmup_ns), o->http2 ? "true" : "false",
	    o->url.tls ? "true" : "false", o->tls_resume ? "true" : "false", o->seed);
}

static void
json_series(const struct load_result *r, FILE *out)
{
	fputs(",\n  \"seconds\": [", out);
	for (uint32_t i = 0; i < r->seconds_count; i++) {
		const struct load_second *s = &r->seconds[i];

		fprintf(out, "%s\n    {\"second\": %u, \"responses\": %" PRIu64 ", \"errors\": %"
		    PRIu64 ", \"bytes\": %" PRIu64, i > 0 ? "," : "", i, s->responses,
		    s->errors, s->bytes);
		if (s->latency != NULL)
			fprintf(out, ", \"mean_us\": %.1f, \"p50_us\": %.1f, \"p99_us\": %.1f, "
			    "\"max_us\": %.1f", load_hist_mean(s->latency) / 1e3,
			    us(load_hist_percentile(s->latency, 50)),
			    us(load_hist_percentile(s->latency, 99)), us(s->latency->max));
		fputc('}', out);
	}
	fputs("]", out);
}

void
load_report_json(const struct load_result *r, const struct load_options *o, FILE *out)
{
	const char *comma = "";

	fprintf(out, "{\n  \"sws_load\": \"%s\",\n  \"url\": ", mely_version());
	json_string(o->url_text, out);
	json_options(o, out);
	fprintf(out, ",\n  \"duration_s\": %.6f,\n  \"responses_per_s\": %.3f,\n  "
	    "\"bytes_per_s\": %.3f", seconds(r->duration_ns),
	    per_second(r->counters[LOAD_responses], r),
	    per_second(r->counters[LOAD_bytes], r));
	for (int i = 0; i < LOAD_COUNTERS; i++)
		if (!load_counter_names[i].error)
			fprintf(out, ",\n  \"%s\": %" PRIu64, load_counter_names[i].name,
			    r->counters[i]);
	fprintf(out, ",\n  \"errors_sum\": %" PRIu64 ",\n  \"errors\": {", load_result_errors(r));
	for (int i = 0; i < LOAD_COUNTERS; i++)
		if (load_counter_names[i].error) {
			fprintf(out, "%s\"%s\": %" PRIu64, comma, load_counter_names[i].name,
			    r->counters[i]);
			comma = ", ";
		}
	fputs("},\n  \"statuses\": {", out);
	comma = "";
	for (int i = 0; i <= LOAD_STATUS_MAX; i++)
		if (r->statuses[i] > 0) {
			fprintf(out, "%s\"%d\": %" PRIu64, comma, i, r->statuses[i]);
			comma = ", ";
		}
	fputc('}', out);
	json_hist("latency_us", r->latency, out);
	json_hist("connect_us", r->connect, out);
	json_series(r, out);
	fputs(",\n  \"error_samples\": [", out);
	for (uint32_t i = 0; i < r->samples_count; i++) {
		fputs(i > 0 ? ", " : "", out);
		json_string(r->samples[i], out);
	}
	fputs("]\n}\n", out);
}

/* ---- CSV, and files ------------------------------------------------------------------------ */

void
load_report_csv(const struct load_result *r, FILE *out)
{
	fputs("second,responses,errors,bytes,mean_us,p50_us,p90_us,p99_us,max_us\n", out);
	for (uint32_t i = 0; i < r->seconds_count; i++) {
		const struct load_second *s = &r->seconds[i];
		const struct load_hist *h = s->latency;

		fprintf(out, "%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64, i, s->responses, s->errors,
		    s->bytes);
		if (h != NULL)
			fprintf(out, ",%.1f,%.1f,%.1f,%.1f,%.1f\n", load_hist_mean(h) / 1e3,
			    us(load_hist_percentile(h, 50)), us(load_hist_percentile(h, 90)),
			    us(load_hist_percentile(h, 99)), us(h->max));
		else
			fputs(",,,,,\n", out);
	}
}

static bool
open_file(const char *name, FILE **file)
{
	*file = strcmp(name, "-") == 0 ? stdout : fopen(name, "we");
	if (*file == NULL)
		fprintf(stderr, "sws-load: %s: %s\n", name, strerror(errno));
	return *file != NULL;
}

static bool
close_file(const char *name, FILE *file)
{
	bool ok = (file == stdout ? fflush(file) : fclose(file)) == 0;

	if (!ok)
		fprintf(stderr, "sws-load: %s: %s\n", name, strerror(errno));
	return ok;
}

bool
load_report_files(const struct load_result *r, const struct load_options *o)
{
	FILE *file;
	bool ok = true;

	if (o->json != NULL && (ok = open_file(o->json, &file))) {
		load_report_json(r, o, file);
		ok = close_file(o->json, file);
	}
	if (ok && o->csv != NULL && (ok = open_file(o->csv, &file))) {
		load_report_csv(r, file);
		ok = close_file(o->csv, file);
	}
	if (ok && o->svg != NULL && (ok = open_file(o->svg, &file))) {
		load_report_svg(r, o, file);
		ok = close_file(o->svg, file);
	}
	return ok;
}
