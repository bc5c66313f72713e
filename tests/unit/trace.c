/* SPDX-License-Identifier: MIT */
/*
 * trace.c: rings of records, read while they are written. tests/unit/chrome.c tests mely-gantt's
 * reading of them.
 */
#include <pthread.h>
#include <string.h>

#include "unit.h"
#include "look/trace/tracer.h"

enum { RECORDS = 8, RINGS = 3 };

static struct melyint_ring rings[RINGS];
static _Atomic uint64_t words[RINGS][RECORDS * MELYINT_RECORD_WORDS];
static _Atomic uint64_t stamps[RECORDS];

/* Two cores and the outside, empty. */
static int
setup(void **state)
{
	int i;

	(void)state;
	memset(rings, 0, sizeof rings);
	memset(stamps, 0, sizeof stamps);
	for (i = 0; i < RINGS; i++) {
		rings[i].words = words[i];
		rings[i].mask = RECORDS - 1;
	}
	rings[RINGS - 1].stamps = stamps;
	return 0;
}

/* Copy all records that the ring still contains, like write.c. */
static uint64_t
copy(const struct melyint_ring *ring, struct melyint_record *to, uint64_t *lost)
{
	uint64_t end = melyint_ring_head(ring), first = ring->from, n;

	if (end - first > RECORDS)
		first = end - RECORDS;
	n = melyint_ring_copy(ring, first, end, to);
	*lost = end - ring->from - n;
	return n;
}

static void
put(int ring, uint64_t ticks, enum melyint_trace_kind kind, uint64_t what)
{
	if (ring == RINGS - 1)
		melyint_ring_put_shared(&rings[ring], ticks, what, 0,
		    melyint_trace_rest(kind, 0, 0, 0));
	else
		melyint_ring_put(&rings[ring], ticks, what, 0,
		    melyint_trace_rest(kind, 0, 0, 0));
}

/* ---- rings ----------------------------------------------------------------------------------- */

static void
record_comes_back(void **state)
{
	struct melyint_record record;
	uint64_t lost;

	(void)state;
	melyint_ring_put(&rings[0], 1, 2, UINT64_MAX,
	    melyint_trace_rest(MELYINT_TRACE_STEAL, UINT32_MAX, 65535, MELYINT_TRACE_OBJECT));
	assert_int_equal(copy(&rings[0], &record, &lost), 1);
	assert_int_equal(lost, 0);
	assert_int_equal(record.ticks, 1);
	assert_int_equal(record.what, 2);
	assert_true(record.color == UINT64_MAX);
	assert_true(record.rest == ((uint64_t)MELYINT_TRACE_STEAL << 56 |
	    (uint64_t)MELYINT_TRACE_OBJECT << 48 | (uint64_t)65535 << 32 | UINT32_MAX));
}

/* The oldest are lost; a full ring yields one record less than its size. */
static void
oldest_are_lost(void **state)
{
	struct melyint_record records[RECORDS];
	uint64_t lost, n, i, total;

	(void)state;
	for (total = 1; total < 3 * RECORDS; total++) {
		put(0, total, MELYINT_TRACE_RUN, total);
		put(2, total, MELYINT_TRACE_POST, total);
		n = copy(&rings[0], records, &lost);
		assert_int_equal(n, total < RECORDS ? total : RECORDS - 1);
		assert_int_equal(n + lost, total);
		for (i = 0; i < n; i++)
			assert_int_equal(records[i].ticks, lost + i + 1);
		n = copy(&rings[2], records, &lost);
		assert_int_equal(n, total < RECORDS ? total : RECORDS);
		assert_int_equal(n + lost, total);
	}
	/* A trace that begins now contains none of them. */
	rings[0].from = MELY_LOAD(&rings[0].head, relaxed); /* one thread */
	assert_int_equal(copy(&rings[0], records, &lost), 0);
	assert_int_equal(lost, 0);
}

static _Atomic bool enough;

/* All words of a record derive from one number. */
static void *
write_on(void *arg)
{
	int ring = *(int *)arg;
	uint64_t i;

	for (i = 1; !MELY_LOAD(&enough, relaxed); i++) { /* a wish */
		if (ring == RINGS - 1)
			melyint_ring_put_shared(&rings[ring], i, 3 * i, 5 * i, (uint32_t)i);
		else
			melyint_ring_put(&rings[ring], i, 3 * i, 5 * i, (uint32_t)i);
	}
	return NULL;
}

static void
read_while_written(void **state)
{
	struct melyint_record records[RECORDS];
	int ring, tries;

	(void)state;
	for (ring = 0; ring < RINGS; ring += 2) {
		uint64_t lost, got = 0;
		pthread_t thread;

		MELY_STORE(&enough, false, relaxed); /* no thread yet */
		assert_int_equal(pthread_create(&thread, NULL, write_on, &ring), 0);
		for (tries = 0; tries < 20000 || got == 0; tries++) {
			uint64_t n = copy(&rings[ring], records, &lost), i;

			assert_true(n <= RECORDS);
			for (i = 0; i < n; i++) {
				assert_int_equal(records[i].what, 3 * records[i].ticks);
				assert_int_equal(records[i].color, 5 * records[i].ticks);
				assert_int_equal(records[i].rest, (uint32_t)records[i].ticks);
				assert_true(i == 0 || records[i].ticks > records[i - 1].ticks);
			}
			got += n;
		}
		MELY_STORE(&enough, true, relaxed); /* a wish */
		pthread_join(thread, NULL);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(record_comes_back, setup),
		cmocka_unit_test_setup(oldest_are_lost, setup),
		cmocka_unit_test_setup(read_while_written, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
