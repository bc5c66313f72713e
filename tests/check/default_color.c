/* SPDX-License-Identifier: MIT */
/*
 * Fault: color 0 accepts connections and puts them on a list; each connection removes itself from
 * the list in its own color.
 * Twin: the removal, too, is an event of color 0.
 * expect: on_accept on_close connections
 */
#include "fault.h"

enum { CONNECTIONS = 10 };

struct connection {
	struct connection *next;
	int open;
};

static struct connection *connections;
static struct connection all[CONNECTIONS];

static void
on_close(void *arg)
{
	struct connection *connection = arg, **at;

	for (at = &connections; *at != NULL; at = &(*at)->next) {
		if (*at == connection) {
			*at = connection->next;
			break;
		}
	}
	done();
}

static struct mely_handler close_it = MELY_HANDLER(on_close);

static void
on_accept(void *arg)
{
	struct connection *connection = arg;
	uint32_t id = (uint32_t)(connection - all) + 1;

	connection->next = connections;
	connections = connection;
#ifdef FIXED
	id = 0;
#endif
	MUST(mely_post_id(rt, id, &close_it, connection));
}

static struct mely_handler accept_it = MELY_HANDLER(on_accept);

int
main(void)
{
	int i;

	begin(CONNECTIONS);
	for (i = 0; i < CONNECTIONS; i++)
		MUST(mely_post_id(rt, 0, &accept_it, &all[i]));
	return run();
}
