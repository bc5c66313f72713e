/* SPDX-License-Identifier: MIT */
/*
 * compress.h: pages in a coding that no file has: made by a helper, once, while clients get the
 * plain page; kept in the store as any other.
 */
#ifndef SWS_COMPRESS_H
#define SWS_COMPRESS_H

#include "site/site.h"
#include "core.h"

/**
 * A client wants a page in a coding, which is missing: have a helper make it, unless one does, or
 * too many helpers are at work. path: its key.
 */
void sws_compress(struct sws_core *core, struct sws_site *site, const struct sws_path *path,
    const struct sws_page *plain);

/** Free what is left after the runtime has ended. */
void sws_compress_fini(struct sws_server *server);

#endif
