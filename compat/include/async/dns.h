/* SPDX-License-Identifier: MIT */
/*
 * dns.h: lookups of hosts and other records of the domain name system. Color 0.
 *
 * A lookup runs on a helper thread and uses the system's resolver. It finds hosts as the system is
 * configured, /etc/hosts included, and other records through the name servers of /etc/resolv.conf.
 * For tests, MELY_NAMESERVER=A.B.C.D[:PORT] in the environment selects another name server; if its
 * value is invalid, every lookup fails with ARERR_CANTSEND.
 *
 * Callbacks run once, in color 0, never before the call has returned: with the answer and 0; or
 * with a null ptr and an error, one of those below or of arpa/nameser.h (NXDOMAIN, SERVFAIL, ...).
 * The handle owns the answer. The request ends before its callback is called.
 */
#ifndef MELYCOMPAT_ASYNC_DNS_H
#define MELYCOMPAT_ASYNC_DNS_H

#include <arpa/nameser.h>
#include <netdb.h>
#include <resolv.h>

#include "async.h"
#include "dns_error.h"

#pragma GCC system_header

/** An address of a host that came with other records. */
struct addrhint {
	char *h_name;
	int h_addrtype; /**< AF_INET */
	int h_length;   /**< of the address, in bytes */
	char h_address[16];
};

struct mxrec {
	u_int16_t pref;
	char *name;
};

/** The hosts that accept mail, the lowest pref first. */
struct mxlist {
	char *m_name;       /**< the full name of the domain */
	addrhint **m_hints; /**< addresses of some of the hosts; ends with NULL */
	u_short m_nmx;
	mxrec *m_mxes;
};

struct srvrec {
	u_int16_t prio;
	u_int16_t weight;
	u_int16_t port; /**< host byte order */
	char *name;
};

/** The hosts of a service in the order to try them: by prio, then at random by weight. */
struct srvlist {
	char *s_name;
	addrhint **s_hints;
	u_short s_nsrv;
	srvrec *s_srvs;
};

/** Texts; each joins the strings of one record. */
struct txtlist {
	char *t_name;
	u_short t_ntxt;
	char **t_txts;
};

typedef callback<void, ptr<hostent>, int>::ref cbhent;
typedef callback<void, ptr<mxlist>, int>::ref cbmxlist;
typedef callback<void, ptr<srvlist>, int>::ref cbsrvlist;
typedef callback<void, ptr<txtlist>, int>::ref cbtxtlist;

/** A lookup that has not been answered yet. */
typedef struct dnsreq dnsreq_t;

/**
 * IPv4 addresses of a host. search: also in the domains that the system's resolver searches.
 * addrok: a name of the form A.B.C.D is an address and needs no lookup; otherwise such a name does
 * not exist.
 */
dnsreq_t *dns_hostbyname(str name, cbhent cb, bool search = false, bool addrok = true);

/** The name of an address. ARERR_PTRSPOOF if the name does not have that address. */
dnsreq_t *dns_hostbyaddr(in_addr addr, cbhent cb);

dnsreq_t *dns_mxbyname(str name, cbmxlist cb, bool search = false);

/** Takes the full name: _service._protocol.domain. */
dnsreq_t *dns_srvbyname(str name, cbsrvlist cb, bool search = false);
dnsreq_t *dns_srvbyname(const char *name, const char *protocol, const char *service, cbsrvlist cb,
    bool search = false);

dnsreq_t *dns_txtbyname(str name, cbtxtlist cb, bool search = false);

/** Cancel; the callback is dropped at once and not called. NULL does nothing. */
void dnsreq_cancel(dnsreq_t *req);

/** Reload the resolver's configuration. Does nothing: each lookup notices changes. */
void dns_reload();

/** The text of an error, a static string. Any color. */
const char *dns_strerror(int err);

/** The errno code for an error: ENOENT if the name or record does not exist. Any color. */
int dnstoerrno(int err);

/** Whether a later lookup may succeed. Any color. */
inline bool
dns_tmperr(int err)
{
	return err == SERVFAIL || err == ARERR_TIMEOUT || err == ARERR_CANTSEND;
}

/** Print an answer or error on standard output, after a line with msg unless it is NULL. */
void printaddrs(const char *msg, ptr<hostent> host, int err = 0);
void printmxlist(const char *msg, ptr<mxlist> list, int err = 0);
void printsrvlist(const char *msg, ptr<srvlist> list, int err = 0);
void printtxtlist(const char *msg, ptr<txtlist> list, int err = 0);

#endif
