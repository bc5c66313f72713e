/* SPDX-License-Identifier: MIT */
/*
 * main.cc: a web proxy with a cache, as programs of libasync are written, with colors (exchange.h).
 *
 *     webproxy [options] PORT      (--help lists the options)
 *
 * With --one-color every callback has color 0, as in a program that names no color: callbacks run
 * one after the other.
 */
#include "exchange.h"

#include <getopt.h>

settings options;
webcache *the_cache;

/* ---- the command line ---- */

static const char usage_text[] =
    "usage: webproxy [options] PORT\n"
    "A web proxy with a cache, for http:// addresses. PORT 0 selects a free one.\n"
    "  --address A      listen on this address (127.0.0.1)\n"
    "  --cache BYTES    the size of the cache; 0: no cache (16777216)\n"
    "  --ttl SECONDS    keep an answer without a lifetime for this time (60)\n"
    "  --timeout S      drop a peer after this time without progress (30)\n"
    "  --connections N  serve at most N clients at a time (1000)\n"
    "  --one-color      run every callback in color 0, one after the other\n"
    "  --verbose        print a line on standard error for each request\n"
    "  --help           this text\n"
    "SIGTERM ends it.\n";

static void
bad_usage(const str &what)
{
	fprintf(stderr, "webproxy: %s\n%s", what.cstr(), usage_text);
	exit(2);
}

static u_int64_t
number_option(const char *name, const char *text, u_int64_t least, u_int64_t most)
{
	u_int64_t number;

	if (!number_of(text, most, &number) || number < least)
		bad_usage(strbuf() << name << ": '" << text << "' is not a number between " <<
		    least << " and " << most);
	return number;
}

static settings
settings_of(int argc, char **argv)
{
	static const option known[] = {{"address", 1, NULL, 'a'}, {"cache", 1, NULL, 'c'},
	    {"ttl", 1, NULL, 'l'}, {"timeout", 1, NULL, 't'}, {"connections", 1, NULL, 'n'},
	    {"one-color", 0, NULL, 'o'}, {"verbose", 0, NULL, 'v'}, {"help", 0, NULL, 'h'},
	    {NULL, 0, NULL, 0}};
	settings s;
	int c;

	while ((c = getopt_long(argc, argv, "h", known, NULL)) != -1)
		switch (c) {
		case 'a':
			if (!inet_aton(optarg, &s.address))
				bad_usage(strbuf() << "--address: '" << optarg <<
				    "' is not an IPv4 address");
			break;
		case 'c': s.cache_bytes = number_option("--cache", optarg, 0, 1u << 30); break;
		case 'l': s.ttl = number_option("--ttl", optarg, 0, 1u << 30); break;
		case 't': s.timeout = number_option("--timeout", optarg, 1, 86400); break;
		case 'n': s.connections = number_option("--connections", optarg, 1, 100000); break;
		case 'o': s.one_color = true; break;
		case 'v': s.verbose = true; break;
		case 'h':
			fputs(usage_text, stdout);
			exit(0);
		default: bad_usage("invalid option");
		}
	if (optind + 1 != argc)
		bad_usage("give one PORT");
	s.port = number_option("PORT", argv[optind], 0, 65535);
	s.object_bytes = s.cache_bytes / 8;
	return s;
}

/* ---- connections: color 0 ---- */

static int listener, connections;
static bool accepting;

static void accept_more();

static void
accept_one()
{
	int fd = accept(listener, NULL, NULL);

	if (fd >= 0) {
		ref<exchange> e = New refcounted<exchange>(fd);
		connections++;
		cpucb_tail(cwrap(e, &exchange::begin, options.one_color ? 0 : fd));
	} else if (errno != EAGAIN && errno != ECONNABORTED) {
		/* The process has no descriptor left, for example: try again later. */
		warn("accept: %m\n");
		accepting = false;
		fdcb(listener, selread, NULL);
		delaycb(1, 0, wrap(accept_more));
	}
	if ((u_int64_t)connections >= options.connections) {
		accepting = false;
		fdcb(listener, selread, NULL);
	}
}

static void
accept_more()
{
	if (accepting || (u_int64_t)connections >= options.connections)
		return;
	accepting = true;
	fdcb(listener, selread, wrap(accept_one));
}

void
exchange_has_ended()
{
	connections--;
	accept_more();
}

/* Open the listening socket, print its address, and set the name for Via. */
static void
start_listening(settings *s)
{
	sockaddr_in address;
	socklen_t length = sizeof address;

	listener = inetsocket(SOCK_STREAM, s->port, ntohl(s->address.s_addr));
	if (listener < 0 || listen(listener, 1000) < 0)
		fatal("port %d: %m\n", s->port);
	make_async(listener);
	close_on_exec(listener);
	getsockname(listener, (sockaddr *)&address, &length);
	s->via = strbuf("webproxy-%d-%d", (int)getpid(), (int)ntohs(address.sin_port));
	printf("webproxy on %s:%d\n", inet_ntoa(address.sin_addr), ntohs(address.sin_port));
	fflush(stdout);
}

/* ---- the cache's color ---- */

static void
sweep()
{
	the_cache->sweep(time(NULL));
	delaycb(10, 0, cwrap(sweep, options.cache_color()));
}

int64_t
uptime()
{
	timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

int
main(int argc, char **argv)
{
	setprogname(argv[0]);
	options = settings_of(argc, argv);
	the_cache = New webcache(options.cache_bytes);
	start_listening(&options);
	accept_more();
	sweep();
	sigcb(SIGTERM, wrap(exit, 0));
	amain();
}
