/* SPDX-License-Identifier: MIT */
/*
 * stages.h: what the stages of a request have of each other. All in the connection's color.
 */
#ifndef SWS_STAGES_H
#define SWS_STAGES_H

#include "conn.h"

/** The answers are sent: parse on, read on or rest. */
void sws_conn_continue(struct sws_conn *conn, struct sws_core *core);

/** Half a head is there: have the timer ring when it must be complete. */
void sws_conn_time_head(struct sws_conn *conn);

/** The server drains and the connection is idle: give it a short while. */
void sws_conn_drain(struct sws_conn *conn);

#endif
