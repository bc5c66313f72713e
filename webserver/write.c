/* SPDX-License-Identifier: MIT */
/*
 * write.c: WriteResponse: sends the answers of a burst, in order, in as few system calls as
 * possible.
 *
 * Heads, with the current date, and small bodies are gathered in the core's scratch buffer; larger
 * bodies are sent from the page. When the client does not take everything, the burst records a
 * position: the answer, and how many of its bytes are sent. If that is inside its head, the burst
 * keeps the rest of the head; an answer that is not begun is gathered again, with a newer date.
 *
 * A body that is not in memory is sent from the descriptor that the head was built from. If the
 * file has become shorter, or is written to meanwhile (piece.h), the connection is closed; a body
 * is never padded.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/assertion.h"
#include "base/policy.h"
#include "conn.h"
#include "disk.h"
#include "ended.h"
#include "gather.h"
#include "pace.h"
#include "piece.h"
#include "stages.h"
#include "stream.h"

static void write_response_fn(void *arg);
static void writable_fn(void *arg);
static void file_warm_fn(void *arg);
static void stream_made_fn(void *arg);

struct mely_handler sws_write_response = SWS_WRITE_RESPONSE(write_response_fn);
static struct mely_handler file_warm = SWS_WRITE_RESPONSE(file_warm_fn);
static struct mely_handler stream_made = SWS_WRITE_RESPONSE(stream_made_fn);
static struct mely_handler writable = SWS_WRITE_RESPONSE(writable_fn);
const struct sws_helped sws_burst_helped = {&sws_page_built, &file_warm, &stream_made};

enum progress {
	SENT,
	BLOCKED,
	FAILED,
	YIELD,
	COLD,    /* the next bytes of a file are on disk only */
	MORE     /* the next bytes of a stream are still to be made */
};

/* ---- sending ------------------------------------------------------------------------------- */

static ssize_t
send_gathered(struct sws_conn *conn, struct gather *g, bool more, size_t room)
{
	/* The answers count as sent by the bytes that they announce. */
	SWS_DEBUG_ASSERT(g->total > 0 && bytes_of(g) == g->total);
	close_piece(g);
	if (room < g->total) {
		cut(g, room);
		more = false;
	}
	return sws_transport_write(&conn->transport, g->iov, g->pieces, more);
}

/* n bytes are sent: release the answers that are complete. One with a file remains. */
static void
advance(struct sws_burst *burst, size_t n, struct sws_core *core)
{
	n += burst->out_at;
	if (burst->rest != NULL && n >= burst->answers[burst->out].head_len)
		sws_burst_drop_rest(burst);
	while (n > 0) {
		struct sws_answer *a = &burst->answers[burst->out];

		SWS_ASSERT(burst->out < burst->count);
		if (n < a->len || a->fd != SWS_FD_NONE) {
			burst->out_at = (uint32_t)n;
			return;
		}
		n -= a->len;
		sws_burst_end_answer(burst, core);
	}
	burst->out_at = 0;
}

/* Keep the rest of the head that is partly sent: its text, with this date. False: no memory. */
static bool
keep_rest(struct sws_burst *burst, struct gather *g)
{
	const struct sws_answer *a = &burst->answers[burst->out];
	size_t skip = burst->out_at;

	if (skip == 0 || skip >= a->head_len || burst->rest != NULL)
		return true;
	g->used = 0;
	add_head(g, a);
	SWS_ASSERT(g->used == a->head_len);
	burst->rest = malloc(a->head_len - skip);
	if (burst->rest == NULL)
		return false;
	memcpy(burst->rest, g->scratch + skip, a->head_len - skip);
	burst->rest_at = (uint32_t)skip;
	return true;
}

/* How much of its file an answer sends next. */
static size_t
next_bytes(const struct sws_conn *conn, const struct sws_answer *a)
{
	uint64_t left = a->to - a->from;
	size_t most = sws_transport_event_max(&conn->transport);

	SWS_ASSERT(left > 0);
	return left < most ? (size_t)left : most;
}

