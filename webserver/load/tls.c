/* SPDX-License-Identifier: MIT */
/*
 * tls.c: TLS of connections, by OpenSSL.
 *
 * OpenSSL reads and writes through a BIO of ours, which knows when the socket is drained: where the
 * one of OpenSSL would ask the kernel once more, it answers "later" itself.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assertion.h"
#include "load/conn.h"
#include "load/tls.h"

/* With more clients, each has the small buffer that OpenSSL has by default. */
#define BIG_BUFFER_CLIENTS 1000
#define BIG_BUFFER 65536

struct load_tls_core {
	SSL_CTX *ctx;
	BIO_METHOD *method;
	SSL_SESSION *session; /* the last one, to resume; NULL: none */
};

struct load_tls {
	SSL *ssl;
	int fd;
	bool drained;   /* the socket had no more */
	bool hangup;    /* the end of the input is there: a short read is not the last */
	bool at_end;
	char error[120];
};

/* ---- the BIO ------------------------------------------------------------------------------- */

static int
bio_read(BIO *bio, char *to, int len)
{
	struct load_tls *t = BIO_get_data(bio);
	ssize_t n;

	BIO_clear_retry_flags(bio);
	if (t->drained) {
		BIO_set_retry_read(bio);
		return -1;
	}
	n = syscall(SYS_recvfrom, t->fd, to, (size_t)len, 0, NULL, NULL);
	t->at_end = n == 0;
	if (n < 0 && errno == EAGAIN) {
		t->drained = true;
		BIO_set_retry_read(bio);
	} else if (n >= 0 && n < len && !t->hangup)
		t->drained = true;
	return (int)n;
}

static int
bio_write(BIO *bio, const char *from, int len)
{
	struct load_tls *t = BIO_get_data(bio);
	ssize_t n = syscall(SYS_sendto, t->fd, from, (size_t)len, MSG_NOSIGNAL, NULL, 0);

	BIO_clear_retry_flags(bio);
	if (n < 0 && errno == EAGAIN)
		BIO_set_retry_write(bio);
	return (int)n;
}

static long
bio_ctrl(BIO *bio, int what, long number, void *pointer)
{
	const struct load_tls *t = BIO_get_data(bio);

	(void)number;
	(void)pointer;
	switch (what) {
	case BIO_CTRL_FLUSH:
		return 1;
	case BIO_CTRL_EOF:
		return t->at_end;
	default:
		return 0;
	}
}

/* ---- what connections of a core share ------------------------------------------------------ */

bool
load_tls_there(void)
{
	return true;
}

static int
keep_session(SSL *ssl, SSL_SESSION *session)
{
	struct load_tls_core *core = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));

	if (core->session != NULL)
		SSL_SESSION_free(core->session);
	core->session = session;
	return 1; /* the reference is ours now */
}

