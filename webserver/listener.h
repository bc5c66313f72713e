/* SPDX-License-Identifier: MIT */
/*
 * listener.h: a listening socket with its accepting color (the paper's color 1; colors 1, 2, ...
 * when each core has its own poller, and so its own listener). Accept and DecClientAccepted run
 * in that color and own the list of the listener's connections.
 */
#ifndef SWS_LISTENER_H
#define SWS_LISTENER_H

#include <mely/mely.h>
#include <sys/socket.h>

#include "server.h"

struct sws_listener;

/**
 * Make a socket that listens on addr; the descriptor or a negative errno. The first of several
 * binds the port exclusively, which detects a port in use, and shares it afterwards.
 */
int sws_listener_socket(const struct sockaddr *addr, socklen_t len, bool first, bool shared);

/** Make listener number i, which takes over the socket fd; before the runtime runs. 0 or -errno. */
int sws_listener_new(struct sws_listener **listener, struct sws_server *server, int i, int fd);

/** Free a listener and its connections, after the runtime has ended. */
void sws_listener_free(struct sws_listener *listener);

/** Accept what has connected, close the socket and drain all connections. Any handler. */
void sws_listener_drain(struct sws_listener *listener);

struct mely_color *sws_listener_color(struct sws_listener *listener);

#endif
