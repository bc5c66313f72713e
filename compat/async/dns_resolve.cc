/* SPDX-License-Identifier: MIT */
/*
 * dns_resolve.cc: sends questions to the system's resolver; each thread has its own resolver state.
 */
#include "dns_resolve.h"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <netdb.h>
#include <resolv.h>

#include "dns_error.h"

namespace melycompat {

namespace {

/* The largest buffer that the C library needs for one host. */
enum { HOST_BYTES_MAX = 1 << 20 };

/* Parse A.B.C.D[:PORT], a name server from the environment that replaces the configured ones.
 * False: the text is invalid. */
bool
set_name_server(const char *text)
{
	std::string addr(text);
	size_t colon = addr.find(':');
	long port = NS_DEFAULTPORT;
	char *end;

	if (colon != std::string::npos) {
		port = std::strtol(addr.c_str() + colon + 1, &end, 10);
		if (*end != '\0' || port < 1 || port > 65535)
			return false;
		addr.resize(colon);
	}
	_res.nscount = 1;
	_res.nsaddr_list[0].sin_family = AF_INET;
	_res.nsaddr_list[0].sin_port = htons(static_cast<uint16_t>(port));
	return inet_pton(AF_INET, addr.c_str(), &_res.nsaddr_list[0].sin_addr) == 1;
}

/* The resolver of this thread, with the current configuration. */
class resolver {
public:
	explicit resolver(bool search)
	{
		const char *server = std::getenv("MELY_NAMESERVER");

		good = res_init() == 0;
		options = _res.options;
		if (!search)
			_res.options &= ~(static_cast<unsigned long>(RES_DEFNAMES) | RES_DNSRCH);
		if (server != nullptr && !set_name_server(server))
			good = false;
	}
	~resolver() { _res.options = options; }

	bool ok() const { return good; }

private:
	unsigned long options;
	bool good;

	resolver(const resolver &) = delete;
	resolver &operator=(const resolver &) = delete;
};

/* The error of a failed lookup. The C library reports a failing name server and a silent one alike;
 * the time that passed tells them apart. */
int
error_of(int h_error, std::chrono::steady_clock::duration took)
{
	switch (h_error) {
	case HOST_NOT_FOUND:
		return ns_r_nxdomain;
	case NO_DATA:
		return ARERR_NXREC;
	case TRY_AGAIN:
		if (took >= std::chrono::seconds(_res.retrans))
			return ARERR_TIMEOUT;
		if (errno == ECONNREFUSED)
			return ARERR_CANTSEND;
		return ns_r_servfail;
	case NO_RECOVERY:
		return ARERR_BADRESP;
	default:
		return ARERR_CANTSEND;
	}
}

void
take_host(const hostent &host, dns_answer *answer)
{
	char **p;
	in_addr addr;

	answer->name = host.h_name;
	for (p = host.h_aliases; *p != nullptr; p++)
		answer->aliases.push_back(*p);
	for (p = host.h_addr_list; host.h_length == sizeof addr && *p != nullptr; p++) {
		std::memcpy(&addr, *p, sizeof addr);
		answer->addrs.push_back(addr);
	}
	if (answer->addrs.empty())
		answer->error = ARERR_NXREC;
}

/* Call a function of the C library, with a larger buffer each time it asks for one. */
template <class F> void
with_room(F call, dns_answer *answer)
{
	std::vector<char> room(2048);
	hostent host = {}, *result = nullptr;
	auto begin = std::chrono::steady_clock::now();
	int h_error = 0, error;

	for (;;) {
		errno = 0;
		error = call(&host, room.data(), room.size(), &result, &h_error);
		if (error != ERANGE || room.size() >= HOST_BYTES_MAX)
			break;
		room.resize(room.size() * 2);
	}
	if (result == nullptr)
		answer->error = error_of(h_error, std::chrono::steady_clock::now() - begin);
	else
		take_host(host, answer);
}

void
resolve_name(const std::string &name, dns_answer *answer)
{
	with_room(
	    [&](hostent *host, char *room, size_t size, hostent **result, int *h_error) {
		    return gethostbyname2_r(name.c_str(), AF_INET, host, room, size, result,
			h_error);
	    },
	    answer);
}

bool
has_addr(const dns_answer &answer, in_addr addr)
{
	for (in_addr a : answer.addrs)
		if (a.s_addr == addr.s_addr)
			return true;
	return false;
}

/* The owner of an address may give it any name, so check that the name has the address, too. */
void
resolve_addr(in_addr addr, dns_answer *answer)
{
	dns_answer reverse;

	with_room(
	    [&](hostent *host, char *room, size_t size, hostent **result, int *h_error) {
		    return gethostbyaddr_r(&addr, sizeof addr, AF_INET, host, room, size, result,
			h_error);
	    },
	    &reverse);
	answer->error = reverse.error;
	if (reverse.error != 0)
		return;
	resolve_name(reverse.name, answer);
	if (answer->error == 0 && !has_addr(*answer, addr))
		answer->error = ARERR_PTRSPOOF;
}

void
resolve_records(const dns_question &q, dns_answer *answer)
{
	std::vector<unsigned char> bytes(DNS_ANSWER_MAX);
	auto begin = std::chrono::steady_clock::now();
	int size = static_cast<int>(bytes.size()), n;

	errno = 0;
	if (q.search)
		n = res_search(q.name.c_str(), ns_c_in, q.type, bytes.data(), size);
	else
		n = res_query(q.name.c_str(), ns_c_in, q.type, bytes.data(), size);
	if (n < 0)
		answer->error = error_of(h_errno, std::chrono::steady_clock::now() - begin);
	else if (n > size)
		answer->error = ARERR_BADRESP;
	else
		dns_parse(bytes.data(), static_cast<size_t>(n), q.type, answer);
}

}

void
dns_resolve(const dns_question &q, dns_answer *answer)
{
	resolver r(q.search);

	if (!r.ok())
		answer->error = ARERR_CANTSEND;
	else if (q.type == ns_t_a)
		resolve_name(q.name, answer);
	else if (q.type == ns_t_ptr)
		resolve_addr(q.addr, answer);
	else
		resolve_records(q, answer);
}

}