/* Send the body of answer number out from its file. */
static enum progress
send_file(struct sws_conn *conn, struct sws_burst *burst, struct sws_core *core)
{
	struct sws_answer *a = &burst->answers[burst->out];
	uint64_t size = a->to;
	size_t budget;

	SWS_ASSERT(a->fd >= 0 && a->page->body_len == 0);
	SWS_ASSERT(burst->out_at == a->len && !(a->flags & (SWS_HEAD_ONLY | SWS_NOT_MODIFIED)));
	if (a->from < size && a->from >= burst->warm_until) {
		size_t next = next_bytes(conn, a);

		if (!sws_disk_is_cached(a->fd, a->from, next))
			return COLD;
		burst->warm_until = a->from + next;
	}
	budget = a->from < size ? (size_t)(burst->warm_until - a->from) : 0;
	if (budget > core->room)
		budget = core->room;
	while (a->from < size) {
		uint64_t left = size - a->from;
		ssize_t n;

		if (budget == 0)
			return YIELD;
		n = sws_file_send(&conn->transport, a->page, a->fd, a->from, size,
		    left < budget ? (size_t)left : budget, core->scratch);
		if (n < 0)
			return errno == EAGAIN ? BLOCKED : FAILED;
		if (n == 0)
			return FAILED; /* the file has become shorter */
		a->from += (uint64_t)n;
		a->sent += (uint64_t)n;
		conn->sent += (uint64_t)n;
		budget -= (size_t)n;
		core->room -= (size_t)n;
	}
	burst->warm_until = 0;
	sws_burst_end_answer(burst, core);
	burst->out_at = 0;
	return SENT;
}

/* Send the body of answer number out piece by piece, of which some may be in a file. */
static enum progress
send_stream(struct sws_conn *conn, struct sws_burst *burst, struct sws_core *core)
{
	struct sws_answer *a = &burst->answers[burst->out];
	const struct sws_stream_ops *ops = a->stream->ops;
	size_t most = sws_transport_event_max(&conn->transport);
	size_t budget = most < core->room ? most : core->room;
	enum sws_stream_step step;
	struct sws_piece piece;

	SWS_ASSERT(burst->out_at == a->len && !(a->flags & (SWS_HEAD_ONLY | SWS_NOT_MODIFIED)));
	while ((step = ops->next(a->stream, &piece)) == SWS_STREAM_PIECE) {
		size_t len = piece.len < budget ? (size_t)piece.len : budget;
		struct iovec iov = {(void *)piece.bytes, len};
		ssize_t n;

		if (budget == 0)
			return YIELD;
		if (piece.bytes == NULL && piece.at >= burst->warm_until) {
			if (!sws_disk_is_cached(piece.fd, piece.at, len))
				return COLD;
			burst->warm_until = piece.at + len;
		}
		if (piece.bytes != NULL)
			n = sws_transport_write(&conn->transport, &iov, 1, piece.more);
		else if (piece.copy)
			n = sws_file_copy(&conn->transport, piece.fd, piece.at, len, core->scratch,
			    piece.more);
		else
			n = sws_transport_write_file(&conn->transport, piece.fd, piece.at, len);
		if (n < 0)
			return errno == EAGAIN ? BLOCKED : FAILED;
		if (n == 0)
			return FAILED; /* the file has become shorter */
		ops->took(a->stream, (size_t)n);
		a->sent += (uint64_t)n;
		conn->sent += (uint64_t)n;
		budget -= (size_t)n;
		core->room -= (size_t)n;
		if (piece.bytes == NULL && (uint64_t)n == piece.len)
			burst->warm_until = 0;
	}
	if (step != SWS_STREAM_END)
		return step == SWS_STREAM_MORE ? MORE : FAILED;
	burst->warm_until = 0;
	sws_burst_end_answer(burst, core);
	burst->out_at = 0;
	return SENT;
}

