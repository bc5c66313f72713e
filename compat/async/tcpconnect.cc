/* SPDX-License-Identifier: MIT */
/*
 * tcpconnect.cc: connections to addresses and to hosts by name. Color 0.
 *
 * No callback runs before tcpconnect returns: a timer without delay reports an immediate failure.
 */
#include "tcpconnect.h"

#include "dns.h"
#include "socket.h"

void
tcpconnect_t::finish(int fd, int error)
{
	cbi c = cb;

	delete this;
	errno = error;
	(*c)(fd);
}

namespace melycompat {

namespace {

/* One attempt. */
class address_connect : public tcpconnect_t {
public:
	address_connect(in_addr addr, u_int16_t port, const cbi &c);
	~address_connect();

private:
	int fd;
	timecb_t *later;

	bool begin(in_addr addr, u_int16_t port);
	void ready();
	void failed(int error);
};

address_connect::address_connect(in_addr addr, u_int16_t port, const cbi &c)
    : tcpconnect_t(c), fd(-1), later(nullptr)
{
	if (begin(addr, port))
		fdcb(fd, selwrite, wrap(this, &address_connect::ready));
	else
		later = delaycb(0, 0, wrap(this, &address_connect::failed, errno));
}

address_connect::~address_connect()
{
	timecb_remove(later);
	if (fd >= 0) {
		fdcb(fd, selwrite, NULL);
		close(fd);
	}
}

/* False: failed with errno. */
bool
address_connect::begin(in_addr addr, u_int16_t port)
{
	sockaddr_in to = {}, from = {};

	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	make_async(fd);
	from.sin_family = AF_INET;
	from.sin_addr = bind_address(INADDR_ANY);
	/* Bind only on request: a bound port can serve this one peer only. */
	if (from.sin_addr.s_addr != htonl(INADDR_ANY) &&
	    bind(fd, reinterpret_cast<sockaddr *>(&from), sizeof from) < 0)
		return false;
	to.sin_family = AF_INET;
	to.sin_port = htons(port);
	to.sin_addr = addr;
	return connect(fd, reinterpret_cast<sockaddr *>(&to), sizeof to) == 0 ||
	    errno == EINPROGRESS || errno == EINTR;
}

void
address_connect::ready()
{
	socklen_t length = sizeof(int);
	int error = 0, connected = fd;

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0)
		error = errno;
	if (error != 0) {
		finish(-1, error);
		return;
	}
	fdcb(fd, selwrite, NULL);
	fd = -1;
	finish(connected, 0);
}

void
address_connect::failed(int error)
{
	later = nullptr;
	finish(-1, error);
}

/* Tries one address after another, until one accepts the connection. */
class addresses_connect : public tcpconnect_t {
public:
	addresses_connect(const vec<in_addr> &a, u_int16_t p, const cbi &c)
	    : tcpconnect_t(c), addrs(a), port(p), next(0), current(nullptr)
	{
		try_next();
	}
	~addresses_connect() { delete current; }

private:
	vec<in_addr> addrs;
	u_int16_t port;
	size_t next;
	tcpconnect_t *current;

	void
	try_next()
	{
		current = tcpconnect(addrs[next++], port,
		    wrap(this, &addresses_connect::tried));
	}
	void
	tried(int fd)
	{
		int error = errno;

		current = nullptr;
		if (fd < 0 && next < addrs.size())
			try_next();
		else
			finish(fd, error);
	}
};

/* By name: looks the name up, then tries the addresses. */
class name_connect : public tcpconnect_t {
public:
	name_connect(const str &host, u_int16_t p, const cbi &c, bool search, str *np)
	    : tcpconnect_t(c), port(p), namep(np), request(nullptr), current(nullptr)
	{
		request = dns_hostbyname(host, wrap(this, &name_connect::found), search);
	}
	~name_connect()
	{
		dnsreq_cancel(request);
		delete current;
	}

private:
	u_int16_t port;
	str *namep;
	dnsreq_t *request;
	tcpconnect_t *current;

	void found(ptr<hostent> host, int error);
	void
	connected(int fd)
	{
		int error = errno;

		current = nullptr;
		finish(fd, error);
	}
};

void
name_connect::found(ptr<hostent> host, int error)
{
	vec<in_addr> addrs;
	char **a;

	request = nullptr;
	if (!host) {
		finish(-1, dnstoerrno(error));
		return;
	}
	if (namep != nullptr)
		*namep = host->h_name;
	for (a = host->h_addr_list; *a != nullptr; a++)
		memcpy(&addrs.push_back(), *a, sizeof(in_addr));
	current = connect_any(addrs, port, wrap(this, &name_connect::connected));
}

}

tcpconnect_t *
connect_any(const vec<in_addr> &addrs, u_int16_t port, const cbi &cb)
{
	return new addresses_connect(addrs, port, cb);
}

}

using namespace melycompat;

tcpconnect_t *
tcpconnect(in_addr addr, u_int16_t port, cbi cb)
{
	return new address_connect(addr, port, cb);
}

tcpconnect_t *
tcpconnect(str host, u_int16_t port, cbi cb, bool dnssearch, str *namep)
{
	return new name_connect(host, port, cb, dnssearch, namep);
}

void
tcpconnect_cancel(tcpconnect_t *tc)
{
	delete tc;
}
