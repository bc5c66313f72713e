/* SPDX-License-Identifier: MIT */
/*
 * h2_answer.c: from an answer to the fields and the body of a stream.
 *
 * The fields are those of the page (site/fields.h), which holds their bytes; what differs from
 * answer to answer is copied by nghttp2. A body is sent as DATA frames of up to 16 KB, from the
 * page, from a file, or piece by piece (stream.h). A stream that waits for a disk is deferred, and
 * the others go on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assertion.h"
#include "base/policy.h"
#include "site/fields.h"
#include "disk.h"
#include "ended.h"
#include "h2_session.h"
#include "piece.h"
#include "stages.h"
#include "stream.h"

/* Fields that are kept on the stack; more than a page usually has. */
/* A DATA frame of this length pays for frames of the client. */
#define PAYING_BYTES 1024
#define FIELDS_HERE 32
/* Besides those of the page: status, date, range and length. */
#define FIELDS_MORE 4
/* Bytes of a file that are looked for, and read ahead, at a time. */
#define WARM_BYTES (1 << 20)
/* Larger bodies take turns with others, unless the client says otherwise. */
#define SHARE_MIN 65536

static void built_fn(void *arg);
static void goes_on_fn(void *arg);

static struct mely_handler built = SWS_READ_FILE(built_fn);
static struct mely_handler goes_on = SWS_H2_WRITE(goes_on_fn);

const struct sws_helped sws_h2_helped = {&built, &goes_on, &goes_on};

/* ---- fields -------------------------------------------------------------------------------- */

#define NO_COPY (NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE)

struct fields {
	nghttp2_nv *nv;
	size_t count, room;
};

static inline void
add(struct fields *f, const char *name, size_t name_len, const char *value, size_t value_len,
    uint8_t flags)
{
	SWS_ASSERT(f->count < f->room);
	f->nv[f->count++] = (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, name_len, value_len,
		flags};
}

static void
add_text(struct fields *f, const char *name, const char *value, size_t value_len)
{
	add(f, name, strlen(name), value, value_len, NGHTTP2_NV_FLAG_NO_COPY_NAME);
}

/* The lines of the page from `from` on, without that at `without`. */
static inline void
add_lines(struct fields *f, const struct sws_page *page, unsigned from, unsigned without)
{
	for (unsigned i = 0; i < page->fields->count; i++) {
		const struct sws_field *line = &page->fields->field[i];

		if (line->at >= from && line->at != without)
			add(f, line->name, line->name_len, line->value, line->value_len, NO_COPY);
	}
}

static void
add_range(struct fields *f, const struct sws_answer *a, char text[96], char length[24])
{
	int n = snprintf(text, 96, "bytes %llu-%llu/%llu", (unsigned long long)a->from,
	    (unsigned long long)(a->to - 1), (unsigned long long)a->page->file_size);

	add_text(f, "content-range", text, (size_t)n);
	n = snprintf(length, 24, "%llu", (unsigned long long)(a->to - a->from));
	add_text(f, "content-length", length, (size_t)n);
}

static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *buffer, size_t len,
    uint32_t *flags, nghttp2_data_source *source, void *user_data);

static bool
has_body(const struct sws_answer *a)
{
	return !(a->flags & (SWS_HEAD_ONLY | SWS_NOT_MODIFIED))
	    && (a->fd == SWS_FD_STREAM || a->from < a->to);
}

static int
submit(struct sws_h2 *h2, struct sws_h2_stream *stream, struct fields *f)
{
	const struct sws_answer *a = &stream->answer;
	nghttp2_data_provider body = {.source.ptr = stream, .read_callback = read_body};
	unsigned number = sws_answer_status(a);
	const char status[3] = {(char)('0' + number / 100), (char)('0' + number / 10 % 10),
		(char)('0' + number % 10)};
	char range[96], length[24];

	add_text(f, ":status", status, sizeof status);
	add_text(f, "date", h2->core->date, HTTP_DATE_LEN);
	if (a->flags & SWS_NOT_MODIFIED) {
		add_text(f, "server", "sws", 3);
		add_lines(f, a->page, a->page->validators_at, 0);
	} else if (a->flags & SWS_PARTIAL) {
		add_range(f, a, range, length);
		add_lines(f, a->page, 0, a->page->length_at);
	} else {
		add_lines(f, a->page, 0, 0);
	}
	return nghttp2_submit_response(h2->session, stream->id, f->nv, f->count,
	    has_body(a) ? &body : NULL);
}

