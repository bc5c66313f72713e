/* SPDX-License-Identifier: MIT */
/*
 * listen.c: opening the sockets of endpoints. In the thread that starts the server.
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assertion.h"
#include "net/inherit.h"
#include "net/listen.h"
#include "net/local.h"

/* How often a port that is free for 127.0.0.1 may be taken for ::1 when any one will do. */
#define PORT_TRIES 16

/* Sockets that listen already, and their endpoints. */
struct opened {
	struct opened_one {
		int fd;
		int endpoint;
		int core;            /* that it is meant for; -1: any */
	} *one;
	int count;
	int room;
};

static int
keep(struct opened *all, int fd, int endpoint, int core)
{
	SWS_ASSERT(fd >= 0);
	if (all->count == all->room) {
		int room = all->room > 0 ? 2 * all->room : 16;
		struct opened_one *more = realloc(all->one, (size_t)room * sizeof *more);

		if (more == NULL) {
			close(fd);
			return -ENOMEM;
		}
		all->one = more;
		all->room = room;
	}
	all->one[all->count++] = (struct opened_one){fd, endpoint, core};
	return 0;
}

static void
close_from(struct opened *all, int first)
{
	while (all->count > first)
		close(all->one[--all->count].fd);
}

/* ---- TCP ----------------------------------------------------------------------------------- */

/* A socket that listens on an address. The first of several binds the port exclusively, which
 * detects a port in use, and shares it afterwards. */
