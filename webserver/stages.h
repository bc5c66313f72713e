/* SPDX-License-Identifier: MIT */
/*
 * stages.h: calls between the stages of a request. All run in the connection's color.
 */
#ifndef SWS_STAGES_H
#define SWS_STAGES_H

#include "conn.h"

/** All answers of the burst are sent: parse more input, read more or become idle. */
void sws_conn_continue(struct sws_conn *conn, struct sws_core *core);

/**
 * Find the answer to one request, which is in no burst: 0, a negative status, which
 * sws_check_refuse makes an answer of; or SWS_DISK_AWAY: asker->then->built follows, which calls
 * sws_check_built with the same request.
 */
int sws_check_request(struct sws_asker *asker, struct sws_core *core,
    const struct http_request *req, const char *head, struct sws_answer *a);
int sws_check_built(struct sws_asker *asker, struct sws_core *core, const struct http_request *req,
    const char *head, struct sws_answer *a);
void sws_check_refuse(struct sws_core *core, const struct http_request *req, const char *head,
    int status, struct sws_answer *a);

/**
 * Find the answers to all requests of a burst, up to the first that needs a helper, or an error.
 * Returns the stage that follows; NULL: a helper's end. In the color that CheckInCache has.
 */
struct mely_handler *sws_check_all(struct sws_conn *conn, struct sws_core *core);

/** The burst has requests without answers: queue CheckInCache, in the color that it has. */
void sws_conn_check(struct sws_conn *conn);

/** What is unsent must wait for the client. The connection is blocked, or closed. */
void sws_conn_wait_for_room(struct sws_conn *conn, struct sws_core *core);

/** An incomplete head has arrived: set the timer to its deadline. */
void sws_conn_time_head(struct sws_conn *conn);

/** The server drains and the connection is idle: set the timer to its short grace. */
void sws_conn_drain(struct sws_conn *conn);

#endif
