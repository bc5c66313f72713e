/* SPDX-License-Identifier: MIT */
/*
 * watching.c: each event reads a bounded number of changes, so a directory in which much changes
 * holds up nothing else of its core.
 */
#include <mely/mely.h>

#include "base/assertion.h"
#include "base/policy.h"
#include "core.h"
#include "server.h"
#include "watching.h"

static void changed_fn(void *arg);

static struct mely_handler changed = SWS_CHANGED(changed_fn);

static void
changed_fn(void *arg)
{
	struct sws_server *server = arg;
	struct sws_core *core = sws_core_here(server);
	struct sws_setup *setup = sws_core_setup(core);

	SWS_ASSERT(server->watches.fd >= 0);
	/* The watcher is of the level: it reports what is left. */
	(void)sws_watches_read(&server->watches, setup->sites, setup->sites_count);
	sws_core_leave_setup(core);
}

int
sws_watching_init(struct sws_server *server)
{
	mely_watch watch;
	int status;

	server->watches.fd = -1;
	if (!server->reload.setup->options.inotify)
		return 0;
	/* Without inotify all is seen within a second. */
	if (sws_watches_init(&server->watches) != 0)
		return 0;
	status = mely_color_init(&server->watching, server->rt);
	if (status != 0)
		return status;
	mely_color_set_name(&server->watching, "inotify");
	return mely_fd_watch(&server->watching, server->watches.fd, MELY_FD_READ, &changed, server,
	    &watch);
}
