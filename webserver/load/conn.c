/* SPDX-License-Identifier: MIT */
/*
 * conn.c: the life of a connection apart from its requests.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assertion.h"
#include "load/conn.h"
#include "load/tls.h"

/* Time until the next attempt after a connection has failed. */
#define RETRY_NS UINT64_C(10000000)

static void wake_fn(void *arg);
static void expire_fn(void *arg);
static void retry_fn(void *arg);
static void readable_fn(void *arg);
static void writable_fn(void *arg);

static struct mely_handler wake_handler = MELY_HANDLER_WITH(wake_fn, 8000, 0, 0);
static struct mely_handler expire_handler = MELY_HANDLER(expire_fn);
static struct mely_handler retry_handler = MELY_HANDLER_WITH(retry_fn, 30000, 0, 0);
static struct mely_handler readable_handler = MELY_HANDLER_WITH(readable_fn, 10000, 0, 0);
static struct mely_handler writable_handler = MELY_HANDLER_WITH(writable_fn, 10000, 0, 0);

/* ---- bytes --------------------------------------------------------------------------------- */

ssize_t
load_conn_read(struct load_conn *conn, char *to, size_t len, bool *drained)
{
	ssize_t n;

	if (conn->tls != NULL)
		return load_tls_read(conn, to, len, drained);
	/* The C library's wrapper is a cancellation point, which costs two atomic exchanges. */
	n = syscall(SYS_recvfrom, conn->fd, to, len, 0, NULL, NULL);
	*drained = n >= 0 && (size_t)n < len;
	return n;
}

static ssize_t
write_some(struct load_conn *conn, const char *data, size_t len)
{
	if (conn->tls != NULL)
		return load_tls_write(conn, data, len);
	return syscall(SYS_sendto, conn->fd, data, len, MSG_NOSIGNAL, NULL, 0);
}

static bool
watch_writable(struct load_conn *conn)
{
	int status;

	if (conn->writable_watched)
		return true;
	status = mely_fd_watch(&conn->color, conn->fd, MELY_FD_WRITE | MELY_FD_EDGE,
	    &writable_handler, conn, &conn->writable);
	conn->writable_watched = status == 0;
	/* ESHUTDOWN: the run has ended. */
	if (status != 0 && status != -ESHUTDOWN)
		load_conn_fail(conn, LOAD_broken, "%s", strerror(-status));
	return status == 0;
}

static void
unwatch_writable(struct load_conn *conn)
{
	if (conn->writable_watched)
		mely_watch_stop(conn->core->run->rt, conn->writable, NULL, NULL);
	conn->writable_watched = false;
}

static bool
keep_rest(struct load_conn *conn, const char *data, size_t len)
{
	if (conn->rest_len + len > conn->rest_size) {
		size_t size = conn->rest_len + len;
		char *grown = realloc(conn->rest, size);

		if (grown == NULL) {
			load_conn_fail(conn, LOAD_broken, "out of memory");
			return false;
		}
		conn->rest = grown;
		conn->rest_size = size;
	}
	memcpy(conn->rest + conn->rest_len, data, len);
	conn->rest_len += len;
	return watch_writable(conn);
}

bool
load_conn_write(struct load_conn *conn, const char *data, size_t len)
{
	ssize_t n = 0;

	if (conn->rest_len == 0)
		n = write_some(conn, data, len);
	if (n == (ssize_t)len)
		return true;
	if (n < 0 && errno != EAGAIN) {
		load_conn_fail(conn, LOAD_broken, "cannot send: %s", strerror(errno));
		return false;
	}
	if (n < 0)
		n = 0;
	return keep_rest(conn, data + n, len - (size_t)n);
}

/* Send the rest. False: the connection was closed. */
static bool
flush(struct load_conn *conn)
{
	while (conn->rest_at < conn->rest_len) {
		ssize_t n = write_some(conn, conn->rest + conn->rest_at,
		    conn->rest_len - conn->rest_at);

		if (n < 0 && errno == EAGAIN)
			return watch_writable(conn);
		if (n < 0) {
			load_conn_fail(conn, LOAD_broken, "cannot send: %s", strerror(errno));
			return false;
		}
		conn->rest_at += (size_t)n;
	}
	conn->rest_at = conn->rest_len = 0;
	unwatch_writable(conn);
	return true;
}

/* ---- connecting ---------------------------------------------------------------------------- */

/* Connect again in a moment. */
static void
retry_later(struct load_conn *conn)
{
	mely_watch timer;

	if (conn->retrying)
		return;
	conn->retrying = mely_timer_start(&conn->color, RETRY_NS, 0, 0, &retry_handler, conn,
	    &timer) == 0;
}

static void
fail_connect(struct load_conn *conn, int error)
{
	load_core_error(conn->core, LOAD_connect, 1, "cannot connect to %.100s: %s",
	    conn->core->run->options->url.authority, strerror(error));
	load_core_forfeit(conn->core, mely_now_ns());
}

