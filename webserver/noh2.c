/* SPDX-License-Identifier: MIT */
/*
 * noh2.c: in place of h2.c where nghttp2 is missing: no connection speaks HTTP/2.
 */
#include "base/assertion.h"
#include "h2.h"

enum sws_preface
sws_h2_preface(const char *in, size_t len)
{
	(void)in, (void)len;
	return SWS_PREFACE_NONE;
}

bool
sws_h2_is_there(void)
{
	return false;
}

bool
sws_h2_is_on(struct sws_core *core)
{
	(void)core;
	return false;
}

void
sws_h2_begin(struct sws_conn *conn, struct sws_core *core)
{
	(void)core;
	SWS_ASSERT(conn == NULL);
}

void
sws_h2_timer(struct sws_conn *conn, uint64_t now)
{
	(void)now;
	SWS_ASSERT(conn == NULL);
}

void
sws_h2_drain(struct sws_conn *conn)
{
	SWS_ASSERT(conn == NULL);
}

void
sws_h2_free(struct sws_conn *conn, int core)
{
	(void)core;
	SWS_ASSERT(conn->h2 == NULL);
}

void
sws_h2_free_spares(struct sws_core *core)
{
	SWS_ASSERT(core->streams == NULL);
}
