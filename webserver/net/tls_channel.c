/* SPDX-License-Identifier: MIT */
/*
 * tls_channel.c: the bytes of a TLS connection. In the connection's color.
 *
 * OpenSSL reads and writes by way of the buffers of the core, which the channel has during a call:
 * one system call fetches what the socket has. Large records are sent from OpenSSL's memory, small
 * ones together. What is left when the call ends, input that is not asked for yet and records that
 * the socket does not take, the channel keeps in memory of its own. An idle channel has none.
 *
 * Whatever OpenSSL fails at breaks the channel: it is then good for nothing but its end.
 */
#include <errno.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assertion.h"
#include "net/tls_parts.h"

/* Records of more than this are sent from where they are. */
#define DIRECT_MIN 8192
/* Most updates of keys that a client may ask for. */
#define UPDATES_MAX 32

struct channel {
	struct sws_channel base;
	SSL *ssl;
	struct sws_tls *tls;
	struct sws_tls_certs *certs;   /* until the handshake is over */
	struct sws_tls_buffers *core;  /* during a call */
	const char *in;                /* input that OpenSSL has not taken, */
	size_t in_left;
	char *in_kept;                 /* ... in memory of the channel, or else of the core */
	char *out_kept;                /* records that the socket has not taken */
	size_t out_at, out_left;
	int fd;
	uint8_t updates;
	bool more;                     /* other bytes follow those that are encrypted now */
	bool dry;                      /* the socket had no more input in this call */
	bool ended;                    /* the client sends no more */
	bool broken;
};

static struct channel *
channel_of(const SSL *ssl)
{
	return SSL_get_app_data(ssl);
}

struct sws_tls *
sws_tls_of(const SSL *ssl)
{
	return channel_of(ssl)->tls;
}

struct sws_tls_certs *
sws_tls_certs_of(const SSL *ssl)
{
	struct channel *s = channel_of(ssl);

	/* Without a second handshake, none of them is asked for later. */
	SWS_ASSERT(s->certs != NULL);
	return s->certs;
}

void
sws_tls_watch_state(const SSL *ssl, int where, int value)
{
	struct channel *s = channel_of(ssl);
	/* Either makes the server answer: nothing else bounds what it owes a client that does not
	 * read. */
	bool asks = where == SSL_CB_WRITE_ALERT
	    ? value >> 8 == SSL3_AL_WARNING && (value & 0xff) == SSL_AD_NO_RENEGOTIATION
	    : (where & SSL_CB_LOOP) && SSL_get_state(ssl) == TLS_ST_SR_KEY_UPDATE;

	if (s->base.open && asks && s->updates < UPDATES_MAX)
		s->updates++;
}

/* ---- records for the socket ----------------------------------------------------------------- */

/* How many of the bytes the socket takes. */
static size_t
to_socket(struct channel *s, const char *bytes, size_t len, bool more)
{
	ssize_t n = syscall(SYS_sendto, s->fd, bytes, len, MSG_NOSIGNAL | (more ? MSG_MORE : 0),
	    NULL, 0);

	if (n < 0 && errno != EAGAIN)
		s->broken = true;
	if (n > 0 && s->base.open)
		s->base.sent += (uint64_t)n;
	return n < 0 ? 0 : (size_t)n;
}

/* Send what was kept. True: nothing is left of it. */
static bool
send_kept(struct channel *s)
{
	if (s->out_left > 0) {
		size_t n = to_socket(s, s->out_kept + s->out_at, s->out_left, false);

		s->out_at += n;
		s->out_left -= n;
	}
	if (s->out_left == 0) {
		free(s->out_kept);
		s->out_kept = NULL;
	}
	s->base.pending = s->out_left > 0;
	return !s->base.pending;
}

static void
keep_out(struct channel *s, const char *bytes, size_t len)
{
	char *both = malloc(s->out_left + len);

	if (both == NULL) {
		s->broken = true;
		return;
	}
	if (s->out_left > 0)
		memcpy(both, s->out_kept + s->out_at, s->out_left);
	memcpy(both + s->out_left, bytes, len);
	free(s->out_kept);
	s->out_kept = both;
	s->out_at = 0;
	s->out_left += len;
	s->base.pending = true;
}

