/* SPDX-License-Identifier: MIT */
/*
 * stages.h: calls between the stages of a request. All run in the connection's color.
 */
#ifndef SWS_STAGES_H
#define SWS_STAGES_H

#include "conn.h"

/** All answers of the burst are sent: parse more input, read more or become idle. */
void sws_conn_continue(struct sws_conn *conn, struct sws_core *core);

/** The burst has requests without answers: queue CheckInCache, in the color that it has. */
void sws_conn_check(struct sws_conn *conn);

/** An incomplete head has arrived: set the timer to its deadline. */
void sws_conn_time_head(struct sws_conn *conn);

/** The server drains and the connection is idle: set the timer to its short grace. */
void sws_conn_drain(struct sws_conn *conn);

#endif
