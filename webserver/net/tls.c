/* SPDX-License-Identifier: MIT */
/*
 * tls.c: the server's part of TLS: the memory of cores, and the keys of session tickets.
 *
 * A ticket is sealed with the newest key and opened with each that is not too old. All cores share
 * the keys, and reloads keep them, so a client may resume anywhere. A key is made when the newest
 * is an hour old; after three hours nothing can open what it has sealed. They are in memory only.
 * The lock is held for the copy of a key, once in a handshake.
 */
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

#include <mely/mely.h>

#include "base/assertion.h"
#include "base/local.h"
#include "net/tls_parts.h"

#define KEYS 3
#define KEY_NS (3600 * UINT64_C(1000000000))
#define NAME_LEN 16

struct key {
	uint64_t made_ns;          /* 0: there is none */
	unsigned char name[NAME_LEN];
	unsigned char cipher[32];
	unsigned char mac[32];
};

struct sws_tls {
	BIO_METHOD *bio;
	EVP_CIPHER *cipher;
	pthread_mutex_t lock;
	struct key keys[KEYS];     /* the newest first */
	struct sws_tls_buffers *buffers[MELY_CORES_MAX];
};

#ifdef SWS_COLOR_CHECK
/* OpenSSL has random numbers and errors for each thread, so for each core, whatever the color. */
const char *__tsan_default_suppressions(void);

const char *
__tsan_default_suppressions(void)
{
	return "race:libcrypto.so\nrace:libssl.so\n";
}
#endif

struct sws_tls *
sws_tls_new(void)
{
	struct sws_tls *tls = calloc(1, sizeof *tls);

	if (tls == NULL)
		return NULL;
	pthread_mutex_init(&tls->lock, NULL);
	tls->bio = sws_tls_bio_method_new();
	tls->cipher = EVP_CIPHER_fetch(NULL, "AES-256-CBC", NULL);
	if (tls->bio != NULL && tls->cipher != NULL)
		return tls;
	ERR_clear_error();
	sws_tls_free(tls);
	return NULL;
}

void
sws_tls_free(struct sws_tls *tls)
{
	if (tls == NULL)
		return;
	SWS_ASSERT(mely_current_core() < 0);
	for (int i = 0; i < MELY_CORES_MAX; i++)
		free(tls->buffers[i]);
	BIO_meth_free(tls->bio);
	EVP_CIPHER_free(tls->cipher);
	pthread_mutex_destroy(&tls->lock);
	OPENSSL_cleanse(tls->keys, sizeof tls->keys);
	free(tls);
}

struct sws_tls_buffers *
sws_tls_buffers_here(struct sws_tls *tls)
{
	int core = mely_current_core();
	struct sws_tls_buffers *b;

	SWS_ASSERT(core >= 0 && core < MELY_CORES_MAX);
	b = tls->buffers[core];
	if (b == NULL) {
		b = tls->buffers[core] = aligned_alloc(4096, sizeof *b);
		if (b == NULL)
			return NULL;
		SWS_LOCAL_MEMORY(&tls->buffers[core], sizeof tls->buffers[core]);
		SWS_LOCAL_MEMORY(b, sizeof *b);
		b->out_used = 0;
	}
	SWS_ASSERT(b->out_used == 0);
	return b;
}

const BIO_METHOD *
sws_tls_bio_method(const struct sws_tls *tls)
{
	return tls->bio;
}

const char *
sws_tls_take_error(void)
{
	unsigned long error = ERR_peek_error();
	const char *text = NULL;

	if (error != 0)
		text = ERR_SYSTEM_ERROR(error) ? strerror(ERR_GET_REASON(error))
		    : ERR_reason_error_string(error);
	ERR_clear_error();
	return text;
}

/* ---- tickets ------------------------------------------------------------------------------- */

/* The newest key; a new one if it is too old. False: no random bytes. */
static bool
newest_key(struct sws_tls *tls, struct key *key)
{
	uint64_t now;
	bool fine = true;

	pthread_mutex_lock(&tls->lock);
	/* Not before: a key that another thread has just made would seem to be of the future. */
	now = mely_now_ns();
	if (tls->keys[0].made_ns == 0 || now - tls->keys[0].made_ns >= KEY_NS) {
		struct key made = {.made_ns = now};

		fine = RAND_bytes(made.name, sizeof made.name) == 1
		    && RAND_priv_bytes(made.cipher, sizeof made.cipher) == 1
		    && RAND_priv_bytes(made.mac, sizeof made.mac) == 1;
		if (fine) {
			memmove(tls->keys + 1, tls->keys, (KEYS - 1) * sizeof tls->keys[0]);
			tls->keys[0] = made;
		}
		OPENSSL_cleanse(&made, sizeof made);
	}
	*key = tls->keys[0];
	pthread_mutex_unlock(&tls->lock);
	return fine;
}

/* The key of this name: its place, or -1. */
static int
find_key(struct sws_tls *tls, const unsigned char *name, struct key *key)
{
	uint64_t now;
	int found = -1;

	pthread_mutex_lock(&tls->lock);
	now = mely_now_ns();
	for (int i = 0; found < 0 && i < KEYS; i++)
		if (tls->keys[i].made_ns != 0 && now - tls->keys[i].made_ns < KEYS * KEY_NS
		    && memcmp(tls->keys[i].name, name, NAME_LEN) == 0)
			found = i;
	if (found >= 0)
		*key = tls->keys[found];
	pthread_mutex_unlock(&tls->lock);
	return found;
}

static bool
use_mac(EVP_MAC_CTX *mac, struct key *key)
{
	char digest[] = "SHA256";
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key->mac, sizeof key->mac),
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
		OSSL_PARAM_construct_end()
	};

	return EVP_MAC_CTX_set_params(mac, params) == 1;
}

/* OpenSSL's callback. Sealing: 1, or -1. Opening: 1; 2 to send a newer one; 0: not one of ours. */
static int
ticket_fn(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher,
    EVP_MAC_CTX *mac, int seal)
{
	struct sws_tls *tls = sws_tls_of(ssl);
	struct key key;
	int result;

	if (seal) {
		result = newest_key(tls, &key) && RAND_bytes(iv, EVP_CIPHER_get_iv_length(
		    tls->cipher)) == 1 ? 1 : -1;
		if (result == 1)
			memcpy(name, key.name, NAME_LEN);
	} else {
		int at = find_key(tls, name, &key);

		result = at < 0 ? 0 : at == 0 ? 1 : 2;
	}
	if (result > 0 && (!use_mac(mac, &key)
	    || EVP_CipherInit_ex(cipher, tls->cipher, NULL, key.cipher, iv, seal) != 1))
		result = seal ? -1 : 0;
	OPENSSL_cleanse(&key, sizeof key);
	return result;
}

void
sws_tls_use_tickets(SSL_CTX *context)
{
	/* Tickets only: a cache of sessions would be a lock and memory for all cores. */
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_timeout(context, (long)((KEYS - 1) * KEY_NS / UINT64_C(1000000000)));
	SSL_CTX_set_num_tickets(context, 1);
	SSL_CTX_set_tlsext_ticket_key_evp_cb(context, ticket_fn);
}
