/* SPDX-License-Identifier: MIT */
/*
 * ifchg.cc: watches for changes of this host's addresses. Color 0.
 *
 * The kernel reports changes on a socket. A report only triggers a check of the addresses; its
 * content is ignored. Without such a socket the addresses are checked once a minute.
 */
#include <algorithm>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <vector>

#include "async.h"
#include "ifchg.h"

struct ifchgcb_t {
	explicit ifchgcb_t(const cbv &c) : cb(c) {}
	cbv cb;
};

vec<in_addr> ifchg_addrs;
u_int64_t ifchg_count;

namespace melycompat {

namespace {

enum { LOOK_SECONDS = 60 };

std::vector<ifchgcb_t *> *watchers;

bool
same(const vec<in_addr> &a, const vec<in_addr> &b)
{
	return a.size() == b.size() &&
	    std::equal(a.base(), a.lim(), b.base(),
		[](in_addr x, in_addr y) { return x.s_addr == y.s_addr; });
}

bool
is_watcher(ifchgcb_t *chg)
{
	return std::find(watchers->begin(), watchers->end(), chg) != watchers->end();
}

/* A callback may remove any of them, and add new ones. */
void
call_all()
{
	std::vector<ifchgcb_t *> now = *watchers;

	for (ifchgcb_t *chg : now)
		if (is_watcher(chg)) {
			cbv c = chg->cb;
			(*c)();
		}
}

void
look()
{
	vec<in_addr> addrs;

	if (!myipaddrs(&addrs) || same(addrs, ifchg_addrs))
		return;
	ifchg_addrs.swap(addrs);
	ifchg_count++;
	call_all();
}

void
look_again()
{
	delaycb(LOOK_SECONDS, 0, wrap(look_again));
	look();
}

void
told(int fd)
{
	char bytes[8192];
	ssize_t n;

	/* ENOBUFS: reports were lost, which does not matter. */
	do
		n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
	while (n > 0 || (n < 0 && errno == ENOBUFS));
	look();
}

int
address_socket()
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
	sockaddr_nl groups = {};

	groups.nl_family = AF_NETLINK;
	groups.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR;
	if (fd >= 0 && bind(fd, reinterpret_cast<sockaddr *>(&groups), sizeof groups) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

void
begin()
{
	int fd = address_socket();

	watchers = new std::vector<ifchgcb_t *>;
	if (!myipaddrs(&ifchg_addrs))
		fatal("ifchgcb: %m\n");
	if (fd >= 0)
		fdcb(fd, selread, wrap(told, fd));
	else
		look_again();
}

}

}

using namespace melycompat;

ifchgcb_t *
ifchgcb(cbv cb)
{
	ifchgcb_t *chg = new ifchgcb_t(cb);

	if (watchers == nullptr)
		begin();
	watchers->push_back(chg);
	return chg;
}

void
ifchgcb_remove(ifchgcb_t *chg)
{
	watchers->erase(std::find(watchers->begin(), watchers->end(), chg));
	delete chg;
}
