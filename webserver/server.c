/* SPDX-License-Identifier: MIT */
/*
 * server.c: start and end of the server.
 *
 * NOTE(drain): the handler of the first SIGTERM or SIGINT, or the end of a hand-over
 * (handover.c), in the control color,
 *   a. sets draining: from then on answers say "Connection: close";
 *   b. starts the timer of the deadline, which stops the runtime, as a second signal does at
 *      once;
 *   c. posts to each listener's color, which closes its socket when it has accepted the clients
 *      that have connected, and posts to the color of each of its connections; an idle one gets
 *      some time for a request that is on its way.
 * The handler that ends the last connection or closes the last listener stops the runtime.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/assertion.h"
#include "base/policy.h"
#include "compress.h"
#include "conn.h"
#include "core.h"
#include "net/listen.h"
#include "ops/sandbox.h"
#include "ops/user.h"
#include "seeing.h"
#include "server.h"
#include "watching.h"

/* Descriptors kept for other uses than clients. A client may need a second one, for a file. */
#define OTHER_DESCRIPTORS 64

/* In a drain: how long an idle connection may still send a request. */
#define GRACE_NS UINT64_C(500000000)

static void signal_fn(void *arg);
static void hangup_fn(void *arg);
static void reopen_fn(void *arg);
static void take_over_fn(void *arg);
static void started_fn(void *arg);
static void watchdog_fn(void *arg);
static void deadline_fn(void *arg);

static struct mely_handler signal_handler = SWS_SIGNAL(signal_fn);
static struct mely_handler hangup_handler = SWS_SIGNAL(hangup_fn);
static struct mely_handler reopen_handler = SWS_SIGNAL(reopen_fn);
static struct mely_handler take_over_handler = SWS_SIGNAL(take_over_fn);
static struct mely_handler started_handler = SWS_STARTED(started_fn);
static struct mely_handler watchdog_handler = SWS_WATCHDOG(watchdog_fn);
static struct mely_handler deadline_handler = SWS_DRAIN_DEADLINE(deadline_fn);

/* ---- the end ------------------------------------------------------------------------------- */

void
sws_server_check_drained(struct sws_server *server)
{
	SWS_ASSERT(mely_current_core() >= 0);
	/* acquire pairs with the release in signal_fn. */
	if (atomic_load_explicit(&server->draining, memory_order_acquire)
	    && sws_net_is_empty(&server->net))
		mely_stop(server->rt, MELY_STOP_DISCARD);
}

bool
sws_server_drains(const struct sws_server *server)
{
	SWS_ASSERT(mely_current_color() == server->control);
	/* relaxed: set in this color. */
	return atomic_load_explicit(&server->draining, memory_order_relaxed);
}

/* Begin a drain, or one more, in which idle connections have another time. */
static void
drain(struct sws_server *server, uint64_t grace_ns)
{
	uint64_t timeout_ns = server->reload.setup->options.drain_timeout_ns;

	/* relaxed: the posts of the drain publish it. */
	atomic_store_explicit(&server->grace_ns, grace_ns, memory_order_relaxed);
	if (!sws_server_drains(server)) {
		/* release pairs with the acquire in sws_server_check_drained. */
		atomic_store_explicit(&server->draining, true, memory_order_release);
		if (mely_timer_start(server->control, timeout_ns, 0, 0, &deadline_handler, server,
		    &server->deadline) != 0)
			deadline_fn(server);
	}
	sws_net_drain(&server->net);
}

static void
signal_fn(void *arg)
{
	struct sws_server *server = arg;

	SWS_ASSERT(mely_current_color() == server->control);
	if (server->terminated) {
		mely_stop(server->rt, MELY_STOP_DISCARD);
		return;
	}
	server->terminated = true;
	if (!server->net.handed_over)
		sws_notify(&server->notify, "STOPPING=1\nSTATUS=Finishing answers");
	sws_handover_cancel(server);
	drain(server, GRACE_NS);
}

static void
take_over_fn(void *arg)
{
	struct sws_server *server = arg;

	SWS_ASSERT(mely_current_color() == server->control);
	if (!sws_server_drains(server))
		sws_handover_begin(server);
}

void
sws_server_handed_over(struct sws_server *server, pid_t pid)
{
	uint64_t timeout_ns = server->reload.setup->options.drain_timeout_ns;

	/* The service manager takes this from the main process, which is this one so far. */
	sws_notify(&server->notify, "MAINPID=%ld", (long)pid);
	if (sws_server_drains(server))
		return;
	server->net.handed_over = true;
	drain(server, timeout_ns / 2);
}