/* Is the head of answer number out sent, and its body in no page? */
static inline bool
at_source(const struct sws_burst *burst)
{
	const struct sws_answer *a = &burst->answers[burst->out];

	/* A position in an answer is behind its end only if a body in a file follows. */
	SWS_DEBUG_ASSERT(burst->out_at == 0 || burst->out_at < a->len
	    || (burst->out_at == a->len && a->fd != SWS_FD_NONE));
	return a->fd != SWS_FD_NONE && burst->out_at > 0 && burst->out_at == a->len;
}

/* Send what the channel has held back, and count what it has sent. */
static enum progress
flush(struct sws_conn *conn)
{
	struct sws_channel *channel = conn->transport.channel;
	int status = channel->pending ? channel->ops->flush(channel) : 0;

	conn->sent = channel->sent;
	return status == 0 ? SENT : errno == EAGAIN ? BLOCKED : FAILED;
}

static enum progress
send_answers(struct sws_conn *conn, struct sws_burst *burst, struct sws_core *core)
{
	const struct sws_channel *channel = conn->transport.channel;
	uint64_t begin = SWS_UNLIKELY(channel != NULL) ? channel->sent : 0;

	/* Exactly one answer to each request. */
	SWS_DEBUG_ASSERT(burst->checked == burst->count);
	while (burst->out < burst->count) {
		if (SWS_UNLIKELY(channel != NULL)) {
			enum progress progress = flush(conn);

			if (progress != SENT)
				return progress;
			if (channel->sent - begin >= SWS_CHANNEL_EVENT_MAX)
				return YIELD;
		}
		const struct sws_answer *last;
		struct gather g;
		enum progress progress;
		ssize_t n;

		if (at_source(burst)) {
			progress = burst->answers[burst->out].fd == SWS_FD_STREAM
			    ? send_stream(conn, burst, core) : send_file(conn, burst, core);
			if (progress != SENT)
				return progress;
			continue;
		}
		if (core->room == 0)
			return YIELD;
		g.scratch = core->scratch;
		g.date = core->date;
		g.used = g.piece_from = g.total = g.pieces = 0;
		last = &burst->answers[gather(&g, burst) - 1];
		/* The kernel holds back what is to be followed by more. */
		n = send_gathered(conn, &g, last->fd != SWS_FD_NONE && last->from < last->to,
		    core->room);
		if (n < 0)
			return errno == EAGAIN ? BLOCKED : FAILED;
		conn->sent += (uint64_t)n;
		core->room -= (size_t)n;
		advance(burst, (size_t)n, core);
		/* After a short write the next one would fail with EAGAIN; but a channel also stops
		 * for the sake of other colors. */
		if ((size_t)n < g.total)
			return !keep_rest(burst, &g) ? FAILED
			    : core->room > 0 && (channel == NULL || channel->pending) ? BLOCKED
			    : YIELD;
	}
	SWS_DEBUG_ASSERT(burst->out_at == 0);
	return SWS_UNLIKELY(channel != NULL) ? flush(conn) : SENT;
}

/* ---- WriteResponse ------------------------------------------------------------------------- */

void
sws_conn_wait_for_room(struct sws_conn *conn, struct sws_core *core)
{
	int status = 0;

	SWS_ASSERT(sws_transport_is_pending(&conn->transport)
	    || conn->burst->out < conn->burst->count);
	SWS_ASSERT(conn->state == SWS_CONN_BUSY || conn->writable != 0);
	if (conn->writable == 0) {
		conn->blocked_ns = mely_now_ns();
		conn->sent_before = conn->sent;
		status = mely_fd_watch(&conn->color, conn->transport.fd,
		    MELY_FD_WRITE | MELY_FD_EDGE, &writable, conn, &conn->writable);
		/* The deadline of a blocked connection may be earlier than the timer's time. */
		mely_timer_again(core->server->rt, conn->timer, UINT64_C(1000000000),
		    UINT64_C(1000000000));
	}
	if (status == 0)
		conn->state = SWS_CONN_BLOCKED;
	else
		sws_conn_close(conn);
}