static void
send_or_keep(struct channel *s, const char *bytes, size_t len, bool more)
{
	size_t n = send_kept(s) ? to_socket(s, bytes, len, more) : 0;

	if (n < len && !s->broken)
		keep_out(s, bytes + n, len - n);
}

/* Send the small records. */
static void
send_made(struct channel *s, bool more)
{
	struct sws_tls_buffers *b = s->core;

	if (b->out_used > 0)
		send_or_keep(s, b->out, b->out_used, more);
	b->out_used = 0;
}

/* ---- between OpenSSL and the socket --------------------------------------------------------- */

static int
bio_read(BIO *bio, char *to, int len)
{
	struct channel *s = BIO_get_data(bio);
	size_t n = (size_t)len;

	SWS_DEBUG_ASSERT(s->core != NULL);
	BIO_clear_retry_flags(bio);
	if (s->updates == UPDATES_MAX)
		return -1;
	if (s->in_left == 0 && !s->dry) {
		ssize_t got = syscall(SYS_recvfrom, s->fd, s->core->in, sizeof s->core->in, 0, NULL,
		    NULL);

		free(s->in_kept);
		s->in_kept = NULL;
		s->in = s->core->in;
		s->in_left = got > 0 ? (size_t)got : 0;
		/* In a handshake, look twice: after it the end of the stream may have had its only
		 * report. */
		s->dry = got <= 0 || (s->base.open && s->in_left < sizeof s->core->in);
		s->ended = got == 0 || (got < 0 && errno != EAGAIN);
	}
	if (s->in_left == 0) {
		if (!s->ended)
			BIO_set_retry_read(bio);
		return s->ended ? 0 : -1;
	}
	if (n > s->in_left)
		n = s->in_left;
	memcpy(to, s->in, n);
	s->in += n;
	s->in_left -= n;
	return (int)n;
}

/* Small records wait for the next one, so that they share a system call; large ones are sent. */
static int
bio_write(BIO *bio, const char *from, int len)
{
	struct channel *s = BIO_get_data(bio);
	struct sws_tls_buffers *b = s->core;
	size_t n = (size_t)len;

	BIO_clear_retry_flags(bio);
	if (b->out_used + n > sizeof b->out)
		send_made(s, true);
	if (n > DIRECT_MIN && b->out_used == 0) {
		send_or_keep(s, from, n, s->more);
	} else {
		SWS_ASSERT(b->out_used + n <= sizeof b->out);
		memcpy(b->out + b->out_used, from, n);
		b->out_used += n;
	}
	return len;
}

static long
bio_control(BIO *bio, int what, long number, void *pointer)
{
	struct channel *s = BIO_get_data(bio);

	(void)number;
	(void)pointer;
	switch (what) {
	case BIO_CTRL_FLUSH:
		return 1;
	case BIO_CTRL_EOF:
		return s != NULL && s->ended && s->in_left == 0;
	default:
		return 0;
	}
}

BIO_METHOD *
sws_tls_bio_method_new(void)
{
	BIO_METHOD *m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "sws");

	if (m != NULL) {
		BIO_meth_set_read(m, bio_read);
		BIO_meth_set_write(m, bio_write);
		BIO_meth_set_ctrl(m, bio_control);
	}
	return m;
}

/* ---- calls --------------------------------------------------------------------------------- */

static bool
enter(struct channel *s)
{
	SWS_ASSERT(s->core == NULL);
	if (s->broken) {
		errno = ECONNRESET;
		return false;
	}
	s->core = sws_tls_buffers_here(s->tls);
	s->dry = s->ended;
	if (s->core == NULL)
		errno = ENOMEM;
	return s->core != NULL;
}

/* The buffers of the core are for others now. */
static void
leave(struct channel *s)
{
	send_made(s, false);
	if (s->in_left > 0 && s->in_kept == NULL) {
		s->in_kept = malloc(s->in_left);
		if (s->in_kept != NULL)
			memcpy(s->in_kept, s->in, s->in_left);
		else
			s->broken = true;
		s->in = s->in_kept;
	} else if (s->in_left == 0) {
		free(s->in_kept);
		s->in_kept = NULL;
	}
	s->base.unread = s->in_left > 0 || s->ended || s->broken;
	s->core = NULL;
}

/* The result of a call that sends. */
static ssize_t
taken_or_error(struct channel *s, size_t taken)
{
	if (s->broken) {
		errno = ECONNRESET;
		return -1;
	}
	if (taken > 0)
		return (ssize_t)taken;
	errno = EAGAIN;
	return -1;
}

