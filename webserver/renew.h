/* SPDX-License-Identifier: MIT */
/*
 * renew.h: looking every second whether the files of certificates have changed.
 */
#ifndef SWS_RENEW_H
#define SWS_RENEW_H

#include <stdbool.h>

#include <mely/mely.h>

struct sws_server;
struct sws_setup;

/* In the control color. */
struct sws_renew {
	bool started;
	mely_watch timer;
	struct sws_setup *setup;  /* whose files a helper looks at, with a reference; or NULL */
};

/** The setup in force may have certificates. In the control color, or before the runtime runs. */
void sws_renew_start(struct sws_server *server);

/** After the runtime has ended. */
void sws_renew_fini(struct sws_server *server);

#endif
