/* SPDX-License-Identifier: MIT */
/*
 * trace.c: rings of records, read while they are written; which post is that of which event; the
 * names of colors; text that is JSON whatever it was.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"
#include "look/trace/scratch.h"

enum { RECORDS = 8, RINGS = 3 };

static struct melyint_ring rings[RINGS];
static _Atomic uint64_t words[RINGS][RECORDS * MELYINT_RECORD_WORDS];
static _Atomic uint64_t stamps[RECORDS];
static struct melyint_trace_name names[MELYINT_TRACE_NAMES];
static struct melyint_tracer tracer;

/* Two cores and the outside, with nothing in them. */
static int
setup(void **state)
{
	size_t size = melyint_scratch_size(RINGS, RECORDS);
	void *memory = aligned_alloc(MELY_CACHE_LINE, size);
	int i;

	if (memory == NULL)
		return -1;
	memset(memory, 0, size);
	memset(rings, 0, sizeof rings);
	memset(stamps, 0, sizeof stamps);
	for (i = 0; i < RINGS; i++) {
		rings[i].words = words[i];
		rings[i].mask = RECORDS - 1;
	}
	rings[RINGS - 1].stamps = stamps;
	tracer.rings_count = RINGS;
	tracer.rings = rings;
	tracer.names = names;
	MELY_STORE(&tracer.names_count, 0, relaxed); /* one thread */
	tracer.scratch = melyint_scratch_init(memory, RINGS, RECORDS);
	*state = tracer.scratch;
	return 0;
}

static int
teardown(void **state)
{
	free(*state);
	return 0;
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
	assert_int_equal(melyint_ring_copy(&rings[0], &record, &lost), 1);
	assert_int_equal(lost, 0);
	assert_int_equal(record.ticks, 1);
	assert_int_equal(record.what, 2);
	assert_true(record.color == UINT64_MAX);
	assert_int_equal(record.number, UINT32_MAX);
	assert_int_equal(record.other, 65535);
	assert_int_equal(record.flags, MELYINT_TRACE_OBJECT);
	assert_int_equal(record.kind, MELYINT_TRACE_STEAL);
}

/* The oldest go; of a full ring one less than its size is sure. */
static void
oldest_are_lost(void **state)
{
	struct melyint_record records[RECORDS];
	uint64_t lost, n, i, total;

	(void)state;
	for (total = 1; total < 3 * RECORDS; total++) {
		put(0, total, MELYINT_TRACE_RUN, total);
		put(2, total, MELYINT_TRACE_POST, total);
		n = melyint_ring_copy(&rings[0], records, &lost);
		assert_int_equal(n, total < RECORDS ? total : RECORDS - 1);
		assert_int_equal(n + lost, total);
		for (i = 0; i < n; i++)
			assert_int_equal(records[i].ticks, lost + i + 1);
		n = melyint_ring_copy(&rings[2], records, &lost);
		assert_int_equal(n, total < RECORDS ? total : RECORDS);
		assert_int_equal(n + lost, total);
	}
	/* A trace that begins now has none of it. */
	rings[0].from = MELY_LOAD(&rings[0].head, relaxed); /* one thread */
	assert_int_equal(melyint_ring_copy(&rings[0], records, &lost), 0);
	assert_int_equal(lost, 0);
}

static _Atomic bool enough;

/* All words of a record are made of one number. */
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
			uint64_t n = melyint_ring_copy(&rings[ring], records, &lost), i;

			assert_true(n <= RECORDS);
			for (i = 0; i < n; i++) {
				assert_int_equal(records[i].what, 3 * records[i].ticks);
				assert_int_equal(records[i].color, 5 * records[i].ticks);
				assert_int_equal(records[i].number, (uint32_t)records[i].ticks);
				assert_true(i == 0 || records[i].ticks > records[i - 1].ticks);
			}
			got += n;
		}
		MELY_STORE(&enough, true, relaxed); /* a wish */
		pthread_join(thread, NULL);
	}
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static struct melyint_scratch *
paired(struct melyint_scratch *s)
{
	melyint_scratch_copy(s, &tracer);
	melyint_trace_pair(s);
	return s;
}

static uint64_t
arrow_of(const struct melyint_scratch *s, int row, int i)
{
	const struct melyint_record *record = &s->rows[row].records[i];

	return record->kind == MELYINT_TRACE_RUN ? record->what : record->color;
}

