/* SPDX-License-Identifier: MIT */
/*
 * counters.c: the sums over the cores. Each counter has one writer, its core; any thread reads.
 */
#include <errno.h>
#include <string.h>

#include "core/core.h"

int
mely_counters_read(const struct mely_runtime *rt, int core, struct mely_counters *out,
    size_t size)
{
	struct mely_counters sum;
	int first = core >= 0 ? core : 0;
	int last = core >= 0 ? core : rt->cores_count - 1;
	int i, d;

	if (core < -1 || core >= rt->cores_count)
		return -EINVAL;
	memset(&sum, 0, sizeof sum);
	for (i = first; i <= last; i++) {
		struct melyint_core *each = &rt->cores[i];
		const struct melyint_counters *c = &each->counters;

		/* relaxed: no consistent cut is promised */
#define MELYINT_SUM(name) sum.name += MELY_LOAD(&c->name, relaxed)
		sum.events += melyint_tally_events(&each->tallies);
		MELYINT_SUM(batches);
		MELYINT_SUM(posts_remote);
		MELYINT_SUM(adoptions);
		MELYINT_SUM(steals_tried);
		MELYINT_SUM(steals);
		MELYINT_SUM(balance_steals);
		MELYINT_SUM(steals_empty);
		MELYINT_SUM(steals_unworthy);
		MELYINT_SUM(stolen_events);
		MELYINT_SUM(stolen_ns);
		MELYINT_SUM(stealing_ns);
		for (d = 0; d < MELY_DISTANCES; d++)
			MELYINT_SUM(steals_at[d]);
		MELYINT_SUM(lock_waits);
		MELYINT_SUM(lock_wait_ns);
		MELYINT_SUM(sleeps);
		MELYINT_SUM(wakeups_sent);
		MELYINT_SUM(polls);
		MELYINT_SUM(readiness);
		MELYINT_SUM(fd_moves);
		MELYINT_SUM(cancels);
		MELYINT_SUM(refused);
		MELYINT_SUM(fd_moves_put_off);
		MELYINT_SUM(polls_taken);
		MELYINT_SUM(stalls);
#undef MELYINT_SUM
	}
	if (core < 0) {
		/* relaxed: as above */
		sum.posts_remote += MELY_LOAD(&rt->outside.posts, relaxed);
		sum.wakeups_sent += MELY_LOAD(&rt->outside.wakeups, relaxed);
		sum.refused += MELY_LOAD(&rt->outside.refused, relaxed);
	}
	memset(out, 0, size);
	memcpy(out, &sum, size < sizeof sum ? size : sizeof sum);
	return 0;
}
