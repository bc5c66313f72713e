/* SPDX-License-Identifier: MIT */
/*
 * h2.h: HTTP/2 (RFC 9113), beside the stages of HTTP/1. A connection that speaks it has a session,
 * which runs in the connection's color as everything else of it. Each request is a stream; the
 * streams are answered in any order.
 */
#ifndef SWS_H2_H
#define SWS_H2_H

#include "conn.h"

enum sws_preface {
	SWS_PREFACE_NONE,
	SWS_PREFACE_PART,        /**< it may become one */
	SWS_PREFACE_WHOLE
};

/** Does the input of a connection begin with the preface of HTTP/2? */
enum sws_preface sws_h2_preface(const char *in, size_t len);

/** Is this a build with HTTP/2? */
bool sws_h2_is_there(void);

/** May connections speak HTTP/2? */
bool sws_h2_is_on(struct sws_core *core);

/**
 * The connection speaks HTTP/2 from now on; the input of its burst, if it has one, is the first.
 * The caller is its last handler of HTTP/1.
 */
void sws_h2_begin(struct sws_conn *conn, struct sws_core *core);

/** The timer of a connection with a session. */
void sws_h2_timer(struct sws_conn *conn, uint64_t now);

/** The server drains. */
void sws_h2_drain(struct sws_conn *conn);

/** Free the session of a closed connection; core: the current one, or -1 when nothing runs. */
void sws_h2_free(struct sws_conn *conn, int core);

/** Free the spare streams of a core. */
void sws_h2_free_spares(struct sws_core *core);

#endif
