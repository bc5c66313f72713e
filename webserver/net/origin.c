/* SPDX-License-Identifier: MIT */
/*
 * origin.c: the table has chains in shards with a lock each, which is held for a few instructions
 * and an allocation at most. A seed keeps clients from meeting in one chain on purpose.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <mely/mely.h>

#include "net/origin.h"

struct sws_origins *
sws_origins_new(long clients_max)
{
	struct sws_origins *t = aligned_alloc(64, sizeof *t);

	if (t == NULL)
		return NULL;
	memset(t, 0, sizeof *t);
	t->clients_max = clients_max;
	if (getrandom(&t->seed, sizeof t->seed, 0) < 0)
		t->seed = mely_now_ns();
	for (int i = 0; i < SWS_ORIGIN_SHARDS; i++)
		pthread_mutex_init(&t->shards[i].lock, NULL);
	return t;
}

/* Has an address no connections, and has it been sent nothing that still counts? */
static bool
is_over(struct sws_origin *a, uint64_t now)
{
	return a->clients == 0 && (now == UINT64_MAX
	    || sws_bucket_when(&a->bucket) + SWS_BUCKET_BURST_NS <= now);
}

/* Free the addresses of a chain that are over. With the lock of its shard. */
static void
forget(struct sws_origin **link, uint64_t now)
{
	while (*link != NULL) {
		struct sws_origin *a = *link;

		if (!is_over(a, now)) {
			/* At the end nothing has a connection. */
			SWS_ASSERT(now != UINT64_MAX);
			link = &a->next;
			continue;
		}
		*link = a->next;
		free(a);
	}
}

void
sws_origins_free(struct sws_origins *t)
{
	if (t == NULL)
		return;
	for (int i = 0; i < SWS_ORIGIN_SHARDS; i++) {
		for (int k = 0; k < SWS_ORIGIN_CHAINS; k++)
			forget(&t->shards[i].chains[k], UINT64_MAX);
		pthread_mutex_destroy(&t->shards[i].lock);
	}
	free(t);
}

/* The IPv4 address, or the first half of the IPv6 address; false: neither. */
static bool
key_of(const struct sockaddr_storage *client, uint64_t *key)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)client;
	uint32_t in4;

	if (client->ss_family == AF_INET) {
		in4 = ((const struct sockaddr_in *)client)->sin_addr.s_addr;
	} else if (client->ss_family != AF_INET6) {
		return false;
	} else if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
		memcpy(&in4, &in6->sin6_addr.s6_addr[12], sizeof in4);
	} else {
		memcpy(key, &in6->sin6_addr, sizeof *key);
		return true;
	}
	/* ::/32 are addresses of no network, so no /64 has this key. */
	*key = 0;
	memcpy((char *)key + 4, &in4, sizeof in4);
	return true;
}

/* The chain of a key; *shard becomes the one that it is in. */
static struct sws_origin **
chain_of(struct sws_origins *t, uint64_t key, struct sws_origin_shard **shard)
{
	__uint128_t product = (__uint128_t)(key ^ t->seed) * UINT64_C(0x9fb21c651e98df25);
	uint64_t hash = (uint64_t)product ^ (uint64_t)(product >> 64);

	*shard = &t->shards[hash % SWS_ORIGIN_SHARDS];
	return &(*shard)->chains[hash / SWS_ORIGIN_SHARDS % SWS_ORIGIN_CHAINS];
}

static struct sws_origin **
find(struct sws_origin **link, uint64_t key)
{
	while (*link != NULL && (*link)->key != key)
		link = &(*link)->next;
	return link;
}

int
sws_origin_enter(struct sws_origins *t, const struct sockaddr_storage *client,
    struct sws_origin **origin)
{
	struct sws_origin_shard *shard;
	struct sws_origin **link, *a;
	uint64_t key;
	int status = 0;

	*origin = NULL;
	if (!key_of(client, &key))
		return 0;
	link = chain_of(t, key, &shard);
	pthread_mutex_lock(&shard->lock);
	forget(link, mely_now_ns());
	link = find(link, key);
	if (*link == NULL) {
		a = calloc(1, sizeof *a);
		if (a != NULL)
			a->key = key;
		*link = a;
	}
	a = *link;
	if (a == NULL)
		status = -ENOMEM;
	else if (t->clients_max > 0 && a->clients >= t->clients_max)
		status = -EUSERS;
	else
		a->clients++;
	pthread_mutex_unlock(&shard->lock);
	if (status == 0)
		*origin = a;
	else
		/* relaxed: only the number counts. */
		atomic_fetch_add_explicit(&t->refused, 1, memory_order_relaxed);
	return status;
}

void
sws_origin_leave(struct sws_origins *t, struct sws_origin *a)
{
	struct sws_origin_shard *shard;
	struct sws_origin **link = chain_of(t, a->key, &shard);

	pthread_mutex_lock(&shard->lock);
	link = find(link, a->key);
	SWS_ASSERT(*link == a && a->clients > 0);
	/* What an address was sent counts for its next connection, too. */
	if (--a->clients == 0 && is_over(a, mely_now_ns())) {
		*link = a->next;
		free(a);
	}
	pthread_mutex_unlock(&shard->lock);
}
