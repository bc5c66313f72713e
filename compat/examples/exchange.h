/* SPDX-License-Identifier: MIT */
/*
 * exchange.h: what the web proxies of this folder do for a client: a request, and its answer, from
 * the cache or from an origin server. An exchange is there as long as a callback refers to it:
 * descriptors, a timer, a connection that is being made. When they have all been taken back it is
 * gone.
 *
 * What is not here is in which color: each proxy derives its own exchange, which says what callback
 * a step is, and how it reaches what exchanges share: the cache, tcpconnect, the count of them.
 */
#ifndef EXAMPLES_EXCHANGE_H
#define EXAMPLES_EXCHANGE_H

#include "webproxy.h"

static settings options;

class exchange : public virtual refcount
{
public:
	explicit exchange(int accepted)
	    : at(asking), client(accepted), origin(-1), begun(false), paused(false),
	      keep(false), fresh(0), timer(NULL), timer_at(0), deadline(0)
	{
	}

	virtual ~exchange() {}

	/* To be called once, when it has a reference. */
	void
	begin()
	{
		make_async(client);
		close_on_exec(client);
		wait(options.timeout);
		fdcb(client, selread, step(&exchange::client_readable));
	}

protected:
	/* ---- what a proxy has to say ---- */

	typedef void (exchange::*step_method)();

	/* A callback of this exchange. */
	virtual cbv step(step_method method) = 0;

	/* The cache: look_up ends in looked_up. */
	virtual void look_up(str key) = 0;
	virtual void store(ref<cached> c) = 0;
	virtual void forget(str key) = 0;

	/* A connection to an origin: this ends in connected, or is cancelled. */
	virtual void start_connect(str host, u_int16_t port) = 0;
	virtual void cancel_connect() = 0;

	/* ---- what it calls then ---- */

	/* To be bound to callbacks of methods of this class. */
	ref<exchange> kept_alive() { return mkref(this); }

	void
	looked_up(ptr<cached> hit)
	{
		if (at != looking)
			return;
		if (hit) {
			log(200, "hit");
			hit->answer_to(asked.method == "GET", time(NULL), &to_client);
			begun = true;
			end_answer();
			return;
		}
		at = connects;
		to_origin << asked.forwarded(asked_head, options.via);
		to_origin.tosuio()->take(&asked_body);
		start_connect(asked.host, asked.port);
	}

	void
	connected(int fd, int error)
	{
		ref<exchange> self = mkref(this);

		if (at != connects) {
			if (fd >= 0)
				close(fd);
			return;
		}
		if (fd < 0) {
			fail(error == ETIMEDOUT ? 504 : 502, strbuf() << asked.host << ": " <<
			    strerror(error));
			return;
		}
		origin = fd;
		at = answering;
		close_on_exec(origin);
		wait(options.timeout);
		fdcb(origin, selwrite, step(&exchange::origin_writable));
		fdcb(origin, selread, step(&exchange::origin_readable));
	}

private:
	enum {
		asking,      /* the head of the request is read */
		sending,     /* its body */
		looking,     /* into the cache */
		connects,    /* to the origin */
		answering,   /* the answer is relayed */
		last_bytes,  /* all of it waits for the client */
		lingering,   /* until the client closes: what it has not read would be lost */
		over
	} at;
	int client, origin;
	suio from_client, from_origin, asked_body, body;
	strbuf to_client, to_origin;
	message_head asked_head, answer_head;
	request asked;
	answer answered;
	body_reader asked_rest, answer_rest;
	bool begun;              /* the client gets the head of an answer */
	bool paused;             /* the origin has to wait for the client */
	bool keep;               /* for the cache */
	int64_t fresh;           /* seconds */
	suio kept;
	str kept_head;
	timecb_t *timer;
	int64_t timer_at, deadline; /* uptime */

	/* ---- the request ---- */

