/* SPDX-License-Identifier: MIT */
/*
 * handshake.c: TLSHandshake: what precedes the first request of a connection with a channel. In the
 * connection's color. Its time is long, so it is the first that a thief takes.
 *
 * The time from the accept to the end of the handshake is limited, however the input comes (conn.c,
 * timer_fn).
 */
#include <string.h>

#include "base/assertion.h"
#include "base/notice.h"
#include "base/policy.h"
#include "conn.h"
#include "h2.h"
#include "net/proxy.h"
#include "seeing.h"
#include "stages.h"

static void handshake_fn(void *arg);

struct mely_handler sws_tls_handshake = SWS_TLS_HANDSHAKE(handshake_fn);

static void
begin_requests(struct sws_conn *conn)
{
	const struct sws_channel *channel = conn->transport.channel;

	sws_count(&sws_core_here(conn->server)->counters.handshakes, 1);
	if (conn->writable != 0) {
		mely_watch_stop(conn->server->rt, conn->writable, NULL, NULL);
		conn->writable = 0;
	}
	/* The time to the first request counts from here. */
	conn->since_ns = mely_now_ns();
	/* What follows the handshake may be here already. */
	conn->unread = true;
	if (channel->protocol != NULL && strcmp(channel->protocol, "h2") == 0)
		sws_h2_begin(conn, sws_core_here(conn->server));
	else
		sws_conn_stage(conn, &sws_read_request);
}

/* The client has been told why, as far as TLS has words for it. */
static void
give_up(struct sws_conn *conn)
{
	sws_count(&sws_core_here(conn->server)->counters.handshakes_failed, 1);
	if (conn->transport.channel->failure != NULL)
		sws_notice_text(SWS_NOTICE_HANDSHAKE, conn->transport.channel->failure);
	conn->closing = true;
	sws_conn_linger(conn);
}

/* A header of the PROXY protocol; TLS or requests follow on the same socket. */
static void
read_proxy(struct sws_conn *conn)
{
	struct sws_channel *channel = conn->transport.channel;
	int status = channel->ops->open(channel);

	if (status < 0) {
		conn->state = SWS_CONN_IDLE;
		return;
	}
	if (status > 0) {
		const char *client = sws_proxy_channel_found(channel)->client;

		sws_seeing_proxied(conn, client);
		if (sws_peer_name(&conn->peer, client) != 0)
			status = 0;
	} else {
		sws_count(&sws_core_here(conn->server)->counters.proxies_refused, 1);
	}
	conn->proxied = false;
	channel->ops->free(channel);
	conn->transport.channel = NULL;
	conn->closing = status == 0;
	conn->unread = true;
	if (status == 0 || (sws_listener_endpoint(conn->peer.listener)->tls
	    && !sws_conn_begin_tls(conn)))
		sws_conn_close(conn);
	else
		sws_conn_stage(conn, conn->transport.channel != NULL ? &sws_tls_handshake
		    : &sws_read_request);
}

static void
handshake_fn(void *arg)
{
	struct sws_conn *conn = arg;
	struct sws_channel *channel = conn->transport.channel;

	SWS_ASSERT(mely_current_color() == &conn->color);
	SWS_ASSERT(conn->state == SWS_CONN_BUSY && conn->burst == NULL);
	if (conn->proxied) {
		read_proxy(conn);
		return;
	}
	switch (channel->ops->open(channel)) {
	case 1:
		begin_requests(conn);
		break;
	case 0:
		give_up(conn);
		break;
	default:
		if (channel->pending)
			sws_conn_wait_for_room(conn, sws_core_here(conn->server));
		else
			conn->state = SWS_CONN_IDLE;
	}
}
