/* SPDX-License-Identifier: MIT */
/*
 * apply.h: the conditions and the range of a request. In the connection's color.
 */
#ifndef SWS_APPLY_H
#define SWS_APPLY_H

#include "burst.h"

/**
 * The page of an answer is known: apply what the request says about it, so that the answer can be
 * sent. 0, or a negative status; then the answer holds nothing any more.
 */
int sws_answer_complete(struct sws_core *core, const struct http_request *req, const char *head,
    struct sws_answer *a);

#endif
