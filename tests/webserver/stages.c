/* SPDX-License-Identifier: MIT */
/*
 * stages.c: from input to requests: how many make one burst, what stays for the next one, bodies,
 * errors, and which stage follows. What the stages call in other modules is written down here
 * instead of done.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pages.h"
#include "../../webserver/stages.c"
#include "../../webserver/ended.h"
#include "one_conn.h"

#define GET "GET / HTTP/1.1\r\nHost:a\r\n\r\n"
#define GET_LEN (sizeof GET - 1)

static struct sws_page *error_page;

/* What the stages have called since the last reset. */
static int lingered, timed, drained, error_status, sessions;
static bool h2_is_on = true;
static unsigned ready;

/* The other stages. */
struct mely_handler sws_check_in_cache, sws_write_response, sws_tls_handshake;
const struct sws_helped sws_burst_helped;

int
mely_event_pending(const struct mely_event *ev)
{
	assert_ptr_equal(ev, &conn.event);
	return next_stage != NULL;
}

uint64_t
mely_now_ns(void)
{
	return 1;
}

unsigned
mely_fd_ready(void)
{
	return ready;
}

void
sws_conn_stage(struct sws_conn *c, struct mely_handler *handler)
{
	assert_ptr_equal(c, &conn);
	/* One event serves all stages. */
	assert_null(next_stage);
	conn.state = SWS_CONN_BUSY;
	next_stage = handler;
}

enum sws_preface
sws_h2_preface(const char *in, size_t len)
{
	static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
	size_t n = len < sizeof preface - 1 ? len : sizeof preface - 1;

	return memcmp(in, preface, n) != 0 ? SWS_PREFACE_NONE
	    : n < sizeof preface - 1 ? SWS_PREFACE_PART : SWS_PREFACE_WHOLE;
}

bool
sws_h2_is_on(struct sws_core *here)
{
	assert_ptr_equal(here, &core);
	return h2_is_on;
}

void
sws_h2_begin(struct sws_conn *c, struct sws_core *here)
{
	assert_ptr_equal(c, &conn);
	assert_ptr_equal(here, &core);
	sessions++;
}

void
sws_conn_check(struct sws_conn *c)
{
	sws_conn_stage(c, &sws_check_in_cache);
}

void
sws_conn_linger_read(struct sws_conn *c)
{
	(void)c;
	lingered++;
}

void
sws_conn_time_head(struct sws_conn *c)
{
	(void)c;
	timed++;
}

void
sws_conn_drain(struct sws_conn *c)
{
	(void)c;
	drained++;
}

struct sws_page *
sws_site_error(const struct sws_site *site, int status)
{
	(void)site;
	error_status = status;
	return error_page;
}

/* ---- helpers ------------------------------------------------------------------------------- */

static void
begin(void)
{
	memset(&conn, 0, sizeof conn);
	conn.server = &server;
	conn.transport.fd = -1;
	next_stage = NULL;
	closed = lingered = timed = drained = error_status = 0;
	ready = 0;
	atomic_store(&server.draining, false);
}

/* A connection whose burst holds this input. */
static struct sws_burst *
begin_with(const char *text, size_t len)
{
	begin();
	conn.burst = sws_burst_get(&core);
	assert_non_null(conn.burst);
	memcpy(conn.burst->in, text, len);
	conn.burst->in_len = (uint16_t)len;
	conn.state = SWS_CONN_BUSY;
	return conn.burst;
}

/* The stage that was called for; none follows as yet. */
static struct mely_handler *
taken(void)
{
	struct mely_handler *stage = next_stage;

	next_stage = NULL;
	return stage;
}

static void
end(void)
{
	if (conn.burst != NULL)
		sws_burst_put(&core, conn.burst);
	conn.burst = NULL;
}

/* The answers of a burst are sent. */
static void
answer_all(struct sws_burst *burst)
{
	burst->checked = burst->out = burst->count;
	sws_conn_continue(&conn, &core);
}

