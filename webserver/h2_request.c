/* SPDX-License-Identifier: MIT */
/*
 * h2_request.c: from the fields of a stream to a request.
 *
 * nghttp2 checks what RFC 9113, 8.2 and 8.3, say of fields, and resets a stream that breaks it.
 * What is left is written as the head of an HTTP/1.1 request into the burst and parsed as such: so
 * the rules for targets, hosts and lengths are the same for both, and so is all that follows.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/assertion.h"
#include "http/parse.h"
#include "disk.h"
#include "h2_session.h"
#include "stages.h"

/* Largest list of fields, as SETTINGS counts it; larger ones get 431, and four times this the end
 * of the connection. */
#define LIST_MAX HTTP_HEAD_MAX
#define LIST_FATAL (4 * LIST_MAX)
/* What the list counts for a field besides its bytes. */
#define FIELD_EXTRA 32

/* ---- gathering ----------------------------------------------------------------------------- */

static void
add(struct sws_h2 *h2, const void *bytes, size_t len)
{
	struct sws_burst *burst = h2->conn->burst;

	if (len > HTTP_HEAD_MAX - (size_t)burst->in_len) {
		h2->head.too_large = true;
		return;
	}
	memcpy(burst->in + burst->in_len, bytes, len);
	burst->in_len = (uint16_t)(burst->in_len + len);
}

static void
add_text(struct sws_h2 *h2, const char *text)
{
	add(h2, text, strlen(text));
}

static void
add_buffer(struct sws_h2 *h2, nghttp2_rcbuf *buffer)
{
	nghttp2_vec v = nghttp2_rcbuf_get_buf(buffer);

	add(h2, v.base, v.len);
}

/* All pseudo-fields are there: write the request line, and the host. */
static void
begin_head(struct sws_h2 *h2)
{
	struct sws_h2_head *head = &h2->head;

	if (head->begun)
		return;
	head->begun = true;
	add(h2, head->method, head->method_len);
	add_text(h2, " ");
	/* CONNECT has an authority in place of a path. */
	if (head->path != NULL || head->authority != NULL)
		add_buffer(h2, head->path != NULL ? head->path : head->authority);
	add_text(h2, " HTTP/1.1\r\n");
	if (head->authority != NULL) {
		add_text(h2, "host: ");
		add_buffer(h2, head->authority);
		add_text(h2, "\r\n");
	}
}

static void
keep(nghttp2_rcbuf **to, nghttp2_rcbuf *value)
{
	/* nghttp2 refuses a second one. */
	SWS_ASSERT(*to == NULL);
	nghttp2_rcbuf_incref(value);
	*to = value;
}

static void
pseudo_field(struct sws_h2_head *head, const nghttp2_vec *name, nghttp2_rcbuf *value)
{
	nghttp2_vec v = nghttp2_rcbuf_get_buf(value);

	if (name->len == 5 && memcmp(name->base, ":path", 5) == 0) {
		keep(&head->path, value);
	} else if (name->len == 10 && memcmp(name->base, ":authority", 10) == 0) {
		keep(&head->authority, value);
	} else if (name->len == 7 && memcmp(name->base, ":scheme", 7) == 0) {
		head->secure = v.len == 5 && strncasecmp((const char *)v.base, "https", 5) == 0;
	} else if (name->len == 7 && memcmp(name->base, ":method", 7) == 0) {
		/* A longer one is as unknown as its beginning. */
		head->method_len = (uint8_t)(v.len < sizeof head->method ? v.len
		    : sizeof head->method);
		memcpy(head->method, v.base, head->method_len);
	}
}

/* May the request have this Host beside its authority? RFC 9113, 8.3.1: only the same one. */
static bool
is_same_host(const struct sws_h2_head *head, const nghttp2_vec *host)
{
	nghttp2_vec v = nghttp2_rcbuf_get_buf(head->authority);

	return v.len == host->len
	    && strncasecmp((const char *)v.base, (const char *)host->base, v.len) == 0;
}

void
sws_h2_head_drop(struct sws_h2_head *head)
{
	if (head->path != NULL)
		nghttp2_rcbuf_decref(head->path);
	if (head->authority != NULL)
		nghttp2_rcbuf_decref(head->authority);
	memset(head, 0, sizeof *head);
}

/* ---- the request --------------------------------------------------------------------------- */

