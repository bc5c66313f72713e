/* SPDX-License-Identifier: MIT */
/*
 * h2_session.h: the session of a connection that speaks HTTP/2, for the h2_*.c files. All of it
 * belongs to the connection's color.
 *
 *   h2.c          its life, what it reads, its deadlines
 *   h2_limits.c   what a client may do too often
 *   h2_request.c  from fields to requests
 *   h2_answer.c   from answers to fields and bodies
 *   h2_write.c    what it sends
 *
 * The states of the connection are those of conn.h. While output is blocked nothing is read, so
 * what a client makes the session keep is bounded.
 */
#ifndef SWS_H2_SESSION_H
#define SWS_H2_SESSION_H

#include <nghttp2/nghttp2.h>
#include <sys/uio.h>

#include "conn.h"
#include "core.h"

/** Largest frame that is sent: 16 KB, the default of HTTP/2, and its head. */
#define SWS_H2_FRAME_MAX (16384 + 9)
/** Most pieces of one write. */
#define SWS_H2_PIECES 64
/** Bodies up to this size are copied. */
#define SWS_H2_COPY_MAX 4096

enum sws_h2_stream_flags {
	SWS_H2_ANSWERED = 1,     /* the stream has an answer, which it holds */
	SWS_H2_OVER = 2,         /* nghttp2 has closed it; it waits for its helper */
	SWS_H2_SIGNAL = 4,       /* the client has said how urgent it is */
	SWS_H2_DONE = 8          /* its answer is sent */
};

/* A stream: a request, and its answer. */
struct sws_h2_stream {
	struct sws_asker asker;  /* first: it is the argument of what follows a helper */
	struct sws_h2_stream *prev, *next;
	struct sws_answer answer;
	struct http_request request;
	char *head;              /* of the request: `here`, or memory of its own; NULL: none */
	size_t head_len;
	uint64_t since_ns;       /* when its fields began */
	uint64_t head_sent, body_sent;
	uint64_t warm_until;     /* up to here its file is in memory, as far as is known */
	uint64_t body;           /* bytes of the request's body */
	int32_t id;
	uint8_t flags;
	char here[256];
};

/* The request whose fields arrive: one at a time. Its text is gathered in the burst. */
struct sws_h2_head {
	struct sws_h2_stream *stream;   /* NULL: no fields are awaited, or they are not wanted */
	nghttp2_rcbuf *path, *authority;
	char method[16];
	uint8_t method_len;
	bool begun;              /* the request line is written */
	bool too_large;
	bool secure;             /* its scheme is https */
	int32_t id;              /* of the stream; 0: no fields are awaited */
	size_t list_size;
};

/* What is gathered for one write. */
struct sws_h2_out {
	char *scratch;           /* of the core */
	size_t used, piece_from;
	size_t total;
	size_t pieces;
	bool full;
	struct iovec iov[SWS_H2_PIECES + 2];
};

struct sws_h2 {
	nghttp2_session *session;
	struct sws_conn *conn;
	struct sws_core *core;   /* of the handler that runs */
	struct sws_h2_stream *streams;  /* all that are open, or wait for a helper */
	struct sws_h2_stream *ended;    /* closed; the write at hand may still need their bytes */
	struct sws_h2_out *out;  /* of the handler that gathers, or NULL */
	struct sws_h2_head head;
	char *rest;              /* what the client did not take yet */
	size_t rest_len, rest_at;
	size_t turn;             /* bytes to gather for one write */
	unsigned unsent;         /* streams whose answer is not sent */
	unsigned helpers;        /* streams that a helper works for */
	uint64_t requests;
	bool doomed;             /* to be closed when no helper is left */
	bool lost;               /* nghttp2 had no memory for a frame. It would free a part of the
	                          * session twice (1.52), so the session is not freed at all */
	bool told;               /* the client knows that this is the end */
	bool calm;               /* ... or is to know that it asks too much */
	bool noticed;            /* the drain has begun: a second GOAWAY follows */
	bool has_reset;          /* a stream was reset by the server, so frames of it may be late */
	uint32_t error;          /* why the session ends, if a callback says so */
	/* Numbers of streams: the highest one, and those that were left out before it. */
	int32_t last_id, skipped_from, skipped_to;
	/* h2_limits.c */
	uint64_t window_ns;
	unsigned resets, frames, paid;
	/* Bytes of answers that are sent; and at the time conn->blocked_ns. */
	uint64_t taken, taken_before;
};

extern struct mely_handler sws_h2_read;
extern struct mely_handler sws_h2_write;
extern const struct sws_helped sws_h2_helped;

/** Call what nghttp2 has to say with these functions. */
void sws_h2_request_callbacks(nghttp2_session_callbacks *callbacks);
void sws_h2_answer_callbacks(nghttp2_session_callbacks *callbacks);

/** Answer a stream with the answer that it holds. */
void sws_h2_answer(struct sws_h2 *h2, struct sws_h2_stream *stream);

/** Forget the fields that have arrived. */
void sws_h2_head_drop(struct sws_h2_head *head);

/** Release a stream that nghttp2 has closed and that no helper works for. */
void sws_h2_stream_release(struct sws_h2 *h2, struct sws_h2_stream *stream, int core);

/** A new handler begins, on this core. */
static inline void
sws_h2_enter(struct sws_h2 *h2, struct sws_core *core)
{
	sws_core_tick(core);
	h2->core = core;
}

/** Send what there is to send, and then read, wait or end. The last call of a handler. */
void sws_h2_send(struct sws_conn *conn);

/** All is sent that can be sent: read, wait or end. */
void sws_h2_continue(struct sws_conn *conn);

/** Close the connection, when no helper works for it any more. */
void sws_h2_close(struct sws_conn *conn);

/** Tell the client that this is the end, and why; then send and end. */
void sws_h2_terminate(struct sws_h2 *h2, uint32_t error);

/** Count a frame that the client sends, or a reset. The client does it too often: false. */
bool sws_h2_may_frame(struct sws_h2 *h2);
bool sws_h2_may_reset(struct sws_h2 *h2);

#endif