static void
shut(struct load_conn *conn)
{
	if (conn->state == LOAD_CONN_OPEN)
		conn->protocol->end(conn);
	load_core_unready(conn->core, conn);
	load_tls_end(conn);
	if (conn->fd >= 0)
		mely_fd_close(conn->core->run->rt, conn->fd);
	conn->fd = -1;
	conn->writable_watched = false;
	conn->rest_at = conn->rest_len = 0;
	conn->state = LOAD_CONN_CLOSED;
	if (conn->in_flight > 0)
		memset(conn->flights, 0, (conn->flights_mask + (size_t)1) * sizeof *conn->flights);
	conn->in_flight = conn->first = 0;
}

/* The connection can be used. False: it was closed. */
static bool
establish(struct load_conn *conn)
{
	struct load_core *core = conn->core;
	uint64_t now = mely_now_ns();
	const struct load_options *o = core->run->options;

	unwatch_writable(conn);
	conn->state = LOAD_CONN_OPEN;
	conn->left = o->per_connection > 0 ? o->per_connection : UINT32_MAX;
	if (load_core_measures(core, now)) {
		load_hist_record(core->result.connect, now - conn->connect_ns);
		core->result.counters[LOAD_connects]++;
		core->result.counters[LOAD_handshakes] += conn->tls != NULL;
		core->result.counters[LOAD_resumed] += conn->tls != NULL
		    && load_tls_resumed(conn);
	}
	return conn->protocol->begin(conn) && conn->protocol->send(conn, now);
}

/* 1: it is connected, 0: it will be, -1: it failed, with errno. */
static int
connected(struct load_conn *conn, bool *wants_write)
{
	*wants_write = true;
	if (conn->tls != NULL)
		return load_tls_handshake(conn, wants_write);
	/* No bytes: this says EAGAIN until the connection is established. */
	if (syscall(SYS_sendto, conn->fd, "", 0, MSG_NOSIGNAL, NULL, 0) == 0)
		return 1;
	return errno == EAGAIN ? 0 : -1;
}

/* Go on connecting. True: it can be used. */
static bool
step(struct load_conn *conn)
{
	bool wants_write;
	int result = connected(conn, &wants_write), error = errno;

	SWS_DEBUG_ASSERT(conn->state == LOAD_CONN_CONNECTING);
	if (result > 0)
		return establish(conn);
	if (result == 0) {
		if (wants_write)
			watch_writable(conn);
		return false;
	}
	if (conn->tls != NULL && error == EPROTO) {
		load_conn_fail(conn, LOAD_connect, "TLS: %s", load_tls_error(conn));
		return false;
	}
	fail_connect(conn, error);
	shut(conn);
	retry_later(conn);
	return false;
}

