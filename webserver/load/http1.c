/* SPDX-License-Identifier: MIT */
/*
 * http1.c: requests of HTTP/1.1 on a connection. The prebuilt requests of a turn leave with one
 * write; what has arrived comes with one read, and with no more if that was all.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assertion.h"
#include "load/conn.h"

static bool
begin(struct load_conn *conn)
{
	load_response_init(&conn->response, conn->core->run->options->head);
	return true;
}

static void
end(struct load_conn *conn)
{
	load_response_fini(&conn->response);
}

/* ---- sending ------------------------------------------------------------------------------- */

/* Take the next request; NULL: none may be sent now. */
static const struct load_target *
next(struct load_conn *conn, uint64_t now)
{
	struct load_core *core = conn->core;
	struct load_flight *f = &conn->flights[(conn->first + conn->in_flight)
	    & conn->flights_mask];
	uint64_t since;

	if (conn->in_flight == conn->capacity || conn->left == 0
	    || !load_core_take(core, now, &since))
		return NULL;
	conn->left--;
	conn->in_flight++;
	*f = (struct load_flight){
		.since_ns = since, .sent_ns = now,
		.target = load_mix_next(&core->run->mix, &core->cursor)
	};
	return load_conn_target(conn, f);
}

/* Open loop: let the core give it a request, if it can take one. */
static void
wait_for_due(struct load_conn *conn, uint64_t now)
{
	if (conn->core->timer >= 0 && conn->in_flight < conn->capacity && conn->left > 0)
		load_core_ready(conn->core, conn, now);
}

static bool
send_requests(struct load_conn *conn, uint64_t now)
{
	struct load_core *core = conn->core;
	const struct load_target *t, *more;
	size_t len = 0;
	uint64_t n = 1;

	/* The rest comes first. In the closed loop, the next requests of a pipeline go together. */
	if (conn->rest_len > 0 || (core->timer < 0 && conn->in_flight > 0))
		return true;
	t = next(conn, now);
	if (t == NULL) {
		wait_for_due(conn, now);
		return true;
	}
	more = next(conn, now);
	if (more == NULL) {
		load_core_count(core, LOAD_requests, 1, now);
		if (!load_conn_write(conn, t->request, t->request_len))
			return false;
	} else {
		memcpy(core->out, t->request, t->request_len);
		len = t->request_len;
		for (; more != NULL; more = next(conn, now), n++) {
			SWS_DEBUG_ASSERT(len + more->request_len <= core->out_size);
			memcpy(core->out + len, more->request, more->request_len);
			len += more->request_len;
		}
		load_core_count(core, LOAD_requests, n, now);
		if (!load_conn_write(conn, core->out, len))
			return false;
	}
	wait_for_due(conn, now);
	return true;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* The server closes the connection; requests without any answer may be sent again. */
static bool
give_up(struct load_conn *conn, uint64_t now)
{
	for (; conn->in_flight > 0; conn->in_flight--) {
		load_core_give_back(conn->core, conn->flights[conn->first].since_ns, now);
		conn->flights[conn->first].sent_ns = 0;
		conn->first = (conn->first + 1) & conn->flights_mask;
	}
	load_conn_again(conn);
	return false;
}

/* A response is complete. False: the connection was closed. */
static bool
complete(struct load_conn *conn, uint64_t now)
{
	struct load_flight *f = &conn->flights[conn->first];

	f->status = conn->response.status;
	conn->first = (conn->first + 1) & conn->flights_mask;
	load_flight_done(conn, f, now);
	if (!conn->response.keep_alive)
		return give_up(conn, now);
	if (conn->left == 0 && conn->in_flight == 0) {
		load_conn_again(conn);
		return false;
	}
	return true;
}

static bool
take(struct load_conn *conn, const char *in, size_t len, uint64_t now)
{
	struct load_step step;

	for (size_t at = 0; at < len; at += step.used) {
		enum load_parse result;

		if (conn->in_flight == 0) {
			load_conn_fail(conn, LOAD_protocol, "bytes after the last response");
			return false;
		}
		result = load_response_step(&conn->response, in + at, len - at, &step);
		if (step.body_len > 0)
			load_flight_body(conn, &conn->flights[conn->first], step.body,
			    step.body_len);
		if (result == LOAD_PARSE_MORE)
			continue;
		if (result != LOAD_PARSE_DONE) {
			load_conn_fail(conn, LOAD_protocol, "%s: \"%.*s\"",
			    result == LOAD_PARSE_BAD ? "a response that is not HTTP/1.1"
			    : "out of memory", (int)(len - at < 80 ? len - at : 80), in + at);
			return false;
		}
		if (!complete(conn, now))
			return false;
	}
	return true;
}

/* The server sends no more. */
static bool
ended(struct load_conn *conn, uint64_t now)
{
	uint32_t in_flight = conn->in_flight;

	if (in_flight > 0 && load_response_end(&conn->response) == LOAD_PARSE_DONE)
		return complete(conn, now);
	if (in_flight > 0) {
		load_conn_fail(conn, LOAD_broken, "the server closed a connection before %s",
		    load_response_idle(&conn->response) ? "it answered" : "the response ended");
		return false;
	}
	load_core_count(conn->core, LOAD_closed, 1, now);
	load_conn_again(conn);
	return false;
}

/* Nothing compares the bytes of a long body: let the kernel drop them. */
static bool
may_drop(const struct load_conn *conn)
{
	return conn->tls == NULL && conn->response.state == LOAD_AT_LENGTH
	    && conn->response.left >= LOAD_IN_SIZE
	    && load_conn_target(conn, &conn->flights[conn->first])->file == NULL;
}

static ssize_t
drop(struct load_conn *conn, bool *drained)
{
	/* All but the last byte, which completes the response in the usual way. */
	size_t len = conn->response.left - 1 < INT32_MAX ? (size_t)conn->response.left - 1
	    : INT32_MAX;
	ssize_t n = syscall(SYS_recvfrom, conn->fd, NULL, len, MSG_TRUNC, NULL, NULL);

	*drained = n >= 0 && (size_t)n < len;
	if (n > 0) {
		conn->response.left -= (uint64_t)n;
		conn->flights[conn->first].body_len += (uint64_t)n;
	}
	return n;
}

static bool
read_responses(struct load_conn *conn, uint64_t now)
{
	struct load_core *core = conn->core;
	bool hangup = (mely_fd_ready() & (MELY_READY_HANGUP | MELY_READY_ERROR)) != 0;
	bool drained = false;

	while (!drained || hangup) {
		bool dropped = may_drop(conn);
		ssize_t n = dropped ? drop(conn, &drained)
		    : load_conn_read(conn, core->in, LOAD_IN_SIZE, &drained);

		if (n < 0 && errno == EAGAIN)
			break;
		now = mely_now_ns();
		if (n == 0)
			return ended(conn, now);
		if (n < 0) {
			load_conn_fail(conn, LOAD_broken, "cannot receive: %s", strerror(errno));
			return false;
		}
		load_core_received(core, (size_t)n, now);
		if (!dropped && !take(conn, core->in, (size_t)n, now))
			return false;
	}
	return send_requests(conn, now != 0 ? now : mely_now_ns());
}

const struct load_protocol load_http1 = {
	.begin = begin, .end = end, .read = read_responses, .send = send_requests
};
