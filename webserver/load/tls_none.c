/* SPDX-License-Identifier: MIT */
/*
 * tls_none.c: a build without OpenSSL. No connection has TLS, so most calls are never made.
 */
#include <errno.h>
#include <stdio.h>

#include "load/tls.h"

bool
load_tls_there(void)
{
	fputs("sws-load: https: this build has no TLS (OpenSSL was not found)\n", stderr);
	return false;
}

struct load_tls_core *
load_tls_core_new(const struct load_options *o)
{
	(void)o;
	return NULL;
}

void
load_tls_core_free(struct load_tls_core *core)
{
	(void)core;
}

bool
load_tls_begin(struct load_conn *conn)
{
	(void)conn;
	return false;
}

void
load_tls_end(struct load_conn *conn)
{
	(void)conn;
}

int
load_tls_handshake(struct load_conn *conn, bool *wants_write)
{
	(void)conn;
	(void)wants_write;
	return -1;
}

bool
load_tls_resumed(const struct load_conn *conn)
{
	(void)conn;
	return false;
}

bool
load_tls_has_h2(const struct load_conn *conn)
{
	(void)conn;
	return false;
}

const char *
load_tls_error(struct load_conn *conn)
{
	(void)conn;
	return "none";
}

void
load_tls_readable(struct load_conn *conn, bool hangup)
{
	(void)conn;
	(void)hangup;
}

ssize_t
load_tls_read(struct load_conn *conn, char *to, size_t len, bool *drained)
{
	(void)conn;
	(void)to;
	(void)len;
	*drained = true;
	errno = EPROTO;
	return -1;
}

ssize_t
load_tls_write(struct load_conn *conn, const char *data, size_t len)
{
	(void)conn;
	(void)data;
	(void)len;
	errno = EPROTO;
	return -1;
}
