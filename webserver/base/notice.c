/* SPDX-License-Identifier: MIT */
/*
 * notice.c: rate-limited error messages. It holds the only mutable globals of sws: when each kind
 * may be reported again, and the number suppressed since its last report.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <mely/mely.h>

#include "base/assertion.h"
#include "base/notice.h"

#define QUIET_NS UINT64_C(10000000000)

static _Atomic(uint64_t) next_ns[SWS_NOTICE_KINDS];
static _Atomic(uint64_t) left_out[SWS_NOTICE_KINDS];

static const char *const texts[SWS_NOTICE_KINDS] = {
	[SWS_NOTICE_ACCEPT] = "cannot accept a connection",
	[SWS_NOTICE_FILES] = "cannot open a file",
	[SWS_NOTICE_ADDRESS] = "refused a connection of an address",
	[SWS_NOTICE_CONNECTION] = "cannot serve a connection",
	[SWS_NOTICE_HANDSHAKE] = "a TLS handshake has failed",
	[SWS_NOTICE_LOG] = "cannot write all of the access log",
};

void
sws_notice(enum sws_notice_kind kind, int error)
{
	char buf[128];

	SWS_ASSERT(error > 0);
	sws_notice_text(kind, strerror_r(error, buf, sizeof buf));
}

void
sws_notice_text(enum sws_notice_kind kind, const char *text)
{
	uint64_t now = mely_now_ns(), next, missed;

	SWS_ASSERT(kind < SWS_NOTICE_KINDS);
	/* relaxed: the words publish no other data. */
	next = atomic_load_explicit(&next_ns[kind], memory_order_relaxed);
	if (now < next || !atomic_compare_exchange_strong_explicit(&next_ns[kind], &next,
	    now + QUIET_NS, memory_order_relaxed, memory_order_relaxed)) {
		atomic_fetch_add_explicit(&left_out[kind], 1, memory_order_relaxed);
		return;
	}
	missed = atomic_exchange_explicit(&left_out[kind], 0, memory_order_relaxed);
	fprintf(stderr, "sws: %s: %s (%llu more since the last report)\n", texts[kind],
	    text, (unsigned long long)missed);
}