/* The same address is posted and run again and again, to and fro. */
static void
posts_find_their_runs(void **state)
{
	struct melyint_scratch *s;

	put(2, 1000, MELYINT_TRACE_POST, 0x10);
	put(0, 2000, MELYINT_TRACE_RUN, 0x10);      /* of the outside's */
	put(0, 2500, MELYINT_TRACE_POST, 0x10);
	put(1, 3000, MELYINT_TRACE_RUN, 0x10);      /* of core 0's */
	put(1, 0, MELYINT_TRACE_OWN_POST, 0x10);
	put(1, 4000, MELYINT_TRACE_RUN, 0x10);      /* of its own, made as the slice before ended */
	put(1, 5000, MELYINT_TRACE_BATCH, 0);
	s = paired(*state);
	assert_int_equal(s->arrows, 3);
	assert_int_equal(s->posts, 3);
	assert_int_equal(s->runs, 3);
	assert_true(arrow_of(s, 2, 0) != 0);
	assert_int_equal(arrow_of(s, 2, 0), arrow_of(s, 0, 0));
	assert_int_equal(arrow_of(s, 0, 1), arrow_of(s, 1, 0));
	assert_int_equal(arrow_of(s, 1, 1), arrow_of(s, 1, 2));
}

/* B of NOTE(pair): the address ran elsewhere while the slice went on, then it was posted there. */
static void
own_post_counts_at_the_end(void **state)
{
	struct melyint_scratch *s;

	put(1, 900, MELYINT_TRACE_POST, 0x10);
	put(0, 1000, MELYINT_TRACE_RUN, 0x20);
	put(1, 1500, MELYINT_TRACE_RUN, 0x10);
	put(0, 0, MELYINT_TRACE_OWN_POST, 0x10);
	put(0, 2000, MELYINT_TRACE_BATCH, 0);
	put(1, 3000, MELYINT_TRACE_RUN, 0x10);
	s = paired(*state);
	assert_int_equal(s->arrows, 2);
	assert_int_equal(arrow_of(s, 1, 0), arrow_of(s, 1, 1));
	assert_int_equal(arrow_of(s, 0, 1), arrow_of(s, 1, 2));
	assert_int_equal(arrow_of(s, 0, 0), 0); /* posted before the trace began */
}

static void
cancelled_stays_open(void **state)
{
	struct melyint_scratch *s;

	put(0, 1000, MELYINT_TRACE_POST, 0x10); /* cancelled */
	put(0, 2000, MELYINT_TRACE_POST, 0x10);
	put(0, 2500, MELYINT_TRACE_POST, 0x30); /* pending */
	put(1, 3000, MELYINT_TRACE_RUN, 0x10);
	s = paired(*state);
	assert_int_equal(s->arrows, 1);
	assert_int_equal(arrow_of(s, 0, 0), 0);
	assert_int_equal(arrow_of(s, 0, 1), arrow_of(s, 1, 0));
	assert_int_equal(arrow_of(s, 0, 2), 0);
	assert_int_equal(s->posts - s->arrows, 2);
}

/* Their slice was overwritten, so nobody knows when they were made. */
static void
own_posts_without_slice(void **state)
{
	struct melyint_scratch *s;

	put(0, 0, MELYINT_TRACE_OWN_POST, 0x10);
	put(0, 1000, MELYINT_TRACE_RUN, 0x10);
	s = paired(*state);
	assert_int_equal(s->arrows, 0);
	assert_int_equal(arrow_of(s, 0, 1), 0);
}

/* A clock that goes back, or stands still, still gives slices one after another. */
static void
rows_are_straight(void **state)
{
	struct melyint_scratch *s;
	int i;

	put(0, 1000, MELYINT_TRACE_RUN, 0x10);
	put(0, 1000, MELYINT_TRACE_RUN, 0x10);
	put(0, 990, MELYINT_TRACE_RUN, 0x10);
	put(0, 2000, MELYINT_TRACE_BATCH, 0);
	s = paired(*state);
	for (i = 1; i < 4; i++)
		assert_true(s->rows[0].records[i].ticks > s->rows[0].records[i - 1].ticks);
	assert_int_equal(s->rows[0].records[3].ticks, 2000);
	/* Threads of the outside are sorted instead. */
	put(2, 30, MELYINT_TRACE_POST, 0x10);
	put(2, 10, MELYINT_TRACE_POST, 0x20);
	s = paired(*state);
	assert_int_equal(s->rows[2].records[0].ticks, 10);
	assert_int_equal(s->rows[2].records[1].ticks, 30);
}

/* ---- names ----------------------------------------------------------------------------------- */

static void
name(uint64_t color, unsigned flags, uint64_t ticks, const char *text)
{
	uint64_t n = MELY_LOAD(&tracer.names_count, relaxed); /* one thread */

	names[n].color = color;
	names[n].flags = flags;
	names[n].ticks = ticks;
	snprintf(names[n].name, sizeof names[n].name, "%s", text);
	MELY_STORE(&tracer.names_count, n + 1, relaxed); /* one thread */
}

