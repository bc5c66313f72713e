/* SPDX-License-Identifier: MIT */
/*
 * tls_parts.h: what the files of TLS share: tls.c (the server's part, tickets), tls_pairs.c
 * (certificates), tls_channel.c (bytes). Only they include OpenSSL's headers.
 */
#ifndef SWS_NET_TLS_PARTS_H
#define SWS_NET_TLS_PARTS_H

#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "net/tls.h"

/* Most plaintext of a record. */
#define SWS_TLS_RECORD 16384

/*
 * The buffers of a core. A channel uses them during a call only, so idle ones need none.
 *
 * Processors of AMD copy by "rep movsb" up to 25 times slower if the destination is 0 to 15 bytes
 * after the source, modulo 4096. Plaintext comes from whole pages of files, and goes 8 to 13 bytes
 * behind the beginning of OpenSSL's buffers, so it is where neither holds.
 */
struct sws_tls_buffers {
	_Alignas(4096) char in[32768];    /* as the socket gives it */
	char gap[64];
	char plain[SWS_TLS_RECORD];       /* gathered to fill a record */
	char out[SWS_TLS_RECORD];         /* small records for the socket */
	size_t out_used;
};

/* The buffers of this core; NULL: no memory. */
struct sws_tls_buffers *sws_tls_buffers_here(struct sws_tls *tls);

/* How a channel's SSL reads and writes. */
const BIO_METHOD *sws_tls_bio_method(const struct sws_tls *tls);
BIO_METHOD *sws_tls_bio_method_new(void);

/* Tell a context how to seal and open tickets. */
void sws_tls_use_tickets(SSL_CTX *context);

/* The server's part, from a connection's SSL. */
struct sws_tls *sws_tls_of(const SSL *ssl);

/* Certificates that were loaded together, with a count of those who use them. */
struct sws_tls_certs;

/* The ones in force, with a reference. */
struct sws_tls_certs *sws_tls_pairs_certs(struct sws_tls_pairs *pairs);
struct sws_tls *sws_tls_pairs_tls(const struct sws_tls_pairs *pairs);
void sws_tls_certs_unref(struct sws_tls_certs *certs);
/* The context that a handshake begins with, and the one for a name, or NULL. */
SSL_CTX *sws_tls_certs_first(const struct sws_tls_certs *certs);
SSL_CTX *sws_tls_certs_find(const struct sws_tls_certs *certs, const char *name);

/* The certificates of a channel that has not finished its handshake. */
struct sws_tls_certs *sws_tls_certs_of(const SSL *ssl);

/* Count what happens to a channel's SSL; the info callback of a context. */
void sws_tls_watch_state(const SSL *ssl, int where, int value);

/* The first error of this thread, in words, or NULL; all are forgotten. */
const char *sws_tls_take_error(void);

#endif
