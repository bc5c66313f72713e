/* SPDX-License-Identifier: MIT */
/*
 * pace.h: sending no faster than the operator allows: to a connection, to all of an address, and to
 * all clients. In the connection's color.
 */
#ifndef SWS_PACE_H
#define SWS_PACE_H

#include "conn.h"
#include "core.h"

/** As sws_pace_begin, if anything is limited. */
bool sws_pace_begin_slow(struct sws_conn *conn, struct sws_core *core);
/** As sws_pace_end. */
void sws_pace_end_slow(struct sws_conn *conn, struct sws_core *core);

/**
 * Before answers are sent: core->room becomes what may be sent now. False: nothing yet, and
 * WriteResponse is queued for the time at which it may.
 */
static inline bool
sws_pace_begin(struct sws_conn *conn, struct sws_core *core)
{
	core->room = SIZE_MAX;
	return !core->paced || sws_pace_begin_slow(conn, core);
}

/** Afterwards: what is left of core->room stays with the connection, or goes back if it is done. */
static inline void
sws_pace_end(struct sws_conn *conn, struct sws_core *core)
{
	if (core->paced)
		sws_pace_end_slow(conn, core);
}

/** As sws_pace_turn, and sws_pace_charge. */
bool sws_pace_turn_slow(struct sws_conn *conn, struct sws_core *core, struct mely_handler *stage);
void sws_pace_charge_slow(struct sws_conn *conn, struct sws_core *core, uint64_t sent);

/**
 * For those that do not know what they send next: core->room becomes about what may be sent now.
 * False: it is too soon, and the stage is queued for later.
 */
static inline bool
sws_pace_turn(struct sws_conn *conn, struct sws_core *core, struct mely_handler *stage)
{
	core->room = SIZE_MAX;
	return !core->paced || sws_pace_turn_slow(conn, core, stage);
}

/** Afterwards: so much was sent. What was too much makes the next wait longer. */
static inline void
sws_pace_charge(struct sws_conn *conn, struct sws_core *core, uint64_t sent)
{
	if (core->paced)
		sws_pace_charge_slow(conn, core, sent);
}

/** The connection ends. */
void sws_pace_stop(struct sws_conn *conn);

#endif
