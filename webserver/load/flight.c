/* SPDX-License-Identifier: MIT */
/*
 * flight.c: what becomes of a request: its body is compared, its response counted.
 */
#include <string.h>

#include "base/assertion.h"
#include "load/conn.h"

void
load_flight_body(struct load_conn *conn, struct load_flight *flight, const char *body, size_t len)
{
	const struct load_target *t = load_conn_target(conn, flight);

	if (t->file != NULL && !flight->differs && (flight->body_len > t->file_size
	    || len > t->file_size - flight->body_len
	    || memcmp(t->file + flight->body_len, body, len) != 0))
		flight->differs = true;
	flight->body_len += len;
}

/* Compare the whole body, of which the bytes were compared as they came. */
static void
verify(struct load_conn *conn, struct load_flight *flight, uint64_t now)
{
	const struct load_target *t = load_conn_target(conn, flight);

	load_core_count(conn->core, LOAD_verified, 1, now);
	if (flight->differs || flight->body_len != t->file_size)
		load_core_error(conn->core, LOAD_mismatch, 1,
		    "%s: the body is not the file (%llu bytes; the file has %llu)", t->path,
		    (unsigned long long)flight->body_len, (unsigned long long)t->file_size);
}

void
load_flight_done(struct load_conn *conn, struct load_flight *flight, uint64_t now)
{
	SWS_DEBUG_ASSERT(conn->in_flight > 0 && flight->sent_ns != 0);
	load_core_count(conn->core, LOAD_body_bytes, flight->body_len, now);
	if (flight->status == 200 && load_conn_target(conn, flight)->file != NULL)
		verify(conn, flight, now);
	load_core_response(conn->core, flight->status, flight->since_ns, now);
	flight->sent_ns = 0;
	conn->in_flight--;
}