/* The request has an answer, or a negative status in its place. */
static void
answer(struct sws_h2 *h2, struct sws_h2_stream *stream, const char *head, int status)
{
	if (status < 0)
		sws_check_refuse(h2->core, &stream->request, head, -status, &stream->answer);
	stream->flags |= SWS_H2_ANSWERED;
	sws_h2_answer(h2, stream);
}

/* Keep the text of a request for its end, and for a helper. */
static void
keep_head(struct sws_h2_stream *stream, const struct sws_burst *burst)
{
	SWS_ASSERT(stream->head == NULL);
	stream->head_len = burst->in_len;
	stream->head = burst->in_len <= sizeof stream->here ? stream->here : malloc(burst->in_len);
	if (stream->head != NULL)
		memcpy(stream->head, burst->in, burst->in_len);
}

/* The fields of the request are complete in the burst. */
static void
request(struct sws_h2 *h2, struct sws_h2_stream *stream)
{
	struct sws_burst *burst = h2->conn->burst;
	struct http_parser parser = {0};
	int n = -431;

	begin_head(h2);
	add_text(h2, "\r\n");
	h2->requests++;
	h2->conn->since_ns = h2->core->now_ns;
	if (!h2->head.too_large)
		n = http_parse(&parser, burst->in, burst->in_len, &stream->request);
	keep_head(stream, burst);
	/* Nothing of a field can look like the end of a line, so this is the whole. */
	SWS_ASSERT(n <= 0 || n == burst->in_len);
	/* RFC 9110, 7.4: what is secure must not be served in clear text. */
	if (n > 0 && h2->head.secure && h2->conn->transport.channel == NULL)
		n = -421;
	if (n > 0)
		n = sws_check_request(&stream->asker, h2->core, &stream->request, burst->in,
		    &stream->answer);
	else if (n == 0)
		n = -400;
	if (n == SWS_DISK_AWAY)
		h2->helpers++;
	else
		answer(h2, stream, burst->in, n);
}

/* ---- what nghttp2 calls -------------------------------------------------------------------- */

/* The session ends with this error. */
static int
fail(struct sws_h2 *h2, uint32_t error)
{
	h2->error = error;
	return NGHTTP2_ERR_CALLBACK_FAILURE;
}

static struct sws_h2_stream *
stream_new(struct sws_h2 *h2, int32_t id)
{
	struct sws_core *core = h2->core;
	struct sws_h2_stream *stream = core->streams;

	if (stream != NULL) {
		SWS_LOCAL_TAKE(stream);
		core->streams = stream->next;
		core->streams_count--;
	} else {
		stream = malloc(sizeof *stream);
		if (stream == NULL)
			return NULL;
	}
	memset(stream, 0, offsetof(struct sws_h2_stream, here));
	stream->asker.conn = h2->conn;
	stream->asker.then = &sws_h2_helped;
	stream->id = id;
	stream->since_ns = SWS_UNLIKELY(core->sees) ? mely_now_ns() : core->now_ns;
	stream->next = h2->streams;
	if (stream->next != NULL)
		stream->next->prev = stream;
	h2->streams = stream;
	return stream;
}

