/* SPDX-License-Identifier: MIT */
/*
 * handover.h: another process of sws takes the place of this one, at the same sockets.
 */
#ifndef SWS_HANDOVER_H
#define SWS_HANDOVER_H

#include <mely/mely.h>
#include <stdbool.h>

#include "ops/launcher.h"

struct sws_server;

/** In the control color. */
struct sws_handover {
	struct sws_launcher launcher;
	bool running;
	mely_watch reports;
};

/** Make what will start the next process, while there is one thread. 0 or a negative errno. */
int sws_handover_init(struct sws_handover *handover, char **argv);

/** Watch it, before the runtime runs. 0 or a negative errno. */
int sws_handover_watch(struct sws_server *server);

/** Begin. In the control color. */
void sws_handover_begin(struct sws_server *server);

/** The server ends before its successor is ready: that one ends, too. In the control color. */
void sws_handover_cancel(struct sws_server *server);

void sws_handover_fini(struct sws_handover *handover);

#endif
