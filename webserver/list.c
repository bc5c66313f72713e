/* SPDX-License-Identifier: MIT */
/*
 * list.c: a listing that fits in one piece is a page of its own, with a length and a tag. Of a
 * longer one the pieces are made while it is sent: each by a helper, when the client has taken the
 * one before, so that a large directory holds up no other client, and takes little memory.
 *
 * The listing belongs to a helper while that makes a piece, otherwise to the connection's color.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assertion.h"
#include "http/query.h"
#include "site/listing_text.h"
#include "disk.h"
#include "list.h"
#include "stream.h"

/* Most listings at once, for all clients: each may hold the names of a large directory. */
#define LISTINGS_MAX 64
/* The length of a chunk: "0000f00d\r\n". */
#define CHUNK_HEAD 10

struct list {
	struct sws_stream stream;
	struct sws_server *server;
	struct sws_setup *setup;   /* of the root, with a reference */
	const struct sws_site *site;
	struct sws_listing *listing;
	bool chunked;              /* HTTP/1.1 */
	bool to_end;               /* HTTP/1.0, which has no chunks */
	int status;                /* of the last piece */
	size_t at;                 /* bytes of the piece that are sent */
};

static struct list *
of(struct sws_stream *stream)
{
	return (struct list *)((char *)stream - offsetof(struct list, stream));
}

/* ---- the stream ---------------------------------------------------------------------------- */

static enum sws_stream_step
next(struct sws_stream *stream, struct sws_piece *piece)
{
	struct list *l = of(stream);
	const struct sws_text *text = &l->listing->text;

	if (l->status != 0)
		return SWS_STREAM_FAILED;
	if (l->at == text->len)
		return l->listing->ended ? SWS_STREAM_END : SWS_STREAM_MORE;
	*piece = (struct sws_piece){.bytes = text->bytes + l->at, .fd = SWS_FD_NONE,
		.len = text->len - l->at};
	return SWS_STREAM_PIECE;
}

static void
took(struct sws_stream *stream, size_t n)
{
	struct list *l = of(stream);

	l->at += n;
	SWS_ASSERT(l->at <= l->listing->text.len);
}

/* Make a chunk of the piece, for whose length there is room in front. */
static void
frame(struct list *l)
{
	struct sws_text *text = &l->listing->text;
	char head[CHUNK_HEAD + 1];

	SWS_ASSERT(text->len > CHUNK_HEAD);
	if (!l->chunked) {
		l->at = CHUNK_HEAD;
		return;
	}
	snprintf(head, sizeof head, "%08x\r\n", (unsigned)(text->len - CHUNK_HEAD));
	memcpy(text->bytes, head, CHUNK_HEAD);
	l->at = 0;
	sws_text_format(text, "\r\n%s", l->listing->ended ? "0\r\n\r\n" : "");
	if (text->failed)
		l->status = -ENOMEM;
}

/* On a helper thread. The first piece is framed when it is known whether it is the only one. */
static void
more(struct sws_stream *stream)
{
	struct list *l = of(stream);
	bool first = !l->listing->begun;
	char room[CHUNK_HEAD] = "";

	sws_text_clear(&l->listing->text);
	sws_text_add(&l->listing->text, room, sizeof room);
	l->status = sws_listing_more(l->listing);
	if (l->status == 0 && !first)
		frame(l);
}

static void
free_list(struct sws_stream *stream, int core)
{
	struct list *l = of(stream);

	/* relaxed: a count, which orders nothing. */
	atomic_fetch_sub_explicit(&l->server->listings, 1, memory_order_relaxed);
	sws_listing_free(l->listing);
	if (sws_setup_unref(l->setup) && core >= 0)
		sws_cores_sweep(l->server);
	free(l);
}

static const struct sws_stream_ops ops = {
	.next = next, .took = took, .more = more, .free = free_list
};

/* ---- the request --------------------------------------------------------------------------- */

static struct sws_listing_form
form_of(const struct sws_site *site, const struct http_request *req, const char *head)
{
	const char *query = head + req->query.at, *accept = head + req->field[HTTP_ACCEPT].at;
	size_t len = req->query.len;
	bool can_choose = site->options.listing == SWS_LISTING_AUTO;

	return (struct sws_listing_form){
		.sort = http_query_is(query, len, "sort", "size") ? SWS_LISTING_SIZE
		    : http_query_is(query, len, "sort", "time") ? SWS_LISTING_TIME
		    : SWS_LISTING_NAME,
		.descending = http_query_is(query, len, "order", "desc"),
		.json = site->options.listing == SWS_LISTING_JSON
		    || (can_choose && (http_query_is(query, len, "format", "json")
		    || (!http_query_is(query, len, "format", "html")
		    && http_accept_json(accept, req->field[HTTP_ACCEPT].len)))),
		.dotfiles = site->options.list_dotfiles
	};
}

int
sws_list_begin(struct sws_asker *asker, struct sws_site *site, const struct sws_path *path,
    const struct http_request *req, const char *head)
{
	struct sws_server *server = asker->conn->server;
	/* Others have frames of their own. */
	bool is_http1 = asker->then == &sws_burst_helped;
	struct sws_listing_form form = form_of(site, req, head);
	int fd = sws_directory_open(&site->root, path->text, path->len);
	struct list *l;

	if (fd < 0)
		return fd;
	l = calloc(1, sizeof *l);
	/* relaxed: a count, which orders nothing. */
	if (l == NULL || atomic_load_explicit(&server->listings, memory_order_relaxed)
	    >= LISTINGS_MAX || (l->listing = sws_listing_new(&site->root, fd, path->text,
	    path->len, &form)) == NULL) {
		free(l);
		close(fd);
		return -503;
	}
	atomic_fetch_add_explicit(&server->listings, 1, memory_order_relaxed);
	l->stream.ops = &ops;
	l->server = server;
	l->site = site;
	l->setup = sws_core_setup(sws_core_here(server));
	l->chunked = is_http1 && req->minor >= 1;
	l->to_end = is_http1 && req->minor == 0;
	sws_setup_ref(l->setup);
	if (sws_disk_begin(asker, &l->stream))
		return SWS_DISK_AWAY;
	free_list(&l->stream, mely_current_core());
	return -503;
}

/* ---- the answer ---------------------------------------------------------------------------- */

/* Fill in the answer: with a page that has the whole, or that announces a stream. */
static int
answer(struct list *l, struct sws_answer *a)
{
	const struct sws_listing *listing = l->listing;
	struct sws_page_made made = {
		.type = sws_listing_type(&listing->form),
		.vary = l->site->options.listing == SWS_LISTING_AUTO,
		.chunked = l->chunked
	};

	if (l->status != 0)
		return l->status;
	if (listing->ended) {
		made.body = listing->text.bytes + CHUNK_HEAD;
		made.body_len = listing->text.len - CHUNK_HEAD;
	} else {
		frame(l);
	}
	a->entry = NULL;
	a->fd = SWS_FD_NONE;
	return sws_page_made(&a->page, &l->site->style, listing->path, strlen(listing->path),
	    &made);
}

int
sws_list_answer(struct sws_stream *stream, struct sws_core *core, struct sws_answer *a)
{
	struct list *l = of(stream);
	int status = answer(l, a);

	if (status != 0 || l->listing->ended) {
		free_list(stream, core->number);
		return status;
	}
	a->fd = SWS_FD_STREAM;
	a->stream = stream;
	if (l->to_end)
		a->flags |= SWS_TO_END;
	return 0;
}
