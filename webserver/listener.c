/* SPDX-License-Identifier: MIT */
/*
 * listener.c: accepting connections up to the limit of clients, and ending that.
 *
 * NOTE(client limit): the number of clients is one atomic word for all listeners. A listener
 * that finds it at the limit
 *   a. sets its flag waiting (seq_cst),
 *   b. reads the number again (seq_cst), and continues if there is room after all,
 *   c. otherwise stops watching its socket: clients queue in the kernel.
 * The handler that ends a connection
 *   d. decrements the number (seq_cst),
 *   e. searches for a waiting listener (seq_cst), clears its flag and posts Accept to it.
 * One of b and e sees the write of the other, so no listener waits while there is room.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assertion.h"
#include "conn.h"
#include "listener.h"
#include "notice.h"

/* Most connections accepted in one event; other colors run in between. */
#define ACCEPT_MAX 64
/* Time until the next attempt after descriptors or memory have run out. */
#define RETRY_NS UINT64_C(100000000)

struct sws_listener {
	struct sws_server *server;
	struct mely_color *color;
	struct sws_conn *conns;     /* in this color only */
	int fd;                     /* -1: closed */
	bool suspended;
	mely_watch watch;
	struct mely_event resume;
	struct mely_event drain;
	_Atomic(bool) waiting;      /* NOTE(client limit) */
};

static void accept_fn(void *arg);
static void resume_fn(void *arg);
static void drain_fn(void *arg);
static void dec_client_accepted_fn(void *arg);

static struct mely_handler accept_handler = {
	.fn = accept_fn, .name = "Accept", .time_ns = 10000
};
static struct mely_handler resume_handler = {
	.fn = resume_fn, .name = "Accept", .time_ns = 10000
};
static struct mely_handler drain_handler = {
	.fn = drain_fn, .name = "StopAccepting", .time_ns = 10000
};
struct mely_handler sws_dec_client_accepted = {
	.fn = dec_client_accepted_fn, .name = "DecClientAccepted", .time_ns = 500
};

