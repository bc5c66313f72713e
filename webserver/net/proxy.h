/* SPDX-License-Identifier: MIT */
/*
 * proxy.h: the header of the PROXY protocol, versions 1 and 2, by which a proxy names the client
 * whose connection it passes on; and the networks of those that may.
 */
#ifndef SWS_NET_PROXY_H
#define SWS_NET_PROXY_H

#include <arpa/inet.h>

#include "base/texts.h"
#include "net/channel.h"
#include "net/endpoint.h"

/** Longest headers. */
#define SWS_PROXY_V1_MAX 107
#define SWS_PROXY_V2_MAX (16 + 1024)

/** The client at a Unix socket, and all of them among the networks. */
#define SWS_PROXY_UNIX "unix:"

struct sws_proxied {
	/** The address of the client; "unix:" for one at a Unix socket; "": the proxy's own. */
	char client[INET6_ADDRSTRLEN];
};

/**
 * Parse the beginning of a connection: the length of its header, 0 when more input is needed, or -1
 * when it is not one. Pure function, any thread.
 */
int sws_proxy_parse(const unsigned char *buf, size_t len, struct sws_proxied *proxied);

/** What is wrong with the text of a network, ADDRESS, ADDRESS/BITS or "unix:"; NULL: nothing. */
const char *sws_network_check(const char *text);
/** Is an address in one of these networks? */
bool sws_networks_have(const struct sws_texts *networks, const union sws_address *address);

/** A channel that is open when the header has been read from the socket; NULL: no memory. */
struct sws_channel *sws_proxy_channel_new(int fd);
/** What the header of an open one says. */
const struct sws_proxied *sws_proxy_channel_found(const struct sws_channel *channel);

#endif
