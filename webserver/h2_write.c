/* SPDX-License-Identifier: MIT */
/*
 * h2_write.c: sends what a session has to send: gathers frames, and bodies in place, for one system
 * call, then gives others a turn. What the client does not take is copied and sent first, and the
 * next turns are shorter: a copy is as long as a turn.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assertion.h"
#include "base/policy.h"
#include "h2.h"
#include "h2_session.h"
#include "pace.h"

#define TURN_MIN 16384
#define TURN_MAX 65536

static void write_fn(void *arg);
static void writable_fn(void *arg);

struct mely_handler sws_h2_write = SWS_H2_WRITE(write_fn);
static struct mely_handler writable = SWS_H2_WRITE(writable_fn);

enum progress {
	SENT,
	YIELD,
	BLOCKED,
	FAILED
};

/* ---- gathering ------------------------------------------------------------------------------ */

/* Frames come in pieces of up to one frame. Those of bodies go to send_data. False: it is over. */
static bool
gather(struct sws_h2 *h2, struct sws_h2_out *out)
{
	const uint8_t *bytes;
	ssize_t n = 0;
	size_t most = h2->turn < h2->core->room ? h2->turn : h2->core->room;

	h2->out = out;
	while (out->total < most && SWS_SCRATCH - out->used >= SWS_H2_FRAME_MAX) {
		n = nghttp2_session_mem_send(h2->session, &bytes);
		if (n <= 0)
			break;
		SWS_ASSERT((size_t)n <= SWS_SCRATCH - out->used);
		memcpy(out->scratch + out->used, bytes, (size_t)n);
		out->used += (size_t)n;
		out->total += (size_t)n;
	}
	h2->out = NULL;
	if (n == NGHTTP2_ERR_NOMEM)
		h2->lost = true;
	if (n > 0)
		out->full = true;
	if (out->used > out->piece_from)
		out->iov[out->pieces++] = (struct iovec){out->scratch + out->piece_from,
			out->used - out->piece_from};
	return n >= 0;
}

static void
release_ended(struct sws_h2 *h2)
{
	while (h2->ended != NULL) {
		struct sws_h2_stream *stream = h2->ended;

		h2->ended = stream->next;
		stream->next = NULL;
		sws_h2_stream_release(h2, stream, h2->core->number);
	}
}

/* Keep what follows the first n gathered bytes. False: no memory. */
static bool
keep_rest(struct sws_h2 *h2, const struct sws_h2_out *out, size_t n)
{
	size_t at = 0;

	SWS_ASSERT(h2->rest == NULL && n < out->total);
	h2->rest = malloc(out->total - n);
	if (h2->rest == NULL)
		return false;
	for (size_t i = 0; i < out->pieces; i++) {
		size_t len = out->iov[i].iov_len, skip = n < len ? n : len;

		memcpy(h2->rest + at, (const char *)out->iov[i].iov_base + skip, len - skip);
		at += len - skip;
		n -= skip;
	}
	SWS_ASSERT(n == 0);
	h2->rest_len = at;
	h2->rest_at = 0;
	return true;
}

/* ---- sending ------------------------------------------------------------------------------- */

/* Send what a channel has held back. */
static enum progress
flush(struct sws_conn *conn)
{
	struct sws_channel *channel = conn->transport.channel;

	if (!sws_transport_is_pending(&conn->transport) || channel->ops->flush(channel) == 0)
		return SENT;
	return errno == EAGAIN ? BLOCKED : FAILED;
}

/* Some bytes are not taken. A channel also stops for the sake of other colors. */
static enum progress
cut_short(const struct sws_conn *conn)
{
	return conn->transport.channel == NULL || sws_transport_is_pending(&conn->transport)
	    ? BLOCKED : YIELD;
}

