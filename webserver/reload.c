/* SPDX-License-Identifier: MIT */
/*
 * reload.c: from SIGHUP to the first request that the new setup answers.
 *
 * NOTE(reload): the handler of the signal, in the control color,
 *   a. has a helper thread read the file and make a setup of it. If that fails, the one in force
 *      stays, and a line on stderr says why;
 *   b. publishes the setup, with one reference for the server, and posts Adopt to each core;
 *   c. each core takes a reference and drops that of its setup before. The core that drops the last
 *      one frees it: its pages leave the store;
 *   d. the last core posts to the control color, which may then begin the next reload.
 * Requests that are looked up on a core before its Adopt are answered by the setup before.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/assertion.h"
#include "base/policy.h"
#include "core.h"
#include "reload.h"
#include "server.h"
#include "setup.h"

static void made_fn(void *arg);
static void adopted_fn(void *arg);

static struct mely_handler made_handler = SWS_RELOAD(made_fn);
static struct mely_handler adopted_handler = SWS_RELOAD(adopted_fn);

void
sws_reload_init(struct sws_server *server, struct sws_setup *setup, int argc, char **argv)
{
	struct sws_reload *r = &server->reload;

	SWS_ASSERT(setup != NULL && r->setup == NULL);
	r->setup = setup;
	r->argc = argc;
	r->argv = argv;
	atomic_init(&r->at_s, (uint64_t)time(NULL));
	mely_event_init(&r->adopted, &adopted_handler, server);
}

static bool
differ(const char *a, const char *b)
{
	return (a == NULL) != (b == NULL) || (a != NULL && strcmp(a, b) != 0);
}

/* What only a restart changes; NULL: nothing has changed. */
static const char *
needs_restart(const struct sws_options *before, const struct sws_options *now)
{
	return !sws_texts_equal(&before->listens, &now->listens) ? "listen, bind or port"
	    : before->cores != now->cores ? "cores"
	    : before->hand_over != now->hand_over ? "hand-over"
	    : before->accepting != now->accepting ? "accept"
	    : before->coloring != now->coloring ? "coloring"
	    : before->clients_max != now->clients_max ? "max-clients"
	    : before->address_clients_max != now->address_clients_max
	    ? "max-clients-per-address"
	    : (before->rate_address > 0) != (now->rate_address > 0) ? "rate-per-address"
	    : before->inotify != now->inotify ? "inotify"
	    : before->cache_size != now->cache_size ? "cache-size"
	    : differ(before->metrics_listen, now->metrics_listen) ? "metrics-listen"
	    : differ(before->access_log, now->access_log) ? "access-log"
	    : before->log_format != now->log_format ? "log-format"
	    : differ(before->user, now->user) ? "user"
	    : differ(before->chroot, now->chroot) ? "chroot"
	    : before->sandbox != now->sandbox ? "sandbox"
	    : !sws_texts_equal(&before->sandbox_read, &now->sandbox_read) ? "sandbox-read"
	    : NULL;
}

/* On a helper thread. */
static void
make_fn(void *arg)
{
	struct sws_server *server = arg;
	struct sws_reload *r = &server->reload;
	struct sws_options options;
	struct sws_setup *made;
	const char *kept;

	SWS_ASSERT(r->made == NULL);
	if (sws_options_parse(&options, r->argc, r->argv) != SWS_OPTIONS_RUN) {
		sws_options_free(&options);
		return;
	}
	kept = needs_restart(&r->setup->options, &options);
	if (kept != NULL)
		fprintf(stderr, "sws: a restart is needed for the new value of %s\n", kept);
	made = sws_setup_new(&options, &server->store, &server->tls);
	/* The endpoints stay, and so do their clients' wishes. */
	if (made != NULL && made->tls == NULL && r->setup->tls != NULL) {
		fputs("sws: tls-certificate: a restart is needed to serve without TLS\n", stderr);
		sws_setup_unref(made);
		made = NULL;
	}
	r->made = made;
}

/* End this reload; begin the next one if a signal has asked for it. */
static void
finish(struct sws_server *server)
{
	struct sws_reload *r = &server->reload;

	SWS_ASSERT(r->running && r->made == NULL);
	r->running = false;
	sws_notify(&server->notify, "READY=1\nSTATUS=Serving");
	if (r->again)
		sws_reload_begin(server);
}

void
sws_reload_begin(struct sws_server *server)
{
	struct sws_reload *r = &server->reload;
	int status;

	SWS_ASSERT(mely_current_color() == server->control);
	r->again = r->running;
	if (r->running)
		return;
	r->running = true;
	sws_notify(&server->notify, "RELOADING=1\nMONOTONIC_USEC=%llu\nSTATUS=Reloading",
	    (unsigned long long)(mely_now_ns() / 1000));
	/* NOTE(reload), step a. */
	status = mely_work(server->control, MELY_WORK_FILES, make_fn, &made_handler, server, NULL);
	if (status != 0) {
		fprintf(stderr, "sws: cannot reload: %s\n", strerror(-status));
		finish(server);
	}
}

/* The helper has ended. */
static void
made_fn(void *arg)
{
	struct sws_server *server = arg;
	struct sws_reload *r = &server->reload;
	struct sws_setup *before = r->setup;

	SWS_ASSERT(mely_current_color() == server->control && r->running);
	if (r->made == NULL) {
		/* relaxed: for metrics. */
		atomic_fetch_add_explicit(&r->failed, 1, memory_order_relaxed);
		fputs("sws: the configuration has an error: the one before it stays\n", stderr);
		finish(server);
		return;
	}
	/* NOTE(reload), step b. relaxed: the posts publish it. */
	atomic_store_explicit(&r->adopting, server->cores_count, memory_order_relaxed);
	r->setup = r->made;
	r->made = NULL;
	sws_cores_adopt(server);
	sws_renew_start(server);
	/* The cores that have not adopted the new one yet have references, too. */
	if (sws_setup_unref(before))
		sws_cores_sweep(server);
}

void
sws_reload_adopted(struct sws_server *server)
{
	struct sws_reload *r = &server->reload;
	/* acq_rel: NOTE(reload), step d: the next reload follows the reads of all cores. */
	int left = atomic_fetch_sub_explicit(&r->adopting, 1, memory_order_acq_rel) - 1;

	SWS_ASSERT(left >= 0);
	if (left == 0) {
		int status = mely_event_post(server->control, &r->adopted);

		SWS_ASSERT(status == 0);
	}
}

static void
adopted_fn(void *arg)
{
	struct sws_server *server = arg;

	SWS_ASSERT(mely_current_color() == server->control);
	fputs("sws: reloaded\n", stderr);
	/* relaxed: for metrics. */
	atomic_fetch_add_explicit(&server->reload.succeeded, 1, memory_order_relaxed);
	atomic_store_explicit(&server->reload.at_s, (uint64_t)time(NULL), memory_order_relaxed);
	finish(server);
}

void
sws_reload_fini(struct sws_server *server)
{
	struct sws_reload *r = &server->reload;

	SWS_ASSERT(mely_current_core() < 0);
	if (r->made != NULL)
		sws_setup_unref(r->made);
	if (r->setup != NULL)
		sws_setup_unref(r->setup);
}
