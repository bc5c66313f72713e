/* SPDX-License-Identifier: MIT */
/*
 * Fault: every connection, in its own color, looks up items in one cache and adds the missing
 * ones.
 * Twin: the cache has a color; a request is an event to that color, the answer an event back.
 * expect: on_request on_request cache
 */
#include "fault.h"

enum { CONNECTIONS = 6, KEYS = 4 };

static int cache[KEYS]; /* 0: missing */
static struct mely_color *cache_color;

struct connection {
	struct mely_color *color;
	int key, value;
};

static struct connection all[CONNECTIONS];

static int
look_up(int key)
{
	if (cache[key] == 0)
		cache[key] = key * key + 1;
	return cache[key];
}

static void
on_answer(void *arg)
{
	struct connection *connection = arg;

	if (connection->value == 0)
		exit(2);
	done();
}

static struct mely_handler answer = MELY_HANDLER(on_answer);

/* Runs in the connection's color (fault) or in the cache's color (twin). */
static void
on_request(void *arg)
{
	struct connection *connection = arg;

	connection->value = look_up(connection->key);
	MUST(mely_post(connection->color, &answer, connection));
}

static struct mely_handler request = MELY_HANDLER(on_request);

int
main(void)
{
	uint32_t i;

	begin(CONNECTIONS);
	cache_color = color(1, "cache");
	for (i = 0; i < CONNECTIONS; i++) {
		all[i].color = color(100 + i, "connection");
		all[i].key = (int)i % KEYS;
#ifdef FIXED
		MUST(mely_post(cache_color, &request, &all[i]));
#else
		MUST(mely_post(all[i].color, &request, &all[i]));
#endif
	}
	return run();
}
