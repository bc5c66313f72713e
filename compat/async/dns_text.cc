/* SPDX-License-Identifier: MIT */
/*
 * dns_text.cc: answers and errors as text. Any thread.
 */
#include "dns.h"

namespace melycompat {

namespace {

bool
begin(const char *msg, bool found, int err)
{
	if (msg != nullptr)
		printf("%s (%s):\n", msg, found ? "no error" : dns_strerror(err));
	else if (!found)
		printf("   %s\n", dns_strerror(err));
	return found;
}

void
print_hints(addrhint **hints)
{
	for (; *hints != nullptr; hints++) {
		in_addr addr;

		memcpy(&addr, (*hints)->h_address, sizeof addr);
		printf("    (hint: %s = %s)\n", (*hints)->h_name, inet_ntoa(addr));
	}
}

}

}

using namespace melycompat;

const char *
dns_strerror(int err)
{
	switch (err) {
	case NOERROR:
		return "no error";
	case FORMERR:
		return "name server could not read the question";
	case SERVFAIL:
		return "name server failed";
	case NXDOMAIN:
		return "no such name";
	case NOTIMP:
		return "name server does not know such questions";
	case REFUSED:
		return "name server refused to answer";
	case ARERR_NXREC:
		return "no record of that kind";
	case ARERR_TIMEOUT:
		return "no answer in time";
	case ARERR_PTRSPOOF:
		return "name of the address does not have that address";
	case ARERR_BADRESP:
		return "malformed answer";
	case ARERR_CANTSEND:
		return "cannot ask a name server";
	case ARERR_REQINVAL:
		return "malformed name";
	case ARERR_CNAMELOOP:
		return "aliases without an end";
	default:
		return "unknown error of a lookup";
	}
}

int
dnstoerrno(int err)
{
	switch (err) {
	case NOERROR:
		return 0;
	case NXDOMAIN:
	case ARERR_NXREC:
		return ENOENT;
	case ARERR_TIMEOUT:
		return ETIMEDOUT;
	case SERVFAIL:
	case ARERR_CANTSEND:
		return EAGAIN;
	case REFUSED:
	case ARERR_PTRSPOOF:
		return EPERM;
	case ARERR_REQINVAL:
		return EINVAL;
	default:
		return EIO;
	}
}

void
printaddrs(const char *msg, ptr<hostent> host, int err)
{
	char **p;

	if (!begin(msg, host, err))
		return;
	printf("    Name: %s\n", host->h_name);
	for (p = host->h_aliases; *p != nullptr; p++)
		printf("   Alias: %s\n", *p);
	for (p = host->h_addr_list; *p != nullptr; p++) {
		in_addr addr;

		memcpy(&addr, *p, sizeof addr);
		printf(" Address: %s\n", inet_ntoa(addr));
	}
}

void
printmxlist(const char *msg, ptr<mxlist> list, int err)
{
	int i;

	if (!begin(msg, list, err))
		return;
	printf("    Name: %s\n", list->m_name);
	for (i = 0; i < list->m_nmx; i++)
		printf("      MX: %5d %s\n", list->m_mxes[i].pref, list->m_mxes[i].name);
	print_hints(list->m_hints);
}

void
printsrvlist(const char *msg, ptr<srvlist> list, int err)
{
	int i;

	if (!begin(msg, list, err))
		return;
	printf("    Name: %s\n", list->s_name);
	for (i = 0; i < list->s_nsrv; i++)
		printf("     SRV: %5d %5d %5d %s\n", list->s_srvs[i].prio,
		    list->s_srvs[i].weight, list->s_srvs[i].port, list->s_srvs[i].name);
	print_hints(list->s_hints);
}

void
printtxtlist(const char *msg, ptr<txtlist> list, int err)
{
	int i;

	if (!begin(msg, list, err))
		return;
	printf("    Name: %s\n", list->t_name);
	for (i = 0; i < list->t_ntxt; i++)
		printf("    Text: %s\n", list->t_txts[i]);
}