int
sws_listener_socket(const struct sockaddr *addr, socklen_t len, bool first, bool shared)
{
	int on = 1, off = 0;
	int fd = socket(addr->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	SWS_ASSERT(len == (addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
	    : sizeof(struct sockaddr_in)));
	if (fd < 0)
		return -errno;
	/* Accepted sockets inherit TCP_NODELAY. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0
	    || (!first && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0)
	    || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0
	    || (addr->sa_family == AF_INET6
	    && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0)
	    || bind(fd, addr, len) != 0
	    || (shared && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0)
	    || listen(fd, SOMAXCONN) != 0) {
		int error = errno;

		close(fd);
		return -error;
	}
	return fd;
}

struct mely_color *
sws_listener_color(struct sws_listener *listener)
{
	return listener->color;
}

int
sws_listener_new(struct sws_listener **out, struct sws_server *server, int i, int fd)
{
	struct sws_listener *l = calloc(1, sizeof *l);
	int status = -ENOMEM;

	SWS_ASSERT(fd >= 0 && i >= 0 && i < server->listeners_count);
	/* The watcher may fire at once if the runtime runs, before the listener is complete. */
	SWS_ASSERT(mely_current_core() < 0);
	if (l == NULL)
		goto fail;
	l->server = server;
	l->fd = fd;
	mely_event_init(&l->resume, &resume_handler, l);
	mely_event_init(&l->drain, &drain_handler, l);
	status = mely_color_of_id(server->rt, (uint32_t)i + 1, &l->color);
	if (status != 0)
		goto fail;
	mely_color_set_name(l->color, "accept");
	/* With one listener for each core, connections begin on the core that accepts them. A
	 * single listener is not pinned, as in the paper. */
	if (server->listeners_count > 1)
		status = mely_color_pin(l->color, i);
	if (status == 0)
		status = mely_fd_watch(l->color, fd, MELY_FD_READ, &accept_handler, l, &l->watch);
	if (status != 0)
		goto fail;
	/* relaxed: the runtime does not run yet. */
	atomic_fetch_add_explicit(&server->listeners_open, 1, memory_order_relaxed);
	*out = l;
	return 0;

fail:
	free(l);
	close(fd);
	return status;
}

static void
suspend(struct sws_listener *l, bool on)
{
	SWS_ASSERT(mely_current_color() == l->color);
	if (l->suspended == on || l->fd < 0)
		return;
	l->suspended = on;
	mely_watch_enable(l->server->rt, l->watch, !on);
}

static bool
try_place(struct sws_server *server)
{
	/* seq_cst: NOTE(client limit), step b. The number never exceeds the limit, not even
	 * briefly: that could make another listener wait that nothing wakes. */
	long clients = atomic_load_explicit(&server->clients, memory_order_seq_cst);

	SWS_ASSERT(clients >= 0 && clients <= server->clients_max);
	while (clients < server->clients_max)
		if (atomic_compare_exchange_weak_explicit(&server->clients, &clients, clients + 1,
		    memory_order_seq_cst, memory_order_seq_cst))
			return true;
	return false;
}

/* Take a place for one more client; false when there is none and the listener must wait. */
static bool
take_place(struct sws_listener *l)
{
	if (try_place(l->server))
		return true;
	/* seq_cst: NOTE(client limit), step a. */
	atomic_store_explicit(&l->waiting, true, memory_order_seq_cst);
	return try_place(l->server);
}

static void
give_place(struct sws_server *server)
{
	/* seq_cst: NOTE(client limit), steps d and e. */
	long before = atomic_fetch_sub_explicit(&server->clients, 1, memory_order_seq_cst);

	SWS_ASSERT(before > 0 && before <= server->clients_max);
	for (int i = 0; i < server->listeners_count; i++) {
		struct sws_listener *l = server->listeners[i];
		bool waits = true;

		if (!atomic_load_explicit(&l->waiting, memory_order_seq_cst)
		    || !atomic_compare_exchange_strong_explicit(&l->waiting, &waits, false,
		    memory_order_seq_cst, memory_order_relaxed))
			continue;
		/* -EALREADY: its Accept is queued already. */
		if (mely_event_post(l->color, &l->resume) == 0)
			break;
	}
}

static void
link_conn(struct sws_listener *l, struct sws_conn *conn)
{
	SWS_ASSERT(conn->listener == l && conn->prev == NULL && conn->next == NULL);
	conn->next = l->conns;
	if (l->conns != NULL) {
		SWS_ASSERT(l->conns->prev == NULL);
		l->conns->prev = conn;
	}
	l->conns = conn;
}

static void
unlink_conn(struct sws_listener *l, struct sws_conn *conn)
{
	SWS_ASSERT(conn->prev != NULL ? conn->prev->next == conn : l->conns == conn);
	SWS_ASSERT(conn->next == NULL || conn->next->prev == conn);
	if (conn->prev != NULL)
		conn->prev->next = conn->next;
	else
		l->conns = conn->next;
	if (conn->next != NULL)
		conn->next->prev = conn->prev;
}

/* accept4 failed. True: the next one may succeed. */
static bool
accept_failed(struct sws_listener *l, int error)
{
	mely_watch timer;

	SWS_ASSERT(error > 0);
	switch (error) {
	case EAGAIN:
		mely_fd_drained();
		return false;
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
		/* The connection stays in the queue, so the watcher would fire again at once. */
		sws_notice(SWS_NOTICE_ACCEPT, error);
		if (!l->suspended && mely_timer_start(l->color, RETRY_NS, 0, 0, &resume_handler, l,
		    &timer) == 0)
			suspend(l, true);
		return false;
	default:
		/* Errors of the new connection (accept(2)); the next one may be sound. */
		return true;
	}
}

static void
accept_fn(void *arg)
{
	struct sws_listener *l = arg;
	struct sws_conn *conn;
	int fd, error;

	SWS_ASSERT(mely_current_color() == l->color);
	for (int i = 0; i < ACCEPT_MAX && l->fd >= 0; i++) {
		if (!take_place(l)) {
			suspend(l, true);
			return;
		}
		fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		error = fd < 0 ? errno : 0;
		conn = fd >= 0 ? sws_conn_new(l->server, l, fd) : NULL;
		if (conn != NULL) {
			link_conn(l, conn);
			continue;
		}
		give_place(l->server);
		if (fd < 0 && !accept_failed(l, error))
			return;
	}
}

/* There is room again, or it is time to try again. */
static void
resume_fn(void *arg)
{
	struct sws_listener *l = arg;

	suspend(l, false);
	accept_fn(l);
}

static void
dec_client_accepted_fn(void *arg)
{
	struct sws_conn *conn = arg;
	struct sws_listener *l = conn->listener;

	SWS_ASSERT(mely_current_color() == l->color);
	SWS_ASSERT(conn->state == SWS_CONN_CLOSED && conn->fd < 0 && conn->burst == NULL);
	unlink_conn(l, conn);
	give_place(l->server);
	mely_color_release(&conn->color, free, conn);
	sws_server_check_drained(l->server);
}

/* ---- the end ------------------------------------------------------------------------------- */

void
sws_listener_drain(struct sws_listener *l)
{
	int status = mely_event_post(l->color, &l->drain);

	/* Only the first signal posts it, from a handler. */
	SWS_ASSERT(status == 0);
}

static void
drain_fn(void *arg)
{
	struct sws_listener *l = arg;
	int before;

	/* relaxed: the poster has set it. */
	SWS_ASSERT(atomic_load_explicit(&l->server->draining, memory_order_relaxed));
	/* Closing the listener would reset connections that it has not accepted. */
	accept_fn(l);
	if (l->fd >= 0) {
		mely_fd_close(l->server->rt, l->fd);
		l->fd = -1;
		/* release pairs with server.c:sws_server_check_drained. */
		before = atomic_fetch_sub_explicit(&l->server->listeners_open, 1,
		    memory_order_release);
		SWS_ASSERT(before > 0);
	}
	/* The color and the event of a connection on this list are valid: DecClientAccepted, which
	 * unlinks and releases it, runs in this color. */
	for (struct sws_conn *conn = l->conns; conn != NULL; conn = conn->next) {
		int status = mely_event_post(&conn->color, &conn->drain);

		SWS_ASSERT(status == 0);
	}
	sws_server_check_drained(l->server);
}

void
sws_listener_free(struct sws_listener *l)
{
	if (l == NULL)
		return;
	SWS_ASSERT(mely_current_core() < 0);
	while (l->conns != NULL) {
		struct sws_conn *conn = l->conns;

		SWS_ASSERT(conn->listener == l);
		l->conns = conn->next;
		sws_conn_destroy(conn);
	}
	if (l->fd >= 0)
		close(l->fd);
	free(l);
}
