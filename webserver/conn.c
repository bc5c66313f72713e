/* SPDX-License-Identifier: MIT */
/*
 * conn.c: the life of a connection apart from its requests: start, deadlines, drain and Close.
 *
 * A connection has one timer, and a request does not touch it. When the timer fires, its handler
 * computes how long the connection has been quiet and sets the timer to the time that is left.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/assertion.h"
#include "base/notice.h"
#include "base/policy.h"
#include "conn.h"
#include "disk.h"
#include "ended.h"
#include "h2.h"
#include "net/proxy.h"
#include "net/tls.h"
#include "pace.h"
#include "seeing.h"
#include "stages.h"

#define SECOND UINT64_C(1000000000)
/* The time over which the least rate of a client counts. */
#define RATE_NS (30 * SECOND)
/* How long, and how much, a client may continue to send after its last answer. */
#define LINGER_NS (2 * SECOND)
#define LINGER_READS 64

static void close_fn(void *arg);
static void timer_fn(void *arg);
static void drain_fn(void *arg);

static struct mely_handler close_handler = SWS_CLOSE(close_fn);
static struct mely_handler timer_handler = SWS_DEADLINE(timer_fn);
static struct mely_handler drain_handler = SWS_DRAIN(drain_fn);

/* Stages that take another time with a channel. */
static void
set_channel_time(struct sws_conn *conn, const struct mely_handler *handler)
{
	if (handler == &sws_write_response)
		mely_event_set_time(&conn->event, SWS_ENCRYPT_NS);
	else if (handler == &sws_tls_handshake && conn->transport.channel->begun)
		mely_event_set_time(&conn->event, SWS_TLS_ANSWER_NS);
}

void
sws_conn_stage(struct sws_conn *conn, struct mely_handler *handler)
{
	int status;

	SWS_DEBUG_ASSERT(mely_current_color() == &conn->color);
	/* A stage after Close would use a connection that may be freed. */
	SWS_DEBUG_ASSERT(conn->state != SWS_CONN_CLOSED);
	SWS_DEBUG_ASSERT(!mely_event_pending(&conn->event));
	conn->state = SWS_CONN_BUSY;
	mely_event_init(&conn->event, handler, conn);
	if (SWS_UNLIKELY(conn->transport.channel != NULL))
		set_channel_time(conn, handler);
	status = mely_event_post(&conn->color, &conn->event);
	/* A handler's post to its own color cannot fail unless the event is queued. */
	SWS_ASSERT(status == 0);
}

void
sws_conn_close(struct sws_conn *conn)
{
	SWS_ASSERT(conn->state != SWS_CONN_CLOSED);
	sws_conn_stage(conn, &close_handler);
	conn->state = SWS_CONN_CLOSED;
}

/* End TLS. Only a client that has got all its answers hears that they were all. */
static void
end_channel(struct sws_conn *conn, bool has_all)
{
	struct sws_channel *channel = conn->transport.channel;

	if (channel == NULL)
		return;
	if (has_all)
		channel->ops->end(channel);
	channel->ops->free(channel);
	conn->transport.channel = NULL;
}

static void
close_fn(void *arg)
{
	struct sws_conn *conn = arg;
	bool has_all = conn->burst == NULL || conn->burst->out == conn->burst->count;
	int status;

	SWS_ASSERT(mely_current_color() == &conn->color);
	SWS_ASSERT(conn->state == SWS_CONN_CLOSED && conn->transport.fd >= 0);
	SWS_DEBUG_ASSERT(!mely_event_pending(&conn->event));
	mely_watch_stop(conn->server->rt, conn->timer, NULL, NULL);
	sws_pace_stop(conn);
	/* While it is known whether and how they were encrypted. */
	if (conn->h2 != NULL)
		sws_h2_free(conn, mely_current_core());
	if (conn->burst != NULL) {
		struct sws_core *core = sws_core_here(conn->server);

		sws_burst_give_up(conn->burst, core, core->number);
		sws_burst_put(core, conn->burst);
		conn->burst = NULL;
	}
	end_channel(conn, has_all);
	mely_fd_close(conn->server->rt, conn->transport.fd);
	conn->transport.fd = -1;
	status = sws_peer_leave(&conn->peer);
	if (status != 0)
		sws_notice(SWS_NOTICE_CONNECTION, -status);
}

void
sws_conn_finish(struct sws_conn *conn)
{
	SWS_ASSERT(conn->closing);
	SWS_ASSERT(conn->burst == NULL || conn->burst->out == conn->burst->count);
	SWS_DEBUG_ASSERT(conn->state != SWS_CONN_LINGER);
	if (conn->linger || conn->unread)
		sws_conn_linger(conn);
	else
		sws_conn_close(conn);
}

