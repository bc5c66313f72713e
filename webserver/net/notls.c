/* SPDX-License-Identifier: MIT */
/*
 * notls.c: in place of tls.c and its parts, where OpenSSL is missing.
 */
#include <stdio.h>

#include "net/tls.h"

struct sws_tls *
sws_tls_new(void)
{
	return NULL;
}

void
sws_tls_free(struct sws_tls *tls)
{
	(void)tls;
}

const char *
sws_tls_pair_check(const char *text)
{
	(void)text;
	return "sws is built without OpenSSL";
}

struct sws_tls_pairs *
sws_tls_pairs_new(struct sws_tls *tls, const struct sws_tls_options *options)
{
	(void)tls;
	(void)options;
	fputs("sws: there is no TLS: sws is built without OpenSSL\n", stderr);
	return NULL;
}

void
sws_tls_pairs_free(struct sws_tls_pairs *pairs)
{
	(void)pairs;
}

void
sws_tls_pairs_renew(struct sws_tls_pairs *pairs)
{
	(void)pairs;
}

const char *
sws_tls_pairs_expiry(struct sws_tls_pairs *pairs, int i, int64_t *not_after)
{
	(void)pairs;
	(void)i;
	(void)not_after;
	return NULL;
}

struct sws_channel *
sws_tls_channel_new(struct sws_tls_pairs *pairs, int fd)
{
	(void)pairs;
	(void)fd;
	return NULL;
}
