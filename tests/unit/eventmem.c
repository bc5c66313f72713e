/* SPDX-License-Identifier: MIT */
/*
 * eventmem.c: memory of events: no two are the same, all of it comes back, in pages where a block
 * is still in use, and several threads may free what others have made.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"
/* Also with a sanitizer, which then finds races of this code. */
#define MELYINT_EVENTS_CUT 1
#include "queue/eventmem.c"

enum { MANY = 20000, PER_BLOCK_MAX = MELYINT_BLOCK / 64 };

static struct mely_event *events[MANY];

static int
compare(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;

	return x < y ? -1 : x > y;
}

static void
make(uint32_t from, uint32_t n)
{
	assert_int_equal(melyint_events_new(events + from, n), n);
	for (uint32_t i = from; i < from + n; i++)
		memset(events[i], 0x5a, sizeof *events[i]);
}

static void
distinct(void **state)
{
	(void)state;
	for (uint32_t n = 1, from = 0; from + n <= MANY; from += n, n = n * 2 + 1)
		make(from, n);
	for (uint32_t i = 0; i < MANY && events[i] != NULL; i++)
		assert_int_equal((uintptr_t)events[i] % 64, 0);
	qsort(events, MANY, sizeof events[0], compare);
	for (uint32_t i = 1; i < MANY; i++)
		if (events[i - 1] != NULL)
			assert_true((char *)events[i] - (char *)events[i - 1] >= 64);
	for (uint32_t i = 0; i < MANY; i++)
		if (events[i] != NULL)
			melyint_event_free(events[i]);
	memset(events, 0, sizeof events);
	(void)melyint_events_trim();
	assert_int_equal(melyint_events_trim(), 0);
}

/* Everything goes, and then comes back. */
static void
blocks_go(void **state)
{
	uint64_t freed = melyint_events_freed();
	size_t bytes;

	(void)state;
	for (int round = 0; round < 3; round++) {
		make(0, MANY);
		assert_int_equal(melyint_events_trim(), 0);
		melyint_events_free(events, MANY);
		assert_true(melyint_events_freed() > freed);
		freed = melyint_events_freed();
		/* Some blocks are kept for the next burst, not all of them. */
		bytes = melyint_events_trim();
		assert_in_range(bytes, 1, MANY / PER_BLOCK_MAX / 2 * MELYINT_BLOCK);
		assert_int_equal(melyint_events_trim(), 0);
	}
}

/* One event of each block stays: the other pages go, and hold events again afterwards. */
static void
pages_go(void **state)
{
	uint32_t kept = 0, blocks = 0;
	uintptr_t block = 0;
	size_t bytes;

	(void)state;
	make(0, MANY);
	qsort(events, MANY, sizeof events[0], compare);
	for (uint32_t i = 0; i < MANY; i++) {
		uintptr_t own = (uintptr_t)events[i] / MELYINT_BLOCK;

		/* The last one, so in the last page of most. */
		if (i + 1 == MANY || (uintptr_t)events[i + 1] / MELYINT_BLOCK != own)
			events[kept++] = events[i];
		else
			melyint_event_free(events[i]);
		blocks += own != block;
		block = own;
	}
	assert_int_equal(kept, blocks);
	bytes = melyint_events_trim();
	assert_true(bytes >= (blocks - 1) * (MELYINT_BLOCK - 2 * PAGE));
	assert_true(bytes % PAGE == 0 && bytes < blocks * MELYINT_BLOCK);
	for (uint32_t i = 0; i < kept; i++)
		assert_int_equal(*(char *)events[i], 0x5a);
	make(kept, MANY - kept);
	assert_int_equal(melyint_events_trim(), 0);
	for (uint32_t i = 0; i < kept; i++)
		assert_int_equal(*(char *)events[i], 0x5a);
	melyint_events_free(events, MANY);
	(void)melyint_events_trim();
}

enum { THREADS = 10, HELD = 400, STEPS = 3000 };

static struct mely_event *_Atomic shared[HELD];

static void *
play(void *arg)
{
	uint64_t seed = (uintptr_t)arg + 1;
	struct mely_event *batch[64];

	for (int i = 0; i < STEPS; i++) {
		uint32_t n, k;

		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		n = 1 + (uint32_t)(seed >> 40) % 64;
		if (melyint_events_new(batch, n) != n)
			abort();
		for (k = 0; k < n; k++) {
			memset(batch[k], (int)n, sizeof *batch[k]);
			/* Another thread frees it, and this one what that thread has made. */
			batch[k] = atomic_exchange(&shared[(seed >> 20) % (HELD - 64) + k],
			    batch[k]);
		}
		for (k = 0; k < n && batch[k] != NULL; k++)
			;
		melyint_events_free(batch, k);
		for (; k < n; k++)
			if (batch[k] != NULL)
				melyint_event_free(batch[k]);
		if (i % 500 == 499)
			(void)melyint_events_trim();
	}
	return NULL;
}

static void
threads(void **state)
{
	pthread_t thread[THREADS];

	(void)state;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, play, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < HELD; i++)
		if (shared[i] != NULL)
			melyint_event_free(shared[i]);
	(void)melyint_events_trim();
	assert_int_equal(melyint_events_trim(), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distinct),
		cmocka_unit_test(blocks_go),
		cmocka_unit_test(pages_go),
		cmocka_unit_test(threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
