/* SPDX-License-Identifier: MIT */
/*
 * conn.h: a connection. It is a color of its own: all that is done for it runs in that color,
 * except for the last five fields, which belong to the color of its listener.
 *
 *   idle      no event of ours is queued; the watcher tells of input
 *   busy      conn->event is queued: one stage after another (stages.c, write.c)
 *   blocked   the rest of the answers waits until the client takes more
 *   linger    all is said, input is thrown away until the client closes
 *   closed    Close is queued or has run
 *
 * One embedded event serves all stages, since a connection is in one stage at a time.
 */
#ifndef SWS_CONN_H
#define SWS_CONN_H

#include <mely/mely.h>

#include "burst.h"
#include "http_parse.h"
#include "server.h"

enum sws_conn_state {
	SWS_CONN_IDLE,
	SWS_CONN_BUSY,
	SWS_CONN_BLOCKED,
	SWS_CONN_LINGER,
	SWS_CONN_CLOSED
};

struct sws_conn {
	struct mely_color color;
	struct mely_event event;
	struct sws_server *server;
	struct sws_burst *burst;
	int fd;
	uint8_t state;
	bool unread;               /* there may be input that no watcher will tell of again */
	bool closing;              /* nothing more is read as a request */
	bool linger;               /* ... and the client may still be sending */
	bool head_timed;           /* the timer is set for the head that is not complete */
	struct http_parser parser;
	uint32_t skip;             /* bytes of a body yet to be thrown away */
	uint64_t since_ns;         /* last sign of life: input, or the end of an answer */
	uint64_t head_ns;          /* first byte of the head that is not complete; 0: none */
	uint64_t sent;             /* bytes, as far as the timer needs them */
	uint64_t sent_before;
	uint64_t blocked_ns;       /* when sent_before was taken */
	mely_watch readable;
	mely_watch writable;
	mely_watch timer;

	struct sws_listener *listener;
	struct sws_conn *prev, *next;
	struct mely_event drain;
	struct mely_event gone;
};

/** Make a connection of an accepted socket, which is closed when that fails. Listener's color. */
struct sws_conn *sws_conn_new(struct sws_server *server, struct sws_listener *listener, int fd);

/** In its color: queue Close. No stage may be queued. */
void sws_conn_close(struct sws_conn *conn);

/** In its color: queue the next stage. */
void sws_conn_stage(struct sws_conn *conn, struct mely_handler *handler);

/** All answers are sent and no request may follow: end the connection as it deserves. */
void sws_conn_finish(struct sws_conn *conn);

/** Input of a lingering connection. */
void sws_conn_linger_read(struct sws_conn *conn);

/** Nothing runs any more: free it with all it holds. */
void sws_conn_destroy(struct sws_conn *conn);

/* The stages: stages.c and write.c. */
extern struct mely_handler sws_read_request;
extern struct mely_handler sws_parse_request;
extern struct mely_handler sws_check_in_cache;
extern struct mely_handler sws_write_response;
extern struct mely_handler sws_bad_request;
extern struct mely_handler sws_not_found;
/* The watcher of input. */
extern struct mely_handler sws_readable;
/* listener.c */
extern struct mely_handler sws_dec_client_accepted;

#endif
