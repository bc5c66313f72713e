/* SPDX-License-Identifier: MIT */
/*
 * watching.h: the watcher of directories: a color of its own reads what the kernel reports
 * (site/watch.h).
 */
#ifndef SWS_WATCHING_H
#define SWS_WATCHING_H

struct sws_server;

/** Begin to watch, as the options say. Before the runtime runs. 0 or a negative errno. */
int sws_watching_init(struct sws_server *server);

#endif
