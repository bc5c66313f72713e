/* SPDX-License-Identifier: MIT */
/*
 * proxy.h: the options of the web proxy and what its parts share.
 */
#ifndef EXAMPLES_PROXY_H
#define EXAMPLES_PROXY_H

#include "async.h"

class webcache;

enum {
	relay_max = 256 << 10,  /* with more bytes waiting for a client, the origin pauses */
	relay_min = 64 << 10,   /* with fewer, the origin continues */
	linger_seconds = 3      /* for a client to close after its answer */
};

/* From the command line; does not change after main. */
struct settings {
	int port;
	in_addr address;
	int64_t timeout, ttl;
	u_int64_t cache_bytes, object_bytes, connections;
	bool one_color, verbose;
	str via; /* how the proxy names itself, to recognize its own requests */

	settings() : port(-1), timeout(30), ttl(60), cache_bytes(16 << 20), object_bytes(0),
	    connections(1000), one_color(false), verbose(false)
	{
		address.s_addr = htonl(INADDR_LOOPBACK);
	}

	/* 1 is not the color of a client: that would be standard output. */
	int cache_color() const { return one_color ? 0 : 1; }
};

extern settings options;
extern webcache *the_cache; /* of options.cache_color() */

/* In color 0: count the exchange as ended, and accept another connection. */
void exchange_has_ended();

/* Seconds since an arbitrary time, for deadlines: changes of the date do not matter. */
int64_t uptime();

#endif
