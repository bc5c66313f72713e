/* SPDX-License-Identifier: MIT */
/*
 * stages.c: from input to requests: ReadRequest, ParseRequest, BadRequest. Each is a handler that
 * runs in the connection's color and queues the next one.
 *
 * Up to SWS_BURST_MAX complete requests of the input pass through the stages together, so that
 * pipelined requests share events and one write. Answers leave in the order of the requests.
 * After a framing error no further input is parsed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assertion.h"
#include "base/policy.h"
#include "conn.h"
#include "h2.h"
#include "stages.h"

/* In place of the status of an error: no request follows, but HTTP/2. */
#define BAD_PREFACE (-1)

static void readable_fn(void *arg);
static void read_request_fn(void *arg);
static void parse_request_fn(void *arg);
static void bad_request_fn(void *arg);

struct mely_handler sws_readable = SWS_READ_REQUEST(readable_fn);
struct mely_handler sws_read_request = SWS_READ_REQUEST(read_request_fn);
struct mely_handler sws_parse_request = SWS_PARSE_REQUEST(parse_request_fn);
struct mely_handler sws_bad_request = SWS_BAD_REQUEST(bad_request_fn);

/* ---- ReadRequest --------------------------------------------------------------------------- */

/* The watcher is edge-triggered and does not report unread input again: remember it. */
static void
readable_fn(void *arg)
{
	struct sws_conn *conn = arg;

	SWS_DEBUG_ASSERT(mely_current_color() == &conn->color);
	sws_conn_assert(conn);
	conn->unread = true;
	/* No edge follows that of the end of the stream: from then on, read until recv says so. */
	if (mely_fd_ready() & MELY_READY_HANGUP)
		conn->hung_up = true;
	if (conn->state == SWS_CONN_IDLE && sws_transport_is_opening(&conn->transport))
		sws_conn_stage(conn, &sws_tls_handshake);
	else if (conn->state == SWS_CONN_IDLE)
		read_request_fn(conn);
	else if (conn->state == SWS_CONN_LINGER)
		sws_conn_linger_read(conn);
}

/* Become idle. Return the burst unless it holds an incomplete head. */
static inline void
rest(struct sws_conn *conn, struct sws_core *core)
{
	struct sws_burst *burst = conn->burst;

	SWS_ASSERT(burst->count == 0 && burst->in_at == 0);
	/* The rest of a body is discarded before anything is kept as a head. */
	SWS_DEBUG_ASSERT(!conn->closing && (conn->skip == 0 || burst->in_len == 0));
	conn->state = SWS_CONN_IDLE;
	if (conn->skip > 0 && conn->body_ns == 0) {
		/* An incomplete body has a deadline, too, which its bytes do not move. */
		conn->body_ns = conn->since_ns;
		sws_conn_time_head(conn);
	}
	if (burst->in_len == 0) {
		sws_burst_put(core, burst);
		conn->burst = NULL;
		conn->head_ns = 0;
		conn->head_timed = false;
		/* relaxed: a connection that misses the flag gets the drain event. */
		if (atomic_load_explicit(&conn->server->draining, memory_order_relaxed))
			sws_conn_drain(conn);
	} else if (!conn->head_timed) {
		/* An incomplete head is rare enough to set the timer for it. */
		conn->head_timed = true;
		sws_conn_time_head(conn);
	}
}

static void
read_request_fn(void *arg)
{
	struct sws_conn *conn = arg;
	struct sws_core *core = sws_core_here(conn->server);
	struct sws_burst *burst = conn->burst;
	size_t room;
	ssize_t n;

	if (burst == NULL) {
		burst = conn->burst = sws_burst_get(core);
		if (burst == NULL) {
			sws_conn_close(conn);
			return;
		}
		burst->asker.conn = conn;
		burst->asker.then = &sws_burst_helped;
	}
	SWS_DEBUG_ASSERT(!conn->closing && burst->count == 0 && burst->in_at == 0);
	/* Without room recv would return 0, as it does at the end of the stream. */
	SWS_ASSERT(burst->in_len < HTTP_HEAD_MAX);
	room = HTTP_HEAD_MAX - (size_t)burst->in_len;
	n = sws_transport_read(&conn->transport, burst->in + burst->in_len, room);
	if (n <= 0) {
		if (n < 0 && errno == EAGAIN) {
			conn->unread = false;
			rest(conn, core);
		} else {
			/* The end, possibly inside a head, which then gets no answer. */
			sws_conn_close(conn);
		}
		return;
	}
	sws_core_tick(core);
	/* A short read has emptied the socket, and later input makes a new edge. The end of the
	 * stream may share the edge of the bytes before it. */
	conn->unread = (size_t)n == room || conn->hung_up
	    || sws_transport_is_unread(&conn->transport);
	conn->since_ns = SWS_UNLIKELY(core->sees) ? mely_now_ns() : core->now_ns;
	if (burst->in_len == 0)
		conn->head_ns = conn->since_ns;
	burst->in_len = (uint16_t)(burst->in_len + n);
	burst->stalled = false;
	sws_conn_stage(conn, &sws_parse_request);
}

/* ---- ParseRequest -------------------------------------------------------------------------- */

/* Discard the part of a body that has arrived. */
static void
skip_body(struct sws_conn *conn, struct sws_burst *burst)
{
	uint32_t there = (uint32_t)(burst->in_len - burst->in_at);

	if (there > conn->skip)
		there = conn->skip;
	conn->skip -= there;
	if (conn->skip == 0)
		conn->body_ns = 0;
	burst->in_at = (uint16_t)(burst->in_at + there);
	SWS_ASSERT(burst->in_at <= burst->in_len);
}