static int
inet_socket(const union sws_address *address, socklen_t len, bool v6_only, bool first, bool shared)
{
	int on = 1, only = v6_only, unsent = SWS_UNSENT_MAX;
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	/* Accepted sockets inherit what is of TCP. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0
	    || (!first && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0)
	    || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0
	    || setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent) != 0
	    || (address->any.sa_family == AF_INET6
	    && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only) != 0)
	    || bind(fd, &address->any, len) != 0
	    || (shared && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0)
	    || listen(fd, SOMAXCONN) != 0) {
		int error = errno;

		close(fd);
		return -error;
	}
	return fd;
}

/* The port that a socket is bound to. */
static int
port_of(int fd)
{
	union sws_address address;
	socklen_t len = sizeof address;

	return getsockname(fd, &address.any, &len) != 0 ? -errno : sws_address_port(&address);
}

/* The sockets of one address of an endpoint, one for each core. */
static int
open_address(struct opened *all, struct sws_endpoint *e, int endpoint, int which, int cores)
{
	union sws_address *address = &e->address[which];
	/* '*' is the only one that means both kinds, apart from '[::]', which always has. */
	bool v6_only = e->addresses_count > 1;

	for (int i = 0; i < cores; i++) {
		int fd = inet_socket(address, e->address_len[which], v6_only, i == 0, cores > 1);
		int status;

		if (fd < 0)
			return fd;
		status = keep(all, fd, endpoint, cores > 1 ? i : -1);
		if (status == 0 && sws_address_port(address) == 0)
			status = port_of(fd);
		if (status < 0)
			return status;
		if (status > 0)
			sws_address_set_port(address, status);
	}
	return 0;
}

static int
open_addresses(struct opened *all, struct sws_endpoint *e, int endpoint, int cores)
{
	int status = open_address(all, e, endpoint, 0, cores);

	if (status == -EAFNOSUPPORT && e->everywhere) {
		/* A kernel without IPv6. */
		memset(&e->address[0], 0, sizeof e->address[0]);
		e->address[0].any.sa_family = AF_INET;
		e->address_len[0] = sizeof e->address[0].in4;
		sws_address_set_port(&e->address[0], e->port);
		status = open_address(all, e, endpoint, 0, cores);
	}
	if (status == 0 && e->addresses_count > 1) {
		sws_address_set_port(&e->address[1], sws_address_port(&e->address[0]));
		status = open_address(all, e, endpoint, 1, cores);
		/* localhost on a machine without IPv6. */
		if (status == -EAFNOSUPPORT || status == -EADDRNOTAVAIL) {
			e->addresses_count = 1;
			status = 0;
		}
	}
	return status;
}

static int
open_inet(struct opened *all, struct sws_endpoint *e, int endpoint, int cores)
{
	int first = all->count, tries = 0, status;

	do {
		close_from(all, first);
		sws_address_set_port(&e->address[0], e->port);
		status = open_addresses(all, e, endpoint, cores);
	} while (status == -EADDRINUSE && e->port == 0 && ++tries < PORT_TRIES);
	if (status == 0)
		e->port = sws_address_port(&e->address[0]);
	return status;
}

/* ---- all ----------------------------------------------------------------------------------- */

static int
open_local(struct opened *all, struct sws_endpoint *e, int endpoint)
{
	int fd = sws_local_listen(e);

	return fd < 0 ? fd : keep(all, fd, endpoint, -1);
}

/* Use the sockets that are there already. */
static int
use_inherited(struct opened *all, struct sws_endpoint *e, int endpoint, int cores,
    struct sws_inherited *in, int group)
{
	int first = all->count, fd, status = 0;
	socklen_t len = sizeof e->address[0];

	for (int i = 0; status == 0 && (fd = sws_inherited_take(in, group)) >= 0; i++)
		status = keep(all, fd, endpoint, cores > 1 ? i % cores : -1);
	if (status != 0)
		return status;
	SWS_ASSERT(all->count > first);
	fd = all->one[first].fd;
	if (all->count == first + 1)
		all->one[first].core = -1;
	if (e->kind == SWS_ENDPOINT_INET) {
		status = port_of(fd);
		e->port = status;
		return status < 0 ? status : 0;
	}
	if (e->kind == SWS_ENDPOINT_UNIX) {
		sws_local_adopt(e);
		return 0;
	}
	if (getsockname(fd, &e->address[0].any, &len) != 0)
		return -errno;
	e->address_len[0] = len;
	e->addresses_count = 1;
	return 0;
}

static int
open_endpoint(struct opened *all, struct sws_endpoint *e, int endpoint, int cores,
    struct sws_inherited *in)
{
	char text[SWS_ENDPOINT_TEXT];
	int group = sws_inherited_find(in, e->key);
	int status = group >= 0 ? use_inherited(all, e, endpoint, cores, in, group)
	    : e->kind == SWS_ENDPOINT_INET ? open_inet(all, e, endpoint, cores)
	    : e->kind == SWS_ENDPOINT_UNIX ? open_local(all, e, endpoint) : -ENOENT;

	if (status == 0)
		return 0;
	fprintf(stderr, "sws: cannot listen on %s: %s\n", sws_endpoint_text(e, text),
	    e->kind == SWS_ENDPOINT_FD && status == -ENOENT ? "no such socket was handed over"
	    : strerror(-status));
	return -1;
}

static int
make_listeners(struct sws_net *net, struct opened *all)
{
	int status = sws_net_init(net, all->count);

	for (int i = 0; status == 0 && i < all->count; i++) {
		struct opened_one *one = &all->one[i];
		int fd = one->fd;

		/* It takes over the socket. */
		one->fd = -1;
		status = sws_listener_new(net, i, fd, &net->endpoints[one->endpoint], one->core);
	}
	if (status == 0)
		return 0;
	fprintf(stderr, "sws: cannot listen: %s\n", strerror(-status));
	return -1;
}

/* One more endpoint. */
static int
listen_at(struct sws_net *net, struct opened *all, const char *text, int cores,
    struct sws_inherited *in)
{
	int n = net->endpoints_count;
	const char *wrong = sws_endpoint_parse(&net->endpoints[n], text);

	if (wrong != NULL) {
		fprintf(stderr, "sws: cannot listen on %s: %s\n", text, wrong);
		return -1;
	}
	net->endpoints_count++;
	return open_endpoint(all, &net->endpoints[n], n, cores, in);
}

int
sws_net_listen(struct sws_net *net, const struct sws_texts *texts, bool by_default, int cores,
    struct sws_inherited *in)
{
	struct opened all = {NULL, 0, 0};
	const char *name = by_default ? sws_inherited_named(in) : NULL;
	int most = texts->count > in->count ? texts->count : in->count, status = 0;

	SWS_ASSERT(texts->count > 0 && cores > 0 && net->endpoints == NULL);
	net->endpoints = calloc((size_t)most, sizeof net->endpoints[0]);
	if (net->endpoints == NULL) {
		fputs("sws: no memory\n", stderr);
		return -1;
	}
	for (int i = 0; name == NULL && status == 0 && i < texts->count; i++)
		status = listen_at(net, &all, texts->text[i], cores, in);
	for (; name != NULL && status == 0; name = sws_inherited_named(in))
		status = listen_at(net, &all, name, cores, in);
	if (status == 0)
		status = make_listeners(net, &all);
	for (int i = 0; i < all.count; i++)
		if (all.one[i].fd >= 0)
			close(all.one[i].fd);
	free(all.one);
	return status;
}
