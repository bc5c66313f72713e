/* SPDX-License-Identifier: MIT */
/*
 * http2.c: requests of HTTP/2 on a connection, by nghttp2. The frames of a turn leave in one write.
 */
#include <ctype.h>
#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/assertion.h"
#include "load/conn.h"
#include "load/tls.h"

/* A server may send so much before it waits for us. */
#define WINDOW (1 << 24)
#define FIELDS_MAX 64

struct load_h2 {
	nghttp2_session *session;
	uint64_t now;         /* of the bytes in work */
	uint32_t *spare;      /* numbers of unused slots */
	uint32_t spare_count;
	nghttp2_nv fields[FIELDS_MAX]; /* the first four: method, scheme, authority, path */
	size_t fields_count;
	char text[LOAD_FIELDS_MAX];    /* what the user's fields point to */
};

bool
load_http2_there(void)
{
	return true;
}

/* ---- callbacks ----------------------------------------------------------------------------- */

static int
on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
    size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags, void *arg)
{
	struct load_flight *f;

	(void)flags;
	(void)arg;
	if (name_len != 7 || value_len != 3 || memcmp(name, ":status", 7) != 0)
		return 0;
	f = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
	/* nghttp2 has checked that these are digits. An interim response comes before the final. */
	if (f != NULL)
		f->status = (unsigned)(value[0] - '0') * 100 + (unsigned)(value[1] - '0') * 10
		    + (unsigned)(value[2] - '0');
	return 0;
}

static int
on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *data, size_t len,
    void *arg)
{
	struct load_flight *f = nghttp2_session_get_stream_user_data(session, stream);

	(void)flags;
	if (f != NULL)
		load_flight_body(arg, f, (const char *)data, len);
	return 0;
}

/* A stream has ended: with its response, or without. */
static int
on_stream_close(nghttp2_session *session, int32_t stream, uint32_t error, void *arg)
{
	struct load_conn *conn = arg;
	struct load_flight *f = nghttp2_session_get_stream_user_data(session, stream);
	struct load_h2 *h2 = conn->h2;

	if (f == NULL)
		return 0;
	h2->spare[h2->spare_count++] = (uint32_t)(f - conn->flights);
	if (error == NGHTTP2_NO_ERROR && f->status >= 200) {
		load_flight_done(conn, f, h2->now);
		return 0;
	}
	if (error == NGHTTP2_REFUSED_STREAM)
		load_core_give_back(conn->core, f->since_ns, h2->now);
	else {
		load_core_error(conn->core, LOAD_broken, 1, "a stream ended: %s",
		    nghttp2_http2_strerror(error));
		load_core_settled(conn->core, 1, h2->now);
	}
	f->sent_ns = 0;
	conn->in_flight--;
	return 0;
}

/* ---- begin and end ------------------------------------------------------------------------- */

static nghttp2_nv
field(const char *name, size_t name_len, const char *value, size_t value_len)
{
	return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, name_len, value_len,
	    NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

/* The fields of all requests; names have small letters in HTTP/2. */
static void
make_fields(struct load_h2 *h2, const struct load_options *o)
{
	char *line = strcpy(h2->text, o->fields), *end;

	h2->fields[0] = field(":method", 7, o->head ? "HEAD" : "GET", o->head ? 4 : 3);
	h2->fields[1] = field(":scheme", 7, o->url.tls ? "https" : "http", o->url.tls ? 5 : 4);
	h2->fields[2] = field(":authority", 10, o->url.authority, strlen(o->url.authority));
	h2->fields_count = 4;
	for (; (end = strstr(line, "\r\n")) != NULL; line = end + 2) {
		char *colon = strchr(line, ':'), *value = colon + 1;

		while (*value == ' ' || *value == '\t')
			value++;
		for (char *c = line; c < colon; c++)
			*c = (char)tolower((unsigned char)*c);
		if (colon - line == 4 && memcmp(line, "host", 4) == 0)
			h2->fields[2] = field(":authority", 10, value, (size_t)(end - value));
		else if (h2->fields_count < FIELDS_MAX)
			h2->fields[h2->fields_count++] = field(line, (size_t)(colon - line), value,
			    (size_t)(end - value));
	}
}

static int
make_session(struct load_conn *conn)
{
	const nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
		{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW}
	};
	nghttp2_session_callbacks *callbacks;
	int status = nghttp2_session_callbacks_new(&callbacks);

	if (status != 0)
		return status;
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
	status = nghttp2_session_client_new(&conn->h2->session, callbacks, conn);
	nghttp2_session_callbacks_del(callbacks);
	if (status == 0)
		status = nghttp2_submit_settings(conn->h2->session, NGHTTP2_FLAG_NONE, settings,
		    sizeof settings / sizeof settings[0]);
	if (status == 0)
		status = nghttp2_session_set_local_window_size(conn->h2->session,
		    NGHTTP2_FLAG_NONE, 0, WINDOW);
	return status;
}

