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
#include "piece.h"
#include "stages.h"
#include "stream.h"

/* Bodies up to this size are copied. */
#define COPY_MAX 4096
#define PIECES_MAX 64

static void write_response_fn(void *arg);
static void writable_fn(void *arg);
static void file_warm_fn(void *arg);
static void stream_made_fn(void *arg);

struct mely_handler sws_write_response = SWS_WRITE_RESPONSE(write_response_fn);
static struct mely_handler file_warm = SWS_WRITE_RESPONSE(file_warm_fn);
static struct mely_handler stream_made = SWS_WRITE_RESPONSE(stream_made_fn);
static struct mely_handler writable = SWS_WRITE_RESPONSE(writable_fn);
const struct sws_helped sws_burst_helped = {&sws_page_built, &file_warm, &stream_made};

/* The data of one call of send or sendmsg. */
struct gather {
	char *scratch;       /* of the core */
	const char *date;
	size_t used;         /* bytes of scratch */
	size_t piece_from;   /* where the open piece of scratch begins */
	size_t total;
	size_t pieces;
	struct iovec iov[PIECES_MAX + 2];
};

enum progress {
	SENT,
	BLOCKED,
	FAILED,
	YIELD,
	COLD,    /* the next bytes of a file are on disk only */
	MORE     /* the next bytes of a stream are still to be made */
};

/* ---- gathering ------------------------------------------------------------------------------ */

static inline void
add(struct gather *g, const char *bytes, size_t len)
{
	SWS_DEBUG_ASSERT(len <= SWS_SCRATCH - g->used);
	memcpy(g->scratch + g->used, bytes, len);
	g->used += len;
}

static void
add_literal(struct gather *g, const char *text)
{
	add(g, text, strlen(text));
}

/* The head of a 206: that of the page with another length, and the range. */
static void
add_partial_head(struct gather *g, const struct sws_answer *a)
{
	const struct sws_page *page = a->page;
	size_t date_end = (size_t)page->date_at + HTTP_DATE_LEN;
	char range[128];

	SWS_ASSERT(page->length_at > date_end && a->from < a->to && a->to <= page->file_size);
	add_literal(g, "HTTP/1.1 206 Partial Content\r\nDate: ");
	add(g, g->date, HTTP_DATE_LEN);
	add(g, page->head + date_end, page->length_at - date_end);
	snprintf(range, sizeof range, "Content-Range: bytes %llu-%llu/%llu\r\n"
	    "Content-Length: %llu\r\n", (unsigned long long)a->from,
	    (unsigned long long)(a->to - 1), (unsigned long long)page->file_size,
	    (unsigned long long)(a->to - a->from));
	add_literal(g, range);
	add(g, page->head + page->validators_at, page->head_len - page->validators_at);
}

/* Add the head of an answer to scratch. */
static inline void
add_head(struct gather *g, const struct sws_answer *a)
{
	const struct sws_page *page = a->page;
	size_t from = g->used;

	if (a->flags & SWS_NOT_MODIFIED) {
		SWS_ASSERT(page->validators_at > 0 && page->validators_at < page->head_len);
		add_literal(g, "HTTP/1.1 304 Not Modified\r\nDate: ");
		add(g, g->date, HTTP_DATE_LEN);
		add_literal(g, "\r\nServer: sws\r\n");
		add(g, page->head + page->validators_at, page->head_len - page->validators_at);
	} else if (a->flags & SWS_PARTIAL) {
		add_partial_head(g, a);
	} else {
		SWS_DEBUG_ASSERT((size_t)page->date_at + HTTP_DATE_LEN < page->head_len);
		add(g, page->head, page->head_len);
		memcpy(g->scratch + from + page->date_at, g->date, HTTP_DATE_LEN);
	}
	if (a->flags & (SWS_SAY_CLOSE | SWS_SAY_KEEP)) {
		/* The field goes before the empty line. */
		SWS_DEBUG_ASSERT(memcmp(g->scratch + g->used - 4, "\r\n\r\n", 4) == 0);
		g->used -= 2;
		add_literal(g, a->flags & SWS_SAY_CLOSE ? "Connection: close\r\n\r\n"
		    : "Connection: keep-alive\r\n\r\n");
	}
}

static void
close_piece(struct gather *g)
{
	SWS_ASSERT(g->pieces < PIECES_MAX);
	SWS_DEBUG_ASSERT(g->piece_from <= g->used && g->used <= SWS_SCRATCH);
	if (g->used > g->piece_from) {
		g->iov[g->pieces].iov_base = g->scratch + g->piece_from;
		g->iov[g->pieces++].iov_len = g->used - g->piece_from;
	}
	g->piece_from = g->used;
}

