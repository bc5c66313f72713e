/* SPDX-License-Identifier: MIT */
/*
 * webproxy.cc: a web proxy with a cache as programs of libasync are written, without a color: all
 * of its callbacks have color 0, so that they take turns.
 *
 *     webproxy [options] PORT      (--help tells)
 *
 * What it does is in exchange.h. Without colors nothing is further away than a call.
 */
#include "exchange.h"

static webcache *the_cache;

class plain_exchange : public exchange
{
public:
	explicit plain_exchange(int accepted) : exchange(accepted), connecting(NULL) {}
	~plain_exchange() { one_less(); }

private:
	tcpconnect_t *connecting;

	cbv step(step_method method) { return wrap(kept_alive(), method); }

	void look_up(str key) { looked_up(the_cache->find(key, time(NULL))); }
	void store(ref<cached> c) { the_cache->insert(c); }
	void forget(str key) { the_cache->remove(key); }

	void
	start_connect(str host, u_int16_t port)
	{
		connecting = tcpconnect(host, port,
		    wrap(mkref(this), &plain_exchange::has_connected));
	}

	void
	has_connected(int fd)
	{
		connecting = NULL;
		connected(fd, errno);
	}

	void
	cancel_connect()
	{
		if (connecting != NULL)
			tcpconnect_cancel(connecting);
		connecting = NULL;
	}
};

static void
begin_exchange(int client)
{
	ref<exchange> e = New refcounted<plain_exchange>(client);

	e->begin();
}

static void
sweep()
{
	the_cache->sweep(time(NULL));
	delaycb(10, 0, wrap(sweep));
}

int
main(int argc, char **argv)
{
	start(argc, argv);
	the_cache = New webcache(options.cache_bytes);
	sweep();
	amain();
}
