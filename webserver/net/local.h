/* SPDX-License-Identifier: MIT */
/*
 * local.h: listening at a Unix socket, and its file. A file that a server has left behind is
 * replaced; one of a socket that listens is not, and neither is a file of another kind.
 */
#ifndef SWS_NET_LOCAL_H
#define SWS_NET_LOCAL_H

#include "net/endpoint.h"

/** Make a socket that listens at a Unix endpoint; the descriptor or a negative errno. */
int sws_local_listen(struct sws_endpoint *endpoint);

/** The socket of an endpoint is there already, and its file belongs to this process from now on. */
void sws_local_adopt(struct sws_endpoint *endpoint);

/** Remove the file of an endpoint, if it is still that one. Any thread. */
void sws_local_remove(const struct sws_endpoint *endpoint);

#endif