	void
	client_readable()
	{
		ref<exchange> self = mkref(this);
		int n = from_client.input(client);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0)
			finish();
		else if (at == lingering)
			from_client.clear();
		else
			read_request();
	}

	void
	read_request()
	{
		if (at == asking) {
			progress p = asked_head.take(&from_client);
			if (p == broken)
				fail(400, asked_head.why);
			if (p != complete)
				return;
			if (!asked.parse(asked_head)) {
				fail(asked.status, asked.why);
				return;
			}
			at = sending;
			asked_rest.begin(asked.body);
			if (asked.waits(asked_head)) {
				to_client << "HTTP/1.1 100 Continue\r\n\r\n";
				start_answer();
			}
		}
		wait(options.timeout);
		if (asked_rest.take(&from_client, &asked_body) == complete)
			serve();
	}

	/* The request is all there. */
	void
	serve()
	{
		str via = asked_head.get("via");

		fdcb(client, selread, NULL);
		if (via && strstr(via, options.via) != NULL) {
			fail(508, "the request has been here before");
			return;
		}
		keep = may_be_cached(asked, asked_head);
		at = looking;
		if (keep)
			look_up(asked.key());
		else
			looked_up(NULL);
	}

	/* ---- the origin ---- */

	/* An origin that takes no more may have answered before: that decides. */
	void
	origin_writable()
	{
		ref<exchange> self = mkref(this);
		int result = to_origin.tosuio()->output(origin);

		if (result > 0)
			wait(options.timeout);
		if (result < 0 || to_origin.tosuio()->resid() == 0)
			fdcb(origin, selwrite, NULL);
	}

	void
	origin_readable()
	{
		ref<exchange> self = mkref(this);
		int n = from_origin.input(origin);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) {
			fail(502, strbuf() << asked.host << ": " << strerror(errno));
			return;
		}
		wait(options.timeout);
		progress p = begun || read_answer_head() ? relay() : need_more;
		if (p == need_more && n == 0 && at == answering)
			p = begun ? answer_rest.closed() : broken;
		if (p == broken)
			fail(502, strbuf() << asked.host << ": no proper answer");
		else if (p == complete)
			answer_is_complete();
	}

	/* True when it is there; what is wrong has been told. */
	bool
	read_answer_head()
	{
		for (;;) {
			progress p = answer_head.take(&from_origin);
			if (p == need_more)
				return false;
			if (p == broken || !answered.parse(answer_head, asked) ||
			    answered.status == 101) {
				fail(502, strbuf() << asked.host << ": no proper answer");
				return false;
			}
			if (answered.status / 100 != 1)
				break;
			answer_head = message_head(); /* another one follows */
		}
		begin_answer();
		return true;
	}

	void
	begin_answer()
	{
		str head = answered.forwarded(answer_head, options.via);

		log(answered.status, "relayed");
		fresh = freshness(answered, answer_head, options.ttl);
		keep = keep && asked.method == "GET" && fresh > 0;
		kept_head = head;
		begun = true;
		to_client << head;
		str length = answer_head.get("content-length");
		if (length && answered.body.kind != framing::chunked)
			to_client << "Content-Length: " << length << "\r\n";
		to_client << "\r\n";
		answer_rest.begin(answered.body);
	}

	progress
	relay()
	{
		progress p = answer_rest.take(&from_origin, &body);

		if (keep && kept.resid() + body.resid() > options.object_bytes)
			keep = false;
		for (const iovec *v = body.iov(); keep && v < body.iovlim(); v++)
			kept.copy(v->iov_base, v->iov_len);
		to_client.tosuio()->take(&body);
		if (to_client.tosuio()->resid() > relay_max) {
			paused = true;
			fdcb(origin, selread, NULL);
		}
		start_answer();
		return p;
	}

	void
	answer_is_complete()
	{
		if (keep)
			store(New refcounted<cached>(asked.key(), kept_head, str(kept), time(NULL),
			    time(NULL) + fresh));
		else if (asked.method == "POST" && answered.status < 400)
			forget(asked.key());
		end_answer();
	}

	/* ---- to the client ---- */

	void
	start_answer()
	{
		if (to_client.tosuio()->resid() > 0)
			fdcb(client, selwrite, step(&exchange::client_writable));
	}

	void
	client_writable()
	{
		ref<exchange> self = mkref(this);
		suio *out = to_client.tosuio();
		int result = out->output(client);

		if (result < 0) {
			finish();
			return;
		}
		if (result > 0)
			wait(options.timeout);
		if (paused && out->resid() <= relay_min && at == answering) {
			paused = false;
			fdcb(origin, selread, step(&exchange::origin_readable));
		}
		if (out->resid() > 0)
			return;
		fdcb(client, selwrite, NULL);
		if (at == last_bytes)
			linger();
	}

	/* There is nothing more to be got for the client. */
	void
	end_answer()
	{
		drop_origin();
		at = last_bytes;
		wait(options.timeout);
		if (to_client.tosuio()->resid() > 0)
			start_answer();
		else
			linger();
	}

	void
	linger()
	{
		at = lingering;
		shutdown(client, SHUT_WR);
		wait(linger_seconds);
		fdcb(client, selread, step(&exchange::client_readable));
	}

	/* ---- ends ---- */

	/* A client that has got a part already can only be shown that there is no more. */
	void
	fail(int status, const str &why)
	{
		log(status, why);
		if (begun) {
			finish(tcp_abort);
			return;
		}
		begun = true;
		to_client << error_answer(status, why);
		if (at < looking)
			fdcb(client, selread, NULL);
		end_answer();
	}

	void
	drop_origin()
	{
		if (at == connects)
			cancel_connect();
		if (origin < 0)
			return;
		fdcb(origin, selread, NULL);
		fdcb(origin, selwrite, NULL);
		close(origin);
		origin = -1;
	}

	static void just_close(int fd) { close(fd); }

	/* Take back all that refers to this; the caller has a reference. */
	void
	finish(void (*how)(int) = just_close)
	{
		drop_origin();
		at = over;
		timecb_remove(timer);
		timer = NULL;
		if (client < 0)
			return;
		fdcb(client, selread, NULL);
		fdcb(client, selwrite, NULL);
		how(client);
		client = -1;
	}

	/* So many seconds from now on; a timer that is due before then looks again. */
	void
	wait(int64_t seconds)
	{
		deadline = uptime() + seconds;
		if (timer != NULL && timer_at <= deadline)
			return;
		timecb_remove(timer);
		timer_at = deadline;
		timer = delaycb(seconds, 0, step(&exchange::time_is_up));
	}

	void
	time_is_up()
	{
		ref<exchange> self = mkref(this);
		int64_t left = deadline - uptime();

		timer = NULL;
		if (left > 0)
			wait(left);
		else if (at == looking || at == connects || at == answering)
			fail(504, strbuf() << asked.host << ": no answer in time");
		else if (at == sending || (at == asking && asked_head.start))
			fail(408, "no request in time");
		else
			finish();
	}

	void
	log(int status, const str &how) const
	{
		if (options.verbose)
			warn << (asked_head.start ? asked_head.start : str("-")) << " " << status <<
			    " " << how << "\n";
	}
};

/* ---- connections: color 0 ---- */

static int listener, connections;
static bool accepting;

/* Each proxy's own. */
static void begin_exchange(int client);
static void accept_more();

static void
accept_one()
{
	int fd = accept(listener, NULL, NULL);

	if (fd >= 0) {
		connections++;
		begin_exchange(fd);
	} else if (errno != EAGAIN && errno != ECONNABORTED) {
		warn("accept: %m\n"); /* no descriptor is left, say: there may be one later */
		accepting = false;
		fdcb(listener, selread, NULL);
		delaycb(1, 0, wrap(accept_more));
	}
	if ((u_int64_t)connections >= options.connections) {
		accepting = false;
		fdcb(listener, selread, NULL);
	}
}

static void
accept_more()
{
	if (accepting || (u_int64_t)connections >= options.connections)
		return;
	accepting = true;
	fdcb(listener, selread, wrap(accept_one));
}

/* To be called when an exchange is gone. */
static void
one_less()
{
	connections--;
	accept_more();
}

static void
start(int argc, char **argv)
{
	setprogname(argv[0]);
	options = settings_of(argc, argv);
	listener = listen_as(&options);
	accept_more();
	sigcb(SIGTERM, wrap(exit, 0));
}

#endif
