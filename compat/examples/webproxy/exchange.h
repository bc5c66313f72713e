/* SPDX-License-Identifier: MIT */
/*
 * exchange.h: one client's request and its answer, from the cache or from an origin server.
 * Callbacks keep an exchange alive: those of its descriptors, its timer, and a connection attempt.
 * Dropping the last reference runs the destructor.
 *
 * Each exchange has a color, the descriptor of its client, so exchanges run in parallel. The cache
 * has a color, too. Color 0 runs what must run there: tcpconnect, and the count of exchanges. The
 * parts exchange strings and cached answers in events; neither changes after that.
 */
#ifndef EXAMPLES_EXCHANGE_H
#define EXAMPLES_EXCHANGE_H

#include "cache.h"
#include "proxy.h"

class exchange : public virtual refcount
{
public:
	explicit exchange(int accepted);
	/* Runs in the color that dropped the last reference. */
	~exchange() { cpucb_tail(wrap(exchange_has_ended)); }

	/* Call once, in the exchange's color. */
	void begin();

private:
	enum {
		asking,      /* read the head of the request */
		sending,     /* read its body */
		looking,     /* ask the cache */
		connects,    /* connect to the origin */
		answering,   /* relay the answer */
		last_bytes,  /* the rest of the answer waits for the client */
		lingering,   /* until the client closes: a close now could lose unread data */
		over
	} at;
	const int color;
	int client, origin;
	suio from_client, from_origin, asked_body, body;
	strbuf to_client, to_origin;
	message_head asked_head, answer_head;
	request asked;
	answer answered;
	body_reader asked_rest, answer_rest;
	bool begun;              /* the client has received a part of the answer */
	bool paused;             /* the origin waits for the client */
	bool keep;               /* the answer goes into the cache */
	int64_t fresh;           /* the answer stays fresh for this number of seconds */
	suio kept;
	str kept_head;
	timecb_t *timer;
	int64_t timer_at, deadline; /* uptime */
	tcpconnect_t *connecting;   /* of color 0 */

	/* ---- the exchange's color ---- */

	cbv step(void (exchange::*method)());
	void client_readable();
	void read_request();
	void serve();
	void looked_up(ptr<cached> hit);
	void connected(int fd, int error);
	void origin_writable();
	void origin_readable();
	bool read_answer_head();
	void begin_answer();
	progress relay();
	void answer_is_complete();
	void start_answer();
	void client_writable();
	void end_answer();
	void linger();
	void fail(int status, const str &why);
	void drop_origin();
	void finish(void (*how)(int) = just_close);
	static void just_close(int fd) { close(fd); }
	void wait(int64_t seconds);
	void time_is_up();
	void log(int status, const str &how) const;

	/* ---- the cache's color ---- */

	static void find(ref<exchange> e, str key);
	static void insert(ref<cached> c);
	static void remove(str key);

	/* ---- color 0 ---- */

	void connect_now(str host, u_int16_t port);
	void has_connected(int fd);
	void cancel_now();
};

#endif
