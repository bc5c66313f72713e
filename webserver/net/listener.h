/* SPDX-License-Identifier: MIT */
/*
 * listener.h: listening sockets, each with its accepting color (the paper's color 1; colors 1, 2,
 * ... when there are several: for several endpoints, and for each core with its own poller). Accept
 * and DecClientAccepted run in that color and own the list of the listener's connections.
 *
 * A listener knows of a connection only its struct sws_peer, and what to do with it.
 */
#ifndef SWS_NET_LISTENER_H
#define SWS_NET_LISTENER_H

#include <mely/mely.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "net/origin.h"
#include "net/endpoint.h"

struct sws_listener;

/** The part of a connection that belongs to the color of its listener. */
struct sws_peer {
	struct sws_listener *listener;
	struct sws_origin *origin;       /* of the client; NULL: none that counts */
	struct sws_peer *prev, *next;
	int core;                        /* that it begins on; -1: that which accepts it */
	struct mely_event gone;
};

/** What becomes of connections. All but destroy run in the color of the listener. */
struct sws_peer_ops {
	/** Make a connection of an accepted socket, beginning with sws_peer_init. NULL: failed, and
	 *  the socket is closed. */
	struct sws_peer *(*begin)(void *server, struct sws_listener *listener, int fd);
	/** The server drains: tell the connection. Its color is valid. */
	void (*drain)(struct sws_peer *peer);
	/** The connection has left: release it. */
	void (*end)(struct sws_peer *peer);
	/** Free the connection, after the runtime has ended. */
	void (*destroy)(struct sws_peer *peer);
	/** A connection or a listener has ended: sws_net_is_empty may hold now. */
	void (*check_empty)(void *server);
};

/**
 * The listeners of a server, and how many clients they may accept. Read-only while the runtime
 * runs, except for the atomic words.
 */
struct sws_net {
	struct mely_runtime *rt;
	const struct sws_peer_ops *ops;
	void *server;                    /* handed to ops */
	struct sws_endpoint *endpoints;
	int endpoints_count;
	struct sws_listener **listeners;
	int listeners_count;
	long clients_max;
	/* How many connections have been placed on each core, and live; NULL: none are placed. */
	struct sws_placed *placed;
	bool handed_over;                /* another process has the sockets; set before the drain */
	struct sws_origins *origins;    /* NULL: all are alike */
	/* Connections of all listeners. Written when a connection begins or ends, not for a
	 * request. */
	_Alignas(64) _Atomic(long) clients;
	_Atomic(int) listeners_open;
};

/**
 * The connections of listeners without a core are placed on the least loaded one: that with the
 * fewest that were placed there. Stealing may move them, but asking the runtime where they are
 * would cost a snapshot of all cores for each. Before the runtime runs. 0 or -ENOMEM.
 */
int sws_net_place(struct sws_net *net);

/** Make room for this many listeners; 0 or -ENOMEM. The other fields are the caller's to fill. */
int sws_net_init(struct sws_net *net, int listeners_count);

/**
 * Make listener number i, which takes over the socket fd of an endpoint, on a core or on any (-1);
 * before the runtime runs. 0 or -errno.
 */
int sws_listener_new(struct sws_net *net, int i, int fd, const struct sws_endpoint *endpoint,
    int core);

/** Free the listeners and their connections, after the runtime has ended. */
void sws_net_fini(struct sws_net *net);

/**
 * Accept what has connected, unless another process does, close the sockets and drain all
 * connections. Any handler, at most twice.
 */
void sws_net_drain(struct sws_net *net);

/** Are all listeners closed, and all connections gone? Any handler. */
bool sws_net_is_empty(const struct sws_net *net);

/** Its socket; -1 once it drains. In the control color before that. */
int sws_listener_fd(const struct sws_listener *listener);

/** Where the clients of a listener connect: its flags say how they begin. Any thread. */
const struct sws_endpoint *sws_listener_endpoint(const struct sws_listener *listener);

/** Prepare the peer of a new connection, and place it, before any of its handlers can run. */
void sws_peer_init(struct sws_peer *peer, struct sws_listener *listener);

/**
 * A proxy says which address the client has ("" or a name: none): its limits count from here on. In
 * the connection's color, at most once. 0; -EUSERS: the address has as many connections as it may;
 * -ENOMEM.
 */
int sws_peer_name(struct sws_peer *peer, const char *client);

/** The connection is over; its end follows. In its color, once. 0 or -errno. */
int sws_peer_leave(struct sws_peer *peer);

#endif
