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
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assertion.h"
#include "base/notice.h"
#include "base/policy.h"
#include "net/listener.h"
#include "net/local.h"

/* Most connections accepted in one event; other colors run in between. */
#define ACCEPT_MAX 64
/* Most clients that connect after a drain has begun and before a listener's queue is empty. */
#define LATE_MAX 64
/* Time until the next attempt after descriptors or memory have run out. */
#define RETRY_NS UINT64_C(100000000)

struct sws_listener {
	struct sws_net *net;
	const struct sws_endpoint *endpoint;
	struct mely_color *color;
	struct sws_peer *peers;     /* in this color only */
	struct sws_origin *arriving; /* of the connection that begins */
	int fd;                     /* -1: closed */
	int core;                   /* -1: any */
	int next_core;              /* where the search for the least loaded one begins */
	bool suspended;
	bool draining;
	long left;                  /* while it drains: clients that it still accepts */
	mely_watch watch;
	struct mely_event resume;
	struct mely_event drain;
	_Atomic(bool) waiting;      /* NOTE(client limit) */
};

static void accept_fn(void *arg);
static void resume_fn(void *arg);
static void drain_fn(void *arg);
static void dec_client_accepted_fn(void *arg);

static struct mely_handler accept_handler = SWS_ACCEPT(accept_fn);
static struct mely_handler resume_handler = SWS_ACCEPT(resume_fn);
static struct mely_handler drain_handler = SWS_STOP_ACCEPTING(drain_fn);
static struct mely_handler gone_handler = SWS_DEC_CLIENT_ACCEPTED(dec_client_accepted_fn);

struct sws_placed {
	_Alignas(64) _Atomic(uint32_t) count;
};

int
sws_net_place(struct sws_net *net)
{
	size_t size = (size_t)mely_cores(net->rt) * sizeof net->placed[0];

	SWS_ASSERT(net->placed == NULL && mely_current_core() < 0);
	net->placed = aligned_alloc(64, size);
	if (net->placed == NULL)
		return -ENOMEM;
	memset(net->placed, 0, size);
	return 0;
}

/* The core with the fewest connections; of several, the next in turn. */
static int
least_loaded(struct sws_listener *l)
{
	int cores = mely_cores(l->net->rt), best = 0;
	uint32_t least = UINT32_MAX;

	for (int i = 0; i < cores; i++) {
		int core = (l->next_core + i) % cores;
		/* relaxed: a hint. */
		uint32_t count = atomic_load_explicit(&l->net->placed[core].count,
		    memory_order_relaxed);

		if (count < least) {
			least = count;
			best = core;
		}
	}
	l->next_core = (best + 1) % cores;
	return best;
}

/* Count a peer that has been placed, or (-1) leaves. */
static void
count_placed(const struct sws_peer *peer, int more)
{
	/* relaxed: a hint for other listeners. */
	if (peer->core >= 0)
		atomic_fetch_add_explicit(&peer->listener->net->placed[peer->core].count,
		    (uint32_t)more, memory_order_relaxed);
}

int
sws_net_init(struct sws_net *net, int listeners_count)
{
	SWS_ASSERT(listeners_count > 0 && net->listeners == NULL);
	net->listeners = calloc((size_t)listeners_count, sizeof net->listeners[0]);
	net->listeners_count = net->listeners != NULL ? listeners_count : 0;
	return net->listeners != NULL ? 0 : -ENOMEM;
}

