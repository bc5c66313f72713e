/* SPDX-License-Identifier: MIT */
/*
 * seeing.c: the access log of the server, and whose connections they are.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assertion.h"
#include "conn.h"
#include "core.h"
#include "ops/log.h"
#include "seeing.h"
#include "server.h"

static bool
has_metrics(const struct sws_texts *listens)
{
	struct sws_endpoint e;

	for (int i = 0; i < listens->count; i++)
		if (sws_endpoint_parse(&e, listens->text[i]) == NULL && e.inside)
			return true;
	return false;
}

int
sws_seeing_open(struct sws_server *server)
{
	const struct sws_options *o = &server->reload.setup->options;

	SWS_ASSERT(server->cores_count > 0 && server->log == NULL);
	server->began_s = (uint64_t)time(NULL);
	for (int i = 0; i < server->cores_count; i++)
		server->cores[i]->sees = has_metrics(&o->listens);
	if (sws_log_is_off(o->access_log))
		return 0;
	server->log = sws_log_open(o->access_log, (enum sws_log_format)o->log_format,
	    server->cores_count);
	if (server->log == NULL)
		return -1;
	for (int i = 0; i < server->cores_count; i++) {
		server->cores[i]->log = sws_log_ring(server->log, i);
		server->cores[i]->sees = true;
	}
	return 0;
}

int
sws_seeing_start(struct sws_server *server)
{
	return server->log != NULL ? sws_log_start(server->log) : 0;
}

void
sws_seeing_close(struct sws_server *server)
{
	sws_log_close(server->log);
	server->log = NULL;
}

void
sws_seeing_reopen(struct sws_server *server)
{
	if (server->log != NULL)
		sws_log_reopen(server->log);
}

/* ---- addresses ----------------------------------------------------------------------------- */

/* A copy of the address as text, without its port; NULL: no memory. */
static char *
address_text(const union sws_address *address)
{
	char text[INET6_ADDRSTRLEN];
	const void *bytes = &address->in4.sin_addr;

	if (address->any.sa_family == AF_INET6) {
		bytes = &address->in6.sin6_addr;
		/* A socket for both kinds calls IPv4 addresses so. */
		if (IN6_IS_ADDR_V4MAPPED(&address->in6.sin6_addr))
			bytes = &address->in6.sin6_addr.s6_addr[12];
	} else if (address->any.sa_family != AF_INET) {
		return strdup("unix:");
	}
	return strdup(inet_ntop(bytes == &address->in6.sin6_addr ? AF_INET6 : AF_INET, bytes,
	    text, sizeof text));
}

void
sws_seeing_client(struct sws_conn *conn)
{
	union sws_address address = {.any = {.sa_family = AF_UNSPEC}};
	socklen_t len = sizeof address;

	if (conn->server->log == NULL)
		return;
	if (getpeername(conn->transport.fd, &address.any, &len) == 0)
		conn->client = address_text(&address);
}

void
sws_seeing_proxied(struct sws_conn *conn, const char *client)
{
	char *copy;

	if (conn->server->log == NULL || client[0] == '\0')
		return;
	copy = strdup(client);
	if (copy == NULL)
		return;
	free(conn->client);
	conn->client = copy;
	(void)mely_color_set_name(&conn->color, copy);
}
