/* SPDX-License-Identifier: MIT */
/*
 * dns_records.h: an answer as programs get it. Any thread.
 */
#ifndef MELYCOMPAT_ASYNC_DNS_RECORDS_H
#define MELYCOMPAT_ASYNC_DNS_RECORDS_H

#include "dns_answer.h"

#include "dns.h"

namespace melycompat {

/** The answer is taken over, by what the handle owns. It is one without an error. */
ptr<hostent> make_hostent(dns_answer &answer);
ptr<mxlist> make_mxlist(dns_answer &answer);
ptr<srvlist> make_srvlist(dns_answer &answer);
ptr<txtlist> make_txtlist(dns_answer &answer);

}

#endif
