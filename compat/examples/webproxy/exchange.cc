/* SPDX-License-Identifier: MIT */
/*
 * exchange.cc: one client's request and its answer (exchange.h).
 */
#include "exchange.h"

exchange::exchange(int accepted)
    : at(asking), color(options.one_color ? 0 : accepted), client(accepted), origin(-1),
      begun(false), paused(false), keep(false), fresh(0), timer(NULL), timer_at(0), deadline(0),
      connecting(NULL)
{
}

/* A callback of this exchange. */
cbv
exchange::step(void (exchange::*method)())
{
	return cwrap(mkref(this), method, color);
}

void
exchange::begin()
{
	make_async(client);
	close_on_exec(client);
	wait(options.timeout);
	fdcb(client, selread, step(&exchange::client_readable));
}

/* ---- the cache's color ---- */

void
exchange::find(ref<exchange> e, str key)
{
	cpucb_tail(cwrap(e, &exchange::looked_up, the_cache->find(key, time(NULL)), e->color));
}

void
exchange::insert(ref<cached> c)
{
	the_cache->insert(c);
}

void
exchange::remove(str key)
{
	the_cache->remove(key);
}

/* ---- color 0 ---- */

void
exchange::connect_now(str host, u_int16_t port)
{
	connecting = tcpconnect(host, port, wrap(mkref(this), &exchange::has_connected));
}

void
exchange::has_connected(int fd)
{
	connecting = NULL;
	cpucb_tail(cwrap(mkref(this), &exchange::connected, fd, errno, color));
}

void
exchange::cancel_now()
{
	if (connecting != NULL)
		tcpconnect_cancel(connecting);
	connecting = NULL;
}

/* ---- the exchange's color: the request ---- */

void
exchange::client_readable()
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
exchange::read_request()
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

/* The request is complete. */
void
exchange::serve()
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
		cpucb_tail(cwrap(find, mkref(this), asked.key(), options.cache_color()));
	else
		looked_up(NULL);
}

void
exchange::looked_up(ptr<cached> hit)
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
	cpucb_tail(wrap(mkref(this), &exchange::connect_now, asked.host, asked.port));
}

/* ---- the origin ---- */

void
exchange::connected(int fd, int error)
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

/* An origin that takes no more data may have sent its answer before: the answer decides. */
void
exchange::origin_writable()
{
	ref<exchange> self = mkref(this);
	int result = to_origin.tosuio()->output(origin);

	if (result > 0)
		wait(options.timeout);
	if (result < 0 || to_origin.tosuio()->resid() == 0)
		fdcb(origin, selwrite, NULL);
}

void
exchange::origin_readable()
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

/* True when the head is complete. This function handles a bad one. */
bool
exchange::read_answer_head()
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
		answer_head = message_head(); /* another head follows */
	}
	begin_answer();
	return true;
}

void
exchange::begin_answer()
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
exchange::relay()
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
exchange::answer_is_complete()
{
	if (keep)
		cpucb_tail(cwrap(insert, ref<cached>(New refcounted<cached>(asked.key(),
		    kept_head, str(kept), time(NULL), time(NULL) + fresh)),
		    options.cache_color()));
	else if (asked.method == "POST" && answered.status < 400)
		cpucb_tail(cwrap(remove, asked.key(), options.cache_color()));
	end_answer();
}

/* ---- to the client ---- */

void
exchange::start_answer()
{
	if (to_client.tosuio()->resid() > 0)
		fdcb(client, selwrite, step(&exchange::client_writable));
}

void
exchange::client_writable()
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

/* The client gets no more data. */
void
exchange::end_answer()
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
exchange::linger()
{
	at = lingering;
	shutdown(client, SHUT_WR);
	wait(linger_seconds);
	fdcb(client, selread, step(&exchange::client_readable));
}

/* ---- ends and errors ---- */

/* A client that has received a part of an answer learns of the failure only by a reset. */
void
exchange::fail(int status, const str &why)
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
exchange::drop_origin()
{
	if (at == connects)
		cpucb_tail(wrap(mkref(this), &exchange::cancel_now));
	if (origin < 0)
		return;
	fdcb(origin, selread, NULL);
	fdcb(origin, selwrite, NULL);
	close(origin);
	origin = -1;
}

/* Drop every callback that refers to this exchange; the caller has a reference. */
void
exchange::finish(void (*how)(int))
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

/* Set the deadline. A timer that expires earlier is armed again (time_is_up). */
void
exchange::wait(int64_t seconds)
{
	deadline = uptime() + seconds;
	if (timer != NULL && timer_at <= deadline)
		return;
	timecb_remove(timer);
	timer_at = deadline;
	timer = delaycb(seconds, 0, step(&exchange::time_is_up));
}

void
exchange::time_is_up()
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
exchange::log(int status, const str &how) const
{
	if (options.verbose)
		warn << (asked_head.start ? asked_head.start : str("-")) << " " << status <<
		    " " << how << "\n";
}
