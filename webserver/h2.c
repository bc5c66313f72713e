/* SPDX-License-Identifier: MIT */
/*
 * h2.c: the life of a session: its begin, what it reads, its deadlines, and its end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assertion.h"
#include "base/policy.h"
#include "disk.h"
#include "h2.h"
#include "h2_session.h"
#include "pace.h"
#include "stages.h"

/* Most bytes read in one event. */
#define READ_MAX 16384
/* A client that reads its answers more slowly than it must, over this time, is disconnected. */
#define RATE_S 30
/* How long after the first word of the end a client may begin requests that are on their way. */
#define GRACE_NS (SWS_SECOND_NS / 2)

static void readable_fn(void *arg);
static void read_fn(void *arg);

struct mely_handler sws_h2_read = SWS_H2_READ(read_fn);
static struct mely_handler readable = SWS_H2_READ(readable_fn);

/* ---- the begin ------------------------------------------------------------------------------ */

enum sws_preface
sws_h2_preface(const char *in, size_t len)
{
	static const char preface[] = NGHTTP2_CLIENT_MAGIC;
	size_t n = len < sizeof preface - 1 ? len : sizeof preface - 1;

	if (n == 0 || memcmp(in, preface, n) != 0)
		return SWS_PREFACE_NONE;
	return n == sizeof preface - 1 ? SWS_PREFACE_WHOLE : SWS_PREFACE_PART;
}

bool
sws_h2_is_there(void)
{
	return true;
}

bool
sws_h2_is_on(struct sws_core *core)
{
	bool on = sws_core_setup(core)->options.http2 != 0;

	sws_core_leave_setup(core);
	return on;
}

static int
new_session(struct sws_h2 *h2)
{
	nghttp2_session_callbacks *callbacks = NULL;
	nghttp2_option *option = NULL;
	int status = nghttp2_session_callbacks_new(&callbacks);

	if (status == 0)
		status = nghttp2_option_new(&option);
	if (status == 0) {
		sws_h2_request_callbacks(callbacks);
		sws_h2_answer_callbacks(callbacks);
		nghttp2_option_set_no_closed_streams(option, 1);
		/* h2_limits.c counts, with limits that can be set. */
		nghttp2_option_set_stream_reset_rate_limit(option, UINT32_MAX, UINT32_MAX);
		status = nghttp2_session_server_new2(&h2->session, callbacks, h2, option);
	}
	nghttp2_option_del(option);
	nghttp2_session_callbacks_del(callbacks);
	return status;
}

static struct sws_h2 *
h2_new(struct sws_conn *conn, struct sws_core *core)
{
	nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 0},
		{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HTTP_HEAD_MAX},
		{NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1}
	};
	struct sws_h2 *h2 = calloc(1, sizeof *h2);

	if (h2 == NULL)
		return NULL;
	settings[0].value = (uint32_t)sws_core_setup(core)->options.http2_streams;
	sws_core_leave_setup(core);
	h2->conn = conn;
	h2->core = core;
	h2->turn = 65536;
	h2->window_ns = core->now_ns;
	if (new_session(h2) != 0) {
		free(h2);
		return NULL;
	}
	if (nghttp2_submit_settings(h2->session, NGHTTP2_FLAG_NONE, settings,
	    sizeof settings / sizeof settings[0]) != 0) {
		nghttp2_session_del(h2->session);
		free(h2);
		return NULL;
	}
	return h2;
}

/* Hand input to nghttp2. False: the client does not keep to the rules. */
static void
feed(struct sws_h2 *h2, const char *in, size_t len)
{
	ssize_t n = nghttp2_session_mem_recv(h2->session, (const uint8_t *)in, len);

	if (n >= 0 || h2->told)
		return;
	h2->told = true;
	nghttp2_session_terminate_session(h2->session,
	    n == NGHTTP2_ERR_CALLBACK_FAILURE ? h2->error
	    : n == NGHTTP2_ERR_FLOODED ? NGHTTP2_ENHANCE_YOUR_CALM
	    : n == NGHTTP2_ERR_NOMEM ? NGHTTP2_INTERNAL_ERROR : NGHTTP2_PROTOCOL_ERROR);
}

