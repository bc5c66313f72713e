/* SPDX-License-Identifier: MIT */
/*
 * origin.c: addresses that count their connections, and the buckets of bytes.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>

#include "unit.h"

#define calloc failing_calloc
#include "../../webserver/net/origin.c"
#undef calloc

#define SECOND UINT64_C(1000000000)

uint64_t
mely_now_ns(void)
{
	return 1;
}

static struct sockaddr_storage
address(const char *text)
{
	struct sockaddr_storage a = {.ss_family = AF_UNSPEC};
	struct sockaddr_in *in4 = (struct sockaddr_in *)&a;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&a;

	if (text[0] == '/')
		a.ss_family = AF_UNIX;
	else if (inet_pton(AF_INET, text, &in4->sin_addr) == 1)
		a.ss_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1)
		a.ss_family = AF_INET6;
	else
		fail();
	return a;
}

static int
enter(struct sws_origins *t, const char *text, struct sws_origin **origin)
{
	struct sockaddr_storage a = address(text);

	return sws_origin_enter(t, &a, origin);
}

/* Which addresses are one. */
static void
sameness(void **state)
{
	static const struct {
		const char *a, *b;
		bool same;
	} rows[] = {
		{"192.0.2.1", "192.0.2.1", true}, {"192.0.2.1", "192.0.2.2", false},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"::ffff:0.0.0.1", "::ffff:0.0.0.2", false},
		{"2001:db8::1", "2001:db8::2", true}, {"2001:db8::1", "2001:db8::ffff:0:0:1", true},
		{"2001:db8::1", "2001:db8:0:1::1", false}, {"::1", "127.0.0.1", false},
		{"::1", "::2", true},
	};
	struct sws_origins *t = sws_origins_new(0);

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct sws_origin *a, *b;

		assert_int_equal(enter(t, rows[i].a, &a), 0);
		assert_int_equal(enter(t, rows[i].b, &b), 0);
		assert_int_equal(a == b, rows[i].same);
		sws_origin_leave(t, a);
		sws_origin_leave(t, b);
	}
	sws_origins_free(t);
}

static void
limit(void **state)
{
	struct sws_origins *t = sws_origins_new(3);
	struct sws_origin *a[3], *more;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(enter(t, "192.0.2.1", &a[i]), 0);
	assert_int_equal(enter(t, "192.0.2.1", &more), -EUSERS);
	assert_null(more);
	assert_int_equal(atomic_load(&t->refused), 1);
	/* Others are not concerned, and a Unix socket has no address. */
	assert_int_equal(enter(t, "192.0.2.2", &more), 0);
	sws_origin_leave(t, more);
	assert_int_equal(enter(t, "/run/x", &more), 0);
	assert_null(more);
	sws_origin_leave(t, a[1]);
	assert_int_equal(enter(t, "192.0.2.1", &a[1]), 0);
	assert_int_equal(enter(t, "192.0.2.1", &more), -EUSERS);
	for (int i = 0; i < 3; i++)
		sws_origin_leave(t, a[i]);
	/* An address without memory is refused, and leaves nothing behind. */
	allocations_left = 0;
	assert_int_equal(enter(t, "192.0.2.3", &more), -ENOMEM);
	allocations_left = NEVER;
	assert_int_equal(enter(t, "192.0.2.3", &more), 0);
	sws_origin_leave(t, more);
	sws_origins_free(t);
}

#define THREADS 4

static _Atomic(int) inside[50];

static void *
come_and_go(void *arg)
{
	struct sws_origins *t = arg;

	for (int i = 0; i < 20000; i++) {
		int which = i % 50;
		struct sockaddr_storage a = {.ss_family = AF_INET};
		struct sws_origin *o;

		((struct sockaddr_in *)&a)->sin_addr.s_addr = htonl((uint32_t)which + 1);
		if (sws_origin_enter(t, &a, &o) != 0)
			continue;
		if (atomic_fetch_add(&inside[which], 1) >= 2)
			return arg;
		atomic_fetch_sub(&inside[which], 1);
		sws_origin_leave(t, o);
	}
	return NULL;
}

/* The count is exact with several threads. */
static void
threads(void **state)
{
	struct sws_origins *t = sws_origins_new(2);
	pthread_t thread[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, come_and_go, t), 0);
	for (int i = 0; i < THREADS; i++) {
		void *wrong;

		pthread_join(thread[i], &wrong);
		assert_null(wrong);
	}
	sws_origins_free(t);
}

/* Whatever the pieces are, their bytes take the time of their rate, less the burst. */
static void
rate(void **state)
{
	static const uint64_t rates[] = {1, 100, 1000, 123457, 10000000, UINT64_C(10000000000)};

	(void)state;
	for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
		struct sws_bucket b = {0};
		uint64_t now = 1000 * SECOND, start = now, sent = 0, piece = rates[i] / 20 + 1;

		while (now < start + 20 * SECOND) {
			uint64_t from = sws_bucket_take(&b, rates[i], piece, now);

			assert_true(from + SWS_BUCKET_BURST_NS >= now);
			if (from > now)
				now = from;
			sent += piece;
		}
		/* 20 seconds, the burst, and the last piece. */
		assert_true(sent >= 20 * rates[i]);
		assert_true(sent <= 20 * rates[i] + rates[i] / 10 + 2 * piece + 1);
	}
}

static void
returned(void **state)
{
	struct sws_bucket b = {0};
	uint64_t now = 50 * SECOND, from;

	(void)state;
	from = sws_bucket_take(&b, 1000, 5000, now);
	assert_int_equal(from, now - SWS_BUCKET_BURST_NS);
	sws_bucket_return(&b, 1000, 4000);
	assert_int_equal(sws_bucket_take(&b, 1000, 1, now), from + SECOND);
	/* A lower rate than that at which it was taken. */
	sws_bucket_return(&b, 1, 100000);
	assert_int_equal(sws_bucket_take(&b, 1000, 1, now), from);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sameness),
		cmocka_unit_test(limit),
		cmocka_unit_test(threads),
		cmocka_unit_test(rate),
		cmocka_unit_test(returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
