/* SPDX-License-Identifier: MIT */
/*
 * server.h: one running sws and its life: start, drain, end.
 *
 * Read-only while the runtime runs, except for the atomic words, the data of cores
 * (struct sws_core), and the listeners (struct sws_net).
 */
#ifndef SWS_SERVER_H
#define SWS_SERVER_H

#include <mely/mely.h>

#include "base/policy.h"
#include "net/inherit.h"
#include "net/listener.h"
#include "net/tls.h"
#include "ops/notify.h"
#include "ops/options.h"
#include "ops/sandbox.h"
#include "site/store.h"
#include "site/watch.h"
#include "handover.h"
#include "reload.h"
#include "renew.h"

struct sws_core;
struct sws_log;

struct sws_compress_job;

/** Pages that helpers encode (compress.h). */
struct sws_compressing {
	pthread_mutex_t lock;
	struct sws_compress_job *jobs;
	int count;
};

struct sws_server {
	struct mely_runtime *rt;
	struct sws_store store;
	struct sws_reload reload;
	struct sws_core **cores;
	int cores_count;
	enum sws_coloring coloring;
	int accepting_count;             /* sockets of an address: 1, or one for each core */
	struct sws_bucket bucket;        /* of all that is sent */
	char sandbox[SWS_SANDBOX_TEXT];  /* what it is made of */
	struct mely_color *control;      /* signals and the drain deadline */
	mely_watch deadline;
	uint64_t began_s;                /* since 1970 */
	struct sws_log *log;             /* NULL: off */
	struct sws_tls *tls;             /* NULL: no setup has had certificates */
	struct sws_renew renew;

	struct sws_inherited inherited;
	struct sws_notify notify;
	struct sws_handover handover;
	struct mely_event started;
	bool terminated;                 /* by SIGTERM or SIGINT; in the control color */

	_Atomic(bool) draining;
	_Atomic(uint64_t) grace_ns;      /* of idle connections, in a drain */
	struct sws_compressing compressing;
	struct sws_watches watches;      /* of directories */
	struct mely_color watching;
	_Atomic(int) listings;           /* that are being made or sent */
	struct sws_net net;
};

/**
 * Prepare everything, including listening sockets and watchers; 0, or -1 and a line on stderr.
 * Takes over the options, which are those of argv.
 */
int sws_server_init(struct sws_server *server, struct sws_options *options, int argc, char **argv);
/** Serve until a signal ends the server. 0 or a negative errno. */
int sws_server_run(struct sws_server *server);
void sws_server_fini(struct sws_server *server);

/** Stop the runtime if it drains and no connection or listener is left. Any handler. */
void sws_server_check_drained(struct sws_server *server);

/** Does the server drain? In the control color. */
bool sws_server_drains(const struct sws_server *server);

/** Another process, pid, serves at the same sockets: drain. In the control color. */
void sws_server_handed_over(struct sws_server *server, pid_t pid);

#endif