void
sws_h2_begin(struct sws_conn *conn, struct sws_core *core)
{
	char first[HTTP_HEAD_MAX];
	struct sws_burst *burst = conn->burst;
	size_t len = 0;

	SWS_ASSERT(mely_current_color() == &conn->color && conn->h2 == NULL);
	sws_core_tick(core);
	conn->h2 = h2_new(conn, core);
	if (conn->h2 == NULL || mely_watch_stop(conn->server->rt, conn->readable, NULL, NULL) != 0
	    || mely_fd_watch(&conn->color, conn->transport.fd, MELY_FD_READ | MELY_FD_EDGE,
	    &readable, conn, &conn->readable) != 0) {
		sws_conn_close(conn);
		return;
	}
	/* The burst is for the fields of requests from now on. */
	if (burst != NULL) {
		len = burst->in_len;
		memcpy(first, burst->in, len);
		burst->in_len = burst->in_at = 0;
		burst->count = 0;
		burst->bad = 0;
	}
	conn->head_ns = 0;
	conn->head_timed = false;
	conn->state = SWS_CONN_BUSY;
	if (len > 0)
		feed(conn->h2, first, len);
	if (atomic_load_explicit(&conn->server->draining, memory_order_relaxed))
		sws_h2_drain(conn);
	sws_h2_send(conn);
}

/* ---- reading -------------------------------------------------------------------------------- */

static void
readable_fn(void *arg)
{
	struct sws_conn *conn = arg;

	SWS_DEBUG_ASSERT(mely_current_color() == &conn->color);
	conn->unread = true;
	if (mely_fd_ready() & MELY_READY_HANGUP)
		conn->hung_up = true;
	if (conn->state == SWS_CONN_IDLE)
		read_fn(conn);
	else if (conn->state == SWS_CONN_LINGER)
		sws_conn_linger_read(conn);
}

static void
read_fn(void *arg)
{
	struct sws_conn *conn = arg;
	struct sws_h2 *h2 = conn->h2;
	struct sws_core *core = sws_core_here(conn->server);
	ssize_t n;

	SWS_DEBUG_ASSERT(mely_current_color() == &conn->color);
	SWS_ASSERT(!h2->doomed && h2->rest == NULL);
	sws_h2_enter(h2, core);
	n = sws_transport_read(&conn->transport, core->scratch, READ_MAX);
	if (n < 0 && errno == EAGAIN) {
		conn->unread = false;
		sws_h2_continue(conn);
		return;
	}
	if (n <= 0) {
		sws_h2_close(conn);
		return;
	}
	conn->unread = n == READ_MAX || conn->hung_up
	    || sws_transport_is_unread(&conn->transport);
	feed(h2, core->scratch, (size_t)n);
	sws_h2_send(conn);
}

/* Become idle, or read what is there already. */
void
sws_h2_continue(struct sws_conn *conn)
{
	struct sws_h2 *h2 = conn->h2;

	if (!nghttp2_session_want_read(h2->session) && !nghttp2_session_want_write(h2->session)) {
		if (h2->helpers > 0) {
			sws_h2_close(conn);
			return;
		}
		conn->closing = conn->linger = true;
		if (conn->burst != NULL) {
			sws_burst_put(h2->core, conn->burst);
			conn->burst = NULL;
		}
		sws_conn_finish(conn);
		return;
	}
	if (conn->unread) {
		sws_conn_stage(conn, &sws_h2_read);
		return;
	}
	conn->state = SWS_CONN_IDLE;
	/* Only fields that are not complete need memory now. */
	if (h2->head.id == 0 && conn->burst != NULL) {
		sws_burst_put(h2->core, conn->burst);
		conn->burst = NULL;
	}
	if (h2->head.id == 0) {
		conn->head_timed = false;
	} else if (!conn->head_timed) {
		conn->head_timed = true;
		sws_conn_time_head(conn);
	}
}

/* ---- deadlines ------------------------------------------------------------------------------ */

void
sws_h2_terminate(struct sws_h2 *h2, uint32_t error)
{
	if (h2->told) {
		sws_h2_close(h2->conn);
		return;
	}
	h2->told = true;
	nghttp2_session_terminate_session(h2->session, error);
	if (h2->conn->state == SWS_CONN_IDLE)
		sws_conn_stage(h2->conn, &sws_h2_write);
	else if (h2->conn->state == SWS_CONN_BLOCKED)
		sws_h2_close(h2->conn);
}