static void
open_conn(struct load_conn *conn)
{
	const struct load_run *run = conn->core->run;
	int on = 1, status;

	SWS_DEBUG_ASSERT(conn->state == LOAD_CONN_CLOSED && conn->fd < 0);
	conn->connect_ns = mely_now_ns();
	if (conn->connect_ns >= run->end_ns || conn->core->budget == 0)
		return;
	conn->fd = socket(run->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (conn->fd < 0
	    || setsockopt(conn->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0
	    || (connect(conn->fd, (const struct sockaddr *)&run->address, run->address_len) != 0
	    && errno != EINPROGRESS)) {
		fail_connect(conn, errno);
		goto fail;
	}
	status = mely_fd_watch(&conn->color, conn->fd, MELY_FD_READ | MELY_FD_EDGE,
	    &readable_handler, conn, &conn->readable);
	if (status == 0 && conn->core->tls != NULL && !load_tls_begin(conn))
		status = -ENOMEM;
	if (status != 0) {
		/* ESHUTDOWN: the run has ended. */
		if (status != -ESHUTDOWN)
			fail_connect(conn, -status);
		goto fail;
	}
	conn->state = LOAD_CONN_CONNECTING;
	step(conn);
	return;

fail:
	shut(conn);
	retry_later(conn);
}

void
load_conn_again(struct load_conn *conn)
{
	shut(conn);
	open_conn(conn);
}

void
load_conn_fail(struct load_conn *conn, enum load_counter counter, const char *format, ...)
{
	uint32_t failed = conn->in_flight;
	char text[LOAD_SAMPLE_LEN];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	load_core_error(conn->core, counter, failed > 0 && counter == LOAD_broken ? failed : 1,
	    "%s", text);
	if (failed > 0)
		load_core_settled(conn->core, failed, mely_now_ns());
	else
		load_core_forfeit(conn->core, mely_now_ns());
	shut(conn);
	/* Later, so that a server that fails at once is not asked at once. */
	retry_later(conn);
}

/* ---- handlers ------------------------------------------------------------------------------ */

static void
wake_fn(void *arg)
{
	struct load_conn *conn = arg;

	SWS_LOCAL_TAKE(conn->core);
	if (conn->state == LOAD_CONN_CLOSED && !conn->retrying)
		open_conn(conn);
	else if (conn->state == LOAD_CONN_OPEN)
		conn->protocol->send(conn, mely_now_ns());
	SWS_LOCAL_GIVE(conn->core);
}

static void
retry_fn(void *arg)
{
	struct load_conn *conn = arg;

	SWS_LOCAL_TAKE(conn->core);
	conn->retrying = false;
	if (conn->state == LOAD_CONN_CLOSED)
		open_conn(conn);
	SWS_LOCAL_GIVE(conn->core);
}

static void
expire_fn(void *arg)
{
	struct load_conn *conn = arg;

	SWS_LOCAL_TAKE(conn->core);
	if (load_conn_overdue(conn, mely_now_ns()))
		load_conn_fail(conn, LOAD_timeout, conn->state == LOAD_CONN_CONNECTING
		    ? "timeout: no connection" : "timeout: no complete response");
	SWS_LOCAL_GIVE(conn->core);
}

static void
readable_fn(void *arg)
{
	struct load_conn *conn = arg;

	SWS_LOCAL_TAKE(conn->core);
	if (conn->tls != NULL)
		load_tls_readable(conn, (mely_fd_ready() & (MELY_READY_HANGUP | MELY_READY_ERROR))
		    != 0);
	/* TLS can want to read before it goes on writing. */
	if (conn->state == LOAD_CONN_CONNECTING ? step(conn) : conn->state == LOAD_CONN_OPEN
	    && (conn->tls == NULL || conn->rest_len == 0 || flush(conn))) {
		if (conn->protocol->read(conn, 0))
			load_core_publish(conn->core);
	}
	SWS_LOCAL_GIVE(conn->core);
}

static void
writable_fn(void *arg)
{
	struct load_conn *conn = arg;

	SWS_LOCAL_TAKE(conn->core);
	if (conn->state == LOAD_CONN_CONNECTING)
		step(conn);
	else if (conn->state == LOAD_CONN_OPEN && flush(conn) && conn->rest_len == 0)
		conn->protocol->send(conn, mely_now_ns());
	SWS_LOCAL_GIVE(conn->core);
}

/* ---- for the core -------------------------------------------------------------------------- */

void
load_conn_wake(struct load_conn *conn)
{
	int status = mely_event_post(&conn->color, &conn->wake);

	SWS_ASSERT(status == 0 || status == -EALREADY || status == -ESHUTDOWN);
}

int
load_conn_start(struct load_conn *conn)
{
	int status = mely_color_init_on(&conn->color, conn->core->run->rt, conn->core->number);

	return status != 0 ? status : mely_event_post(&conn->color, &conn->wake);
}

bool
load_conn_overdue(const struct load_conn *conn, uint64_t now)
{
	uint64_t limit = conn->core->run->options->timeout_ns;

	if (conn->state == LOAD_CONN_CONNECTING)
		return now > conn->connect_ns && now - conn->connect_ns > limit;
	if (conn->state != LOAD_CONN_OPEN || conn->in_flight == 0)
		return false;
	for (uint32_t i = 0; i <= conn->flights_mask; i++) {
		uint64_t sent = conn->flights[i].sent_ns;

		if (sent != 0 && now > sent && now - sent > limit)
			return true;
	}
	return false;
}

void
load_conn_expire(struct load_conn *conn)
{
	int status = mely_event_post(&conn->color, &conn->expire);

	SWS_ASSERT(status == 0 || status == -EALREADY || status == -ESHUTDOWN);
}

struct load_conn *
load_conn_new(struct load_core *core)
{
	const struct load_options *o = core->run->options;
	struct load_conn *conn = aligned_alloc(64, (sizeof *conn + 63) & ~(size_t)63);
	uint32_t slots = 1;

	if (conn == NULL)
		return NULL;
	memset(conn, 0, sizeof *conn);
	conn->core = core;
	conn->fd = -1;
	conn->protocol = o->http2 ? &load_http2 : &load_http1;
	conn->capacity = o->http2 ? o->streams : o->pipeline;
	while (slots < conn->capacity)
		slots *= 2;
	conn->flights_mask = slots - 1;
	conn->flights = calloc(slots, sizeof conn->flights[0]);
	if (conn->flights == NULL) {
		free(conn);
		return NULL;
	}
	mely_event_init(&conn->wake, &wake_handler, conn);
	mely_event_init(&conn->expire, &expire_handler, conn);
	SWS_LOCAL_MEMORY(conn, sizeof *conn);
	return conn;
}

void
load_conn_free(struct load_conn *conn)
{
	SWS_ASSERT(mely_current_core() < 0);
	if (conn == NULL)
		return;
	if (conn->state == LOAD_CONN_OPEN)
		conn->protocol->end(conn);
	load_tls_end(conn);
	if (conn->fd >= 0)
		close(conn->fd);
	free(conn->rest);
	free(conn->flights);
	free(conn);
}
