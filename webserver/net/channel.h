/* SPDX-License-Identifier: MIT */
/*
 * channel.h: what may be between a connection and its socket, such as TLS. In the connection's
 * color, like the transport (transport.h), which calls it.
 *
 * A channel may hold back bytes that it has taken: `pending` says so, and flush sends them when the
 * socket is ready.
 */
#ifndef SWS_NET_CHANNEL_H
#define SWS_NET_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct sws_channel;

/** All but free and end return as the calls of transport.h do. */
struct sws_channel_ops {
	/** Make or continue the handshake. 1: the channel is open and nothing is pending. 0:
	 *  failed. -1: EAGAIN, for room in the socket if something is pending, else for input. */
	int (*open)(struct sws_channel *channel);
	ssize_t (*read)(struct sws_channel *channel, void *to, size_t len);
	ssize_t (*write)(struct sws_channel *channel, struct iovec *pieces, size_t count,
	    bool more);
	ssize_t (*write_file)(struct sws_channel *channel, int file, uint64_t at, size_t len);
	/** Send what is pending: 0, or -1 and errno. */
	int (*flush)(struct sws_channel *channel);
	/** Say that nothing more comes. Once; before that, all must have gone well. */
	void (*end)(struct sws_channel *channel);
	void (*free)(struct sws_channel *channel);
};

struct sws_channel {
	const struct sws_channel_ops *ops;
	uint64_t sent;           /* bytes that the socket has taken since the handshake */
	const char *failure;     /* why the handshake failed, or NULL */
	const char *protocol;    /* as ALPN names it; NULL: the client did not say */
	const char *version;     /* of its protocol, as "TLSv1.3"; NULL: not known yet */
	bool begun;              /* the client has begun the handshake */
	bool open;               /* the handshake is over */
	bool pending;
	bool unread;             /* there is input, or its end, that the socket does not report */
};

/** Most bytes that one event sends through a channel. */
#define SWS_CHANNEL_EVENT_MAX (256 << 10)

#endif