/* Is the session overdue? Otherwise *left is when it would be. */
static bool
is_overdue(struct sws_conn *conn, uint64_t now, uint64_t *left)
{
	struct sws_h2 *h2 = conn->h2;
	const struct sws_options *o = &sws_core_setup(h2->core)->options;
	uint64_t since = conn->since_ns, limit = o->idle_timeout_ns;
	uint64_t least_bytes = o->min_rate * RATE_S;

	if (conn->head_ns != 0 || h2->requests == 0) {
		since = conn->head_ns != 0 ? conn->head_ns : since;
		limit = o->header_timeout_ns;
	} else if (h2->unsent > 0) {
		since = conn->blocked_ns;
		limit = RATE_S * SWS_SECOND_NS;
	}
	*left = limit < o->idle_timeout_ns ? limit : o->idle_timeout_ns;
	sws_core_leave_setup(h2->core);
	if (now < since || now - since < limit) {
		if (now >= since && limit - (now - since) < *left)
			*left = limit - (now - since);
		return false;
	}
	if (h2->unsent > 0 && conn->head_ns == 0) {
		/* Frames that only answer the client's own do not count. */
		bool slow = h2->taken - h2->taken_before < least_bytes;

		h2->taken_before = h2->taken;
		conn->blocked_ns = now;
		/* That of a disk is not the client's fault. */
		return slow && h2->helpers == 0;
	}
	return h2->helpers == 0;
}

void
sws_h2_timer(struct sws_conn *conn, uint64_t now)
{
	struct sws_h2 *h2 = conn->h2;
	uint64_t left;

	h2->core = sws_core_here(conn->server);
	if (h2->doomed)
		return;
	if (h2->told) {
		/* The last words are still to be sent. */
		if (mely_event_pending(&conn->event)) {
			mely_timer_again(conn->server->rt, conn->timer, SWS_SECOND_NS / 100,
			    SWS_SECOND_NS / 100);
			return;
		}
		/* The client has had time to read them. */
		sws_h2_close(conn);
		return;
	}
	if (h2->noticed) {
		h2->noticed = false;
		nghttp2_submit_goaway(h2->session, NGHTTP2_FLAG_NONE,
		    nghttp2_session_get_last_proc_stream_id(h2->session), NGHTTP2_NO_ERROR, NULL,
		    0);
		if (conn->state == SWS_CONN_IDLE)
			sws_conn_stage(conn, &sws_h2_write);
		left = SWS_SECOND_NS;
	} else if (is_overdue(conn, now, &left)) {
		sws_h2_terminate(h2, NGHTTP2_NO_ERROR);
		left = SWS_SECOND_NS;
	}
	if (left < SWS_SECOND_NS / 100)
		left = SWS_SECOND_NS / 100;
	mely_timer_again(conn->server->rt, conn->timer, left, left);
}

/*
 * The end in two steps (RFC 9113, 6.8): first a GOAWAY that still allows every stream, and after
 * the grace one with the number of the last stream. Then the session ends with its last stream.
 */
void
sws_h2_drain(struct sws_conn *conn)
{
	struct sws_h2 *h2 = conn->h2;

	if (h2->doomed || h2->told || h2->noticed)
		return;
	h2->noticed = true;
	nghttp2_submit_shutdown_notice(h2->session);
	mely_timer_again(conn->server->rt, conn->timer, GRACE_NS, GRACE_NS);
	if (conn->state == SWS_CONN_IDLE)
		sws_conn_stage(conn, &sws_h2_write);
}

/* ---- the end -------------------------------------------------------------------------------- */

void
sws_h2_close(struct sws_conn *conn)
{
	struct sws_h2 *h2 = conn->h2;

	h2->doomed = true;
	sws_pace_stop(conn);
	/* No event is queued for a connection that waits for its helpers. */
	conn->state = SWS_CONN_BUSY;
	if (h2->helpers == 0)
		sws_conn_close(conn);
}

void
sws_h2_free(struct sws_conn *conn, int core)
{
	struct sws_h2 *h2 = conn->h2;

	if (h2 == NULL)
		return;
	if (core >= 0)
		h2->core = sws_core_here(conn->server);
	while (h2->ended != NULL) {
		struct sws_h2_stream *stream = h2->ended;

		h2->ended = stream->next;
		stream->next = NULL;
		sws_h2_stream_release(h2, stream, core);
	}
	while (h2->streams != NULL) {
		if (core < 0)
			sws_disk_abandon(&h2->streams->asker);
		sws_h2_stream_release(h2, h2->streams, core);
	}
	sws_h2_head_drop(&h2->head);
	if (!h2->lost)
		nghttp2_session_del(h2->session);
	free(h2->rest);
	free(h2);
	conn->h2 = NULL;
}

void
sws_h2_free_spares(struct sws_core *core)
{
	while (core->streams != NULL) {
		struct sws_h2_stream *stream = core->streams;

		core->streams = stream->next;
		core->streams_count--;
		free(stream);
	}
}