void
sws_h2_answer(struct sws_h2 *h2, struct sws_h2_stream *stream)
{
	const struct sws_answer *a = &stream->answer;
	nghttp2_nv here[FIELDS_HERE];
	struct fields f = {here, 0, FIELDS_HERE};
	int status = NGHTTP2_ERR_NOMEM;

	SWS_ASSERT((stream->flags & (SWS_H2_ANSWERED | SWS_H2_OVER)) == SWS_H2_ANSWERED);
	if (h2->unsent++ == 0) {
		h2->conn->blocked_ns = h2->core->now_ns;
		h2->taken_before = h2->taken;
	}
	if (a->page->fields->count + FIELDS_MORE > FIELDS_HERE) {
		f.room = a->page->fields->count + FIELDS_MORE;
		f.nv = malloc(f.room * sizeof f.nv[0]);
	}
	if (f.nv != NULL)
		status = submit(h2, stream, &f);
	if (f.nv != here)
		free(f.nv);
	if (status == 0 && a->to - a->from > SHARE_MIN && !(stream->flags & SWS_H2_SIGNAL)) {
		nghttp2_extpri in_turn = {NGHTTP2_EXTPRI_DEFAULT_URGENCY, 1};

		status = nghttp2_session_change_extpri_stream_priority(h2->session, stream->id,
		    &in_turn, 0);
	}
	if (status != 0)
		nghttp2_submit_rst_stream(h2->session, NGHTTP2_FLAG_NONE, stream->id,
		    NGHTTP2_INTERNAL_ERROR);
}

/* ---- bodies -------------------------------------------------------------------------------- */

/* What comes next of a body. */
static enum sws_stream_step
next_piece(const struct sws_answer *a, struct sws_piece *piece)
{
	if (a->fd == SWS_FD_STREAM)
		return a->stream->ops->next(a->stream, piece);
	if (a->from == a->to)
		return SWS_STREAM_END;
	*piece = (struct sws_piece){.bytes = a->fd >= 0 ? NULL : a->page->body + a->from,
		.fd = a->fd, .at = a->from, .len = a->to - a->from};
	return SWS_STREAM_PIECE;
}

/* Is the next part of a piece in memory? False: a helper reads it. */
static bool
is_warm(struct sws_h2 *h2, struct sws_h2_stream *stream, const struct sws_piece *piece)
{
	size_t len = piece->len < WARM_BYTES ? (size_t)piece->len : WARM_BYTES;

	if (piece->bytes != NULL || piece->at < stream->warm_until)
		return true;
	stream->warm_until = piece->at + len;
	if (sws_disk_is_cached(piece->fd, piece->at, len)
	    || !sws_disk_warm(&stream->asker, piece->fd, piece->at, len))
		return true;
	h2->helpers++;
	return false;
}

/* A helper makes the next piece: true. */
static bool
is_to_be_made(struct sws_h2 *h2, struct sws_h2_stream *stream)
{
	struct sws_stream *of = stream->answer.stream;

	if (sws_disk_more(&stream->asker, of)) {
		h2->helpers++;
		return true;
	}
	of->ops->more(of);
	return false;
}

static ssize_t
read_body(nghttp2_session *session, int32_t id, uint8_t *buffer, size_t len, uint32_t *flags,
    nghttp2_data_source *source, void *user_data)
{
	struct sws_h2 *h2 = user_data;
	struct sws_h2_stream *stream = source->ptr;
	enum sws_stream_step step;
	struct sws_piece piece;

	(void)session, (void)buffer;
	SWS_ASSERT(stream->id == id && stream->asker.job == NULL);
	while ((step = next_piece(&stream->answer, &piece)) == SWS_STREAM_MORE)
		if (is_to_be_made(h2, stream))
			return NGHTTP2_ERR_DEFERRED;
	if (step == SWS_STREAM_FAILED)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	if (step == SWS_STREAM_END) {
		*flags |= NGHTTP2_DATA_FLAG_EOF;
		return 0;
	}
	if (!is_warm(h2, stream, &piece))
		return NGHTTP2_ERR_DEFERRED;
	*flags |= NGHTTP2_DATA_FLAG_NO_COPY;
	if (piece.len > len)
		return (ssize_t)len;
	if (stream->answer.fd != SWS_FD_STREAM)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)piece.len;
}

static void
close_piece(struct sws_h2_out *out)
{
	if (out->used > out->piece_from)
		out->iov[out->pieces++] = (struct iovec){out->scratch + out->piece_from,
			out->used - out->piece_from};
	out->piece_from = out->used;
}

/* Is the file still the one of the page? An answer is of one version, or it is cut off. */
static bool
is_same_file(const struct sws_answer *a)
{
	return a->fd == SWS_FD_STREAM || sws_file_is_same(a->page, a->fd);
}

