/* SPDX-License-Identifier: MIT */
/*
 * webproxy.h: what the web proxies of this folder have in common besides exchanges: options, the
 * listening socket, and numbers.
 */
#ifndef EXAMPLES_WEBPROXY_H
#define EXAMPLES_WEBPROXY_H

#include "async.h"
#include "webcache.h"

#include <getopt.h>

enum {
	relay_max = 256 << 10,  /* bytes that wait for a client: then the origin has to wait */
	relay_min = 64 << 10,   /* ... until no more than these do */
	linger_seconds = 3      /* for a client to close, when it has got its answer */
};

/* From the command line; does not change in amain. */
struct settings {
	int port;
	in_addr address;
	int64_t timeout, ttl;
	u_int64_t cache_bytes, object_bytes, connections;
	bool verbose;
	str via; /* how the proxy calls itself to others, to know a request that comes back */

	settings() : port(-1), timeout(30), ttl(60), cache_bytes(16 << 20), object_bytes(0),
	    connections(1000), verbose(false)
	{
		address.s_addr = htonl(INADDR_LOOPBACK);
	}
};

static const char usage_text[] =
    "usage: webproxy [options] PORT\n"
    "A web proxy with a cache, for http:// addresses. PORT 0 stands for a free one.\n"
    "  --address A      listen on this address (127.0.0.1)\n"
    "  --cache BYTES    keep answers of at most so many bytes together; 0: none (16777216)\n"
    "  --ttl SECONDS    keep an answer that does not say for how long (60)\n"
    "  --timeout S      give up on a peer after so many seconds without progress (30)\n"
    "  --connections N  serve so many clients at a time (1000)\n"
    "  --verbose        a line on standard error for each request\n"
    "  --help           this text\n"
    "It ends by SIGTERM.\n";

static void
bad_usage(const char *what)
{
	fprintf(stderr, "webproxy: %s\n%s", what, usage_text);
	exit(2);
}

static u_int64_t
number_option(const char *name, const char *text, u_int64_t least, u_int64_t most)
{
	u_int64_t number;

	if (!number_of(text, most, &number) || number < least)
		bad_usage(str(strbuf() << name << ": not a number from " << least << " to " <<
		    most << ": " << text));
	return number;
}

static settings
settings_of(int argc, char **argv)
{
	static const option options[] = {{"address", 1, NULL, 'a'}, {"cache", 1, NULL, 'c'},
	    {"ttl", 1, NULL, 'l'}, {"timeout", 1, NULL, 't'}, {"connections", 1, NULL, 'n'},
	    {"verbose", 0, NULL, 'v'}, {"help", 0, NULL, 'h'}, {NULL, 0, NULL, 0}};
	settings s;
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1)
		switch (c) {
		case 'a':
			if (!inet_aton(optarg, &s.address))
				bad_usage("--address: not an address");
			break;
		case 'c': s.cache_bytes = number_option("--cache", optarg, 0, 1u << 30); break;
		case 'l': s.ttl = number_option("--ttl", optarg, 0, 1u << 30); break;
		case 't': s.timeout = number_option("--timeout", optarg, 1, 86400); break;
		case 'n': s.connections = number_option("--connections", optarg, 1, 100000); break;
		case 'v': s.verbose = true; break;
		case 'h':
			fputs(usage_text, stdout);
			exit(0);
		default: bad_usage("no such option");
		}
	if (optind + 1 != argc)
		bad_usage("a port is needed");
	s.port = number_option("PORT", argv[optind], 0, 65535);
	s.object_bytes = s.cache_bytes / 8;
	return s;
}

/* A socket that listens; says where, and sets the name for Via. */
static int
listen_as(settings *s)
{
	int fd = inetsocket(SOCK_STREAM, s->port, ntohl(s->address.s_addr));
	sockaddr_in address;
	socklen_t length = sizeof address;

	if (fd < 0 || listen(fd, 1000) < 0)
		fatal("port %d: %m\n", s->port);
	make_async(fd);
	close_on_exec(fd);
	getsockname(fd, (sockaddr *)&address, &length);
	s->via = strbuf("webproxy-%d-%d", (int)getpid(), (int)ntohs(address.sin_port));
	printf("webproxy on %s:%d\n", inet_ntoa(address.sin_addr), ntohs(address.sin_port));
	fflush(stdout);
	return fd;
}

/* Seconds, for waits: nobody sets this clock. */
static int64_t
uptime()
{
	timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

#endif
