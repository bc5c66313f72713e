/* SPDX-License-Identifier: MIT */
/*
 * gather.h: the answers of a burst as pieces for one call of send: heads, each with the date of
 * now, and small bodies are copied to the core's scratch buffer; larger bodies stay in their pages.
 * Part of write.c: in the path of every request.
 */
#ifndef SWS_GATHER_H
#define SWS_GATHER_H

#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include "base/assertion.h"
#include "burst.h"

/* Bodies up to this size are copied. */
#define COPY_MAX 4096
#define PIECES_MAX 64

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

static inline void
add(struct gather *g, const char *bytes, size_t len)
{
	SWS_DEBUG_ASSERT(len <= SWS_SCRATCH - g->used);
	memcpy(g->scratch + g->used, bytes, len);
	g->used += len;
}

static inline void
add_literal(struct gather *g, const char *text)
{
	add(g, text, strlen(text));
}

/* The head of a 206: that of the page with another length, and the range. */
static inline void
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

static inline void
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
static inline void
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
static inline unsigned
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

/* The bytes of all pieces, the open one included. */
static inline size_t
bytes_of(const struct gather *g)
{
	size_t n = g->used - g->piece_from;

	for (size_t i = 0; i < g->pieces; i++)
		n += g->iov[i].iov_len;
	return n;
}

/* Leave out what is too much. */
static inline void
cut(struct gather *g, size_t room)
{
	size_t i = 0;

	for (; room > g->iov[i].iov_len; i++)
		room -= g->iov[i].iov_len;
	SWS_ASSERT(i < g->pieces);
	g->iov[i].iov_len = room;
	g->pieces = i + 1;
}

#endif
