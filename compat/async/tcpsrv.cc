/* SPDX-License-Identifier: MIT */
/*
 * tcpsrv.cc: connections to a service of a domain, by SRV records. Color 0.
 */
#include "dns.h"
#include "tcpconnect.h"

namespace melycompat {

namespace {

/* Look up the list, unless the caller has one, then try its hosts in order. */
class srv_connect : public tcpconnect_t {
public:
	srv_connect(const str &domain, const str &service, u_int16_t defport, const cbi &c,
	    bool search, ptr<srvlist> *srvlp, str *namep);
	srv_connect(ref<srvlist> list, const cbi &c, str *namep);
	~srv_connect();

private:
	str domain;
	u_int16_t defport;
	bool search;
	ptr<srvlist> *srvlp;
	str *namep;
	ptr<srvlist> list;
	size_t next;       /* index in the list */
	int last_error;    /* of the previous host */
	dnsreq_t *request;
	tcpconnect_t *current;
	timecb_t *later;

	void found(ptr<srvlist> l, int error);
	void found_none(int error);
	void begin();
	void try_next();
	void try_host(const srvrec &srv);
	void connected(int fd);
};

srv_connect::srv_connect(const str &d, const str &service, u_int16_t port, const cbi &c, bool s,
    ptr<srvlist> *lp, str *np)
    : tcpconnect_t(c), domain(d), defport(port), search(s), srvlp(lp), namep(np), next(0),
      last_error(ENOENT), request(nullptr), current(nullptr), later(nullptr)
{
	request = dns_srvbyname(domain, "tcp", service, wrap(this, &srv_connect::found), search);
}

srv_connect::srv_connect(ref<srvlist> l, const cbi &c, str *np)
    : tcpconnect_t(c), defport(0), search(false), srvlp(nullptr), namep(np), list(l), next(0),
      last_error(ENOENT), request(nullptr), current(nullptr), later(nullptr)
{
	later = delaycb(0, 0, wrap(this, &srv_connect::begin));
}

srv_connect::~srv_connect()
{
	dnsreq_cancel(request);
	delete current;
	timecb_remove(later);
}

void
srv_connect::begin()
{
	later = nullptr;
	try_next();
}

void
srv_connect::found(ptr<srvlist> l, int error)
{
	request = nullptr;
	if (!l) {
		found_none(error);
		return;
	}
	list = l;
	if (srvlp != nullptr)
		*srvlp = l;
	try_next();
}

/* There are no SRV records: try the host of that name, if the program gave a port for it. */
void
srv_connect::found_none(int error)
{
	if (defport == 0 || dns_tmperr(error)) {
		finish(-1, dnstoerrno(error));
		return;
	}
	current = tcpconnect(domain, defport, wrap(this, &srv_connect::connected), search, namep);
}

void
srv_connect::try_next()
{
	while (next < list->s_nsrv) {
		const srvrec &srv = list->s_srvs[next++];

		/* A target of "." says that the domain does not offer the service. */
		if (srv.name[0] != '\0' && strcmp(srv.name, ".") != 0) {
			try_host(srv);
			return;
		}
	}
	finish(-1, last_error);
}

/* Use the addresses that came with the list, or else the name. */
void
srv_connect::try_host(const srvrec &srv)
{
	vec<in_addr> addrs;
	addrhint **h;

	for (h = list->s_hints; *h != nullptr; h++)
		if ((*h)->h_addrtype == AF_INET && strcasecmp((*h)->h_name, srv.name) == 0)
			memcpy(&addrs.push_back(), (*h)->h_address, sizeof(in_addr));
	if (namep != nullptr)
		*namep = srv.name;
	if (addrs.empty())
		current = tcpconnect(str(srv.name), srv.port,
		    wrap(this, &srv_connect::connected), false, namep);
	else
		current = connect_any(addrs, srv.port, wrap(this, &srv_connect::connected));
}

void
srv_connect::connected(int fd)
{
	int error = errno;

	current = nullptr;
	last_error = error;
	if (fd < 0 && list)
		try_next();
	else
		finish(fd, error);
}

}

}

using namespace melycompat;

tcpconnect_t *
tcpconnect_srv(str domain, str service, u_int16_t defport, cbi cb, bool dnssearch,
    ptr<srvlist> *srvlp, str *namep)
{
	if (srvlp != nullptr && *srvlp)
		return new srv_connect(*srvlp, cb, namep);
	return new srv_connect(domain, service, defport, cb, dnssearch, srvlp, namep);
}

tcpconnect_t *
tcpconnect_srv_retry(ref<srvlist> srvl, cbi cb, str *namep)
{
	return new srv_connect(srvl, cb, namep);
}
