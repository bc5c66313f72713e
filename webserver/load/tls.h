/* SPDX-License-Identifier: MIT */
/*
 * tls.h: TLS of connections. Handshakes and encryption run in the connection's color; the sessions
 * to resume are the core's. Without OpenSSL, a build has tls_none.c in place of tls.c.
 */
#ifndef LOAD_TLS_H
#define LOAD_TLS_H

#include <stdbool.h>
#include <sys/types.h>

#include "load/options.h"

struct load_conn;
struct load_tls;
struct load_tls_core;

/** False, and a line that says so, if this build has no TLS. */
bool load_tls_there(void);

/** What the connections of a core share; NULL: no memory. */
struct load_tls_core *load_tls_core_new(const struct load_options *o);
void load_tls_core_free(struct load_tls_core *core);

/** Begin a connection; false: no memory. */
bool load_tls_begin(struct load_conn *conn);
void load_tls_end(struct load_conn *conn);

/** Go on with the handshake: 1 when it is done, 0 when it waits, -1 when it has failed. */
int load_tls_handshake(struct load_conn *conn, bool *wants_write);

/** True if the handshake resumed a session. */
bool load_tls_resumed(const struct load_conn *conn);
/** True if both sides agreed on HTTP/2. */
bool load_tls_has_h2(const struct load_conn *conn);
/** What went wrong, for people. */
const char *load_tls_error(struct load_conn *conn);

/** The socket is readable again. hangup: the end of the input has arrived. */
void load_tls_readable(struct load_conn *conn, bool hangup);

/** As recv and send: -1 and errno, EAGAIN when it must wait. */
ssize_t load_tls_read(struct load_conn *conn, char *to, size_t len, bool *drained);
ssize_t load_tls_write(struct load_conn *conn, const char *data, size_t len);

#endif