static void
hangup_fn(void *arg)
{
	struct sws_server *server = arg;

	SWS_ASSERT(mely_current_color() == server->control);
	if (!sws_server_drains(server))
		sws_reload_begin(server);
}

static void
reopen_fn(void *arg)
{
	sws_seeing_reopen(arg);
}

static void
deadline_fn(void *arg)
{
	struct sws_server *server = arg;

	SWS_ASSERT(mely_current_color() == server->control);
	SWS_ASSERT(sws_server_drains(server));
	mely_stop(server->rt, MELY_STOP_DISCARD);
}

/* ---- the start ----------------------------------------------------------------------------- */

static int
complain(const char *what, const char *name, int status)
{
	SWS_ASSERT(status < 0);
	fprintf(stderr, "sws: %s%s%s: %s\n", what, name[0] != '\0' ? " " : "", name,
	    strerror(-status));
	return -1;
}

/* Raise the limit of descriptors; the number of clients that it allows. */
static long
clients_max(long wanted)
{
	struct rlimit limit;
	long most = 1000000;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
			getrlimit(RLIMIT_NOFILE, &limit);
		if (limit.rlim_cur != RLIM_INFINITY)
			most = (long)limit.rlim_cur;
	}
	if (wanted > 0)
		return wanted;
	most = (most - OTHER_DESCRIPTORS) / 2;
	return most > 1 ? most : 1;
}

static int
init_runtime(struct sws_server *server, const struct sws_options *options, int *pollers)
{
	struct mely_config config;
	int status = mely_config_init(&config);

	if (status != 0)
		return status;
	if (options->cores > 0)
		config.cores = options->cores;
	server->coloring = (enum sws_coloring)options->coloring;
	if (server->coloring == SWS_COLORING_PAPER)
		config.pollers = 1;
	/* Spinning for a request before a core sleeps costs more than the wake-up. */
	if (getenv("MELY_SPIN_US") == NULL)
		config.spin_us_max = 0;
	*pollers = config.pollers;
	return mely_runtime_new(&server->rt, &config);
}

static int
init_cores(struct sws_server *server, int pollers)
{
	struct sws_setup *setup = server->reload.setup;
	int status = 0;

	server->cores_count = mely_cores(server->rt);
	SWS_ASSERT(server->cores_count > 0);
	server->cores = calloc((size_t)server->cores_count, sizeof server->cores[0]);
	if (server->cores == NULL)
		return -ENOMEM;
	server->net.rt = server->rt;
	server->net.ops = &sws_conn_ops;
	server->net.server = server;
	server->net.clients_max = clients_max(setup->options.clients_max);
	if (setup->options.address_clients_max > 0 || setup->options.rate_address > 0) {
		server->net.origins = sws_origins_new(setup->options.address_clients_max);
		if (server->net.origins == NULL)
			return -ENOMEM;
	}
	server->accepting_count = pollers == 1 || setup->options.accepting != SWS_ACCEPTING_CORE
	    ? 1 : server->cores_count;
	if (setup->options.accepting != SWS_ACCEPTING_SINGLE && pollers != 1
	    && server->cores_count > 1)
		status = sws_net_place(&server->net);
	for (int i = 0; status == 0 && i < server->cores_count; i++)
		status = sws_core_new(&server->cores[i], server, i, setup);
	return status;
}

