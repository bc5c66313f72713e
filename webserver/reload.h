/* SPDX-License-Identifier: MIT */
/*
 * reload.h: SIGHUP: read the command line and its file again, and serve by the result.
 */
#ifndef SWS_RELOAD_H
#define SWS_RELOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <mely/mely.h>

struct sws_server;
struct sws_setup;

struct sws_reload {
	int argc;                 /* the command line */
	char **argv;
	struct sws_setup *setup;  /* the newest that cores have, or adopt; with a reference */
	struct sws_setup *made;   /* by the helper; NULL: it failed */
	_Atomic(int) adopting;    /* cores that have not adopted the newest yet */
	/* For metrics; written in the control color. */
	_Atomic(uint64_t) succeeded, failed;
	_Atomic(uint64_t) at_s;   /* when the newest was made, since 1970 */
	bool running;             /* control: from the signal until the last core has adopted */
	bool again;               /* control: another signal arrived meanwhile */
	struct mely_event adopted;
};

/** Before the runtime runs. Takes over the setup that the server begins with. */
void sws_reload_init(struct sws_server *server, struct sws_setup *setup, int argc, char **argv);

/** Begin to reload, or do it once more after the one that runs. In the control color. */
void sws_reload_begin(struct sws_server *server);

/** A core uses the newest setup. On that core. */
void sws_reload_adopted(struct sws_server *server);

/** After the runtime has ended. */
void sws_reload_fini(struct sws_server *server);

#endif