/* Put the head of a frame and len bytes of a piece where they are sent from. */
static bool
put(struct sws_h2_out *out, const struct sws_answer *a, const struct sws_piece *piece,
    const uint8_t *frame_head, size_t len)
{
	char *to = out->scratch + out->used;

	if (piece->bytes == NULL && (pread(piece->fd, to + 9, len, (off_t)piece->at) != (ssize_t)len
	    || !is_same_file(a)))
		return false;
	memcpy(to, frame_head, 9);
	out->used += 9;
	out->total += 9 + len;
	/* A stream may make its next piece where this one is, before this one is sent. */
	if (piece->bytes == NULL || len <= SWS_H2_COPY_MAX || a->fd == SWS_FD_STREAM) {
		if (piece->bytes != NULL)
			memcpy(to + 9, piece->bytes, len);
		out->used += len;
		return true;
	}
	close_piece(out);
	out->iov[out->pieces++] = (struct iovec){(void *)piece->bytes, len};
	return true;
}

/* All of the answer is gathered. */
static void
done(struct sws_h2 *h2, struct sws_h2_stream *stream)
{
	SWS_ASSERT(!(stream->flags & SWS_H2_DONE) && h2->unsent > 0);
	stream->flags |= SWS_H2_DONE;
	h2->unsent--;
}

/* nghttp2 wants a frame to be sent: gather it. */
static int
send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *frame_head, size_t len,
    nghttp2_data_source *source, void *user_data)
{
	struct sws_h2 *h2 = user_data;
	struct sws_h2_stream *stream = source->ptr;
	struct sws_answer *a = &stream->answer;
	struct sws_h2_out *out = h2->out;
	struct sws_piece piece;

	(void)session;
	if (out->total >= h2->turn || SWS_SCRATCH - out->used < SWS_H2_FRAME_MAX
	    || out->pieces >= SWS_H2_PIECES - 2) {
		out->full = true;
		return NGHTTP2_ERR_WOULDBLOCK;
	}
	if (next_piece(a, &piece) != SWS_STREAM_PIECE || piece.len < len
	    || !put(out, a, &piece, frame_head, len))
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	if (a->fd == SWS_FD_STREAM) {
		a->stream->ops->took(a->stream, len);
		/* The next piece may be anywhere in its file. */
		if (len == piece.len)
			stream->warm_until = 0;
	} else {
		a->from += len;
	}
	stream->body_sent += len;
	h2->taken += len;
	if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
		done(h2, stream);
	return 0;
}

/* ---- the end of a helper ------------------------------------------------------------------- */

/* A helper is done with a stream. False: the client does not want it any more. */
static bool
is_wanted(struct sws_h2 *h2, struct sws_h2_stream *stream)
{
	SWS_ASSERT(mely_current_color() == &h2->conn->color && h2->helpers > 0);
	h2->helpers--;
	if (!(stream->flags & SWS_H2_OVER) && !h2->doomed)
		return true;
	if (stream->flags & SWS_H2_OVER)
		sws_h2_stream_release(h2, stream, h2->core->number);
	if (h2->doomed)
		sws_h2_close(h2->conn);
	return false;
}

/* What is to be sent is sent now, or after what is to be sent already. */
static void
send_later(struct sws_conn *conn)
{
	if (conn->state == SWS_CONN_IDLE)
		sws_conn_stage(conn, &sws_h2_write);
}

/* A helper has built the page of a stream. */
static void
built_fn(void *arg)
{
	struct sws_h2_stream *stream = arg;
	struct sws_conn *conn = stream->asker.conn;
	struct sws_h2 *h2 = conn->h2;
	int status;

	sws_h2_enter(h2, sws_core_here(conn->server));
	if (stream->flags & SWS_H2_OVER || h2->doomed || stream->head == NULL) {
		struct sws_stream *listing = sws_disk_begun(&stream->asker);

		if (listing != NULL) {
			listing->ops->free(listing, h2->core->number);
		} else if (sws_disk_finish(&stream->asker, &stream->answer.page,
		    &stream->answer.fd) == 0) {
			stream->answer.entry = NULL;
			sws_answer_release(&stream->answer, h2->core->number);
		}
		if (!is_wanted(h2, stream))
			return;
		status = -503;
	} else {
		status = sws_check_built(&stream->asker, h2->core, &stream->request, stream->head,
		    &stream->answer);
		if (status == SWS_DISK_AWAY)
			return;
		h2->helpers--;
	}
	/* Without memory for its head, it is not known which site it was for. */
	if (stream->head == NULL)
		memset(&stream->request, 0, sizeof stream->request);
	if (status < 0)
		sws_check_refuse(h2->core, &stream->request, stream->head != NULL ? stream->head
		    : "", -status, &stream->answer);
	stream->flags |= SWS_H2_ANSWERED;
	sws_h2_answer(h2, stream);
	send_later(conn);
}

