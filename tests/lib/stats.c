/* SPDX-License-Identifier: MIT */
/* stats.c: snapshots for tests. */
#include "stats.h"

struct mely_stats *
test_stats(struct mely_runtime *rt, unsigned flags, uint32_t colors_max)
{
	struct mely_stats *stats;

	TEST_OK(mely_stats_take(rt, flags, colors_max, &stats));
	TEST_OK(mely_stats_check(stats, (size_t)stats->size));
	return stats;
}

const struct mely_stats_handler *
test_stats_handler(const struct mely_stats *stats, const char *name)
{
	const struct mely_stats_handler *h, *found = NULL;
	uint32_t i;

	for (i = 0; (h = mely_stats_handler_row(stats, i)) != NULL; i++) {
		TEST_CHECK(mely_stats_handler_numbered(stats, h->number) == h);
		if (strcmp(mely_stats_name(stats, h->name_at), name) == 0) {
			TEST_CHECK(found == NULL);
			found = h;
		}
	}
	return found;
}

static void
check_hist(const struct mely_stats *stats, const struct mely_stats_hist *hist)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < MELY_STATS_BUCKETS; i++)
		sum += mely_stats_bucket(stats, hist, i);
	TEST_EQ(sum, hist->count);
	TEST_CHECK(mely_stats_quantile(stats, hist, 1.) <= hist->max_ns);
	TEST_CHECK(mely_stats_quantile(stats, hist, .1) <= mely_stats_quantile(stats, hist, .9));
}

void
test_stats_sums(struct mely_runtime *rt, const struct mely_stats *stats)
{
	const struct mely_stats_handler *h;
	const struct mely_stats_core *c;
	uint64_t by_handler = 0, by_core = 0, tried, won;
	uint32_t i, d;

	for (i = 0; (h = mely_stats_handler_row(stats, i)) != NULL; i++) {
		by_handler += h->count;
		check_hist(stats, &h->time);
		check_hist(stats, &h->delay);
		TEST_CHECK(h->time.count <= h->count && h->delay.count <= h->count);
	}
	for (i = 0; (c = mely_stats_core_row(stats, i)) != NULL; i++) {
		by_core += c->counters.events;
		for (d = 0, tried = won = 0; d < MELY_DISTANCES; d++) {
			tried += c->counters.steals_tried_at[d];
			won += c->counters.steals_at[d];
		}
		TEST_EQ(tried, c->counters.steals_tried);
		TEST_EQ(won, c->counters.steals);
		TEST_EQ(c->doing, MELY_STATS_AWAY);
		TEST_EQ(c->color_kind, MELY_STATS_NO_COLOR);
	}
	TEST_EQ(by_handler, by_core);
	TEST_EQ(by_core, stats->total.events);
	TEST_EQ(by_core, test_counters(rt).events);
}
