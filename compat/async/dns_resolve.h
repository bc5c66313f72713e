/* SPDX-License-Identifier: MIT */
/*
 * dns_resolve.h: lookups that block, on a helper thread. Any thread.
 */
#ifndef MELYCOMPAT_ASYNC_DNS_RESOLVE_H
#define MELYCOMPAT_ASYNC_DNS_RESOLVE_H

#include "dns_answer.h"

namespace melycompat {

struct dns_question {
	int type;         /**< ns_t_a: host by name; ns_t_ptr: by addr; or mx, srv, txt */
	std::string name;
	in_addr addr;
	bool search;      /**< also in the domains that the resolver searches */
};

/** Find out. Blocks, for as long as the resolver is configured to. */
void dns_resolve(const dns_question &question, dns_answer *answer);

}

#endif
