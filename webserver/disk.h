/* SPDX-License-Identifier: MIT */
/*
 * disk.h: the contents of files that are not in memory yet. A core does not wait for a disk, nor
 * copy a large file: a helper thread does. Meanwhile a connection is busy without a queued stage,
 * and the handler of the helper's end is its next stage; its argument is the asker. All run in the
 * connection's color.
 */
#ifndef SWS_DISK_H
#define SWS_DISK_H

#include "site/site.h"
#include "conn.h"

/** A helper has taken over; its end is the next stage. */
#define SWS_DISK_AWAY 1
/** What a helper has built is of a setup that is no longer in force. */
#define SWS_DISK_STALE 2

/**
 * Build the page of an open regular file. Takes over fd; *body_fd is the descriptor that the body
 * is sent from, or -1. 0, a negative errno, or SWS_DISK_AWAY: then->built follows, which calls
 * sws_disk_finish for the result.
 */
int sws_disk_page(struct sws_asker *asker, struct sws_site *site, const struct sws_path *path,
    int fd, struct stat *st, struct sws_page **page, int *body_fd);

/**
 * The result of the helper: as that of sws_disk_page, or SWS_DISK_STALE. The page may be one of the
 * store.
 */
int sws_disk_finish(struct sws_asker *asker, struct sws_page **page, int *body_fd);

/** Could sendfile send len bytes of fd from at on without waiting for a disk? A hint. */
bool sws_disk_is_cached(int fd, uint64_t at, size_t len);

/** Have a helper read these bytes: true, and asker->then->warm follows; false: there is none. */
bool sws_disk_warm(struct sws_asker *asker, int fd, uint64_t at, size_t len);

/** Have a helper make more of a stream: true, and then->made follows; false: there is none. */
bool sws_disk_more(struct sws_asker *asker, struct sws_stream *stream);

/**
 * Have a helper begin a stream that is to become an answer: true, and then->built follows; false:
 * there is none.
 */
bool sws_disk_begin(struct sws_asker *asker, struct sws_stream *stream);

/** The stream that a helper has begun, or NULL: it has built a page, for sws_disk_finish. */
struct sws_stream *sws_disk_begun(struct sws_asker *asker);

/** Free what a helper has left, after the runtime has ended. */
void sws_disk_abandon(struct sws_asker *asker);

#endif