/* Bytes of the body that follow the head from memory. */
static inline size_t
body_len_of(const struct sws_answer *a)
{
	return a->fd != SWS_FD_NONE || (a->flags & (SWS_HEAD_ONLY | SWS_NOT_MODIFIED)) ? 0
	    : (size_t)(a->to - a->from);
}

static inline void
add_body(struct gather *g, const char *body, size_t body_len)
{
	if (body_len <= COPY_MAX) {
		add(g, body, body_len);
	} else {
		close_piece(g);
		g->iov[g->pieces].iov_base = (void *)body;
		g->iov[g->pieces++].iov_len = body_len;
	}
	SWS_ASSERT(g->used <= SWS_SCRATCH);
}

static inline void
add_answer(struct gather *g, struct sws_answer *a)
{
	size_t from = g->used;

	add_head(g, a);
	a->head_len = (uint32_t)(g->used - from);
	a->len = a->head_len + (uint32_t)body_len_of(a);
	g->total += a->len;
	add_body(g, a->page->body + a->from, body_len_of(a));
}

/* Add what is left of the answer that is partly sent. */
static void
add_rest(struct gather *g, const struct sws_burst *burst, const struct sws_answer *a)
{
	size_t skip = burst->out_at, body_skip = 0;

	SWS_ASSERT(skip < a->len && (skip < a->head_len) == (burst->rest != NULL));
	if (skip < a->head_len)
		add(g, burst->rest + (skip - burst->rest_at), a->head_len - skip);
	else
		body_skip = skip - a->head_len;
	g->total += a->len - skip;
	add_body(g, a->page->body + a->from + body_skip, body_len_of(a) - body_skip);
}

/* Is there room for one more answer? The first one always fits. */
static inline bool
has_room(const struct gather *g, const struct sws_answer *a)
{
	return SWS_SCRATCH - g->used >= (size_t)a->page->head_len + 256 + COPY_MAX
	    && g->pieces < PIECES_MAX - 2;
}

/*
 * Gather the answers for one call: from the first unsent one to the end of the burst, to the end
 * of the room, or to the first whose body is in a file. Returns the number after the last.
 */
static unsigned
gather(struct gather *g, struct sws_burst *burst)
{
	unsigned i = burst->out;

	while (i < burst->count && has_room(g, &burst->answers[i])) {
		struct sws_answer *a = &burst->answers[i++];

		if (g->total == 0 && burst->out_at > 0)
			add_rest(g, burst, a);
		else
			add_answer(g, a);
		if (a->fd != SWS_FD_NONE)
			break;
	}
	SWS_ASSERT(i > burst->out);
	return i;
}

/* ---- sending ------------------------------------------------------------------------------- */

/* The bytes of all pieces, the open one included. */
static size_t
bytes_of(const struct gather *g)
{
	size_t n = g->used - g->piece_from;

	for (size_t i = 0; i < g->pieces; i++)
		n += g->iov[i].iov_len;
	return n;
}

static ssize_t
send_gathered(struct sws_conn *conn, struct gather *g, bool more)
{
	/* The answers count as sent by the bytes that they announce. */
	SWS_DEBUG_ASSERT(g->total > 0 && bytes_of(g) == g->total);
	close_piece(g);
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
	size_t budget = sws_transport_event_max(&conn->transport);
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
		g.scratch = core->scratch;
		g.date = core->date;
		g.used = g.piece_from = g.total = g.pieces = 0;
		last = &burst->answers[gather(&g, burst) - 1];
		/* The kernel holds back what is to be followed by more. */
		n = send_gathered(conn, &g, last->fd != SWS_FD_NONE && last->from < last->to);
		if (n < 0)
			return errno == EAGAIN ? BLOCKED : FAILED;
		conn->sent += (uint64_t)n;
		advance(burst, (size_t)n, core);
		/* After a short write the next one would fail with EAGAIN; but a channel also stops
		 * for the sake of other colors. */
		if ((size_t)n < g.total)
			return !keep_rest(burst, &g) ? FAILED
			    : channel == NULL || channel->pending ? BLOCKED : YIELD;
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

	SWS_DEBUG_ASSERT(mely_current_color() == &conn->color);
	SWS_DEBUG_ASSERT(conn->state == SWS_CONN_BUSY || conn->state == SWS_CONN_BLOCKED);
	sws_burst_assert(conn->burst);
	/* The client may have been slow to read, and the core idle since. */
	sws_core_tick(core);
	switch (send_answers(conn, conn->burst, core)) {
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
	if (sws_transport_is_opening(&conn->transport))
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
