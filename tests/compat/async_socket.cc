/* SPDX-License-Identifier: MIT */
/*
 * async_socket.cc: sockets, modes of descriptors and fdwait of dialect "async". Of section 1.9 of
 * the facts.
 */
#include "async.h"

#include "facts.h"

static void
name_of_socket(int fd, sockaddr_in *address)
{
	socklen_t length = sizeof *address;

	FACT(fd >= 0);
	FACT(getsockname(fd, (sockaddr *)address, &length) == 0);
}

static int
option(int fd, int level, int name)
{
	int value = -1;
	socklen_t length = sizeof value;

	FACT(getsockopt(fd, level, name, &value, &length) == 0);
	return value;
}

static bool
connects_to(u_int16_t port)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), result;
	sockaddr_in address;

	memset(&address, 0, sizeof address);
	address.sin_family = AF_INET;
	address.sin_port = htons(port);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	result = connect(fd, (sockaddr *)&address, sizeof address);
	close(fd);
	return result == 0;
}

/* ---- inetsocket ---- */

static void
is_bound()
{
	int fd = inetsocket(SOCK_STREAM), udp = inetsocket(SOCK_DGRAM, 0, INADDR_LOOPBACK);
	sockaddr_in a;

	name_of_socket(fd, &a);
	FACT(a.sin_port != 0);
	FACT_EQ(a.sin_addr.s_addr, htonl(INADDR_ANY));
	FACT(!connects_to(ntohs(a.sin_port))); /* it does not listen */
	FACT(listen(fd, 5) == 0);
	FACT(connects_to(ntohs(a.sin_port)));
	FACT((fcntl(fd, F_GETFL) & O_NONBLOCK) == 0);
	name_of_socket(udp, &a);
	FACT_EQ(a.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	FACT_EQ(option(udp, SOL_SOCKET, SO_TYPE), SOCK_DGRAM);
	FACTS_END();
}

static void
port_in_host_order()
{
	sockaddr_in a, b;
	int fd = inetsocket(SOCK_STREAM, 0, INADDR_LOOPBACK);

	name_of_socket(fd, &a);
	FACT_EQ(option(fd, SOL_SOCKET, SO_REUSEADDR), 0);
	close(fd);
	fd = inetsocket(SOCK_STREAM, ntohs(a.sin_port), INADDR_LOOPBACK);
	name_of_socket(fd, &b);
	FACT_EQ(a.sin_port, b.sin_port);
	FACT_EQ(option(fd, SOL_SOCKET, SO_REUSEADDR), 1);
	FACTS_END();
}

static void
port_is_taken()
{
	int fd = inetsocket(SOCK_STREAM, 0, INADDR_LOOPBACK);
	sockaddr_in a;

	name_of_socket(fd, &a);
	FACT(listen(fd, 5) == 0);
	FACT_EQ(inetsocket(SOCK_STREAM, ntohs(a.sin_port), INADDR_LOOPBACK), -1);
	FACT_EQ(errno, EADDRINUSE);
	FACT_EQ(inetsocket(12345), -1);
	FACTS_END();
}

static void
bindaddr()
{
	sockaddr_in a;

	setenv("BINDADDR", "127.0.0.2", 1);
	name_of_socket(inetsocket(SOCK_STREAM), &a);
	FACT_EQ(ntohl(a.sin_addr.s_addr), 0x7f000002);
	/* An address in the call overrides BINDADDR. */
	name_of_socket(inetsocket(SOCK_STREAM, 0, INADDR_LOOPBACK), &a);
	FACT_EQ(ntohl(a.sin_addr.s_addr), 0x7f000001);
	FACTS_END();
}

static void
inet6()
{
	int fd = inetsocket6(SOCK_STREAM, 0, in6addr_loopback);
	sockaddr_in6 a;
	socklen_t length = sizeof a;

	if (fd < 0 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL))
		FACTS_END(); /* this host does not have IPv6 */
	FACT(fd >= 0 && getsockname(fd, (sockaddr *)&a, &length) == 0);
	FACT_EQ(a.sin6_family, AF_INET6);
	FACT(a.sin6_port != 0);
	FACT(memcmp(&a.sin6_addr, &in6addr_loopback, sizeof a.sin6_addr) == 0);
	close(fd);
	/* An IPv4 socket can use the same port. */
	fd = inetsocket6(SOCK_STREAM, ntohs(a.sin6_port));
	FACT(fd >= 0 && listen(fd, 1) == 0);
	fd = inetsocket(SOCK_STREAM, ntohs(a.sin6_port));
	FACT(fd >= 0 && listen(fd, 1) == 0);
	FACTS_END();
}

