/* SPDX-License-Identifier: MIT */
/*
 * tls.h: TLS by OpenSSL: certificates, and channels that use them. A build without OpenSSL has
 * notls.c, in which nothing can be made.
 *
 *   sws_tls          of the server: keys of tickets, memory of cores. It outlives the rest
 *   sws_tls_pairs    of a setup: certificates and keys, which change when their files do
 *   sws_channel       of a connection (channel.h)
 */
#ifndef SWS_NET_TLS_H
#define SWS_NET_TLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/texts.h"
#include "net/channel.h"

struct sws_tls;
struct sws_tls_pairs;

/** What an operator says of TLS. */
struct sws_tls_options {
	struct sws_texts certificates; /**< CERT,KEY; or CERT, which then has the key, too */
	int min_version;               /**< SWS_TLS_1_2 or SWS_TLS_1_3 */
	bool http2;                    /**< ALPN may choose h2 */
};

enum { SWS_TLS_1_2, SWS_TLS_1_3 };

/** NULL: no memory, or no OpenSSL. */
struct sws_tls *sws_tls_new(void);
/** After the runtime has ended, and after all pairs and channels. */
void sws_tls_free(struct sws_tls *tls);

/** What is wrong with the text of a pair of files; NULL: nothing is. */
const char *sws_tls_pair_check(const char *text);

/**
 * Load the pairs of the options, which must last as long as the result. NULL after one line on
 * stderr, which names the file. Any thread; it reads files.
 */
struct sws_tls_pairs *sws_tls_pairs_new(struct sws_tls *tls, const struct sws_tls_options *options);
void sws_tls_pairs_free(struct sws_tls_pairs *pairs);

/**
 * Have the files changed? Then load them once they have stayed the same for two calls. New channels
 * use the new ones; where one is broken all stay as they were, and one line on stderr says so. One
 * thread at a time; it reads files.
 */
void sws_tls_pairs_renew(struct sws_tls_pairs *pairs);

/**
 * The file of certificate number i, as the options name it, and when it expires, in seconds since
 * 1970. NULL: there is none of this number. Any thread.
 */
const char *sws_tls_pairs_expiry(struct sws_tls_pairs *pairs, int i, int64_t *not_after);

/** Begin TLS on a socket, which stays the caller's. NULL: no memory. Any handler. */
struct sws_channel *sws_tls_channel_new(struct sws_tls_pairs *pairs, int fd);

#endif