static int
init_signals(struct sws_server *server)
{
	static const struct {
		int number;
		struct mely_handler *handler;
	} signals[] = {{SIGTERM, &signal_handler}, {SIGINT, &signal_handler},
		{SIGHUP, &hangup_handler}, {SIGUSR1, &reopen_handler},
		{SIGUSR2, &take_over_handler}};
	int status = mely_color_of_id(server->rt, 0, &server->control);
	sigset_t watched, before;
	mely_watch watch;

	sigemptyset(&watched);
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		sigaddset(&watched, signals[i].number);
	/* One that comes after the watchers have ended is ignored: the server ends already. One
	 * that comes before they are there waits for them. */
	pthread_sigmask(SIG_BLOCK, &watched, &before);
	for (size_t i = 0; status == 0 && i < sizeof signals / sizeof signals[0]; i++) {
		signal(signals[i].number, SIG_IGN);
		status = mely_signal_watch(server->control, signals[i].number, signals[i].handler,
		    server, &watch);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	/* sendfile has no MSG_NOSIGNAL. */
	signal(SIGPIPE, SIG_IGN);
	return status;
}

/* From here on the process has the rights that serving needs, and no others. */
static int
confine(struct sws_server *server, const struct sws_user *user)
{
	const struct sws_options *o = &server->reload.setup->options;
	char live[256];

	if (o->user != NULL && sws_user_become(user) != 0)
		return -1;
	(void)mely_socket_path(server->rt, live, sizeof live);
	return sws_sandbox_enter(o, live, server->sandbox);
}

int
sws_server_init(struct sws_server *server, struct sws_options *options, int argc, char **argv)
{
	struct sws_setup *setup;
	struct sws_user user;
	int status, pollers;

	memset(server, 0, sizeof *server);
	pthread_mutex_init(&server->compressing.lock, NULL);
	atomic_init(&server->grace_ns, GRACE_NS);
	server->handover.launcher.fd = -1;
	sws_notify_init(&server->notify);
	status = sws_inherited_read(&server->inherited);
	if (status != 0) {
		sws_options_free(options);
		return -1;
	}
	/* Its process has the rights, and the view of files, that this one has now. */
	status = options->hand_over ? sws_handover_init(&server->handover, argv) : 0;
	if (status == 0)
		status = sws_store_init(&server->store, options->cache_size);
	if (status == 0)
		status = init_runtime(server, options, &pollers);
	/* The files that name users, and those that describe the machine, are outside of DIR. */
	if (status != 0 || (options->user != NULL && sws_user_find(&user, options->user) != 0)
	    || (options->chroot != NULL && sws_user_chroot(options->chroot) != 0)) {
		sws_options_free(options);
		return status != 0 ? complain("cannot start", "", status) : -1;
	}
	setup = sws_setup_new(options, &server->store, &server->tls);
	if (setup == NULL)
		return -1;
	sws_reload_init(server, setup, argc, argv);
	status = init_cores(server, pollers);
	if (status != 0)
		return complain("cannot start", "", status);
	if (sws_seeing_open(server) != 0)
		return -1;
	if (sws_net_listen(&server->net, &server->reload.setup->options.listens,
	    server->reload.setup->options.listens_by_default, server->accepting_count,
	    &server->inherited) != 0)
		return -1;
	status = init_signals(server);
	if (status == 0)
		status = sws_handover_watch(server);
	if (status == 0) {
		sws_renew_start(server);
		status = sws_watching_init(server);
	}
	if (status == 0) {
		mely_event_init(&server->started, &started_handler, server);
		status = mely_event_post(server->control, &server->started);
	}
	return status != 0 ? complain("cannot watch signals", "", status)
	    : confine(server, &user);
}

/* The first event of all: the cores run. */
static void
started_fn(void *arg)
{
	struct sws_server *server = arg;
	mely_watch timer;

	SWS_ASSERT(mely_current_color() == server->control);
	sws_inherited_ready(&server->inherited);
	sws_inherited_close(&server->inherited);
	sws_notify(&server->notify, "READY=1\nMAINPID=%ld\nSTATUS=Serving", (long)getpid());
	if (server->notify.watchdog_ns > 0
	    && mely_timer_start(server->control, 0, server->notify.watchdog_ns / 2, 0,
	    &watchdog_handler, server, &timer) != 0)
		fputs("sws: cannot start the timer of the watchdog\n", stderr);
}

static void
watchdog_fn(void *arg)
{
	struct sws_server *server = arg;

	sws_notify_alive(&server->notify);
}

int
sws_server_run(struct sws_server *server)
{
	int status;

	/* Without the color of the signals nothing would end the run. */
	SWS_ASSERT(server->control != NULL);
	status = sws_seeing_start(server);
	return status != 0 ? status : mely_run(server->rt);
}

void
sws_server_fini(struct sws_server *server)
{
	SWS_ASSERT(mely_current_core() < 0);
	/* The runtime first: its events are parts of the connections. */
	mely_runtime_free(server->rt);
	sws_compress_fini(server);
	if (server->watches.by_path != NULL || server->watches.by_wd != NULL)
		sws_watches_fini(&server->watches);
	sws_net_fini(&server->net);
	sws_handover_fini(&server->handover);
	sws_inherited_close(&server->inherited);
	sws_notify_fini(&server->notify);
	sws_origins_free(server->net.origins);
	sws_seeing_close(server);
	for (int i = 0; server->cores != NULL && i < server->cores_count; i++)
		sws_core_free(server->cores[i]);
	sws_renew_fini(server);
	sws_reload_fini(server);
	sws_tls_free(server->tls);
	if (server->store.buckets != NULL)
		sws_store_fini(&server->store);
	free(server->cores);
}
