/* SPDX-License-Identifier: MIT */
/*
 * conn.h: a virtual client: it connects, asks for files, closes, and begins again. In the
 * connection's color, on the core that it was made for.
 */
#ifndef LOAD_CONN_H
#define LOAD_CONN_H

#include <sys/types.h>

#include "load/core.h"
#include "load/response.h"

/* Least room for requests that are sent together, and for what HTTP/2 sends. */
#define LOAD_OUT_MIN 65536

struct load_conn;
struct load_h2;
struct load_tls;

/** A request in progress. */
struct load_flight {
	uint64_t since_ns;  /* when it was due or sent: the latency counts from here */
	uint64_t sent_ns;
	uint32_t target;
	unsigned status;
	uint64_t body_len;  /* of the body so far */
	bool differs;       /* that body is not the file */
};

enum load_conn_state {
	LOAD_CONN_CLOSED,
	LOAD_CONN_CONNECTING, /* handshakes included */
	LOAD_CONN_OPEN
};

/** What HTTP/1.1 and HTTP/2 do in their ways. Each may close the connection, and is false then. */
struct load_protocol {
	/** The connection is established. */
	bool (*begin)(struct load_conn *conn);
	/** Free what begin made. */
	void (*end)(struct load_conn *conn);
	/** Read all that has arrived. */
	bool (*read)(struct load_conn *conn, uint64_t now);
	/** Send what may be sent now. */
	bool (*send)(struct load_conn *conn, uint64_t now);
};
extern const struct load_protocol load_http1, load_http2;

/** False, and a line that says so, if this build has no HTTP/2. */
bool load_http2_there(void);

struct load_conn {
	struct mely_color color;
	struct load_core *core;
	const struct load_protocol *protocol;
	int fd;                    /* -1: closed */
	enum load_conn_state state;
	uint32_t left;             /* requests that it may still send */
	uint32_t in_flight;
	uint32_t capacity;         /* most requests in flight */
	/* HTTP/1.1: a ring, which begins at first. HTTP/2: slots. Its size is a power of two. */
	struct load_flight *flights;
	uint32_t flights_mask, first;
	struct load_response response;
	struct load_h2 *h2;
	struct load_tls *tls;
	char *rest;                /* what the socket did not take */
	size_t rest_len, rest_at, rest_size;
	uint64_t connect_ns;
	mely_watch readable, writable;
	bool writable_watched;
	bool retrying;             /* waits for a timer to connect again */
	bool ready;                /* in the list of the core */
	struct load_conn *ready_next, **ready_prev;
	struct mely_event wake, expire;
};

struct load_conn *load_conn_new(struct load_core *core);
void load_conn_free(struct load_conn *conn);

/** Let it begin when the runtime runs. */
int load_conn_start(struct load_conn *conn);

/** Let it send what is due; from the core's color. */
void load_conn_wake(struct load_conn *conn);

/** From the core's color: has it waited for too long? Then let it close. */
bool load_conn_overdue(const struct load_conn *conn, uint64_t now);
void load_conn_expire(struct load_conn *conn);

/** Close and connect again. What is in flight must have been dealt with. */
void load_conn_again(struct load_conn *conn);

/** Close after an error with which all requests in flight fail, and connect again. */
void load_conn_fail(struct load_conn *conn, enum load_counter counter, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/**
 * Read: the number of bytes, 0 at the end, or -1 and errno. *drained: there is no more now, for
 * sure.
 */
ssize_t load_conn_read(struct load_conn *conn, char *to, size_t len, bool *drained);

/** Send, or keep what the socket does not take. False: it has failed, and was closed. */
bool load_conn_write(struct load_conn *conn, const char *data, size_t len);

/** The file that a request wants. */
static inline const struct load_target *
load_conn_target(const struct load_conn *conn, const struct load_flight *flight)
{
	return &conn->core->run->mix.targets[flight->target];
}

/** A piece of a body. */
void load_flight_body(struct load_conn *conn, struct load_flight *flight, const char *body,
    size_t len);

/** The response is complete: count and compare. */
void load_flight_done(struct load_conn *conn, struct load_flight *flight, uint64_t now);

#endif