/* ---- tests --------------------------------------------------------------------------------- */

/* A client that pipelines gets SWS_BURST_MAX answers at a time, so that others come in between. */
static void
bursts_are_bounded(void **state)
{
	char text[HTTP_HEAD_MAX];
	size_t count = 3 * SWS_BURST_MAX + 8;
	struct sws_burst *burst;

	(void)state;
	for (size_t i = 0; i < count; i++)
		memcpy(text + i * GET_LEN, GET, GET_LEN);
	burst = begin_with(text, count * GET_LEN);
	for (int i = 0; i < 3; i++) {
		parse_request_fn(&conn);
		assert_ptr_equal(taken(), &sws_check_in_cache);
		assert_int_equal(burst->count, SWS_BURST_MAX);
		assert_int_equal(burst->asked[1].base, GET_LEN);
		assert_false(burst->stalled);
		answer_all(burst);
		assert_ptr_equal(taken(), &sws_parse_request);
		assert_int_equal(burst->in_len, (count - (i + 1u) * SWS_BURST_MAX) * GET_LEN);
		assert_int_equal(burst->in_at + burst->count + burst->checked + burst->out, 0);
	}
	parse_request_fn(&conn);
	assert_ptr_equal(taken(), &sws_check_in_cache);
	assert_int_equal(burst->count, 8);
	assert_true(burst->stalled);
	/* Nothing is left: the burst goes back, and the connection is idle. */
	answer_all(burst);
	assert_null(taken());
	assert_null(conn.burst);
	assert_int_equal(conn.state, SWS_CONN_IDLE);
	assert_int_equal(core.bursts_count, 1);
	end();
}

static void
what_follows_a_burst(void **state)
{
	struct sws_burst *burst;

	(void)state;
	/* More may be in the socket. */
	burst = begin_with(GET, GET_LEN);
	conn.unread = true;
	parse_request_fn(&conn);
	(void)taken();
	answer_all(burst);
	assert_ptr_equal(taken(), &sws_read_request);
	end();
	/* The server drains: an idle connection gets its grace. */
	burst = begin_with(GET, GET_LEN);
	atomic_store(&server.draining, true);
	parse_request_fn(&conn);
	(void)taken();
	answer_all(burst);
	assert_int_equal(drained, 1);
	end();
}

/* Half a head keeps the burst, and the timer is set for it once. */
static void
half_a_head(void **state)
{
	static const char text[] = GET "GET /x HTTP/1.1\r\nHo";
	struct sws_burst *burst = begin_with(text, sizeof text - 1);

	(void)state;
	conn.since_ns = 77;
	parse_request_fn(&conn);
	assert_ptr_equal(taken(), &sws_check_in_cache);
	assert_int_equal(burst->count, 1);
	answer_all(burst);
	assert_null(taken());
	assert_ptr_equal(conn.burst, burst);
	assert_int_equal(conn.state, SWS_CONN_IDLE);
	assert_int_equal(conn.head_ns, 77);
	assert_int_equal(timed, 1);
	assert_int_equal(burst->in_len, sizeof text - 1 - GET_LEN);
	/* A few bytes more are not the end yet. */
	memcpy(burst->in + burst->in_len, "st:a\r\n", 6);
	burst->in_len += 6;
	parse_request_fn(&conn);
	assert_null(taken());
	assert_int_equal(timed, 1);
	/* What was understood of the request line is still known. */
	memcpy(burst->in + burst->in_len, "\r\n", 2);
	burst->in_len += 2;
	parse_request_fn(&conn);
	assert_ptr_equal(taken(), &sws_check_in_cache);
	assert_int_equal(burst->count, 1);
	assert_int_equal(burst->asked[0].request.path.len, 2);
	assert_memory_equal(burst->in + burst->asked[0].request.path.at, "/x", 2);
	end();
}