/* Have a helper read the next bytes of the file. In any case they are sent next, cached or not. */
static bool
warm_file(const struct sws_conn *conn, struct sws_burst *burst)
{
	size_t most = sws_transport_event_max(&conn->transport);
	struct sws_answer *a = &burst->answers[burst->out];
	struct sws_piece piece = {.fd = a->fd, .at = a->from, .len = a->to - a->from};

	if (a->fd == SWS_FD_STREAM)
		(void)a->stream->ops->next(a->stream, &piece);
	if (piece.len > most)
		piece.len = most;
	burst->warm_until = piece.at + piece.len;
	return sws_disk_warm(&burst->asker, piece.fd, piece.at, (size_t)piece.len);
}

/* The stream of answer number out. */
static struct sws_stream *
stream_of(const struct sws_conn *conn)
{
	const struct sws_answer *a = &conn->burst->answers[conn->burst->out];

	SWS_ASSERT(a->fd == SWS_FD_STREAM);
	return a->stream;
}

static void
write_response_fn(void *arg)
{
	struct sws_conn *conn = arg;
	struct sws_core *core = sws_core_here(conn->server);
	enum progress progress;

	SWS_DEBUG_ASSERT(mely_current_color() == &conn->color);
	SWS_DEBUG_ASSERT(conn->state == SWS_CONN_BUSY || conn->state == SWS_CONN_BLOCKED);
	sws_burst_assert(conn->burst);
	/* The client may have been slow to read, and the core idle since. */
	sws_core_tick(core);
	if (!sws_pace_begin(conn, core))
		return;
	progress = send_answers(conn, conn->burst, core);
	sws_pace_end(conn, core);
	switch (progress) {
	case BLOCKED:
		sws_conn_wait_for_room(conn, core);
		return;
	case FAILED:
		sws_conn_close(conn);
		return;
	case COLD:
		conn->state = SWS_CONN_BUSY;
		if (!warm_file(conn, conn->burst))
			sws_conn_stage(conn, &sws_write_response); /* and wait here */
		return;
	case MORE:
		conn->state = SWS_CONN_BUSY;
		if (!sws_disk_more(&conn->burst->asker, stream_of(conn))) {
			stream_of(conn)->ops->more(stream_of(conn)); /* and wait here */
			sws_conn_stage(conn, &sws_write_response);
		}
		return;
	case YIELD:
		sws_conn_stage(conn, &sws_write_response);
		return;
	case SENT:
		break;
	}
	if (conn->writable != 0) {
		mely_watch_stop(conn->server->rt, conn->writable, NULL, NULL);
		conn->writable = 0;
		conn->since_ns = core->now_ns;
	}
	if (conn->closing)
		sws_conn_finish(conn);
	else
		sws_conn_continue(conn, core);
}

/* The client reads more. While a stage is queued, an edge adds no information. */
static void
writable_fn(void *arg)
{
	struct sws_conn *conn = arg;

	SWS_DEBUG_ASSERT(mely_current_color() == &conn->color);
	SWS_DEBUG_ASSERT(conn->writable != 0);
	sws_conn_assert(conn);
	if (conn->state != SWS_CONN_BLOCKED)
		return;
	/* The handshake may be over but for bytes that were held back: there is no burst. */
	if (conn->burst == NULL || sws_transport_is_opening(&conn->transport))
		sws_conn_stage(conn, &sws_tls_handshake);
	else
		write_response_fn(conn);
}

/* A helper has read the next bytes of a file. */
static void
file_warm_fn(void *arg)
{
	struct sws_asker *asker = arg;
	struct sws_conn *conn = asker->conn;
	struct sws_page *page;
	int fd;

	(void)sws_disk_finish(asker, &page, &fd);
	SWS_ASSERT(page == NULL && conn->state == SWS_CONN_BUSY && conn->burst->warm_until > 0);
	write_response_fn(conn);
}

/* A helper has made more of a stream. */
static void
stream_made_fn(void *arg)
{
	struct sws_asker *asker = arg;
	struct sws_conn *conn = asker->conn;
	struct sws_page *page;
	int fd;

	(void)sws_disk_finish(asker, &page, &fd);
	SWS_ASSERT(page == NULL && fd < 0 && conn->state == SWS_CONN_BUSY);
	write_response_fn(conn);
}
