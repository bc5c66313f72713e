/* SPDX-License-Identifier: MIT */
/*
 * renew.c: a timer in the control color, and the helper that looks at the files of certificates. A
 * server without certificates has no timer.
 */
#include "base/assertion.h"
#include "base/policy.h"
#include "core.h"
#include "net/tls.h"
#include "renew.h"
#include "server.h"
#include "setup.h"

static void look_fn(void *arg);
static void looked_fn(void *arg);

static struct mely_handler look_handler = SWS_RENEW(look_fn);
static struct mely_handler looked_handler = SWS_RENEW(looked_fn);

void
sws_renew_start(struct sws_server *server)
{
	struct sws_renew *r = &server->renew;

	if (r->started || server->reload.setup->tls == NULL)
		return;
	/* Without memory for a timer, a reload renews them. */
	r->started = mely_timer_start(server->control, SWS_SECOND_NS, SWS_SECOND_NS, 0,
	    &look_handler, server, &r->timer) == 0;
}

/* On a helper thread. */
static void
renew_fn(void *arg)
{
	struct sws_server *server = arg;

	sws_tls_pairs_renew(server->renew.setup->tls);
}

static void
look_fn(void *arg)
{
	struct sws_server *server = arg;
	struct sws_renew *r = &server->renew;

	SWS_ASSERT(mely_current_color() == server->control);
	/* A helper may take longer than a second. */
	if (r->setup != NULL || server->reload.setup->tls == NULL)
		return;
	r->setup = server->reload.setup;
	sws_setup_ref(r->setup);
	if (mely_work(server->control, MELY_WORK_FILES, renew_fn, &looked_handler, server, NULL)
	    != 0)
		looked_fn(server);
}

static void
looked_fn(void *arg)
{
	struct sws_server *server = arg;
	struct sws_setup *setup = server->renew.setup;

	SWS_ASSERT(mely_current_color() == server->control);
	server->renew.setup = NULL;
	if (sws_setup_unref(setup))
		sws_cores_sweep(server);
}

void
sws_renew_fini(struct sws_server *server)
{
	SWS_ASSERT(mely_current_core() < 0);
	if (server->renew.setup != NULL)
		sws_setup_unref(server->renew.setup);
	server->renew.setup = NULL;
}
