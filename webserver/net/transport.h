/* SPDX-License-Identifier: MIT */
/*
 * transport.h: the bytes of a connection, to and from its client. In the connection's color. No
 * call blocks: EAGAIN in errno says that it must be repeated when the socket is ready.
 *
 * The calls of every request do without the wrappers of the C library: its recv and send are
 * cancellation points, which costs two atomic exchanges a call in a process with several threads,
 * and sws never cancels a thread.
 *
 * A connection of clear text has no channel (channel.h), and pays one branch for those that have.
 */
#ifndef SWS_NET_TRANSPORT_H
#define SWS_NET_TRANSPORT_H

#include <stdbool.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/assertion.h"
#include "net/channel.h"

struct sws_transport {
	int fd; /* -1: closed */
	struct sws_channel *channel; /* NULL: clear text */
};

#define SWS_UNLIKELY(cond) __builtin_expect(cond, 0)

/** Read up to len bytes; their number, 0 at the end of the input, or -1 and errno. */
static inline ssize_t
sws_transport_read(const struct sws_transport *t, void *to, size_t len)
{
	SWS_DEBUG_ASSERT(t->fd >= 0);
	if (SWS_UNLIKELY(t->channel != NULL))
		return t->channel->ops->read(t->channel, to, len);
	return syscall(SYS_recvfrom, t->fd, to, len, 0, NULL, NULL);
}

/**
 * Write pieces in one call. more: other bytes follow at once. Returns the number of bytes that were
 * taken, or -1 and errno.
 */
static inline ssize_t
sws_transport_write(const struct sws_transport *t, struct iovec *pieces, size_t count, bool more)
{
	int flags = MSG_NOSIGNAL | (more ? MSG_MORE : 0);
	struct msghdr msg = {.msg_iov = pieces, .msg_iovlen = count};

	SWS_DEBUG_ASSERT(t->fd >= 0 && count > 0);
	if (SWS_UNLIKELY(t->channel != NULL))
		return t->channel->ops->write(t->channel, pieces, count, more);
	if (count == 1)
		return syscall(SYS_sendto, t->fd, pieces->iov_base, pieces->iov_len, flags, NULL,
		    0);
	return syscall(SYS_sendmsg, t->fd, &msg, flags);
}

/**
 * Write up to len bytes of a file from at on. Returns their number, 0 where the file ends, or -1
 * and errno.
 */
static inline ssize_t
sws_transport_write_file(const struct sws_transport *t, int file, uint64_t at, size_t len)
{
	off_t from = (off_t)at;

	SWS_DEBUG_ASSERT(t->fd >= 0 && file >= 0 && len > 0);
	if (SWS_UNLIKELY(t->channel != NULL))
		return t->channel->ops->write_file(t->channel, file, at, len);
	return sendfile(t->fd, file, &from, len);
}

/** Most bytes of bodies that one event sends; other colors run in between. */
static inline size_t
sws_transport_event_max(const struct sws_transport *t)
{
	return t->channel != NULL ? SWS_CHANNEL_EVENT_MAX : 1 << 20;
}

/** Is its handshake not over yet? */
static inline bool
sws_transport_is_opening(const struct sws_transport *t)
{
	return SWS_UNLIKELY(t->channel != NULL) && !t->channel->open;
}

/** Is there something that was written and that the socket has not taken? */
static inline bool
sws_transport_is_pending(const struct sws_transport *t)
{
	return SWS_UNLIKELY(t->channel != NULL) && t->channel->pending;
}

/** Is there input that no watcher reports? */
static inline bool
sws_transport_is_unread(const struct sws_transport *t)
{
	return SWS_UNLIKELY(t->channel != NULL) && t->channel->unread;
}

/** Read up to len bytes only to forget them: as sws_transport_read. */
static inline ssize_t
sws_transport_discard(const struct sws_transport *t, void *waste, size_t len)
{
	SWS_DEBUG_ASSERT(t->fd >= 0);
	return recv(t->fd, waste, len, 0);
}

/** Tell the client that nothing more comes. 0, or -1 and errno. */
static inline int
sws_transport_end(const struct sws_transport *t)
{
	SWS_DEBUG_ASSERT(t->fd >= 0);
	if (t->channel != NULL)
		t->channel->ops->end(t->channel);
	return shutdown(t->fd, SHUT_WR);
}

#endif