/* A helper has read bytes of a file, or made more of a stream. */
static void
goes_on_fn(void *arg)
{
	struct sws_h2_stream *stream = arg;
	struct sws_conn *conn = stream->asker.conn;
	struct sws_page *page;
	int fd;

	sws_h2_enter(conn->h2, sws_core_here(conn->server));
	(void)sws_disk_finish(&stream->asker, &page, &fd);
	if (!is_wanted(conn->h2, stream))
		return;
	nghttp2_session_resume_data(conn->h2->session, stream->id);
	send_later(conn);
}

/* ---- the end of a stream ------------------------------------------------------------------- */

static void
end_answer(struct sws_h2 *h2, struct sws_h2_stream *stream, int core)
{
	struct sws_end end = {.conn = h2->conn, .req = &stream->request, .head = stream->head,
		.head_room = stream->head_len, .protocol = "HTTP/2.0", .since_ns = stream->since_ns,
		.head_sent = stream->head_sent, .body_sent = stream->body_sent,
		.complete = stream->flags & SWS_H2_DONE};

	if (core >= 0)
		sws_answer_end(h2->core, &stream->answer, &end);
	else
		sws_answer_release(&stream->answer, core);
}

void
sws_h2_stream_release(struct sws_h2 *h2, struct sws_h2_stream *stream, int core)
{
	struct sws_core *here = h2->core;

	SWS_ASSERT(stream->asker.job == NULL);
	if (stream->prev != NULL)
		stream->prev->next = stream->next;
	else if (h2->streams == stream)
		h2->streams = stream->next;
	if (stream->next != NULL)
		stream->next->prev = stream->prev;
	if (stream->flags & SWS_H2_ANSWERED)
		end_answer(h2, stream, core);
	if (stream->head != stream->here)
		free(stream->head);
	if (core < 0 || here->streams_count == SWS_H2_SPARES) {
		free(stream);
		return;
	}
	stream->next = here->streams;
	here->streams = stream;
	here->streams_count++;
	SWS_LOCAL_GIVE(stream);
}

/* nghttp2 is done with a stream. The write at hand may still send bytes of its page. */
static int
on_stream_close(nghttp2_session *session, int32_t id, uint32_t error, void *user_data)
{
	struct sws_h2 *h2 = user_data;
	struct sws_h2_stream *stream = nghttp2_session_get_stream_user_data(session, id);

	(void)error;
	if (h2->head.id == id) {
		sws_h2_head_drop(&h2->head);
		h2->conn->head_ns = 0;
	}
	h2->conn->since_ns = h2->core->now_ns;
	if (stream == NULL)
		return 0;
	if ((stream->flags & (SWS_H2_ANSWERED | SWS_H2_DONE)) == SWS_H2_ANSWERED)
		h2->unsent--;
	stream->flags |= SWS_H2_OVER;
	if (stream->asker.job != NULL)
		return 0;
	if (h2->out != NULL) {
		/* Out of the list of the open ones, into that of those that have ended. */
		if (stream->prev != NULL)
			stream->prev->next = stream->next;
		else
			h2->streams = stream->next;
		if (stream->next != NULL)
			stream->next->prev = stream->prev;
		stream->prev = NULL;
		stream->next = h2->ended;
		h2->ended = stream;
	} else {
		sws_h2_stream_release(h2, stream, h2->core->number);
	}
	return 0;
}

static int
on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *user_data)
{
	struct sws_h2 *h2 = user_data;
	struct sws_h2_stream *stream;

	if (frame->hd.type == NGHTTP2_HEADERS)
		h2->taken += frame->hd.length;
	/* Crumbs, for which a client opens its window by a few bytes, pay for nothing. */
	if (frame->hd.type == NGHTTP2_DATA && frame->hd.length >= PAYING_BYTES)
		h2->paid += 2;
	else if (frame->hd.type == NGHTTP2_RST_STREAM
	    && frame->rst_stream.error_code != NGHTTP2_NO_ERROR && !sws_h2_may_reset(h2))
		h2->calm = true;
	if (frame->hd.type == NGHTTP2_RST_STREAM)
		h2->has_reset = true;
	/* Of a body with bytes send_data knows. */
	if (frame->hd.type != NGHTTP2_HEADERS
	    && (frame->hd.type != NGHTTP2_DATA || frame->hd.length > 0))
		return 0;
	stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
	if (stream == NULL)
		return 0;
	stream->head_sent += frame->hd.length;
	if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
		done(h2, stream);
	return 0;
}

void
sws_h2_answer_callbacks(nghttp2_session_callbacks *callbacks)
{
	nghttp2_session_callbacks_set_send_data_callback(callbacks, send_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
	nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
}