static void
resvport()
{
	int one = inetsocket_resvport(SOCK_STREAM, INADDR_LOOPBACK), two;
	sockaddr_in a, b;

	if (one < 0) {
		FACT_EQ(errno, EACCES);
		FACT(geteuid() != 0);
		FACTS_END();
	}
	two = inetsocket_resvport(SOCK_STREAM, INADDR_LOOPBACK);
	name_of_socket(one, &a);
	name_of_socket(two, &b);
	FACT(ntohs(a.sin_port) >= 512 && ntohs(a.sin_port) < 1024);
	FACT(ntohs(b.sin_port) >= 512 && ntohs(b.sin_port) < 1024);
	FACT(a.sin_port != b.sin_port);
	FACTS_END();
}

/* ---- sockets with paths ---- */

static void
unix_sockets()
{
	char dir[] = "/tmp/async_socket.XXXXXX", path[64], c = 0;
	int fd, in, out;

	FACT(mkdtemp(dir) != NULL);
	sprintf(path, "%s/s", dir);
	FACT_EQ(unixsocket_connect(path), -1);
	FACT_EQ(errno, ENOENT);
	fd = unixsocket(path);
	FACT(fd >= 0);
	FACT_EQ(unixsocket_connect(path), -1); /* it does not listen */
	FACT_EQ(errno, ECONNREFUSED);
	FACT(listen(fd, 5) == 0);
	out = unixsocket_connect(path);
	FACT(out >= 0);
	in = accept(fd, NULL, NULL);
	FACT(write(out, "x", 1) == 1 && read(in, &c, 1) == 1 && c == 'x');
	FACT_EQ(unixsocket(path), -1);
	FACT_EQ(errno, EADDRINUSE);
	unlink(path);
	rmdir(dir);
	FACTS_END();
}

static void
unix_path_is_too_long()
{
	char path[300];

	memset(path, 'x', sizeof path);
	path[sizeof path - 1] = '\0';
	FACT_EQ(unixsocket(path), -1);
	FACT_EQ(errno, ENAMETOOLONG);
	FACT_EQ(unixsocket_connect(path), -1);
	FACT_EQ(errno, ENAMETOOLONG);
	FACTS_END();
}

static void
is_it_unix()
{
	int fds[2];

	FACT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	FACT(isunixsocket(fds[0]));
	FACT(!isunixsocket(inetsocket(SOCK_STREAM)));
	FACT(pipe(fds) == 0);
	FACT(!isunixsocket(fds[0]));
	FACT(!isunixsocket(777));
	FACTS_END();
}

/* ---- modes ---- */

