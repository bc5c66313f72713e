/* SPDX-License-Identifier: MIT */
/*
 * origin.h: the addresses that clients connect from: how many connections each has, and how many
 * bytes it may get. An IPv6 client has a whole /64, so that is one address here.
 *
 * Connections ask when they begin and when they end, not for a request. Any thread.
 */
#ifndef SWS_NET_ORIGIN_H
#define SWS_NET_ORIGIN_H

#include <pthread.h>
#include <sys/socket.h>

#include "net/bucket.h"

struct sws_origin {
	struct sws_origin *next;
	uint64_t key;
	long clients;             /* with the lock of its shard */
	struct sws_bucket bucket;
};

#define SWS_ORIGIN_SHARDS 16
#define SWS_ORIGIN_CHAINS 512

struct sws_origin_shard {
	_Alignas(64) pthread_mutex_t lock;
	struct sws_origin *chains[SWS_ORIGIN_CHAINS];
};

struct sws_origins {
	uint64_t seed;
	long clients_max;         /* of one address; 0: no limit */
	/* Connections that were refused. */
	_Atomic(uint64_t) refused;
	struct sws_origin_shard shards[SWS_ORIGIN_SHARDS];
};

/** A table in which an address has at most clients_max connections, or any number for 0; NULL: no
 * memory. */
struct sws_origins *sws_origins_new(long clients_max);
/** After all connections have ended. */
void sws_origins_free(struct sws_origins *table);

/**
 * A connection begins: *origin becomes that of the client, or NULL if it has none, as at a Unix
 * socket. 0; -EUSERS: the address has as many as it may; -ENOMEM.
 */
int sws_origin_enter(struct sws_origins *table, const struct sockaddr_storage *client,
    struct sws_origin **origin);
/** The connection has ended. */
void sws_origin_leave(struct sws_origins *table, struct sws_origin *origin);

#endif
