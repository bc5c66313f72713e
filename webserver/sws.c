/* SPDX-License-Identifier: MIT */
/*
 * sws.c: the program: command line, one line on stdout when it is ready, exit status.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assertion.h"
#include "server.h"

/* Print a URL that a browser accepts. */
static void
print_ready(const struct sws_server *server)
{
	const char *bind = server->options.bind;
	bool everywhere = strcmp(bind, "*") == 0 || strcmp(bind, "0.0.0.0") == 0
	    || strcmp(bind, "::") == 0 || strcmp(bind, "[::]") == 0;
	bool bare6 = !everywhere && strchr(bind, ':') != NULL && bind[0] != '[';

	SWS_ASSERT(server->port > 0);
	printf("sws: serving %s at http://%s%s%s:%d/\n", server->options.site.root,
	    bare6 ? "[" : "", everywhere ? "localhost" : bind, bare6 ? "]" : "", server->port);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	static struct sws_server server;
	struct sws_options options;
	int status;

	switch (sws_options_parse(&options, argc, argv)) {
	case SWS_OPTIONS_DONE:
		return 0;
	case SWS_OPTIONS_USAGE:
		return 2;
	case SWS_OPTIONS_RUN:
		break;
	}
	if (sws_server_init(&server, &options) != 0) {
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
