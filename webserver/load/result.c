/* SPDX-License-Identifier: MIT */
/*
 * result.c: results, their sum, and their text:
 *     duration NS
 *     count NAME N
 *     status CODE N
 *     second NUMBER RESPONSES ERRORS BYTES
 *     latency COUNT MIN MAX SUM, or connect, or of-second: then its buckets
 *     bucket NUMBER N
 *     sample TEXT
 *     end
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/assertion.h"
#include "load/result.h"

/* 11 days. */
#define SECONDS_MAX 1000000

const struct load_counter_name load_counter_names[LOAD_COUNTERS] = {
#define LOAD_COUNTER(name, what) {#name, what, false},
#define LOAD_ERROR(name, what) {#name, what, true},
#include "load/counters.def"
#undef LOAD_COUNTER
#undef LOAD_ERROR
};

bool
load_result_init(struct load_result *r)
{
	memset(r, 0, sizeof *r);
	r->latency = load_hist_new(LOAD_HIST_FINE);
	r->connect = load_hist_new(LOAD_HIST_FINE);
	return r->latency != NULL && r->connect != NULL;
}

void
load_result_fini(struct load_result *r)
{
	for (uint32_t i = 0; i < r->seconds_count; i++)
		free(r->seconds[i].latency);
	free(r->seconds);
	free(r->latency);
	free(r->connect);
	memset(r, 0, sizeof *r);
}

struct load_second *
load_result_second(struct load_result *r, uint32_t number)
{
	if (number >= r->seconds_size) {
		uint32_t size = number < 60 ? 64 : number * 2;
		struct load_second *grown = realloc(r->seconds, size * sizeof *grown);

		if (grown == NULL)
			return NULL;
		r->seconds = grown;
		r->seconds_size = size;
	}
	for (; r->seconds_count <= number; r->seconds_count++)
		r->seconds[r->seconds_count] = (struct load_second){0};
	return &r->seconds[number];
}

bool
load_result_second_record(struct load_second *second, uint64_t latency_ns)
{
	if (second->latency == NULL) {
		second->latency = load_hist_new(LOAD_HIST_COARSE);
		if (second->latency == NULL)
			return false;
	}
	load_hist_record(second->latency, latency_ns);
	second->responses++;
	return true;
}

void
load_result_sample(struct load_result *r, const char *text)
{
	char *to;

	for (uint32_t i = 0; i < r->samples_count; i++)
		if (strncmp(r->samples[i], text, LOAD_SAMPLE_LEN - 1) == 0)
			return;
	if (r->samples_count == LOAD_SAMPLES)
		return;
	to = r->samples[r->samples_count++];
	snprintf(to, LOAD_SAMPLE_LEN, "%s", text);
	/* What a server has sent may be in it. */
	for (; *to != '\0'; to++)
		if ((unsigned char)*to < ' ' || (unsigned char)*to > '~')
			*to = '?';
}

bool
load_result_add(struct load_result *to, const struct load_result *from)
{
	for (int i = 0; i < LOAD_COUNTERS; i++)
		to->counters[i] += from->counters[i];
	for (int i = 0; i <= LOAD_STATUS_MAX; i++)
		to->statuses[i] += from->statuses[i];
	load_hist_add(to->latency, from->latency);
	load_hist_add(to->connect, from->connect);
	for (uint32_t i = 0; i < from->seconds_count; i++) {
		const struct load_second *f = &from->seconds[i];
		struct load_second *t = load_result_second(to, i);

		if (t == NULL)
			return false;
		t->responses += f->responses;
		t->errors += f->errors;
		t->bytes += f->bytes;
		if (f->latency == NULL)
			continue;
		if (t->latency == NULL)
			t->latency = load_hist_new(LOAD_HIST_COARSE);
		if (t->latency == NULL)
			return false;
		load_hist_add(t->latency, f->latency);
	}
	for (uint32_t i = 0; i < from->samples_count; i++)
		load_result_sample(to, from->samples[i]);
	if (from->duration_ns > to->duration_ns)
		to->duration_ns = from->duration_ns;
	return true;
}

uint64_t
load_result_errors(const struct load_result *r)
{
	uint64_t sum = 0;

	for (int i = 0; i < LOAD_COUNTERS; i++)
		if (load_counter_names[i].error)
			sum += r->counters[i];
	return sum;
}

/* ---- as text ------------------------------------------------------------------------------- */