static bool
set_up(struct load_tls_core *core, const struct load_options *o)
{
	static const unsigned char h1[] = "\x08http/1.1", h2[] = "\x02h2";
	int version = o->tls_version == 12 ? TLS1_2_VERSION : TLS1_3_VERSION;

	SSL_CTX_set_app_data(core->ctx, core);
	SSL_CTX_set_mode(core->ctx, SSL_MODE_ENABLE_PARTIAL_WRITE
	    | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	/* Servers close without an alert, and HTTP shows whether something is missing. */
	SSL_CTX_set_options(core->ctx, SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_CTX_set_read_ahead(core->ctx, 1);
	if (o->clients <= BIG_BUFFER_CLIENTS)
		SSL_CTX_set_default_read_buffer_len(core->ctx, BIG_BUFFER);
	SSL_CTX_set_verify(core->ctx, SSL_VERIFY_NONE, NULL);
	if (o->tls_resume) {
		SSL_CTX_set_session_cache_mode(core->ctx, SSL_SESS_CACHE_CLIENT
		    | SSL_SESS_CACHE_NO_INTERNAL);
		SSL_CTX_sess_set_new_cb(core->ctx, keep_session);
	} else
		SSL_CTX_set_session_cache_mode(core->ctx, SSL_SESS_CACHE_OFF);
	if (o->tls_version != 0 && (SSL_CTX_set_min_proto_version(core->ctx, version) != 1
	    || SSL_CTX_set_max_proto_version(core->ctx, version) != 1))
		return false;
	return SSL_CTX_set_alpn_protos(core->ctx, o->http2 ? h2 : h1,
	    (unsigned)(o->http2 ? sizeof h2 : sizeof h1) - 1) == 0;
}

struct load_tls_core *
load_tls_core_new(const struct load_options *o)
{
	struct load_tls_core *core = calloc(1, sizeof *core);

	if (core == NULL)
		return NULL;
	core->ctx = SSL_CTX_new(TLS_client_method());
	core->method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "sws-load");
	if (core->ctx == NULL || core->method == NULL
	    || BIO_meth_set_read(core->method, bio_read) != 1
	    || BIO_meth_set_write(core->method, bio_write) != 1
	    || BIO_meth_set_ctrl(core->method, bio_ctrl) != 1 || !set_up(core, o)) {
		load_tls_core_free(core);
		return NULL;
	}
	return core;
}

void
load_tls_core_free(struct load_tls_core *core)
{
	if (core == NULL)
		return;
	SSL_SESSION_free(core->session);
	SSL_CTX_free(core->ctx);
	BIO_meth_free(core->method);
	free(core);
}

/* ---- connections --------------------------------------------------------------------------- */

/* An address is not a server name (RFC 6066, 3). */
static bool
is_address(const char *host)
{
	unsigned char address[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

bool
load_tls_begin(struct load_conn *conn)
{
	struct load_tls_core *core = conn->core->tls;
	const char *host = conn->core->run->options->url.host;
	struct load_tls *t = calloc(1, sizeof *t);
	BIO *bio = NULL;

	if (t == NULL)
		return false;
	t->fd = conn->fd;
	t->ssl = SSL_new(core->ctx);
	bio = t->ssl != NULL ? BIO_new(core->method) : NULL;
	if (bio == NULL) {
		SSL_free(t->ssl);
		free(t);
		return false;
	}
	BIO_set_data(bio, t);
	BIO_set_init(bio, 1);
	SSL_set_bio(t->ssl, bio, bio);
	SSL_set_connect_state(t->ssl);
	if (!is_address(host))
		SSL_set_tlsext_host_name(t->ssl, host);
	if (core->session != NULL)
		SSL_set_session(t->ssl, core->session);
	conn->tls = t;
	return true;
}

void
load_tls_end(struct load_conn *conn)
{
	struct load_tls *t = conn->tls;

	if (t == NULL)
		return;
	/* The alert that ends the session properly; without it, OpenSSL would not resume it. */
	if (conn->state == LOAD_CONN_OPEN && !t->at_end)
		SSL_shutdown(t->ssl);
	SSL_set_shutdown(t->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(t->ssl);
	ERR_clear_error();
	free(t);
	conn->tls = NULL;
}

void
load_tls_readable(struct load_conn *conn, bool hangup)
{
	conn->tls->drained = false;
	conn->tls->hangup = hangup;
}

/* Translate what OpenSSL returned to what recv and send return. */
static ssize_t
failed(struct load_tls *t, int result, int error)
{
	int why = SSL_get_error(t->ssl, result);
	unsigned long code = ERR_peek_error();

	ERR_clear_error();
	switch (why) {
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		errno = EAGAIN;
		return -1;
	case SSL_ERROR_ZERO_RETURN:
		return 0;
	case SSL_ERROR_SYSCALL:
		errno = error != 0 && error != EAGAIN ? error : ECONNRESET;
		return -1;
	default:
		ERR_error_string_n(code, t->error, sizeof t->error);
		errno = EPROTO;
		return -1;
	}
}

int
load_tls_handshake(struct load_conn *conn, bool *wants_write)
{
	struct load_tls *t = conn->tls;
	int result;

	errno = 0;
	result = SSL_do_handshake(t->ssl);
	if (result == 1)
		return 1;
	*wants_write = SSL_want_write(t->ssl) != 0;
	if (failed(t, result, errno) == 0)
		errno = ECONNRESET;
	return errno == EAGAIN ? 0 : -1;
}

bool
load_tls_resumed(const struct load_conn *conn)
{
	return SSL_session_reused(conn->tls->ssl) != 0;
}

bool
load_tls_has_h2(const struct load_conn *conn)
{
	const unsigned char *name;
	unsigned len;

	SSL_get0_alpn_selected(conn->tls->ssl, &name, &len);
	return len == 2 && memcmp(name, "h2", 2) == 0;
}

const char *
load_tls_error(struct load_conn *conn)
{
	return conn->tls->error;
}

ssize_t
load_tls_read(struct load_conn *conn, char *to, size_t len, bool *drained)
{
	struct load_tls *t = conn->tls;
	size_t at = 0;
	int n;

	SWS_DEBUG_ASSERT(len <= INT32_MAX);
	/* Each call returns one record at most. */
	do {
		errno = 0;
		n = SSL_read(t->ssl, to + at, (int)(len - at));
		if (n > 0)
			at += (size_t)n;
	} while (n > 0 && at < len);
	*drained = n <= 0 && t->drained;
	if (at > 0)
		ERR_clear_error();
	return at > 0 ? (ssize_t)at : failed(t, n, errno);
}

ssize_t
load_tls_write(struct load_conn *conn, const char *data, size_t len)
{
	struct load_tls *t = conn->tls;
	int n;

	errno = 0;
	n = SSL_write(t->ssl, data, len < INT32_MAX ? (int)len : INT32_MAX);
	if (n > 0)
		return n;
	if (failed(t, n, errno) == 0)
		errno = EPIPE;
	return -1;
}
