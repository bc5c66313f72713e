/* SPDX-License-Identifier: MIT */
/*
 * http2_none.c: a build without nghttp2.
 */
#include <stdio.h>

#include "load/conn.h"

bool
load_http2_there(void)
{
	fputs("sws-load: --http2: this build has no HTTP/2 (nghttp2 was not found)\n", stderr);
	return false;
}

const struct load_protocol load_http2;