static int
channel_flush(struct sws_channel *channel)
{
	struct channel *s = (struct channel *)channel;

	if (send_kept(s))
		return 0;
	errno = s->broken ? ECONNRESET : EAGAIN;
	return -1;
}

/* ---- the handshake ------------------------------------------------------------------------- */

static void
opened(struct channel *s)
{
	const unsigned char *name;
	unsigned len;

	SSL_get0_alpn_selected(s->ssl, &name, &len);
	if (len > 0)
		s->base.protocol = len == 2 && memcmp(name, "h2", 2) == 0 ? "h2" : "http/1.1";
	s->base.version = SSL_get_version(s->ssl);
	s->base.open = true;
	sws_tls_certs_unref(s->certs);
	s->certs = NULL;
}

/* Take one step, as far as the input goes. */
static void
step(struct channel *s)
{
	int result, error;

	do {
		result = SSL_do_handshake(s->ssl);
		error = result == 1 ? SSL_ERROR_NONE : SSL_get_error(s->ssl, result);
		send_made(s, false);
	} while (error == SSL_ERROR_WANT_WRITE && !s->base.pending && !s->broken);
	if (error == SSL_ERROR_NONE) {
		opened(s);
	} else if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
		const char *why = sws_tls_take_error();

		/* What a client does that goes away is not worth a line. */
		s->base.failure = s->ended ? NULL : why;
		s->broken = true;
	}
}

static int
channel_open(struct sws_channel *channel)
{
	struct channel *s = (struct channel *)channel;

	if (!send_kept(s))
		goto again;
	if (!s->base.open) {
		if (!enter(s))
			return 0;
		step(s);
		leave(s);
		channel->begun = true;
	}
	if (s->broken)
		return 0;
	if (s->base.open && !s->base.pending)
		return 1;
again:
	errno = EAGAIN;
	return s->broken ? 0 : -1;
}

/* ---- input --------------------------------------------------------------------------------- */

static ssize_t
channel_read(struct sws_channel *channel, void *to, size_t len)
{
	struct channel *s = (struct channel *)channel;
	bool closed = false;
	size_t n = 0, got;

	SWS_DEBUG_ASSERT(len > 0 && channel->open);
	if (!enter(s))
		return -1;
	while (n < len && !closed) {
		/* A call in vain costs OpenSSL memory. */
		if (s->in_left == 0 && s->dry && !s->ended && SSL_pending(s->ssl) == 0)
			break;
		if (SSL_read_ex(s->ssl, (char *)to + n, len - n, &got) == 1) {
			n += got;
			continue;
		}
		switch (SSL_get_error(s->ssl, 0)) {
		case SSL_ERROR_WANT_READ:
		case SSL_ERROR_WANT_WRITE:
			break;
		case SSL_ERROR_ZERO_RETURN:
			closed = true;
			break;
		default:
			/* Also the end of the socket without one of TLS. */
			ERR_clear_error();
			s->broken = !s->ended;
			closed = true;
		}
		break;
	}
	s->ended |= closed;
	leave(s);
	if (n > 0)
		return (ssize_t)n;
	errno = s->broken ? ECONNRESET : EAGAIN;
	return closed && !s->broken ? 0 : -1;
}

/* ---- output -------------------------------------------------------------------------------- */

/* Encrypt up to one record. There is room for it. */
static void
encrypt(struct channel *s, const char *bytes, size_t len)
{
	size_t done;

	SWS_DEBUG_ASSERT(len > 0 && len <= SWS_TLS_RECORD);
	if (SSL_write_ex(s->ssl, bytes, len, &done) == 1 && done == len)
		return;
	ERR_clear_error();
	s->broken = true;
}

/* A place in pieces. */
struct cursor {
	const struct iovec *piece, *end;
	size_t at;
};

static size_t
left_in(const struct cursor *c)
{
	return c->piece < c->end ? c->piece->iov_len - c->at : 0;
}

