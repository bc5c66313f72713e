/* SPDX-License-Identifier: MIT */
/*
 * socket.cc: sockets that are bound to an address or path. Any thread, but for reserved ports.
 */
#include "socket.h"

namespace melycompat {

int
close_keeping_errno(int fd)
{
	int error = errno;

	close(fd);
	errno = error;
	return -1;
}

in_addr
bind_address(u_int32_t addr)
{
	const char *from = getenv("BINDADDR");
	in_addr a;

	if (addr == INADDR_ANY && from != nullptr && inet_aton(from, &a) != 0)
		return a;
	a.s_addr = htonl(addr);
	return a;
}

namespace {

enum {
	RESERVED_PORT_MIN = 512,
	RESERVED_PORT_MAX = 1023,
	RESERVED_PORTS = RESERVED_PORT_MAX - RESERVED_PORT_MIN + 1
};

int
bind_or_close(int fd, const void *address, socklen_t length)
{
	if (bind(fd, static_cast<const sockaddr *>(address), length) < 0)
		return close_keeping_errno(fd);
	return fd;
}

/* A requested port can be used again right after its last user closes it. */
int
socket_for(int family, int type, u_int16_t port)
{
	int fd = socket(family, type, 0), on = 1;

	if (fd >= 0 && port != 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0)
		return close_keeping_errno(fd);
	return fd;
}

bool
unix_address(const char *path, sockaddr_un *address)
{
	size_t length = strlen(path);

	memset(address, 0, sizeof *address);
	address->sun_family = AF_UNIX;
	if (length >= sizeof address->sun_path) {
		errno = ENAMETOOLONG;
		return false;
	}
	memcpy(address->sun_path, path, length);
	return true;
}

}

}

using namespace melycompat;

int
inetsocket(int type, u_int16_t port, u_int32_t addr)
{
	sockaddr_in address = {};
	int fd = socket_for(AF_INET, type, port);

	if (fd < 0)
		return -1;
	address.sin_family = AF_INET;
	address.sin_port = htons(port);
	address.sin_addr = bind_address(addr);
	return bind_or_close(fd, &address, sizeof address);
}

int
inetsocket6(int type, u_int16_t port, const in6_addr &addr)
{
	sockaddr_in6 address = {};
	int fd = socket_for(AF_INET6, type, port), on = 1;

	if (fd < 0)
		return -1;
	if (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) < 0)
		return close_keeping_errno(fd);
	address.sin6_family = AF_INET6;
	address.sin6_port = htons(port);
	address.sin6_addr = addr;
	return bind_or_close(fd, &address, sizeof address);
}

int
inetsocket6(int type, u_int16_t port)
{
	return inetsocket6(type, port, in6addr_any);
}

int
inetsocket_resvport(int type, u_int32_t addr)
{
	static int last = RESERVED_PORTS; /* color 0 */
	sockaddr_in address = {};
	int fd = socket(AF_INET, type, 0), tries;

	if (fd < 0)
		return -1;
	address.sin_family = AF_INET;
	address.sin_addr = bind_address(addr);
	for (tries = 0; tries < RESERVED_PORTS; tries++) {
		last = (last + RESERVED_PORTS - 1) % RESERVED_PORTS;
		address.sin_port = htons(static_cast<u_int16_t>(RESERVED_PORT_MIN + last));
		if (bind(fd, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0)
			return fd;
		if (errno != EADDRINUSE)
			return close_keeping_errno(fd);
	}
	errno = EAGAIN;
	return close_keeping_errno(fd);
}

int
unixsocket(const char *path)
{
	sockaddr_un address;
	int fd;

	if (!unix_address(path, &address) || (fd = socket(AF_UNIX, SOCK_STREAM, 0)) < 0)
		return -1;
	return bind_or_close(fd, &address, sizeof address);
}

int
unixsocket_connect(const char *path)
{
	sockaddr_un address;
	int fd;

	if (!unix_address(path, &address) || (fd = socket(AF_UNIX, SOCK_STREAM, 0)) < 0)
		return -1;
	if (connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof address) < 0)
		return close_keeping_errno(fd);
	return fd;
}

bool
isunixsocket(int fd)
{
	sockaddr_storage address = {};
	socklen_t length = sizeof address;

	return getsockname(fd, reinterpret_cast<sockaddr *>(&address), &length) == 0 &&
	    address.ss_family == AF_UNIX;
}