static void
async_and_sync()
{
	int fd = inetsocket(SOCK_STREAM), fds[2];

	FACT_EQ(option(fd, SOL_SOCKET, SO_KEEPALIVE), 0);
	FACT_EQ(_make_async(fd), 0);
	FACT(fcntl(fd, F_GETFL) & O_NONBLOCK);
	FACT_EQ(option(fd, SOL_SOCKET, SO_KEEPALIVE), 0);
	make_async(fd);
	FACT(fcntl(fd, F_GETFL) & O_NONBLOCK);
	FACT_EQ(option(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
	make_sync(fd);
	FACT(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	FACT(pipe(fds) == 0);
	make_async(fds[0]); /* not a socket, but no error */
	FACT(fcntl(fds[0], F_GETFL) & O_NONBLOCK);
	FACT_EQ(_make_async(777), -1);
	FACT_EQ(errno, EBADF);
	FACTS_END();
}

static void
make_async_is_fatal()
{
	make_async(777);
}

static void
closed_on_exec()
{
	int fd = inetsocket(SOCK_STREAM);

	FACT_EQ(fcntl(fd, F_GETFD), 0);
	close_on_exec(fd);
	FACT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close_on_exec(fd, false);
	FACT_EQ(fcntl(fd, F_GETFD), 0);
	FACTS_END();
}

static void
tcp_pair(int *fds)
{
	int fd = inetsocket(SOCK_STREAM, 0, INADDR_LOOPBACK);
	sockaddr_in a;

	name_of_socket(fd, &a);
	FACT(listen(fd, 5) == 0);
	fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	FACT(connect(fds[0], (sockaddr *)&a, sizeof a) == 0);
	fds[1] = accept(fd, NULL, NULL);
	FACT(fds[1] >= 0);
	close(fd);
}

static void
nodelay()
{
	int fds[2];

	tcp_pair(fds);
	FACT_EQ(option(fds[0], IPPROTO_TCP, TCP_NODELAY), 0);
	tcp_nodelay(fds[0]);
	FACT(option(fds[0], IPPROTO_TCP, TCP_NODELAY) != 0);
	tcp_nodelay(777);
	FACTS_END();
}

static void
abort_resets()
{
	int fds[2];
	char c;

	tcp_pair(fds);
	tcp_abort(fds[0]);
	FACT(fcntl(fds[0], F_GETFD) < 0); /* closed */
	FACT_EQ(read(fds[1], &c, 1), -1);
	FACT_EQ(errno, ECONNRESET);
	FACTS_END();
}

/* ---- fdwait ---- */

static void
waits()
{
	timeval none = {0, 0}, a_while = {0, 20000};
	int fds[2], far;

	FACT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	FACT_EQ(fdwait(fds[0], selread, &none), 0);
	FACT_EQ(fdwait(fds[0], selread, &a_while), 0);
	FACT_EQ(fdwait(fds[0], selwrite), 1);
	FACT_EQ(fdwait(fds[0], true, false, &none), 0);
	FACT(fdwait(fds[0], true, true, &none) >= 1);
	FACT(write(fds[1], "x", 1) == 1);
	FACT_EQ(fdwait(fds[0], selread), 1);
	FACT_EQ(fdwait(fds[0], true, false, NULL), 1);
	FACT_EQ(fdwait(fds[0], fds[1], true, true, &none), 2);
	FACT_EQ(fdwait(fds[1], fds[0], true, false, &none), 0);
	far = dup2(fds[0], 1500); /* beyond the limit of select */
	if (far >= 0)
		FACT_EQ(fdwait(far, selread), 1);
	FACT_EQ(fdwait(777, selread, &none), -1);
	FACT_EQ(errno, EBADF);
	FACTS_END();
}

/* ---- colors ---- */

static int users;

static void
use_them_all(int rounds)
{
	int fds[2], fd;

	for (; rounds > 0; rounds--) {
		FACT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
		make_async(fds[0]);
		close_on_exec(fds[0]);
		FACT(isunixsocket(fds[0]));
		close(fds[0]);
		tcp_abort(fds[1]);
		fd = inetsocket(SOCK_STREAM, 0, INADDR_LOOPBACK);
		FACT(fd >= 0);
		tcp_nodelay(fd);
		make_sync(fd);
		close(fd);
	}
	if (facts_add(&users, -1) == 0)
		FACTS_END();
}

/* Any color may call these, several at a time. */
static void
in_any_color()
{
	int color;

	users = 8;
	for (color = 0; color < 8; color++)
		cpucb_tail(cwrap(use_them_all, 100, color));
	amain();
}

static const struct fact facts[] = {
	CASE_ON(1, is_bound),
	CASE_ON(1, port_in_host_order),
	CASE_ON(1, port_is_taken),
	CASE_ON(1, bindaddr),
	CASE_ON(1, inet6),
	CASE_ON(1, resvport),
	CASE_ON(1, unix_sockets),
	CASE_ON(1, unix_path_is_too_long),
	CASE_ON(1, is_it_unix),
	CASE_ON(1, async_and_sync),
	{"make_async_is_fatal", make_async_is_fatal, 1, "make_async", 1},
	CASE_ON(1, closed_on_exec),
	CASE_ON(1, nodelay),
	CASE_ON(1, abort_resets),
	CASE_ON(1, waits),
	CASE_ON(8, in_any_color),
};

FACTS_MAIN(facts)
