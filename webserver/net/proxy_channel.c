/* SPDX-License-Identifier: MIT */
/*
 * proxy_channel.c: what precedes TLS or HTTP on a connection from a proxy. It takes the header out
 * of the socket, and nothing behind it: it looks at the input first, and then reads the header.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/assertion.h"
#include "net/proxy.h"

struct channel {
	struct sws_channel base;
	int fd;
	struct sws_proxied found;
};

static int
channel_open(struct sws_channel *base)
{
	struct channel *c = (struct channel *)base;
	unsigned char buf[SWS_PROXY_V2_MAX];
	ssize_t n = recv(c->fd, buf, sizeof buf, MSG_PEEK);
	int len;

	if (n <= 0)
		return n < 0 && errno == EAGAIN ? -1 : 0;
	len = sws_proxy_parse(buf, (size_t)n, &c->found);
	if (len <= 0)
		return len < 0 ? 0 : -1;
	n = recv(c->fd, buf, (size_t)len, 0);
	base->open = n == (ssize_t)len;
	return base->open;
}

static void
channel_end(struct sws_channel *base)
{
	(void)base;
}

static void
channel_free(struct sws_channel *base)
{
	free(base);
}

static const struct sws_channel_ops ops = {.open = channel_open, .end = channel_end,
	.free = channel_free};

struct sws_channel *
sws_proxy_channel_new(int fd)
{
	struct channel *c = calloc(1, sizeof *c);

	if (c == NULL)
		return NULL;
	c->base.ops = &ops;
	/* It takes no time worth stealing. */
	c->base.begun = true;
	c->fd = fd;
	return &c->base;
}

const struct sws_proxied *
sws_proxy_channel_found(const struct sws_channel *base)
{
	SWS_ASSERT(base->ops == &ops && base->open);
	return &((const struct channel *)base)->found;
}