static void
names_have_their_time(void **state)
{
	const struct melyint_scratch *s;
	uint64_t i;

	for (i = 100; i < 1100; i++)
		name(i * 7919 % 1000 + 100, 0, i, "one of many");
	name(7, 0, 10, "seven");
	name(7, MELYINT_TRACE_OBJECT, 20, "first");
	name(7, MELYINT_TRACE_OBJECT, 40, "");
	name(7, MELYINT_TRACE_OBJECT, 60, "second");
	s = paired(*state);
	assert_string_equal(melyint_scratch_name(s, 7, 0, 10), "seven");
	assert_string_equal(melyint_scratch_name(s, 7, 0, UINT64_MAX), "seven");
	assert_null(melyint_scratch_name(s, 7, MELYINT_TRACE_OBJECT, 19));
	assert_string_equal(melyint_scratch_name(s, 7, MELYINT_TRACE_OBJECT, 39), "first");
	assert_null(melyint_scratch_name(s, 7, MELYINT_TRACE_OBJECT, 40));
	assert_string_equal(melyint_scratch_name(s, 7, MELYINT_TRACE_OBJECT, 1000), "second");
	assert_null(melyint_scratch_name(s, 8, 0, 1000));
	assert_string_equal(melyint_scratch_name(s, 500, 0, UINT64_MAX), "one of many");
}

/* ---- text ------------------------------------------------------------------------------------ */

/* What has been put, which is not written yet. */
static const char *
put_so_far(struct melyint_out *out)
{
	out->buffer[out->used] = '\0';
	out->used = 0;
	return out->buffer;
}

static void
text_is_json(void **state)
{
	struct melyint_out *out = calloc(1, sizeof *out);

	(void)state;
	assert_non_null(out);
	melyint_out_init(out, -1);
	melyint_out_string(out, "plain");
	assert_string_equal(put_so_far(out), "\"plain\"");
	melyint_out_string(out, "\"\\\b\n\x1f\x7f/");
	assert_string_equal(put_so_far(out), "\"\\\"\\\\\\u0008\\u000a\\u001f\\u007f/\"");
	melyint_out_string(out, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
	assert_string_equal(put_so_far(out), "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
	/* cut short, alone, too long for what it is, half a pair, beyond the end */
	melyint_out_string(out, "\xe2\x82");
	assert_string_equal(put_so_far(out), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	melyint_out_string(out, "\x80\xfe");
	assert_string_equal(put_so_far(out), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	melyint_out_string(out, "\xc0\xaf");
	assert_string_equal(put_so_far(out), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	melyint_out_string(out, "\xed\xa0\x80");
	assert_string_equal(put_so_far(out), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	melyint_out_string(out, "\xf4\x90\x80\x80");
	assert_string_equal(put_so_far(out),
	    "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	melyint_out_us(out, 1234567);
	melyint_out_text(out, " ");
	melyint_out_us(out, 9);
	melyint_out_text(out, " ");
	melyint_out_number(out, UINT64_MAX);
	melyint_out_text(out, " ");
	melyint_out_hex(out, 0xc0ffee);
	assert_string_equal(put_so_far(out), "1234.567 0.009 18446744073709551615 0xc0ffee");
	free(out);
}

/* More than the buffer; and a file that takes nothing. */
static void
long_text(void **state)
{
	struct melyint_out *out = calloc(1, sizeof *out);
	char path[] = "/tmp/mely-out-XXXXXX", byte;
	int fd = mkstemp(path), i;

	(void)state;
	assert_non_null(out);
	assert_true(fd >= 0);
	unlink(path);
	melyint_out_init(out, fd);
	for (i = 0; i < 50000; i++)
		melyint_out_number(out, 10000 + (uint64_t)(i % 10));
	assert_int_equal(melyint_out_flush(out), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), 250000);
	for (i = 0; i < 50000; i += 4999) {
		assert_int_equal(pread(fd, &byte, 1, 5 * i + 4), 1);
		assert_int_equal(byte, '0' + i % 10);
	}
	close(fd);
	melyint_out_init(out, -1);
	melyint_out_text(out, "lost");
	assert_true(melyint_out_flush(out) < 0);
	free(out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(record_comes_back, setup, teardown),
		cmocka_unit_test_setup_teardown(oldest_are_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(read_while_written, setup, teardown),
		cmocka_unit_test_setup_teardown(posts_find_their_runs, setup, teardown),
		cmocka_unit_test_setup_teardown(own_post_counts_at_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(cancelled_stays_open, setup, teardown),
		cmocka_unit_test_setup_teardown(own_posts_without_slice, setup, teardown),
		cmocka_unit_test_setup_teardown(rows_are_straight, setup, teardown),
		cmocka_unit_test_setup_teardown(names_have_their_time, setup, teardown),
		cmocka_unit_test(text_is_json),
		cmocka_unit_test(long_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