static void
bodies(void **state)
{
	static const char text[] = "GET / HTTP/1.1\r\nHost:a\r\nContent-Length: 10\r\n\r\n12345";
	struct sws_burst *burst = begin_with(text, sizeof text - 1);

	(void)state;
	parse_request_fn(&conn);
	assert_ptr_equal(taken(), &sws_check_in_cache);
	assert_int_equal(burst->count, 1);
	assert_int_equal(conn.skip, 5);
	answer_all(burst);
	assert_null(conn.burst);
	/* The rest of the body is not a request; what follows it is one. */
	conn.burst = burst = sws_burst_get(&core);
	memcpy(burst->in, "GET /" GET, 5 + GET_LEN);
	burst->in_len = 5 + GET_LEN;
	parse_request_fn(&conn);
	assert_ptr_equal(taken(), &sws_check_in_cache);
	assert_int_equal(conn.skip, 0);
	assert_int_equal(burst->count, 1);
	assert_int_equal(burst->asked[0].base, 5);
	end();
}

static void
last_requests(void **state)
{
	static const char text[] = "GET / HTTP/1.1\r\nHost:a\r\nConnection: close\r\n\r\n" GET;
	static const char with_body[] = "GET / HTTP/1.0\r\nContent-Length: 9\r\n\r\n" GET;
	struct sws_burst *burst = begin_with(text, sizeof text - 1);

	(void)state;
	parse_request_fn(&conn);
	assert_int_equal(burst->count, 1);
	assert_true(conn.closing);
	assert_false(conn.linger);
	end();
	burst = begin_with(with_body, sizeof with_body - 1);
	parse_request_fn(&conn);
	assert_int_equal(burst->count, 1);
	assert_true(conn.closing);
	assert_true(conn.linger);
	end();
}

/* An error of framing is answered behind the requests before it, and ends the connection. */
static void
bad_heads(void **state)
{
	struct sws_burst *burst = begin_with(GET "nonsense\r\n\r\n" GET, 2 * GET_LEN + 12);

	(void)state;
	parse_request_fn(&conn);
	assert_ptr_equal(taken(), &sws_check_in_cache);
	assert_int_equal(burst->count, 1);
	assert_int_equal(burst->bad, 400);
	assert_true(burst->stalled);
	end();
}

/* An answer to HEAD has no body, and one to half a method has. */
static void
bad_head(const char *text, int status, bool head)
{
	struct sws_burst *burst = begin_with(text, strlen(text));

	parse_request_fn(&conn);
	assert_ptr_equal(taken(), &sws_bad_request);
	bad_request_fn(&conn);
	assert_ptr_equal(taken(), &sws_write_response);
	assert_int_equal(error_status, status);
	assert_int_equal(burst->count, 1);
	assert_int_equal(burst->checked, 1);
	assert_ptr_equal(burst->answers[0].page, error_page);
	assert_int_equal(burst->answers[0].flags, SWS_SAY_CLOSE | (head ? SWS_HEAD_ONLY : 0));
	assert_true(conn.closing && conn.linger);
	sws_burst_give_up(burst, &core, 0);
	assert_int_equal(test_refs(error_page), 1);
	end();
}

static void
errors(void **state)
{
	(void)state;
	bad_head("GET / HTTP/3.0\r\n", 505, false);
	bad_head("HEAD / HTTP/3.0\r\n", 505, true);
	bad_head("HEAD / HTTP/1.1\r\nHost:a\r\nHost:a\r\n\r\n", 400, true);
	bad_head("GET / HTTP/1.1\r\n\r\n", 400, false);
	bad_head("HEAD\r\n", 400, false);
}

