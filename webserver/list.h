/* SPDX-License-Identifier: MIT */
/*
 * list.h: the answer for a directory without index: what is in it.
 */
#ifndef SWS_LIST_H
#define SWS_LIST_H

#include "site/site.h"
#include "conn.h"

/**
 * Have a helper begin to list the directory of a path. SWS_DISK_AWAY: then->built follows, and
 * sws_disk_begun has the listing; or a negative HTTP status.
 */
int sws_list_begin(struct sws_asker *asker, struct sws_site *site, const struct sws_path *path,
    const struct http_request *req, const char *head);

/** Make the answer of a listing that a helper has begun. 0 or a negative errno. */
int sws_list_answer(struct sws_stream *stream, struct sws_core *core, struct sws_answer *a);

#endif
