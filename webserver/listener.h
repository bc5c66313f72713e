/* SPDX-License-Identifier: MIT */
/*
 * listener.h: a listening socket with its accepting color (the paper's color 1; 1, 2, ... when
 * each core has a poller, and so a listener, of its own). Accept and DecClientAccepted run in
 * that color and own the list of the listener's connections.
 *
 * NOTE(client limit): the number of clients is one atomic word for all listeners. A listener
 * that finds it at the limit
 *   a. says that it waits (waiting = true, seq_cst),
 *   b. looks at the number again (seq_cst), and goes on if there is room after all,
 *   c. otherwise stops watching its socket: clients queue in the kernel.
 * Whoever ends a connection
 *   d. takes one off the number (seq_cst),
 *   e. looks for listeners that wait (seq_cst) and posts Accept to one of them, whose flag it
 *      takes down.
 * One of b and e sees the other's word, so that no listener waits while there is room.
 */
#ifndef SWS_LISTENER_H
#define SWS_LISTENER_H

#include <mely/mely.h>
#include <sys/socket.h>

#include "server.h"

struct sws_listener;

/**
 * A socket bound to addr, listening; the descriptor or a negative errno. The first one of
 * several is bound as the only one, so that a port in use is noticed, and shares it afterwards.
 */
int sws_listener_socket(const struct sockaddr *addr, socklen_t len, bool first, bool shared);

/** Take over the socket fd as listener number i. Before the runtime runs. 0 or an error. */
int sws_listener_new(struct sws_listener **listener, struct sws_server *server, int i, int fd);

/** Its connections and itself; nothing runs any more. */
void sws_listener_free(struct sws_listener *listener);

/** Accept what has connected, close the socket and tell all connections. Any handler. */
void sws_listener_drain(struct sws_listener *listener);

struct mely_color *sws_listener_color(struct sws_listener *listener);

#endif