void
sws_conn_linger(struct sws_conn *conn)
{
	SWS_ASSERT(conn->closing && conn->state != SWS_CONN_LINGER);
	if (sws_transport_end(&conn->transport) != 0) {
		sws_conn_close(conn);
		return;
	}
	/* A close with unread input would reset the connection, and the client could lose the
	 * answer. */
	conn->state = SWS_CONN_LINGER;
	mely_timer_again(conn->server->rt, conn->timer, LINGER_NS, LINGER_NS);
	sws_conn_linger_read(conn);
}

void
sws_conn_linger_read(struct sws_conn *conn)
{
	char *waste = sws_core_here(conn->server)->scratch;

	SWS_ASSERT(conn->state == SWS_CONN_LINGER);
	for (int i = 0; i < LINGER_READS; i++) {
		ssize_t n = sws_transport_discard(&conn->transport, waste, SWS_SCRATCH);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0)
			break;
	}
	sws_conn_close(conn);
}

/* ---- deadlines ----------------------------------------------------------------------------- */

/* Answer 408 to a head that took too long; the connection is idle. */
static void
time_out_head(struct sws_conn *conn)
{
	SWS_ASSERT(conn->state == SWS_CONN_IDLE && conn->burst->count == 0);
	conn->burst->bad = 408;
	sws_conn_stage(conn, &sws_bad_request);
}

/* How long a head, or the first one, may take. */
static uint64_t
header_timeout(const struct sws_server *server)
{
	struct sws_core *core = sws_core_here(server);
	uint64_t limit = sws_core_setup(core)->options.header_timeout_ns;

	sws_core_leave_setup(core);
	/* A limit of 0 would be exceeded at once. */
	SWS_ASSERT(limit > 0);
	return limit;
}

static uint64_t
idle_timeout(const struct sws_server *server)
{
	struct sws_core *core = sws_core_here(server);
	uint64_t limit = sws_core_setup(core)->options.idle_timeout_ns;

	sws_core_leave_setup(core);
	SWS_ASSERT(limit > 0);
	return limit;
}

/*
 * End an idle connection. A request may be on its way, and a close would make the kernel answer it
 * with a reset. So the client first sees the end of the answers, which tells it that the request
 * has not been read.
 */