static enum progress
send_rest(struct sws_conn *conn, struct sws_h2 *h2)
{
	struct iovec iov = {h2->rest + h2->rest_at, h2->rest_len - h2->rest_at};
	ssize_t n = sws_transport_write(&conn->transport, &iov, 1, false);

	if (n < 0)
		return errno == EAGAIN ? BLOCKED : FAILED;
	conn->sent += (uint64_t)n;
	h2->rest_at += (size_t)n;
	if (h2->rest_at < h2->rest_len)
		return cut_short(conn);
	free(h2->rest);
	h2->rest = NULL;
	return SENT;
}

static enum progress
send_gathered(struct sws_conn *conn, struct sws_h2 *h2, struct sws_h2_out *out)
{
	ssize_t n = sws_transport_write(&conn->transport, out->iov, out->pieces, false);

	if (n < 0) {
		if (errno != EAGAIN)
			return FAILED;
		n = 0;
	}
	conn->sent += (uint64_t)n;
	if ((size_t)n == out->total) {
		h2->turn = h2->turn < TURN_MAX ? 2 * h2->turn : TURN_MAX;
		return out->full ? YIELD : flush(conn);
	}
	h2->turn = TURN_MIN;
	return keep_rest(h2, out, (size_t)n) ? cut_short(conn) : FAILED;
}

static enum progress
send_some(struct sws_conn *conn, struct sws_h2 *h2)
{
	struct sws_h2_out out;
	enum progress progress;

	progress = flush(conn);
	if (progress != SENT)
		return progress;
	if (h2->rest != NULL) {
		progress = send_rest(conn, h2);
		if (progress != SENT)
			return progress;
	}
	out.scratch = h2->core->scratch;
	out.used = out.piece_from = out.total = out.pieces = 0;
	out.full = false;
	if (!gather(h2, &out))
		progress = FAILED;
	else
		progress = out.total > 0 ? send_gathered(conn, h2, &out) : SENT;
	release_ended(h2);
	if (progress == SENT && h2->calm && !h2->told) {
		h2->told = true;
		nghttp2_session_terminate_session(h2->session, NGHTTP2_ENHANCE_YOUR_CALM);
		return YIELD;
	}
	return progress;
}

static void
wait_for_room(struct sws_conn *conn)
{
	int status = 0;

	if (conn->writable == 0)
		status = mely_fd_watch(&conn->color, conn->transport.fd,
		    MELY_FD_WRITE | MELY_FD_EDGE, &writable, conn, &conn->writable);
	if (status == 0)
		conn->state = SWS_CONN_BLOCKED;
	else
		sws_h2_close(conn);
}

void
sws_h2_send(struct sws_conn *conn)
{
	struct sws_core *core = conn->h2->core;
	uint64_t before = conn->sent;
	enum progress progress;

	if (!sws_pace_turn(conn, core, &sws_h2_write))
		return;
	progress = send_some(conn, conn->h2);
	sws_pace_charge(conn, core, conn->sent - before);
	switch (progress) {
	case YIELD:
		sws_conn_stage(conn, &sws_h2_write);
		return;
	case BLOCKED:
		wait_for_room(conn);
		return;
	case FAILED:
		sws_h2_close(conn);
		return;
	case SENT:
		break;
	}
	if (conn->writable != 0) {
		mely_watch_stop(conn->server->rt, conn->writable, NULL, NULL);
		conn->writable = 0;
	}
	sws_h2_continue(conn);
}

static void
write_fn(void *arg)
{
	struct sws_conn *conn = arg;

	SWS_DEBUG_ASSERT(mely_current_color() == &conn->color);
	SWS_ASSERT(conn->h2 != NULL && !conn->h2->doomed);
	sws_h2_enter(conn->h2, sws_core_here(conn->server));
	sws_h2_send(conn);
}

/* The client reads more. */
static void
writable_fn(void *arg)
{
	struct sws_conn *conn = arg;

	SWS_DEBUG_ASSERT(mely_current_color() == &conn->color);
	if (conn->state == SWS_CONN_BLOCKED)
		write_fn(conn);
}
