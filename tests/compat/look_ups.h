/* SPDX-License-Identifier: MIT */
/*
 * look_ups.h: for tests of lookups: the checks common to all callbacks.
 */
#ifndef MELY_TESTS_LOOK_UPS_H
#define MELY_TESTS_LOOK_UPS_H

#include "async.h"
#include "dns.h"

#include "facts.h"
#include "name_server.h"

static bool returned; /* the call has returned; set by the test */

static inline void
check_here()
{
	FACT(returned); /* the callback never runs before the call returns */
	FACT_EQ(get_current_color(), 0);
}

static inline void
check_addr(const char *p, const char *wanted)
{
	in_addr a;

	memcpy(&a, p, sizeof a);
	FACT(a.s_addr == inet_addr(wanted));
}

template <class Record> static inline void
failed(int wanted, ptr<Record> record, int err)
{
	check_here();
	FACT(!record);
	FACT_EQ(err, wanted);
	FACT(dns_strerror(err)[0] != '\0');
	FACTS_END();
}

#endif