int
sws_listener_new(struct sws_net *net, int i, int fd, const struct sws_endpoint *endpoint,
    int core)
{
	struct sws_listener *l = calloc(1, sizeof *l);
	int status = -ENOMEM;

	SWS_ASSERT(fd >= 0 && i >= 0 && i < net->listeners_count);
	/* The watcher may fire at once if the runtime runs, before the listener is complete. */
	SWS_ASSERT(mely_current_core() < 0);
	if (l == NULL)
		goto fail;
	l->net = net;
	l->endpoint = endpoint;
	l->core = core;
	l->fd = fd;
	mely_event_init(&l->resume, &resume_handler, l);
	mely_event_init(&l->drain, &drain_handler, l);
	status = mely_color_of_id(net->rt, (uint32_t)i + 1, &l->color);
	if (status != 0)
		goto fail;
	mely_color_set_name(l->color, "accept");
	/* With one listener for each core, connections begin on the core that accepts them. A
	 * single listener is not pinned, as in the paper. */
	if (core >= 0)
		status = mely_color_pin(l->color, core);
	if (status == 0)
		status = mely_fd_watch(l->color, fd, MELY_FD_READ, &accept_handler, l, &l->watch);
	if (status != 0)
		goto fail;
	/* relaxed: the runtime does not run yet. A drain leaves metrics open. */
	if (!endpoint->inside)
		atomic_fetch_add_explicit(&net->listeners_open, 1, memory_order_relaxed);
	net->listeners[i] = l;
	return 0;

fail:
	free(l);
	close(fd);
	return status;
}

int
sws_listener_fd(const struct sws_listener *l)
{
	return l->fd;
}

const struct sws_endpoint *
sws_listener_endpoint(const struct sws_listener *l)
{
	return l->endpoint;
}

static void
suspend(struct sws_listener *l, bool on)
{
	SWS_ASSERT(mely_current_color() == l->color);
	if (l->suspended == on || l->fd < 0)
		return;
	l->suspended = on;
	mely_watch_enable(l->net->rt, l->watch, !on);
}

static bool
try_place(struct sws_net *net)
{
	/* seq_cst: NOTE(client limit), step b. The number never exceeds the limit, not even
	 * briefly: that could make another listener wait that nothing wakes. */
	long clients = atomic_load_explicit(&net->clients, memory_order_seq_cst);

	SWS_ASSERT(clients >= 0 && clients <= net->clients_max);
	while (clients < net->clients_max)
		if (atomic_compare_exchange_weak_explicit(&net->clients, &clients, clients + 1,
		    memory_order_seq_cst, memory_order_seq_cst))
			return true;
	return false;
}

/* Take a place for one more client; false when there is none and the listener must wait. */
static bool
take_place(struct sws_listener *l)
{
	if (try_place(l->net))
		return true;
	/* seq_cst: NOTE(client limit), step a. */
	atomic_store_explicit(&l->waiting, true, memory_order_seq_cst);
	return try_place(l->net);
}

