/* SPDX-License-Identifier: MIT */
/*
 * multipart.h: several ranges of a page in one answer (RFC 9110, 14.6). In the connection's color.
 */
#ifndef SWS_MULTIPART_H
#define SWS_MULTIPART_H

#include "http/range.h"
#include "burst.h"

/**
 * Make of an answer with a whole page one with parts of it. 0, or -ENOMEM: the answer is as before.
 */
int sws_answer_parts(struct sws_answer *a, const struct http_ranges *ranges);

#endif