static void
write_hist(const struct load_hist *h, const char *name, FILE *out)
{
	if (h == NULL || h->count == 0)
		return;
	fprintf(out, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %.0f\n", name, h->count, h->min,
	    h->max, h->sum);
	for (uint32_t i = 0; i < h->buckets_count; i++)
		if (h->buckets[i] > 0)
			fprintf(out, "bucket %" PRIu32 " %" PRIu64 "\n", i, h->buckets[i]);
}

void
load_result_write(const struct load_result *r, FILE *out)
{
	fprintf(out, "duration %" PRIu64 "\n", r->duration_ns);
	for (int i = 0; i < LOAD_COUNTERS; i++)
		fprintf(out, "count %s %" PRIu64 "\n", load_counter_names[i].name,
		    r->counters[i]);
	for (int i = 0; i <= LOAD_STATUS_MAX; i++)
		if (r->statuses[i] > 0)
			fprintf(out, "status %d %" PRIu64 "\n", i, r->statuses[i]);
	write_hist(r->latency, "latency", out);
	write_hist(r->connect, "connect", out);
	for (uint32_t i = 0; i < r->seconds_count; i++) {
		const struct load_second *s = &r->seconds[i];

		fprintf(out, "second %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", i,
		    s->responses, s->errors, s->bytes);
		write_hist(s->latency, "of-second", out);
	}
	for (uint32_t i = 0; i < r->samples_count; i++)
		fprintf(out, "sample %s\n", r->samples[i]);
	fputs("end\n", out);
}

struct reader {
	struct load_result *result;
	struct load_second *second; /* the last one */
	struct load_hist *hist;     /* that of the buckets that follow */
};

static bool
read_count(struct reader *r, const char *text)
{
	char name[32];
	uint64_t n;

	if (sscanf(text, "%31s %" SCNu64, name, &n) != 2)
		return false;
	for (int i = 0; i < LOAD_COUNTERS; i++)
		if (strcmp(name, load_counter_names[i].name) == 0) {
			r->result->counters[i] = n;
			return true;
		}
	return false;
}

static bool
read_second(struct reader *r, const char *text)
{
	struct load_second s = {0};
	uint32_t number;

	if (sscanf(text, "%" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64, &number, &s.responses,
	    &s.errors, &s.bytes) != 4 || number != r->result->seconds_count
	    || number >= SECONDS_MAX)
		return false;
	r->second = load_result_second(r->result, number);
	if (r->second == NULL)
		return false;
	*r->second = s;
	return true;
}

static bool
read_hist(struct reader *r, const char *word, const char *text)
{
	if (strcmp(word, "of-second") == 0) {
		if (r->second == NULL || r->second->latency != NULL)
			return false;
		r->hist = r->second->latency = load_hist_new(LOAD_HIST_COARSE);
	} else
		r->hist = word[0] == 'l' ? r->result->latency : r->result->connect;
	return r->hist != NULL && sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %lf",
	    &r->hist->count, &r->hist->min, &r->hist->max, &r->hist->sum) == 4;
}

static bool
read_line(struct reader *r, char *line)
{
	char *text = strchr(line, ' ');
	uint32_t i;
	uint64_t n;

	if (text == NULL)
		return false;
	*text++ = '\0';
	if (strcmp(line, "bucket") == 0) {
		if (sscanf(text, "%" SCNu32 " %" SCNu64, &i, &n) != 2 || r->hist == NULL
		    || i >= r->hist->buckets_count)
			return false;
		r->hist->buckets[i] = n;
		return true;
	}
	if (strcmp(line, "count") == 0)
		return read_count(r, text);
	if (strcmp(line, "second") == 0)
		return read_second(r, text);
	if (strcmp(line, "latency") == 0 || strcmp(line, "connect") == 0
	    || strcmp(line, "of-second") == 0)
		return read_hist(r, line, text);
	if (strcmp(line, "status") == 0) {
		if (sscanf(text, "%" SCNu32 " %" SCNu64, &i, &n) != 2 || i > LOAD_STATUS_MAX)
			return false;
		r->result->statuses[i] = n;
		return true;
	}
	if (strcmp(line, "sample") == 0) {
		load_result_sample(r->result, text);
		return true;
	}
	return strcmp(line, "duration") == 0
	    && sscanf(text, "%" SCNu64, &r->result->duration_ns) == 1;
}

bool
load_result_read(struct load_result *result, char *text)
{
	struct reader r = {.result = result};
	char *end;

	SWS_ASSERT(result->seconds_count == 0);
	for (char *line = text; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		if (strcmp(line, "end") == 0)
			return end[1] == '\0';
		if (!read_line(&r, line))
			return false;
	}
	return false;
}
