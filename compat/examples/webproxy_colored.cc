/* SPDX-License-Identifier: MIT */
/*
 * webproxy_colored.cc: the proxy of webproxy.cc with colors: each exchange has its own, the
 * descriptor of its client, so that exchanges run in parallel. The cache has one, too; what is for
 * color 0 only, connecting by tcpconnect and the count of exchanges, stays there. What one of them
 * has to tell another one it hands over in an event: strings, and answers in the cache, which do
 * not change any more.
 *
 *     webproxy_colored [options] PORT      (--help tells)
 */
#include "exchange.h"

static webcache *the_cache; /* of cache_color */

enum { cache_color = 1 }; /* no client's: that would be standard output */

class colored_exchange : public exchange
{
public:
	explicit colored_exchange(int accepted)
	    : exchange(accepted), color(accepted), connecting(NULL)
	{
	}

	/* In whatever color has had the last reference. */
	~colored_exchange() { cpucb_tail(wrap(one_less)); }

private:
	const int color;
	tcpconnect_t *connecting; /* of color 0 */

	cbv step(step_method method) { return cwrap(kept_alive(), method, color); }

	/* ---- the cache: the static ones are of its color ---- */

	void
	look_up(str key)
	{
		cpucb_tail(cwrap(find, mkref(this), key, cache_color));
	}

	static void
	find(ref<colored_exchange> e, str key)
	{
		cpucb_tail(cwrap(e->kept_alive(), &colored_exchange::looked_up,
		    the_cache->find(key, time(NULL)), e->color));
	}

	void store(ref<cached> c) { cpucb_tail(cwrap(insert, c, cache_color)); }
	static void insert(ref<cached> c) { the_cache->insert(c); }

	void forget(str key) { cpucb_tail(cwrap(remove, key, cache_color)); }
	static void remove(str key) { the_cache->remove(key); }

	/* ---- a connection to an origin: those that touch connecting are of color 0 ---- */

	void
	start_connect(str host, u_int16_t port)
	{
		cpucb_tail(wrap(mkref(this), &colored_exchange::connect_now, host, port));
	}

	void
	connect_now(str host, u_int16_t port)
	{
		connecting = tcpconnect(host, port,
		    wrap(mkref(this), &colored_exchange::has_connected));
	}

	void
	has_connected(int fd)
	{
		connecting = NULL;
		cpucb_tail(cwrap(kept_alive(), &colored_exchange::connected, fd, errno, color));
	}

	void
	cancel_connect()
	{
		cpucb_tail(wrap(mkref(this), &colored_exchange::cancel_now));
	}

	void
	cancel_now()
	{
		if (connecting != NULL)
			tcpconnect_cancel(connecting);
		connecting = NULL;
	}
};

/* From its first step on all of an exchange is of its color that does not say otherwise. */
static void
begin_exchange(int client)
{
	ref<exchange> e = New refcounted<colored_exchange>(client);

	cpucb_tail(cwrap(e, &exchange::begin, client));
}

/* Of the cache's color. */
static void
sweep()
{
	the_cache->sweep(time(NULL));
	delaycb(10, 0, cwrap(sweep, cache_color));
}

int
main(int argc, char **argv)
{
	start(argc, argv);
	the_cache = New webcache(options.cache_bytes);
	sweep();
	amain();
}