/* The preface of HTTP/2 is none of HTTP/1's errors, if it comes first and is wanted. */
static void
prefaces(void **state)
{
	static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
	struct sws_burst *burst;

	(void)state;
	for (size_t len = 1; len < sizeof preface; len++) {
		sessions = 0;
		burst = begin_with(preface, len);
		conn.head_ns = 1;
		parse_request_fn(&conn);
		assert_int_equal(sessions, len == sizeof preface - 1);
		assert_int_equal(conn.state, len < sizeof preface - 1 ? SWS_CONN_IDLE
		    : SWS_CONN_BUSY);
		assert_int_equal(burst->in_len, len);
		assert_null(taken());
		end();
	}
	for (int i = 0; i < 3; i++) {
		char text[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

		text[20] = i == 0 ? 's' : text[20];
		burst = begin_with(text, sizeof text - 1);
		conn.sent = i == 1;
		h2_is_on = i != 2;
		parse_request_fn(&conn);
		assert_ptr_equal(taken(), &sws_bad_request);
		assert_int_equal(burst->bad, 505);
		conn.sent = 0;
		h2_is_on = true;
		end();
	}
}

static void
reading(void **state)
{
	static const char full[HTTP_HEAD_MAX];
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	begin();
	conn.transport.fd = pair[0];
	/* Nothing there: the burst is given back. */
	readable_fn(&conn);
	assert_null(taken());
	assert_null(conn.burst);
	assert_false(conn.unread);
	/* A short read has emptied the socket. */
	assert_int_equal(write(pair[1], GET, GET_LEN), GET_LEN);
	readable_fn(&conn);
	assert_ptr_equal(taken(), &sws_parse_request);
	assert_int_equal(conn.burst->in_len, GET_LEN);
	assert_false(conn.unread);
	assert_true(core.now_ns > 0);
	assert_int_equal(conn.since_ns, core.now_ns);
	assert_int_equal(conn.head_ns, core.now_ns);
	/* While a stage is queued, an edge is only remembered. */
	readable_fn(&conn);
	assert_null(taken());
	assert_true(conn.unread);
	/* With the end of the stream seen, even earlier, or a full buffer, there may be more. */
	ready = MELY_READY_HANGUP;
	readable_fn(&conn);
	ready = 0;
	for (size_t i = 2; i <= 3; i++) {
		assert_int_equal(write(pair[1], GET, GET_LEN), GET_LEN);
		read_request_fn(&conn);
		assert_ptr_equal(taken(), &sws_parse_request);
		assert_int_equal(conn.burst->in_len, i * GET_LEN);
		assert_true(conn.unread);
	}
	conn.hung_up = false;
	conn.burst->in_len = 0;
	assert_int_equal(write(pair[1], full, sizeof full), sizeof full);
	read_request_fn(&conn);
	assert_ptr_equal(taken(), &sws_parse_request);
	assert_int_equal(conn.burst->in_len, HTTP_HEAD_MAX);
	assert_true(conn.unread);
	/* The end of the stream. */
	conn.burst->in_len = 0;
	close(pair[1]);
	read_request_fn(&conn);
	assert_null(taken());
	assert_int_equal(closed, 1);
	close(pair[0]);
	end();
}

static void
lingering(void **state)
{
	(void)state;
	begin_with("", 0);
	conn.transport.fd = 0;
	conn.closing = true;
	conn.state = SWS_CONN_LINGER;
	readable_fn(&conn);
	assert_int_equal(lingered, 1);
	assert_null(taken());
	conn.state = SWS_CONN_CLOSED;
	readable_fn(&conn);
	assert_int_equal(lingered + closed, 1);
	assert_null(taken());
	end();
}

static int
prepare(void **state)
{
	(void)state;
	error_page = test_page("", 0, 0);
	return 0;
}

static int
clean_up(void **state)
{
	(void)state;
	free_bursts();
	sws_page_unref(error_page);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bursts_are_bounded),
		cmocka_unit_test(what_follows_a_burst),
		cmocka_unit_test(half_a_head),
		cmocka_unit_test(bodies),
		cmocka_unit_test(last_requests),
		cmocka_unit_test(bad_heads),
		cmocka_unit_test(errors),
		cmocka_unit_test(prefaces),
		cmocka_unit_test(reading),
		cmocka_unit_test(lingering),
	};

	return cmocka_run_group_tests(tests, prepare, clean_up);
}
