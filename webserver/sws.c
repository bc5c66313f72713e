/* SPDX-License-Identifier: MIT */
/*
 * sws.c: the program: command line, one line on stdout when it is ready, exit status.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assertion.h"
#include "server.h"
#include "setup.h"

/* A line for each endpoint, and one for the rights that the server has. */
static void
print_ready(const struct sws_server *server)
{
	const struct sws_options *options = &server->reload.setup->options;
	char url[SWS_ENDPOINT_TEXT];

	SWS_ASSERT(server->net.endpoints_count > 0);
	for (int i = 0; i < server->net.endpoints_count; i++)
		printf("sws: serving %s at %s\n", server->net.endpoints[i].inside ? "metrics"
		    : options->sites[0].root,
		    sws_endpoint_url(&server->net.endpoints[i], url));
	printf("sws: sandbox: %s%s\n", server->sandbox, geteuid() == 0 ? "; it runs as root" : "");
	fflush(stdout);
}

/* Is the configuration sound, and are its roots there? */
static enum sws_options_result
check(struct sws_options *options)
{
	const char *file = options->config;
	struct sws_store store;
	struct sws_tls *tls = NULL;
	struct sws_setup *setup;

	if (sws_store_init(&store, options->cache_size) != 0)
		return SWS_OPTIONS_USAGE;
	setup = sws_setup_new(options, &store, &tls);
	if (setup != NULL) {
		printf("sws: %s is sound: %d site%s\n", file, setup->sites_count,
		    setup->sites_count == 1 ? "" : "s");
		sws_setup_unref(setup);
	}
	sws_tls_free(tls);
	sws_store_fini(&store);
	return setup != NULL ? SWS_OPTIONS_DONE : SWS_OPTIONS_USAGE;
}

int
main(int argc, char **argv)
{
	static struct sws_server server;
	struct sws_options options;
	enum sws_options_result result = sws_options_parse(&options, argc, argv);
	int status;

	if (result == SWS_OPTIONS_RUN && options.only_check)
		result = check(&options);
	if (result != SWS_OPTIONS_RUN) {
		sws_options_free(&options);
		return result == SWS_OPTIONS_DONE ? 0 : 2;
	}
	if (sws_server_init(&server, &options, argc, argv) != 0) {
		sws_server_fini(&server);
		return 1;
	}
	print_ready(&server);
	status = sws_server_run(&server);
	if (status != 0)
		fprintf(stderr, "sws: %s\n", strerror(-status));
	sws_server_fini(&server);
	return status == 0 ? 0 : 1;
}
