/* SPDX-License-Identifier: MIT */
/*
 * myname.cc: the names of this host and user. Any thread.
 */
#include <ifaddrs.h>
#include <resolv.h>
#include <string>

#include "async.h"

namespace melycompat {

namespace {

enum { NAME_BYTES_MAX = 1024 };

std::string
host_name()
{
	char name[NAME_BYTES_MAX];

	if (gethostname(name, sizeof name) < 0)
		return std::string();
	name[sizeof name - 1] = '\0';
	return name;
}

/* The domain that the resolver appends to names without one. */
std::string
resolver_domain()
{
	struct __res_state state = {};
	std::string domain;

	if (res_ninit(&state) < 0)
		return domain;
	if (state.dnsrch[0] != nullptr)
		domain = state.dnsrch[0];
	res_nclose(&state);
	return domain;
}

}

}

using namespace melycompat;

str
mydomain()
{
	std::string name = host_name();
	size_t dot = name.find('.');

	name = dot == std::string::npos ? resolver_domain() : name.substr(dot + 1);
	return name.empty() || name == "." ? str(NULL) : str(name.c_str());
}

str
myname()
{
	const char *given = getenv("SFS_HOSTNAME");
	std::string name = host_name();
	str domain;

	if (given != nullptr)
		return given;
	if (name.find('.') != std::string::npos || !(domain = mydomain()))
		return name.c_str();
	return strbuf() << name.c_str() << "." << domain;
}

str
myusername()
{
	std::string room(NAME_BYTES_MAX, '\0');
	passwd entry, *found = nullptr;

	while (getpwuid_r(getuid(), &entry, &room[0], room.size(), &found) == ERANGE)
		room.resize(room.size() * 2);
	return found != nullptr ? str(entry.pw_name) : str(NULL);
}

bool
myipaddrs(vec<in_addr> *addrs)
{
	ifaddrs *all, *a;
	sockaddr_in address;

	if (getifaddrs(&all) < 0)
		return false;
	addrs->clear();
	for (a = all; a != nullptr; a = a->ifa_next) {
		if (a->ifa_addr == nullptr || a->ifa_addr->sa_family != AF_INET ||
		    !(a->ifa_flags & IFF_UP))
			continue;
		memcpy(&address, a->ifa_addr, sizeof address);
		addrs->push_back(address.sin_addr);
	}
	freeifaddrs(all);
	return true;
}