static int
on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user_data)
{
	struct sws_h2 *h2 = user_data;
	struct sws_h2_stream *stream;

	if (frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	if (h2->conn->burst == NULL)
		h2->conn->burst = sws_burst_get(h2->core);
	stream = h2->conn->burst != NULL ? stream_new(h2, frame->hd.stream_id) : NULL;
	if (stream == NULL)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	nghttp2_session_set_stream_user_data(session, stream->id, stream);
	sws_h2_head_drop(&h2->head);
	h2->head.id = stream->id;
	h2->head.stream = stream;
	h2->conn->burst->in_len = 0;
	h2->conn->head_ns = h2->core->now_ns;
	return 0;
}

static int
malformed(nghttp2_session *session, const nghttp2_frame *frame)
{
	nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
	    NGHTTP2_PROTOCOL_ERROR);
	return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static int
on_header(nghttp2_session *session, const nghttp2_frame *frame, nghttp2_rcbuf *name,
    nghttp2_rcbuf *value, uint8_t flags, void *user_data)
{
	struct sws_h2 *h2 = user_data;
	struct sws_h2_head *head = &h2->head;
	nghttp2_vec n = nghttp2_rcbuf_get_buf(name), v = nghttp2_rcbuf_get_buf(value);

	(void)flags;
	head->list_size += n.len + v.len + FIELD_EXTRA;
	if (head->list_size > LIST_FATAL)
		return fail(h2, NGHTTP2_ENHANCE_YOUR_CALM);
	/* Of trailers nothing is of use. */
	if (frame->headers.cat != NGHTTP2_HCAT_REQUEST || head->stream == NULL)
		return 0;
	if (head->list_size > LIST_MAX)
		head->too_large = true;
	if (head->too_large)
		return 0;
	if (n.base[0] == ':') {
		pseudo_field(head, &n, value);
		return 0;
	}
	begin_head(h2);
	if (n.len == 4 && memcmp(n.base, "host", 4) == 0 && head->authority != NULL)
		return is_same_host(head, &v) ? 0 : malformed(session, frame);
	if (n.len == 8 && memcmp(n.base, "priority", 8) == 0)
		head->stream->flags |= SWS_H2_SIGNAL;
	add(h2, n.base, n.len);
	add_text(h2, ": ");
	add(h2, v.base, v.len);
	add_text(h2, "\r\n");
	return 0;
}

/* A field that breaks the rules is not ignored, but makes the request malformed. */
static int
on_invalid_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
    size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags, void *user_data)
{
	(void)session, (void)frame, (void)name, (void)name_len, (void)value, (void)value_len;
	(void)flags, (void)user_data;
	return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static int
on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *user_data)
{
	struct sws_h2 *h2 = user_data;

	(void)session;
	if (frame->hd.type == NGHTTP2_RST_STREAM && !sws_h2_may_reset(h2))
		return fail(h2, NGHTTP2_ENHANCE_YOUR_CALM);
	if (frame->hd.type != NGHTTP2_HEADERS)
		return 0;
	if (frame->headers.cat == NGHTTP2_HCAT_REQUEST && h2->head.stream != NULL)
		request(h2, h2->head.stream);
	sws_h2_head_drop(&h2->head);
	h2->conn->head_ns = 0;
	return 0;
}

/*
 * What nghttp2 does not mind, since it remembers no stream that is closed: fields for a number that
 * was left out, or for a stream that ended well. After a reset they may be late.
 */
static int
old_stream(struct sws_h2 *h2, int32_t id)
{
	if (id >= h2->skipped_from && id <= h2->skipped_to)
		return fail(h2, NGHTTP2_PROTOCOL_ERROR);
	if (nghttp2_session_find_stream(h2->session, id) != NULL)
		return 0;
	if (!h2->has_reset)
		return fail(h2, NGHTTP2_STREAM_CLOSED);
	return sws_h2_may_frame(h2) ? 0 : fail(h2, NGHTTP2_ENHANCE_YOUR_CALM);
}

static int
on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *hd, void *user_data)
{
	struct sws_h2 *h2 = user_data;

	(void)session;
	if (hd->type == NGHTTP2_DATA && hd->length > 0)
		return 0;
	if (hd->type == NGHTTP2_HEADERS) {
		if (hd->stream_id <= h2->last_id && hd->stream_id % 2 == 1)
			return old_stream(h2, hd->stream_id);
		if (hd->stream_id > h2->last_id + 2) {
			h2->skipped_from = h2->last_id + 1;
			h2->skipped_to = hd->stream_id - 2;
		}
		h2->last_id = hd->stream_id;
		return 0;
	}
	/* nghttp2 ignores them, as SETTINGS say. */
	if (hd->type == NGHTTP2_PRIORITY && hd->stream_id == 0)
		return fail(h2, NGHTTP2_PROTOCOL_ERROR);
	return sws_h2_may_frame(h2) ? 0 : fail(h2, NGHTTP2_ENHANCE_YOUR_CALM);
}

/* Bodies are discarded. A client that sends more than that of a request may be is cut off. */
static int
on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data, size_t len,
    void *user_data)
{
	struct sws_h2_stream *stream = nghttp2_session_get_stream_user_data(session, id);

	(void)flags, (void)data, (void)user_data;
	if (stream == NULL)
		return 0;
	stream->body += len;
	if (stream->body > HTTP_BODY_MAX && (stream->flags & SWS_H2_DONE))
		nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR);
	return 0;
}

void
sws_h2_request_callbacks(nghttp2_session_callbacks *callbacks)
{
	nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback2(callbacks, on_header);
	nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks, on_invalid_header);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
	nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, on_begin_frame);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
}
