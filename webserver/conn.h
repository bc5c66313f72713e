/* SPDX-License-Identifier: MIT */
/*
 * conn.h: a connection. Each connection is a color: everything done for it runs in that color,
 * except for the last two fields, which belong to the color of its listener.
 *
 *   idle      no stage is queued; the watcher reports input, of a handshake or of a request
 *   busy      conn->event is queued with the next stage (stages.c, write.c), or a helper reads a
 *             file for the connection (disk.c)
 *   blocked   the unsent answers, or bytes of a handshake, wait until the client reads more
 *   linger    all answers are sent; input is discarded until the client closes
 *   closed    Close is queued or has run
 *
 * One embedded event serves all stages, since a connection is in one stage at a time.
 */
#ifndef SWS_CONN_H
#define SWS_CONN_H

#include <mely/mely.h>

#include "http/parse.h"
#include "net/listener.h"
#include "net/transport.h"
#include "burst.h"
#include "server.h"

enum sws_conn_state {
	SWS_CONN_IDLE,
	SWS_CONN_BUSY,
	SWS_CONN_BLOCKED,
	SWS_CONN_LINGER,
	SWS_CONN_CLOSED
};

struct sws_h2;

/* How fast it may send (pace.h). */
struct sws_pace {
	struct sws_bucket bucket;
	uint64_t credit;           /* bytes that it has taken from the buckets and not sent */
	uint64_t from_ns;          /* when it may send them */
	mely_watch timer;          /* while it waits for that; 0: it does not */
	struct mely_handler *stage; /* what it waits for */
};

struct sws_conn {
	struct mely_color color;
	struct mely_event event;
	struct sws_server *server;
	struct sws_burst *burst;
	struct sws_h2 *h2;         /* its session, if it speaks HTTP/2 (h2.h) */
	struct sws_transport transport;
	uint8_t state;
	bool unread;               /* there may be input that the watcher does not report again */
	bool hung_up;              /* the client sends no more; the watcher reports it once */
	bool closing;              /* no further input is read as a request */
	bool linger;               /* ... and the client may still be sending */
	bool head_timed;           /* the timer is set for an incomplete head */
	struct http_parser parser;
	uint32_t skip;             /* bytes of a body that are still to be discarded */
	uint64_t since_ns;         /* time of the last input, or of the end of a blocked answer */
	uint64_t head_ns;          /* time of the first byte of an incomplete head; 0: none */
	uint64_t sent;             /* bytes sent; for the timer */
	uint64_t sent_before;      /* sent at the time blocked_ns */
	uint64_t blocked_ns;       /* start of the current interval of a blocked connection */
	uint64_t body_ns;          /* since when the rest of a body is awaited; 0: it is not */
	struct sws_pace pace;
	mely_watch readable;
	mely_watch writable;
	mely_watch timer;

	bool proxied;              /* it begins with a header of the PROXY protocol */
	bool inside;               /* it asks the server about itself (inside.h) */
	char *client;              /* its address, for the log; NULL: there is none */
	struct mely_event drain;
	struct sws_peer peer;
};

/**
 * What holds of a connection when one of its handlers begins: only a closed one has no socket; an
 * idle one has a burst, and the time of its first byte, exactly while it has an incomplete head;
 * and a blocked one has a watcher for its unsent answers.
 */
static inline void
sws_conn_assert(const struct sws_conn *conn)
{
	const struct sws_burst *burst = conn->burst;

	SWS_DEBUG_ASSERT(conn->transport.fd >= 0 || conn->state == SWS_CONN_CLOSED);
	if (conn->h2 != NULL)
		return;
	switch (conn->state) {
	case SWS_CONN_IDLE:
		SWS_DEBUG_ASSERT(!conn->closing && !mely_event_pending(&conn->event));
		SWS_DEBUG_ASSERT((burst != NULL) == (conn->head_ns != 0));
		SWS_DEBUG_ASSERT(burst == NULL || (burst->count == 0 && burst->in_at == 0
		    && burst->in_len > 0));
		break;
	case SWS_CONN_BLOCKED:
		SWS_DEBUG_ASSERT(conn->writable != 0);
		SWS_DEBUG_ASSERT(sws_transport_is_pending(&conn->transport)
		    || burst->out < burst->count);
		break;
	case SWS_CONN_LINGER:
		SWS_DEBUG_ASSERT(conn->closing);
		SWS_DEBUG_ASSERT(burst == NULL || burst->out == burst->count);
		break;
	default:
		break;
	}
}

/** How listeners begin and end connections. */
extern const struct sws_peer_ops sws_conn_ops;

/** Begin TLS on the socket. False: no memory. */
bool sws_conn_begin_tls(struct sws_conn *conn);

/** Queue Close. In its color; no stage may be queued. */
void sws_conn_close(struct sws_conn *conn);

/** Queue the next stage. In its color. */
void sws_conn_stage(struct sws_conn *conn, struct mely_handler *handler);

/** End a connection whose answers are all sent and that may send no further request. */
void sws_conn_finish(struct sws_conn *conn);

/** The same for one that may still be sending. */
void sws_conn_linger(struct sws_conn *conn);

/** Input of a lingering connection. */
void sws_conn_linger_read(struct sws_conn *conn);

/* The stages: handshake.c, stages.c and write.c. */
extern struct mely_handler sws_tls_handshake;
extern struct mely_handler sws_read_request;
extern struct mely_handler sws_parse_request;
extern struct mely_handler sws_check_in_cache;
extern struct mely_handler sws_page_built;
extern struct mely_handler sws_write_response;
extern struct mely_handler sws_bad_request;
extern struct mely_handler sws_not_found;
/* ... and those that follow a helper. */
extern const struct sws_helped sws_burst_helped;
/* The watcher of input. */
extern struct mely_handler sws_readable;

#endif