/* There is a place: wake a listener that waits for one. NOTE(client limit), step e. */
static void
wake_listener(struct sws_net *net)
{
	for (int i = 0; i < net->listeners_count; i++) {
		struct sws_listener *l = net->listeners[i];
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
give_place(struct sws_net *net)
{
	/* seq_cst: NOTE(client limit), step d. */
	long before = atomic_fetch_sub_explicit(&net->clients, 1, memory_order_seq_cst);

	SWS_ASSERT(before > 0 && before <= net->clients_max);
	wake_listener(net);
}

static void
link_peer(struct sws_listener *l, struct sws_peer *peer)
{
	SWS_ASSERT(peer->listener == l && peer->prev == NULL && peer->next == NULL);
	count_placed(peer, 1);
	peer->next = l->peers;
	if (l->peers != NULL) {
		SWS_ASSERT(l->peers->prev == NULL);
		l->peers->prev = peer;
	}
	l->peers = peer;
}

static void
unlink_peer(struct sws_listener *l, struct sws_peer *peer)
{
	SWS_ASSERT(peer->prev != NULL ? peer->prev->next == peer : l->peers == peer);
	SWS_ASSERT(peer->next == NULL || peer->next->prev == peer);
	count_placed(peer, -1);
	if (peer->prev != NULL)
		peer->prev->next = peer->next;
	else
		l->peers = peer->next;
	if (peer->next != NULL)
		peer->next->prev = peer->prev;
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

/* Close the socket of a listener that drains. */
static void
stop_listening(struct sws_listener *l)
{
	int counts = !l->endpoint->inside, before;

	SWS_ASSERT(l->draining && l->fd >= 0);
	/* Not mely_fd_close: another process may have the socket, too, and then only the stop takes
	 * it out of the poller. */
	mely_watch_stop(l->net->rt, l->watch, NULL, NULL);
	close(l->fd);
	l->fd = -1;
	/* seq_cst: NOTE(client limit). One that finds the flag cleared has a Resume to come. */
	atomic_store_explicit(&l->waiting, false, memory_order_seq_cst);
	/* seq_cst pairs with sws_net_is_empty. */
	before = atomic_fetch_sub_explicit(&l->net->listeners_open, counts, memory_order_seq_cst);
	SWS_ASSERT(before >= counts);
	l->net->ops->check_empty(l->net->server);
}

/* Accept a connection, and note its address. -1 and EUSERS in errno: it is closed again. */
static int
accept_one(struct sws_listener *l)
{
	struct sockaddr_storage client = {.ss_family = AF_UNSPEC};
	socklen_t len = sizeof client;
	int fd, status;

	/* The address of a proxy is not that of its client. */
	if (l->net->origins == NULL || l->endpoint->proxy || l->endpoint->inside)
		return accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	fd = accept4(l->fd, (struct sockaddr *)&client, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0)
		return -1;
	status = sws_origin_enter(l->net->origins, &client, &l->arriving);
	if (status == 0)
		return fd;
	sws_notice(SWS_NOTICE_ADDRESS, -status);
	close(fd);
	/* ENOMEM would say that the connection is still in the queue. */
	errno = EUSERS;
	return -1;
}

/* Make a connection; NULL: failed, and the socket is closed. */
static struct sws_peer *
begin(struct sws_listener *l, int fd)
{
	struct sws_peer *peer = l->net->ops->begin(l->net->server, l, fd);

	if (peer == NULL && l->arriving != NULL)
		sws_origin_leave(l->net->origins, l->arriving);
	l->arriving = NULL;
	return peer;
}

static void
accept_fn(void *arg)
{
	struct sws_listener *l = arg;
	struct sws_peer *peer;
	int fd, error;

	SWS_ASSERT(mely_current_color() == l->color);
	for (int i = 0; i < ACCEPT_MAX && l->fd >= 0; i++) {
		if (l->draining && l->left == 0) {
			stop_listening(l);
			return;
		}
		if (!take_place(l)) {
			suspend(l, true);
			return;
		}
		fd = accept_one(l);
		error = fd < 0 ? errno : 0;
		peer = fd >= 0 ? begin(l, fd) : NULL;
		/* One that is refused has left the queue, too. */
		if (l->draining && (fd >= 0 || error == EUSERS))
			l->left--;
		if (peer != NULL) {
			link_peer(l, peer);
			if (l->draining)
				l->net->ops->drain(peer);
			continue;
		}
		give_place(l->net);
		if (fd < 0 && !accept_failed(l, error)) {
			if (l->draining && error == EAGAIN)
				stop_listening(l);
			return;
		}
	}
	/* -EALREADY: a place is free, too. */
	if (l->draining && l->fd >= 0)
		(void)mely_event_post(l->color, &l->resume);
}

/* There is room again, or it is time to try again. */
static void
resume_fn(void *arg)
{
	struct sws_listener *l = arg;

	suspend(l, false);
	if (l->fd >= 0)
		accept_fn(l);
	else
		/* The place is another's. */
		wake_listener(l->net);
}

void
sws_peer_init(struct sws_peer *peer, struct sws_listener *l)
{
	*peer = (struct sws_peer){.listener = l, .origin = l->arriving,
		.core = l->core < 0 && l->net->placed != NULL ? least_loaded(l) : -1};
	mely_event_init(&peer->gone, &gone_handler, peer);
}

int
sws_peer_name(struct sws_peer *peer, const char *client)
{
	struct sws_origins *origins = peer->listener->net->origins;
	union sws_address address;
	int status;

	SWS_ASSERT(peer->listener->endpoint->proxy && peer->origin == NULL);
	memset(&address, 0, sizeof address);
	if (inet_pton(AF_INET, client, &address.in4.sin_addr) == 1)
		address.any.sa_family = AF_INET;
	else if (inet_pton(AF_INET6, client, &address.in6.sin6_addr) == 1)
		address.any.sa_family = AF_INET6;
	if (origins == NULL || address.any.sa_family == AF_UNSPEC)
		return 0;
	status = sws_origin_enter(origins, &address.room, &peer->origin);
	if (status != 0)
		sws_notice(SWS_NOTICE_ADDRESS, -status);
	return status;
}

int
sws_peer_leave(struct sws_peer *peer)
{
	return mely_event_post(peer->listener->color, &peer->gone);
}

static void
dec_client_accepted_fn(void *arg)
{
	struct sws_peer *peer = arg;
	struct sws_net *net = peer->listener->net;

	SWS_ASSERT(mely_current_color() == peer->listener->color);
	unlink_peer(peer->listener, peer);
	if (peer->origin != NULL)
		sws_origin_leave(net->origins, peer->origin);
	give_place(net);
	net->ops->end(peer);
	net->ops->check_empty(net->server);
}

/* ---- the end ------------------------------------------------------------------------------- */

bool
sws_net_is_empty(const struct sws_net *net)
{
	/* seq_cst, both, pair with stop_listening and give_place: of a connection and a listener
	 * that end at once, one sees that the other has. */
	return atomic_load_explicit(&net->listeners_open, memory_order_seq_cst) == 0
	    && atomic_load_explicit(&net->clients, memory_order_seq_cst) == 0;
}

void
sws_net_drain(struct sws_net *net)
{
	for (int i = 0; i < net->listeners_count; i++) {
		struct sws_listener *l = net->listeners[i];
		int status = mely_event_post(l->color, &l->drain);

		/* -EALREADY: the first drain has not come that far. */
		SWS_ASSERT(status == 0 || status == -EALREADY);
	}
}

/* How many clients have connected to a socket and are not accepted. */
static long
queue_length(const struct sws_listener *l)
{
	struct tcp_info info;
	socklen_t len = sizeof info;

	/* Of a socket that listens this is the length of its queue. A Unix socket does not say. */
	return getsockopt(l->fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0
	    ? (long)info.tcpi_unacked : SOMAXCONN;
}

/*
 * Closing a socket resets the clients that it has not accepted, unless another process has the
 * socket, too: that one, or one that systemd starts, accepts them. So a drain first accepts what
 * has connected; at the limit of clients it waits for places to do so.
 */
static void
drain_fn(void *arg)
{
	struct sws_listener *l = arg;
	bool again = l->draining;

	/* The endpoint of the metrics stays, and says that the server drains. */
	l->draining = again || !l->endpoint->inside || l->net->handed_over;
	if (l->fd >= 0 && l->draining && !again) {
		if (!l->net->handed_over)
			sws_local_remove(l->endpoint);
		l->left = l->net->handed_over || l->endpoint->kind == SWS_ENDPOINT_FD ? 0
		    : queue_length(l) + LATE_MAX;
		accept_fn(l);
	}
	/* A connection on this list is valid: DecClientAccepted, which unlinks and ends it, runs
	 * in this color. */
	for (struct sws_peer *peer = l->peers; peer != NULL; peer = peer->next)
		l->net->ops->drain(peer);
	l->net->ops->check_empty(l->net->server);
}

static void
free_listener(struct sws_listener *l)
{
	if (l == NULL)
		return;
	while (l->peers != NULL) {
		struct sws_peer *peer = l->peers;

		SWS_ASSERT(peer->listener == l);
		l->peers = peer->next;
		if (peer->origin != NULL)
			sws_origin_leave(l->net->origins, peer->origin);
		l->net->ops->destroy(peer);
	}
	if (l->fd >= 0) {
		if (!l->net->handed_over)
			sws_local_remove(l->endpoint);
		close(l->fd);
	}
	free(l);
}

void
sws_net_fini(struct sws_net *net)
{
	SWS_ASSERT(mely_current_core() < 0);
	for (int i = 0; i < net->listeners_count; i++)
		free_listener(net->listeners[i]);
	free(net->listeners);
	free(net->endpoints);
	free(net->placed);
	net->listeners = NULL;
	net->endpoints = NULL;
	net->placed = NULL;
	net->listeners_count = net->endpoints_count = 0;
}
