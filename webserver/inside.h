/* SPDX-License-Identifier: MIT */
/*
 * inside.h: what the server says about itself on its own endpoint: /health and /metrics.
 */
#ifndef SWS_INSIDE_H
#define SWS_INSIDE_H

#include "burst.h"

/** Answer a request on a connection to that endpoint. 0, or a negative status. */
int sws_inside_answer(struct sws_core *core, const struct http_request *req, const char *head,
    uint8_t flags, struct sws_answer *a);

/** The metrics as text for Prometheus (0.0.4), which the caller frees; NULL: no memory. */
char *sws_metrics_text(struct sws_core *core, size_t *len);

#endif