/* RFC 9110, 7.4: what is secure must not be served in clear text. */
static inline bool
is_misdirected(const struct sws_conn *conn, const struct http_request *req)
{
	return SWS_UNLIKELY(req->flags & HTTP_SECURE) && conn->transport.channel == NULL;
}

/* The first line does not belong to HTTP/1, but may be that of the preface of HTTP/2. */
static int
first_error(struct sws_conn *conn, struct sws_burst *burst, int status)
{
	enum sws_preface preface = SWS_PREFACE_NONE;

	if (status == 505 && burst->in_at == 0 && burst->count == 0 && conn->sent == 0)
		preface = sws_h2_preface(burst->in, burst->in_len);
	if (preface == SWS_PREFACE_NONE || !sws_h2_is_on(sws_core_here(conn->server)))
		return status;
	return preface == SWS_PREFACE_PART ? 0 : BAD_PREFACE;
}

static void
parse_input(struct sws_conn *conn, struct sws_burst *burst)
{
	/* After an error, or the last request, the input may not be read as requests. */
	SWS_DEBUG_ASSERT(!conn->closing && burst->bad == 0);
	while (burst->count < SWS_BURST_MAX) {
		struct sws_asked *asked = &burst->asked[burst->count];
		int n;

		if (conn->skip > 0)
			skip_body(conn, burst);
		if (burst->in_at == burst->in_len) {
			burst->stalled = true;
			return;
		}
		n = http_parse(&conn->parser, burst->in + burst->in_at,
		    (size_t)(burst->in_len - burst->in_at), &asked->request);
		if (n <= 0) {
			burst->bad = n < 0 ? first_error(conn, burst, -n) : 0;
			burst->stalled = true;
			return;
		}
		if (is_misdirected(conn, &asked->request)) {
			burst->bad = 421;
			burst->stalled = true;
			return;
		}
		asked->base = burst->in_at;
		burst->in_at = (uint16_t)(burst->in_at + n);
		SWS_ASSERT(burst->in_at <= burst->in_len);
		burst->count++;
		conn->skip = asked->request.body_len;
		if (!(asked->request.flags & HTTP_KEEP)) {
			conn->closing = true;
			/* The client may still be sending the body. */
			conn->linger = conn->skip > 0;
			return;
		}
	}
}

/* Move unparsed input to the front and clear the requests and answers. */
static inline void
compact(struct sws_burst *burst)
{
	size_t left = (size_t)(burst->in_len - burst->in_at);

	/* Each request has exactly one answer, and all are sent. */
	SWS_ASSERT(burst->checked == burst->count && burst->out == burst->count);
	SWS_DEBUG_ASSERT(burst->count <= SWS_BURST_MAX && burst->in_at <= burst->in_len);
	if (left > 0) {
		/* The parser's state refers to what it has understood of an incomplete head. */
		burst->asked[0].request = burst->asked[burst->count].request;
		memmove(burst->in, burst->in + burst->in_at, left);
	}
	burst->in_len = (uint16_t)left;
	burst->in_at = 0;
	burst->count = burst->checked = burst->out = 0;
	burst->out_at = 0;
}

void
sws_conn_continue(struct sws_conn *conn, struct sws_core *core)
{
	struct sws_burst *burst = conn->burst;

	sws_burst_assert(burst);
	SWS_DEBUG_ASSERT(!conn->closing && burst->bad == 0);
	/* Count an incomplete head from the last read, which probably brought its first byte. */
	if (burst->count > 0)
		conn->head_ns = conn->since_ns;
	compact(burst);
	if (!burst->stalled) {
		sws_conn_stage(conn, &sws_parse_request);
		return;
	}
	if (conn->unread)
		sws_conn_stage(conn, &sws_read_request);
	else
		rest(conn, core);
}

static void
parse_request_fn(void *arg)
{
	struct sws_conn *conn = arg;
	struct sws_burst *burst = conn->burst;

	SWS_DEBUG_ASSERT(mely_current_color() == &conn->color);
	SWS_ASSERT(burst->count == 0);
	parse_input(conn, burst);
	if (burst->count > 0)
		sws_conn_check(conn);
	else if (burst->bad == BAD_PREFACE)
		sws_h2_begin(conn, sws_core_here(conn->server));
	else if (burst->bad != 0)
		sws_conn_stage(conn, &sws_bad_request);
	else
		sws_conn_continue(conn, sws_core_here(conn->server));
}

/* ---- BadRequest ---------------------------------------------------------------------------- */

/* Add the error answer for unparsable input after the answers to the requests before it. */
static void
bad_request_fn(void *arg)
{
	struct sws_conn *conn = arg;
	struct sws_burst *burst = conn->burst;
	/* The parser clears a request before it fills it in, up to where it is wrong. */
	bool head_only = burst->asked[burst->count].request.method == HTTP_HEAD;
	struct sws_answer *a = &burst->answers[burst->checked++];
	struct sws_core *core = sws_core_here(conn->server);

	SWS_ASSERT(mely_current_color() == &conn->color);
	SWS_ASSERT(burst->bad != 0 && burst->checked <= SWS_BURST_MAX + 1);
	/* An error before the last answer would answer the wrong request. */
	SWS_ASSERT(burst->checked == burst->count + 1);
	/* Which site it was for, an unparsable head does not say. */
	*a = sws_answer_of(
	    sws_site_error(&sws_core_setup(core)->sites[0], burst->bad),
	    SWS_SAY_CLOSE | (head_only ? SWS_HEAD_ONLY : 0));
	sws_core_leave_setup(core);
	sws_page_ref(a->page);
	burst->count = burst->checked;
	conn->closing = true;
	conn->linger = true;
	sws_conn_stage(conn, &sws_write_response);
}
