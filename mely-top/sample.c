/* SPDX-License-Identifier: MIT */
/*
 * sample.c: compute rates from two snapshots.
 */
#include <stdlib.h>
#include <string.h>

#include "sample.h"

/* ---- histograms ------------------------------------------------------------------------------ */

#define LONG_NS UINT64_C(10000000) /* a longer batch counts before it ends */

/* The growth of a histogram between two snapshots. */
struct spread {
	uint64_t count, sum_ns, max_ns;
	uint64_t buckets[MELY_STATS_BUCKETS];
};

static uint64_t
less(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void
spread_make(struct spread *s, const struct sample *sample, const struct mely_stats_hist *now,
    const struct mely_stats_hist *before)
{
	uint32_t i;

	memset(s, 0, sizeof *s);
	s->sum_ns = less(now->sum_ns, before != NULL ? before->sum_ns : 0);
	s->max_ns = now->max_ns;
	for (i = 0; i < MELY_STATS_BUCKETS; i++) {
		s->buckets[i] = less(mely_stats_bucket(sample->now, now, i), before != NULL ?
		    mely_stats_bucket(sample->before, before, i) : 0);
		s->count += s->buckets[i];
	}
}

/* The middle of the bucket of that quantile. */
static uint64_t
spread_quantile(const struct spread *s, double part)
{
	double wanted = part * (double)s->count, seen = 0;
	uint64_t middle = 0;
	uint32_t i;

	for (i = 0; i < MELY_STATS_BUCKETS && (seen < wanted || seen == 0); i++) {
		uint64_t from = mely_stats_bucket_from(i), to = mely_stats_bucket_to(i);

		if (s->buckets[i] == 0)
			continue;
		seen += (double)s->buckets[i];
		middle = to == UINT64_MAX ? from : from + (to - 1 - from) / 2;
	}
	return middle > s->max_ns ? s->max_ns : middle;
}

/* ---- handlers -------------------------------------------------------------------------------- */

/* Time of the interval in events that have not ended; *cores: the cores that run one. Only for long
 * batches: the samples have the others. */
static uint64_t
under_way(const struct sample *sample, uint32_t number, uint32_t *cores)
{
	uint64_t ns = 0;
	uint32_t i;

	*cores = 0;
	for (i = 0; i < sample->now->cores_count; i++) {
		const struct mely_stats_core *core = mely_stats_core_row(sample->now, i);

		if (core->color_kind == MELY_STATS_NO_COLOR || core->handler != number)
			continue;
		++*cores;
		if (core->running_ns >= LONG_NS)
			ns += core->running_ns < sample->ns ? core->running_ns : sample->ns;
	}
	return ns;
}

static void
handler_rates(struct sample *sample, struct handler_rates *r, const struct mely_stats_handler *row)
{
	const struct mely_stats_handler *before = sample->before == NULL ? NULL :
	    mely_stats_handler_numbered(sample->before, row->number);
	double count = (double)less(row->count, before != NULL ? before->count : 0);
	double whole_ns = sample->seconds * 1e9 * (double)sample->now->cores_count;
	struct spread s;

	memset(r, 0, sizeof *r);
	r->row = row;
	r->events = count / sample->seconds;
	r->stalls = less(row->stalls, before != NULL ? before->stalls : 0);
	spread_make(&s, sample, &row->time, before != NULL ? &before->time : NULL);
	r->samples = s.count;
	if (s.count > 0) {
		r->average_ns = s.sum_ns / s.count;
		r->p50_ns = spread_quantile(&s, 0.5);
		r->p99_ns = spread_quantile(&s, 0.99);
		r->share = count * (double)r->average_ns / whole_ns;
	}
	r->share += (double)under_way(sample, row->number, &r->running) / whole_ns;
	/* An event that ends may have run for longer than the interval. */
	if (r->share > 1)
		r->share = 1;
	spread_make(&s, sample, &row->delay, before != NULL ? &before->delay : NULL);
	r->delays = s.count;
	r->delay_p99_ns = s.count > 0 ? spread_quantile(&s, 0.99) : 0;
}

static void
all_handlers(struct sample *sample)
{
	uint32_t i;

	for (i = 0; i < sample->now->handlers_count; i++) {
		const struct mely_stats_handler *row = mely_stats_handler_row(sample->now, i);

		struct handler_rates *r = &sample->handlers[sample->handlers_count];

		handler_rates(sample, r, row);
		if (row->count > 0 || row->stalls > 0 || r->running > 0)
			sample->handlers_count++;
	}
}

/* ---- cores ----------------------------------------------------------------------------------- */

static void
count_rates(struct total_rates *to, const struct mely_counters *now,
    const struct mely_counters *before, double s)
{
	int d;

#define MELY_COUNTER_TALLY(name, unit, help) to->name = (double)less(now->name, before->name) / s;
#define MELY_COUNTER(name, unit, help) to->name = (double)less(now->name, before->name) / s;
#define MELY_COUNTER_AT(name, unit, help) \
	for (d = 0; d < MELY_DISTANCES; d++) \
		to->name[d] = (double)less(now->name[d], before->name[d]) / s;
#include <mely/counters.def>
}

static void
core_rates(struct sample *sample, uint32_t i)
{
	static const struct mely_stats_core none;
	const struct mely_stats_core *now = mely_stats_core_row(sample->now, i);
	const struct mely_stats_core *before = sample->before != NULL ?
	    mely_stats_core_row(sample->before, i) : &none;
	struct core_rates *r = &sample->cores[i];
	struct total_rates *t = &sample->total;
	double ns = sample->seconds * 1e9, s = sample->seconds;

	r->busy = (double)less(now->busy_ns, before->busy_ns) / ns;
	r->steal = (double)less(now->steal_ns, before->steal_ns) / ns;
	r->poll = (double)less(now->poll_ns, before->poll_ns) / ns;
	r->sleep = (double)less(now->sleep_ns, before->sleep_ns) / ns;
	r->events = (double)less(now->counters.events, before->counters.events) / s;
	t->busy += r->busy / sample->now->cores_count;
	t->steal += r->steal / sample->now->cores_count;
	t->poll += r->poll / sample->now->cores_count;
	t->sleep += r->sleep / sample->now->cores_count;
}

bool
sample_make(struct sample *sample, const struct mely_stats *now, const struct mely_stats *before)
{
	static const struct mely_counters none;
	uint32_t i;

	memset(sample, 0, sizeof *sample);
	sample->now = now;
	/* Another runtime at the same place: nothing to compare with. */
	if (before != NULL && before->made_ns == now->made_ns && before->pid == now->pid &&
	    before->cores_count == now->cores_count && before->taken_ns < now->taken_ns)
		sample->before = before;
	sample->ns = less(now->taken_ns, sample->before != NULL ? before->taken_ns : now->made_ns);
	if (sample->ns == 0)
		sample->ns = 1;
	sample->seconds = (double)sample->ns / 1e9;
	sample->cores = calloc(now->cores_count + 1, sizeof *sample->cores);
	sample->handlers = calloc(now->handlers_count + 1, sizeof *sample->handlers);
	if (sample->cores == NULL || sample->handlers == NULL) {
		sample_free(sample);
		return false;
	}
	for (i = 0; i < now->cores_count; i++)
		core_rates(sample, i);
	/* Over the cores and the threads outside. */
	count_rates(&sample->total, &now->total, sample->before != NULL ? &before->total : &none,
	    sample->seconds);
	all_handlers(sample);
	sample_sort(sample, BY_SHARE);
	return true;
}

void
sample_free(struct sample *sample)
{
	free(sample->cores);
	free(sample->handlers);
	memset(sample, 0, sizeof *sample);
}

/* ---- order ----------------------------------------------------------------------------------- */

static enum handler_order sort_order; /* for compare; one thread */
static const struct mely_stats *sort_now;

static double
key(const struct handler_rates *r)
{
	switch (sort_order) {
	case BY_SHARE:
		return r->share;
	case BY_EVENTS:
		return r->events;
	case BY_AVERAGE:
		return (double)r->average_ns;
	case BY_P99:
		return (double)r->p99_ns;
	case BY_DELAY:
		return (double)r->delay_p99_ns;
	case BY_STALLS:
		return (double)r->row->stalls;
	default:
		return 0;
	}
}

static int
compare(const void *a, const void *b)
{
	const struct handler_rates *x = a, *y = b;
	double kx = key(x), ky = key(y);
	int names;

	if (kx != ky)
		return kx > ky ? -1 : 1;
	names = strcmp(mely_stats_name(sort_now, x->row->name_at),
	    mely_stats_name(sort_now, y->row->name_at));
	return names != 0 ? names : x->row->number < y->row->number ? -1 : 1;
}

void
sample_sort(struct sample *sample, enum handler_order order)
{
	sort_order = order;
	sort_now = sample->now;
	qsort(sample->handlers, sample->handlers_count, sizeof sample->handlers[0], compare);
}