static void
end(struct load_conn *conn)
{
	struct load_h2 *h2 = conn->h2;

	if (h2 == NULL)
		return;
	nghttp2_session_del(h2->session);
	free(h2->spare);
	free(h2);
	conn->h2 = NULL;
}

static bool
begin(struct load_conn *conn)
{
	struct load_h2 *h2;

	if (conn->tls != NULL && !load_tls_has_h2(conn)) {
		load_conn_fail(conn, LOAD_connect, "the server does not agree to HTTP/2");
		return false;
	}
	h2 = conn->h2 = calloc(1, sizeof *h2);
	if (h2 != NULL)
		h2->spare = malloc(conn->capacity * sizeof h2->spare[0]);
	if (h2 == NULL || h2->spare == NULL || make_session(conn) != 0) {
		load_conn_fail(conn, LOAD_connect, "out of memory");
		return false;
	}
	for (uint32_t i = conn->capacity; i > 0; i--)
		h2->spare[h2->spare_count++] = i - 1;
	make_fields(h2, conn->core->run->options);
	return true;
}

/* ---- sending ------------------------------------------------------------------------------- */

/* Submit one request. False: nghttp2 has no memory. */
static bool
submit(struct load_conn *conn, uint64_t since, uint64_t now)
{
	struct load_h2 *h2 = conn->h2;
	struct load_core *core = conn->core;
	struct load_flight *f = &conn->flights[h2->spare[--h2->spare_count]];
	const char *path;

	*f = (struct load_flight){
		.since_ns = since, .sent_ns = now,
		.target = load_mix_next(&core->run->mix, &core->cursor)
	};
	conn->left--;
	conn->in_flight++;
	path = load_conn_target(conn, f)->path;
	h2->fields[3] = field(":path", 5, path, strlen(path));
	load_core_count(core, LOAD_requests, 1, now);
	return nghttp2_submit_request(h2->session, NULL, h2->fields, h2->fields_count, NULL, f) > 0;
}

/* Send the frames that nghttp2 has. False: the connection was closed. */
static bool
send_frames(struct load_conn *conn)
{
	struct load_core *core = conn->core;
	const uint8_t *data;
	size_t len = 0;
	ssize_t n;

	while (conn->rest_len == 0
	    && (n = nghttp2_session_mem_send(conn->h2->session, &data)) != 0) {
		if (n < 0) {
			load_conn_fail(conn, LOAD_broken, "%s", nghttp2_strerror((int)n));
			return false;
		}
		SWS_ASSERT((size_t)n <= core->out_size);
		if (len + (size_t)n > core->out_size) {
			if (!load_conn_write(conn, core->out, len))
				return false;
			len = 0;
		}
		memcpy(core->out + len, data, (size_t)n);
		len += (size_t)n;
	}
	return len == 0 || load_conn_write(conn, core->out, len);
}

static bool
send_requests(struct load_conn *conn, uint64_t now)
{
	struct load_core *core = conn->core;
	nghttp2_session *session = conn->h2->session;
	bool allowed = nghttp2_session_check_request_allowed(session) != 0;
	uint64_t since;

	conn->h2->now = now;
	while (allowed && conn->in_flight < conn->capacity && conn->left > 0
	    && load_core_take(core, now, &since))
		if (!submit(conn, since, now)) {
			load_conn_fail(conn, LOAD_broken, "out of memory");
			return false;
		}
	if (!send_frames(conn))
		return false;
	if (conn->in_flight == 0 && (!allowed || conn->left == 0)) {
		load_conn_again(conn);
		return false;
	}
	if (allowed && conn->in_flight < conn->capacity && conn->left > 0)
		load_core_ready(core, conn, now);
	return true;
}

/* ---- reading ------------------------------------------------------------------------------- */

static bool
ended(struct load_conn *conn, uint64_t now)
{
	if (conn->in_flight > 0) {
		load_conn_fail(conn, LOAD_broken,
		    "the server closed a connection before it answered");
		return false;
	}
	load_core_count(conn->core, LOAD_closed, 1, now);
	load_conn_again(conn);
	return false;
}

static bool
read_responses(struct load_conn *conn, uint64_t now)
{
	struct load_core *core = conn->core;
	bool hangup = (mely_fd_ready() & (MELY_READY_HANGUP | MELY_READY_ERROR)) != 0;
	bool drained = false;

	while (!drained || hangup) {
		ssize_t n = load_conn_read(conn, core->in, LOAD_IN_SIZE, &drained);

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
		conn->h2->now = now;
		n = nghttp2_session_mem_recv(conn->h2->session, (const uint8_t *)core->in,
		    (size_t)n);
		if (n < 0) {
			load_conn_fail(conn, LOAD_protocol, "a response that is not HTTP/2: %s",
			    nghttp2_strerror((int)n));
			return false;
		}
	}
	return send_requests(conn, now != 0 ? now : mely_now_ns());
}

const struct load_protocol load_http2 = {
	.begin = begin, .end = end, .read = read_responses, .send = send_requests
};
