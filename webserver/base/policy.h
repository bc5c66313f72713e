/* SPDX-License-Identifier: MIT */
/*
 * policy.h: what runs in which color, and how long each handler usually takes: all that the
 * scheduler knows of sws.
 *
 *   color              handlers
 *   of a connection    TLSHandshake, ReadRequest to WriteResponse, H2Read, H2Write, Deadline,
 *                      Drain, Close. Any core; a thief may take it with all that waits in it
 *   of a file          CheckInCache, with --coloring file
 *   of a listener      Accept, DecClientAccepted, StopAccepting. Pinned where each core has its own
 *   sweep, one a core  Sweep, Adopt. Pinned: they use the data of their core
 *   inotify            Changed
 *   0                  Signal, Reload, Renew, HandOver, Started, Watchdog, Notify, Compressed,
 *                      DrainDeadline
 *
 * Times are in ns, of one event for a burst of one request. No handler has a penalty: what a stage
 * touches is the connection's, and moves with it. A stage that has two handlers has one name.
 */
#ifndef SWS_BASE_POLICY_H
#define SWS_BASE_POLICY_H

#include <stdint.h>

#include <mely/mely.h>

/** --coloring */
enum sws_coloring {
	/** All of a connection has its color, which begins on the core that accepts it. */
	SWS_COLORING_CONNECTION,
	/** As SWS in the paper (5.3.1): it begins on the core that the descriptor's number picks,
	 * Accept has color 1, and core 0 polls for all. */
	SWS_COLORING_PAPER,
	/** CheckInCache has the color of the file: of many that ask for one, the first builds its
	 * page. */
	SWS_COLORING_FILE
};
#define SWS_COLORINGS "connection|paper|file"

/** --accept */
enum sws_accepting {
	/** Each core accepts at a socket of its own, between which the kernel chooses. Where there
	 * is one socket only, as LEAST. */
	SWS_ACCEPTING_CORE,
	/** As in the paper: one color accepts at one socket, on any core, and connections begin on
	 * that core. Stealing is all that spreads them. */
	SWS_ACCEPTING_SINGLE,
	/** One color accepts at one socket, and a connection begins on the core with the fewest. */
	SWS_ACCEPTING_LEAST
};
#define SWS_ACCEPTINGS "core|single|least"

/**
 * Make the color of a connection with this descriptor, which the listener has placed on a core or
 * not (-1: it begins on the core that accepts it). 0 or a negative errno.
 */
static inline int
sws_policy_conn_color(enum sws_coloring coloring, struct mely_color *color,
    struct mely_runtime *rt, int fd, int core)
{
	if (coloring == SWS_COLORING_PAPER)
		core = fd % mely_cores(rt);
	return core >= 0 ? mely_color_init_on(color, rt, core) : mely_color_init(color, rt);
}

/** With --coloring file: ids of the colors of files. Files with the same hash share one. */
#define SWS_FILE_COLOR(hash) (UINT32_C(0x10000) + (uint32_t)((hash) & 0xfff))

#define SWS_HANDLER(function, stage, ns) {.fn = (function), .name = (stage), .time_ns = (ns)}

#define SWS_READ_REQUEST(f) SWS_HANDLER(f, "ReadRequest", 2000)
#define SWS_PARSE_REQUEST(f) SWS_HANDLER(f, "ParseRequest", 200)
#define SWS_BAD_REQUEST(f) SWS_HANDLER(f, "BadRequest", 200)
#define SWS_CHECK_IN_CACHE(f) SWS_HANDLER(f, "CheckInCache", 300)
#define SWS_READ_FILE(f) SWS_HANDLER(f, "ReadFile", 1000)
#define SWS_NOT_FOUND(f) SWS_HANDLER(f, "404", 200)
#define SWS_WRITE_RESPONSE(f) SWS_HANDLER(f, "WriteResponse", 5000)
/*
 * TLSHandshake has two parts: keys and a signature (200 us with P-256, 450 us with RSA-2048), and
 * the client's answer.
 */
#define SWS_TLS_HANDSHAKE(f) SWS_HANDLER(f, "TLSHandshake", 250000)
#define SWS_TLS_ANSWER_NS 50000
/* WriteResponse of a connection that encrypts. */
#define SWS_ENCRYPT_NS 9000
#define SWS_H2_READ(f) SWS_HANDLER(f, "H2Read", 10000)
#define SWS_H2_WRITE(f) SWS_HANDLER(f, "H2Write", 20000)
#define SWS_DEADLINE(f) SWS_HANDLER(f, "Deadline", 1000)
#define SWS_DRAIN(f) SWS_HANDLER(f, "Drain", 1000)
#define SWS_CLOSE(f) SWS_HANDLER(f, "Close", 5000)

#define SWS_ACCEPT(f) SWS_HANDLER(f, "Accept", 10000)
#define SWS_DEC_CLIENT_ACCEPTED(f) SWS_HANDLER(f, "DecClientAccepted", 500)
#define SWS_STOP_ACCEPTING(f) SWS_HANDLER(f, "StopAccepting", 10000)

#define SWS_SWEEP(f) SWS_HANDLER(f, "Sweep", 50000)
#define SWS_ADOPT(f) SWS_HANDLER(f, "Adopt", 1000)

/* Too rare for an annotation. */
#define SWS_SIGNAL(f) SWS_HANDLER(f, "Signal", 0)
#define SWS_RELOAD(f) SWS_HANDLER(f, "Reload", 0)
#define SWS_RENEW(f) SWS_HANDLER(f, "Renew", 0)
#define SWS_HAND_OVER(f) SWS_HANDLER(f, "HandOver", 0)
#define SWS_STARTED(f) SWS_HANDLER(f, "Started", 0)
#define SWS_WATCHDOG(f) SWS_HANDLER(f, "Watchdog", 0)
#define SWS_NOTIFY(f) SWS_HANDLER(f, "Notify", 0)
#define SWS_CHANGED(f) SWS_HANDLER(f, "Changed", 5000)
#define SWS_COMPRESSED(f) SWS_HANDLER(f, "Compressed", 0)
#define SWS_DRAIN_DEADLINE(f) SWS_HANDLER(f, "DrainDeadline", 0)

#endif
