/* SPDX-License-Identifier: MIT */
/*
 * handover.c: from SIGUSR2 to a process that has taken over: a new version of the program, or new
 * values of settings that need a restart, without a client that notices.
 *
 * NOTE(hand-over): the handler of the signal, in the control color,
 *   a. writes down which listening socket belongs to which endpoint, and has the launcher
 *      (ops/launcher.h) start the program with the same arguments. The new process gets the sockets
 *      themselves (net/inherit.c), so a client that the kernel has queued waits for whichever
 *      process accepts;
 *   b. waits for what the launcher reports. The new process writes a byte when its cores run; from
 *      then on both accept.
 * Then the old process
 *   c. drains: it closes its descriptors of the sockets without accepting what is queued, and gives
 *      idle connections more time than otherwise, since nothing waits for its end;
 * or, if the new one ends before it is ready,
 *   d. says so and goes on, as if nothing had been.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/assertion.h"
#include "base/policy.h"
#include "handover.h"
#include "net/inherit.h"
#include "server.h"
#include "setup.h"

static void report_fn(void *arg);

static struct mely_handler report_handler = SWS_HAND_OVER(report_fn);

int
sws_handover_init(struct sws_handover *h, char **argv)
{
	return sws_launcher_start(&h->launcher, argv);
}

int
sws_handover_watch(struct sws_server *server)
{
	struct sws_handover *h = &server->handover;

	return h->launcher.fd < 0 ? 0
	    : mely_fd_watch(server->control, h->launcher.fd, MELY_FD_READ, &report_handler, server,
	    &h->reports);
}

/* NOTE(hand-over), step a. The text is the caller's to free; NULL: no memory. */
static char *
write_down(const struct sws_net *net, int *fds)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int n = 0;

	if (to == NULL)
		return NULL;
	fprintf(to, SWS_HANDOVER "=%d", SWS_LAUNCHED_READY);
	for (int i = 0; i < net->endpoints_count; i++) {
		const char *before = " ";

		fprintf(to, " %s", net->endpoints[i].key);
		for (int k = 0; k < net->listeners_count; k++) {
			if (sws_listener_endpoint(net->listeners[k]) != &net->endpoints[i])
				continue;
			fprintf(to, "%s%d", before, SWS_LAUNCHED_FIRST + n);
			fds[n++] = sws_listener_fd(net->listeners[k]);
			before = ",";
		}
	}
	SWS_ASSERT(n == net->listeners_count);
	if (fclose(to) == 0)
		return text;
	free(text);
	return NULL;
}

void
sws_handover_begin(struct sws_server *server)
{
	struct sws_handover *h = &server->handover;
	int count = server->net.listeners_count;
	int *fds = calloc((size_t)count, sizeof *fds);
	char *text = fds != NULL ? write_down(&server->net, fds) : NULL;
	int status = h->running ? -EALREADY : text == NULL ? -ENOMEM
	    : sws_launcher_ask(&h->launcher, text, fds, count);

	SWS_ASSERT(mely_current_color() == server->control);
	if (status == 0)
		h->running = true;
	else if (!server->reload.setup->options.hand_over)
		fputs("sws: SIGUSR2: --hand-over is off\n", stderr);
	else if (h->running)
		fputs("sws: SIGUSR2: another process is taking over already\n", stderr);
	else
		fprintf(stderr, "sws: SIGUSR2: cannot ask for another process: %s\n",
		    strerror(-status));
	free(text);
	free(fds);
}

void
sws_handover_cancel(struct sws_server *server)
{
	SWS_ASSERT(mely_current_color() == server->control);
	if (server->handover.running && !server->net.handed_over)
		sws_launcher_cancel(&server->handover.launcher);
}

/* NOTE(hand-over), steps b, c and d. */
static void
report_fn(void *arg)
{
	struct sws_server *server = arg;
	struct sws_handover *h = &server->handover;
	struct sws_launcher_report r;
	int status = sws_launcher_read(&h->launcher, &r);

	SWS_ASSERT(mely_current_color() == server->control);
	if (status == -EAGAIN)
		return;
	if (status != 0) {
		/* Nothing can be asked for any more, but clients do not care. */
		mely_watch_stop(server->rt, h->reports, NULL, NULL);
		sws_launcher_end(&h->launcher);
		h->running = false;
		fputs("sws: the launcher has ended: there can be no hand-over\n", stderr);
		return;
	}
	SWS_ASSERT(h->running);
	switch (r.what) {
	case SWS_LAUNCHER_STARTED:
		break;
	case SWS_LAUNCHER_READY:
		fprintf(stderr, "sws: process %d has taken over\n", (int)r.pid);
		sws_server_handed_over(server, r.pid);
		break;
	case SWS_LAUNCHER_FAILED:
		h->running = false;
		fprintf(stderr, "sws: SIGUSR2: cannot start another process: %s: this one goes "
		    "on\n", strerror(r.value));
		break;
	case SWS_LAUNCHER_ENDED:
		h->running = false;
		fprintf(stderr, "sws: SIGUSR2: process %d did not start (%s %d): this one goes "
		    "on\n", (int)r.pid, WIFSIGNALED(r.value) ? "signal" : "exit status",
		    WIFSIGNALED(r.value) ? WTERMSIG(r.value) : WEXITSTATUS(r.value));
		break;
	}
}

void
sws_handover_fini(struct sws_handover *h)
{
	sws_launcher_end(&h->launcher);
}