static void
end_idle(struct sws_conn *conn)
{
	char byte;

	SWS_ASSERT(conn->state == SWS_CONN_IDLE && conn->head_ns == 0 && conn->burst == NULL);
	/* It is here already, and its event waits behind this one. */
	if (recv(conn->transport.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1) {
		mely_timer_again(conn->server->rt, conn->timer, LINGER_NS, LINGER_NS);
		return;
	}
	if (sws_transport_end(&conn->transport) != 0) {
		sws_conn_close(conn);
		return;
	}
	conn->closing = true;
	conn->state = SWS_CONN_LINGER;
	mely_timer_again(conn->server->rt, conn->timer, LINGER_NS, LINGER_NS);
	sws_conn_linger_read(conn);
}

/* The bytes that a blocked client must take in RATE_NS. */
static uint64_t
least_bytes(const struct sws_server *server)
{
	struct sws_core *core = sws_core_here(server);
	uint64_t rate = sws_core_setup(core)->options.min_rate;

	sws_core_leave_setup(core);
	return rate * (RATE_NS / SECOND);
}

/* ns until the connection is overdue; 0: it is overdue. */
static uint64_t
time_left(struct sws_conn *conn, uint64_t now)
{
	uint64_t since = conn->since_ns, limit = idle_timeout(conn->server);

	if (sws_transport_is_opening(&conn->transport)) {
		/* However many pieces it comes in. */
		limit = header_timeout(conn->server);
	} else if (conn->state == SWS_CONN_BLOCKED) {
		since = conn->blocked_ns;
		limit = RATE_NS;
	} else if (conn->head_ns != 0) {
		since = conn->head_ns;
		limit = header_timeout(conn->server);
	} else if (conn->body_ns != 0) {
		/* A body that is discarded gets the time of a head. */
		since = conn->body_ns;
		limit = header_timeout(conn->server);
	} else if (conn->state == SWS_CONN_IDLE && conn->sent == 0) {
		/* It has had no answer yet. */
		limit = header_timeout(conn->server);
	}
	return now - since >= limit && now >= since ? 0 : since + limit - now;
}

static void
timer_fn(void *arg)
{
	struct sws_conn *conn = arg;
	uint64_t now = mely_now_ns(), left = time_left(conn, now), idle;
	bool draining = atomic_load_explicit(&conn->server->draining, memory_order_relaxed);

	SWS_ASSERT(mely_current_color() == &conn->color);
	sws_conn_assert(conn);
	if (conn->state == SWS_CONN_CLOSED)
		return;
	if (conn->h2 != NULL && conn->state != SWS_CONN_LINGER) {
		sws_h2_timer(conn, now);
		return;
	}
	if (conn->state == SWS_CONN_LINGER) {
		sws_conn_close(conn);
		return;
	}
	/* A handshake has one deadline, whatever is on its way. */
	if (left == 0 && conn->state != SWS_CONN_BUSY
	    && sws_transport_is_opening(&conn->transport)) {
		sws_conn_close(conn);
		return;
	}
	if (conn->state == SWS_CONN_IDLE && conn->head_ns == 0 && (draining || left == 0)) {
		end_idle(conn);
		return;
	}
	if (left == 0 && conn->state == SWS_CONN_BLOCKED) {
		if (conn->sent - conn->sent_before < least_bytes(conn->server)) {
			sws_conn_close(conn);
			return;
		}
		conn->sent_before = conn->sent;
		conn->blocked_ns = now;
		left = RATE_NS;
	} else if (left == 0 && conn->state == SWS_CONN_IDLE) {
		if (conn->head_ns != 0 && conn->burst != NULL)
			time_out_head(conn);
		else
			sws_conn_close(conn);
		left = SECOND;
	} else if (left == 0) {
		left = SECOND; /* busy: check again later */
	}
	/* It may become idle soon, with an earlier deadline. */
	idle = idle_timeout(conn->server);
	if (left > idle)
		left = idle;
	/* A lower bound keeps the timer from firing again and again. */
	if (left < SECOND / 100)
		left = SECOND / 100;
	mely_timer_again(conn->server->rt, conn->timer, left, left);
}

void
sws_conn_time_head(struct sws_conn *conn)
{
	uint64_t limit = header_timeout(conn->server);

	SWS_ASSERT(conn->state == SWS_CONN_IDLE && (conn->head_timed || conn->body_ns != 0));
	mely_timer_again(conn->server->rt, conn->timer, limit, limit);
}

/* Give a quiet connection a short time for a request that is on its way. */
void
sws_conn_drain(struct sws_conn *conn)
{
	/* relaxed: written before the drain begins, and later again by a signal. */
	uint64_t grace = atomic_load_explicit(&conn->server->grace_ns, memory_order_relaxed);

	SWS_ASSERT(conn->state == SWS_CONN_IDLE && grace > 0);
	mely_timer_again(conn->server->rt, conn->timer, grace, grace);
}

/* The drain of the server reaches this connection. */
static void
drain_fn(void *arg)
{
	struct sws_conn *conn = arg;

	SWS_ASSERT(mely_current_color() == &conn->color);
	sws_conn_assert(conn);
	if (conn->h2 != NULL)
		sws_h2_drain(conn);
	else if (conn->state == SWS_CONN_IDLE && conn->head_ns == 0)
		sws_conn_drain(conn);
}

/* ---- for the listener ----------------------------------------------------------------------- */

static struct sws_conn *
conn_of(struct sws_peer *peer)
{
	return (struct sws_conn *)((char *)peer - offsetof(struct sws_conn, peer));
}

static void
free_channel(struct sws_conn *conn)
{
	if (conn != NULL && conn->transport.channel != NULL)
		conn->transport.channel->ops->free(conn->transport.channel);
	if (conn != NULL)
		conn->transport.channel = NULL;
}

static void
free_conn(void *arg)
{
	struct sws_conn *conn = arg;

	if (conn != NULL)
		free(conn->client);
	free(conn);
}

bool
sws_conn_begin_tls(struct sws_conn *conn)
{
	struct sws_core *core = sws_core_here(conn->server);
	struct sws_tls_pairs *pairs = sws_core_setup(core)->tls;

	/* The endpoints do not change, and all setups have certificates if the first one has. */
	SWS_ASSERT(pairs != NULL);
	conn->transport.channel = sws_tls_channel_new(pairs, conn->transport.fd);
	sws_core_leave_setup(core);
	return conn->transport.channel != NULL;
}

/* May the other end say whose connection it is? A Unix socket has let it in by its mode. */
static bool
is_trusted(struct sws_conn *conn)
{
	union sws_address address = {.any = {.sa_family = AF_UNSPEC}};
	socklen_t len = sizeof address;
	struct sws_core *core = sws_core_here(conn->server);
	bool trusted;

	if (getpeername(conn->transport.fd, &address.any, &len) != 0)
		return false;
	trusted = address.any.sa_family == AF_UNIX
	    || sws_networks_have(&sws_core_setup(core)->options.trusted, &address);
	sws_core_leave_setup(core);
	if (!trusted)
		sws_count(&core->counters.proxies_refused, 1);
	return trusted;
}

/* What is between the socket and the requests, for now. 0 or a negative errno. */
static int
begin_channel(struct sws_conn *conn, const struct sws_endpoint *endpoint)
{
	if (!endpoint->proxy)
		return endpoint->tls && !sws_conn_begin_tls(conn) ? -ENOMEM : 0;
	if (!is_trusted(conn))
		return -EACCES;
	conn->proxied = true;
	conn->transport.channel = sws_proxy_channel_new(conn->transport.fd);
	return conn->transport.channel != NULL ? 0 : -ENOMEM;
}

static struct sws_peer *
begin(void *arg, struct sws_listener *listener, int fd)
{
	struct sws_server *server = arg;
	uint64_t wait = header_timeout(server);
	struct sws_conn *conn = aligned_alloc(64, (sizeof *conn + 63) & ~(size_t)63);
	int status = -ENOMEM;

	SWS_ASSERT(fd >= 0);
	if (conn == NULL)
		goto fail;
	memset(conn, 0, sizeof *conn);
	conn->server = server;
	conn->transport.fd = fd;
	conn->since_ns = mely_now_ns();
	mely_event_init(&conn->event, &sws_read_request, conn);
	mely_event_init(&conn->drain, &drain_handler, conn);
	sws_peer_init(&conn->peer, listener);
	conn->inside = sws_listener_endpoint(listener)->inside;
	/* relaxed: as for the drain event. */
	if (conn->inside && atomic_load_explicit(&server->draining, memory_order_relaxed))
		wait = atomic_load_explicit(&server->grace_ns, memory_order_relaxed);
	sws_seeing_client(conn);
	status = begin_channel(conn, sws_listener_endpoint(listener));
	if (status != 0)
		goto fail_free;
	status = sws_policy_conn_color(server->coloring, &conn->color, server->rt, fd,
	    conn->peer.core);
	if (status != 0)
		goto fail_channel;
	/* For mely-top. Without memory it has none. */
	if (conn->client != NULL)
		(void)mely_color_set_name(&conn->color, conn->client);
	status = mely_timer_start(&conn->color, wait, wait, 0, &timer_handler, conn, &conn->timer);
	if (status != 0)
		goto fail_color;
	status = mely_fd_watch(&conn->color, fd, MELY_FD_READ | MELY_FD_EDGE, &sws_readable, conn,
	    &conn->readable);
	if (status != 0)
		goto fail_timer;
	sws_count(&sws_core_here(server)->counters.connections, 1);
	return &conn->peer;

fail_timer:
	/* The timer has not expired, so its event is not posted: the stop is exact although it
	 * comes from another color. */
	mely_watch_stop(server->rt, conn->timer, NULL, NULL);
fail_color:
	free_channel(conn);
	mely_color_release(&conn->color, free_conn, conn);
	conn = NULL;
fail_channel:
	free_channel(conn);
fail_free:
	free_conn(conn);
fail:
	close(fd);
	sws_count(&sws_core_here(server)->counters.connections_failed, 1);
	sws_notice(SWS_NOTICE_CONNECTION, -status);
	return NULL;
}

static void
post_drain(struct sws_peer *peer)
{
	struct sws_conn *conn = conn_of(peer);
	int status = mely_event_post(&conn->color, &conn->drain);

	/* -EALREADY: the drain before this one has not come that far. */
	SWS_ASSERT(status == 0 || status == -EALREADY);
}

static void
end(struct sws_peer *peer)
{
	struct sws_conn *conn = conn_of(peer);

	SWS_ASSERT(conn->state == SWS_CONN_CLOSED && conn->transport.fd < 0 && conn->burst == NULL);
	mely_color_release(&conn->color, free_conn, conn);
}

static void
destroy(struct sws_peer *peer)
{
	struct sws_conn *conn = conn_of(peer);

	SWS_ASSERT(mely_current_core() < 0);
	sws_h2_free(conn, -1);
	if (conn->burst != NULL) {
		sws_disk_abandon(&conn->burst->asker);
		sws_burst_give_up(conn->burst, conn->server->cores[0], -1);
		free(conn->burst);
	}
	free_channel(conn);
	if (conn->transport.fd >= 0)
		close(conn->transport.fd);
	free_conn(conn);
}

static void
check_empty(void *server)
{
	sws_server_check_drained(server);
}

const struct sws_peer_ops sws_conn_ops = {
	.begin = begin, .drain = post_drain, .end = end, .destroy = destroy,
	.check_empty = check_empty
};
