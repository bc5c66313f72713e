/* SPDX-License-Identifier: MIT */
/*
 * watch.h: what the kernel reports of the directories of pages, by inotify. It only makes a change
 * visible sooner: a page is compared with its file once a second in any case, so what is not
 * watched, or not reported, as on a network file system, is seen then.
 *
 * Any thread may add; one at a time reads.
 */
#ifndef SWS_SITE_WATCH_H
#define SWS_SITE_WATCH_H

#include <pthread.h>

#include "site/site.h"

/** Most directories that are watched. */
#define SWS_WATCHES_MAX 4096

struct sws_watch;

struct sws_watches {
	int fd;                   /**< of inotify; -1: nothing is watched */
	pthread_mutex_t lock;
	struct sws_watch **by_path; /**< hash tables */
	struct sws_watch **by_wd;
	int count;
};

/** 0 or a negative errno; then nothing is watched. */
int sws_watches_init(struct sws_watches *watches);
void sws_watches_fini(struct sws_watches *watches);

/** A page of a file is kept: watch its directory. */
void sws_watches_add(struct sws_watches *watches, const struct sws_site *site,
    const struct sws_page *page);

/**
 * Read what has changed, up to some KB, and remove the pages of it from the store. sites are those
 * in force: what is watched for others is no longer. True: there may be more.
 */
bool sws_watches_read(struct sws_watches *watches, struct sws_site *sites, int sites_count);

#endif