/* The bytes of the next record: where they are, or gathered in `room`. Their number; 0: none. */
static size_t
next_record(struct cursor *c, char *room, const char **bytes)
{
	size_t n = 0;

	*bytes = room;
	while (c->piece < c->end && n < SWS_TLS_RECORD) {
		const char *from = (const char *)c->piece->iov_base + c->at;
		size_t part = left_in(c);

		if (part > SWS_TLS_RECORD - n)
			part = SWS_TLS_RECORD - n;
		/* One piece that makes a record, or the last, needs no copy. */
		if (n == 0 && (part == SWS_TLS_RECORD || c->piece + 1 == c->end))
			*bytes = from;
		else
			memcpy(room + n, from, part);
		n += part;
		c->at += part;
		if (c->at == c->piece->iov_len) {
			c->piece++;
			c->at = 0;
		}
		if (*bytes != room)
			break;
	}
	return n;
}

static ssize_t
channel_write(struct sws_channel *channel, struct iovec *pieces, size_t count, bool more)
{
	struct channel *s = (struct channel *)channel;
	struct cursor c = {pieces, pieces + count, 0};
	size_t taken = 0;

	if (!send_kept(s))
		return taken_or_error(s, 0);
	if (!enter(s))
		return -1;
	while (left_in(&c) > 0 && taken < SWS_CHANNEL_EVENT_MAX && !s->base.pending
	    && !s->broken) {
		const char *bytes;
		size_t n = next_record(&c, s->core->plain, &bytes);

		s->more = more || left_in(&c) > 0;
		encrypt(s, bytes, n);
		taken += n;
	}
	send_made(s, more);
	leave(s);
	return taken_or_error(s, taken);
}

static ssize_t
channel_write_file(struct sws_channel *channel, int file, uint64_t at, size_t len)
{
	struct channel *s = (struct channel *)channel;
	size_t taken = 0;
	ssize_t n = 1;
	int error = 0;

	if (!send_kept(s))
		return taken_or_error(s, 0);
	if (!enter(s))
		return -1;
	while (taken < len && n > 0 && !channel->pending && !s->broken) {
		size_t part = len - taken < SWS_TLS_RECORD ? len - taken : SWS_TLS_RECORD;

		n = pread(file, s->core->plain, part, (off_t)(at + taken));
		error = errno;
		if (n <= 0)
			break;
		taken += (size_t)n;
		s->more = taken < len;
		encrypt(s, s->core->plain, (size_t)n);
	}
	leave(s);
	if (taken > 0 || n > 0)
		return taken_or_error(s, taken);
	/* EAGAIN would be the socket's. */
	errno = error != EAGAIN ? error : EIO;
	return n;
}

/* ---- begin and end ------------------------------------------------------------------------- */

static void
channel_end(struct sws_channel *channel)
{
	struct channel *s = (struct channel *)channel;

	if (!channel->open || channel->pending || (SSL_get_shutdown(s->ssl) & SSL_SENT_SHUTDOWN)
	    || !enter(s))
		return;
	(void)SSL_shutdown(s->ssl);
	ERR_clear_error();
	leave(s);
}

static void
channel_free(struct sws_channel *channel)
{
	struct channel *s = (struct channel *)channel;

	SWS_ASSERT(s->core == NULL);
	SSL_free(s->ssl);
	if (s->certs != NULL)
		sws_tls_certs_unref(s->certs);
	free(s->in_kept);
	free(s->out_kept);
	free(s);
}

static const struct sws_channel_ops ops = {
	.open = channel_open, .read = channel_read, .write = channel_write,
	.write_file = channel_write_file, .flush = channel_flush, .end = channel_end,
	.free = channel_free
};

struct sws_channel *
sws_tls_channel_new(struct sws_tls_pairs *pairs, int fd)
{
	struct channel *s = calloc(1, sizeof *s);
	BIO *bio;

	SWS_ASSERT(fd >= 0);
	if (s == NULL)
		return NULL;
	s->base.ops = &ops;
	s->fd = fd;
	s->tls = sws_tls_pairs_tls(pairs);
	s->certs = sws_tls_pairs_certs(pairs);
	s->ssl = SSL_new(sws_tls_certs_first(s->certs));
	bio = BIO_new(sws_tls_bio_method(s->tls));
	if (s->ssl == NULL || bio == NULL || SSL_set_app_data(s->ssl, s) != 1) {
		ERR_clear_error();
		BIO_free(bio);
		channel_free(&s->base);
		return NULL;
	}
	BIO_set_data(bio, s);
	BIO_set_init(bio, 1);
	SSL_set_bio(s->ssl, bio, bio);
	SSL_set_accept_state(s->ssl);
	return &s->base;
}
