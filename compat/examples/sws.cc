/* SPDX-License-Identifier: MIT */
/*
 * sws.cc: a web server for files, in stages, as the authors of Mely built theirs: each stage is a
 * callback that does its part for one client and posts the next one.
 *
 *     sws [-c CLIENTS] [-t SECONDS] [-n CONNECTIONS] PORT FOLDER
 *
 * At most CLIENTS (1,000) connections at a time, the others wait; a client that is silent for
 * SECONDS (30) is left; the server ends after so many CONNECTIONS. PORT 0 stands for a free one.
 *
 *     accept_clients -> serve -> read_request -> parse_request -> check_in_cache
 *     -> write_response -> serve again, or say_goodbye -> close_client -> client_gone
 *
 * Compiled as it is no callback has a color: the stages of all clients take turns. With -DCOLORED
 * each client has one, its descriptor, so that different clients are served in parallel, and the
 * stages that count clients share another; nothing else differs.
 */
#include "mely.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "listen.h"
#include "number.h"
#include "sws_files.h"
#include "sws_http.h"

enum {
	HEAD_MAX = 8192,  /* longer requests are answered with 431 */
	ACCEPTS_MAX = 16, /* per call of accept_clients */
	RETRY_S = 1
};

struct client {
	int fd;
	char in[HEAD_MAX];
	size_t in_length;
	size_t head_length;    /* of the request that is being served */
	request asked;
	const response *found;
	size_t written;        /* of what is sent, its head included */
	/* Either a stage has been posted, or the client is waited for; then a timer is armed. */
	bool writing;          /* the socket is full */
	timecb_t *timer;
};

#ifdef COLORED
#define ACCEPT_COLOR 1
#define CLIENT_COLOR(c) ((c)->fd) /* from 3 */
#else
#define ACCEPT_COLOR 0
#define CLIENT_COLOR(c) 0
#endif

static int listener;

/* Of ACCEPT_COLOR. */
static int clients, clients_max = 1000;
static bool accepting;
static int closed, closed_max;

static int patience_s = 30;

/* The stages. */
static void accept_clients();
static void serve(client *c);
static void read_request(client *c);
static void parse_request(client *c);
static void check_in_cache(client *c);
static void write_response(client *c);
static void say_goodbye(client *c);
static void close_client(client *c);
static void client_gone();

static void
next_stage(void (*stage)(client *), client *c)
{
	cpucb_tail(cwrap(stage, c, CLIENT_COLOR(c)));
}

/* ---- patience ---- */

static void
out_of_patience(client *c)
{
	c->timer = NULL;
	close_client(c);
}

static void
be_calm(client *c)
{
	timecb_remove(c->timer);
	c->timer = NULL;
}

static void
be_patient(client *c)
{
	be_calm(c);
	c->timer = delaycb(patience_s, 0, cwrap(out_of_patience, c, CLIENT_COLOR(c)));
}

/* ---- accepting: ACCEPT_COLOR ---- */

static void
start_accepting()
{
	if (accepting || clients >= clients_max)
		return;
	accepting = true;
	fdcb(listener, selread, cwrap(accept_clients, ACCEPT_COLOR));
}

static void
stop_accepting()
{
	accepting = false;
	fdcb(listener, selread, NULL);
}

static void
accept_clients()
{
	for (int i = 0; i < ACCEPTS_MAX && clients < clients_max; i++) {
		int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0) {
			if (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR)
				return;
			/* Out of descriptors, or of memory: perhaps not for long. */
			PRINT_ALERT("accept: %s\n", strerror(errno));
			stop_accepting();
			delaycb(RETRY_S, 0, cwrap(start_accepting, ACCEPT_COLOR));
			return;
		}
		client *c = new client();
		c->fd = fd;
		clients++;
		next_stage(serve, c);
	}
	if (clients >= clients_max)
		stop_accepting();
}

/* A client has been closed. */
static void
client_gone()
{
	clients--;
	if (++closed == closed_max) {
		printf("%d connections\n", closed);
		exit(0);
	}
	start_accepting();
}

/* ---- a request: the client's color ---- */

static bool
request_is_there(client *c)
{
	c->head_length = head_length(c->in, c->in_length);
	return c->head_length != 0 || c->in_length == HEAD_MAX;
}

/* The next request; the client may have sent it with the last one. */
static void
serve(client *c)
{
	c->in_length -= c->head_length;
	memmove(c->in, c->in + c->head_length, c->in_length);
	if (request_is_there(c)) {
		next_stage(parse_request, c);
		return;
	}
	be_patient(c);
	fdcb(c->fd, selread, cwrap(read_request, c, CLIENT_COLOR(c)));
}

static void
read_request(client *c)
{
	ssize_t n = read(c->fd, c->in + c->in_length, HEAD_MAX - c->in_length);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		close_client(c);
		return;
	}
	c->in_length += n;
	if (!request_is_there(c))
		return;
	/* Nothing is read until it has been answered. */
	be_calm(c);
	fdcb_finished(true);
	next_stage(parse_request, c);
}

static void
parse_request(client *c)
{
	if (c->head_length != 0) {
		c->asked = parse_head(c->in, c->head_length);
	} else {
		c->asked = request();
		c->asked.status = 431;
	}
	next_stage(check_in_cache, c);
}

static void
check_in_cache(client *c)
{
	int status = c->asked.status;
	std::map<std::string, response>::const_iterator file = files.end();

	if (status == 200) {
		file = files.find(c->asked.path);
		if (file == files.end())
			status = 404;
	}
	c->found = status == 200 ? &file->second : &errors.find(status)->second;
	c->written = 0;
	next_stage(write_response, c);
}

/* What is left of the response, from c->written on. Bytes, or what writev returns. */
static ssize_t
send_some(client *c)
{
	const std::string &head = c->found->head[c->asked.keep], &body = c->found->body;
	size_t skip = c->written;
	struct iovec parts[2];
	int count = 0;

	if (skip < head.size()) {
		parts[count].iov_base = const_cast<char *>(head.data()) + skip;
		parts[count++].iov_len = head.size() - skip;
		skip = 0;
	} else {
		skip -= head.size();
	}
	if (!c->asked.head && skip < body.size()) {
		parts[count].iov_base = const_cast<char *>(body.data()) + skip;
		parts[count++].iov_len = body.size() - skip;
	}
	return writev(c->fd, parts, count);
}

/* Posted by the stage before, and called whenever the socket has room. */
static void
write_response(client *c)
{
	size_t all = c->found->head[c->asked.keep].size() +
	    (c->asked.head ? 0 : c->found->body.size());
	ssize_t n = send_some(c);

	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		close_client(c);
		return;
	}
	if (n > 0)
		c->written += n;
	if (c->written < all) {
		be_patient(c);
		if (!c->writing)
			fdcb(c->fd, selwrite, cwrap(write_response, c, CLIENT_COLOR(c)));
		c->writing = true;
		return;
	}
	if (c->writing) {
		be_calm(c);
		fdcb_finished(true);
		c->writing = false;
	}
	next_stage(c->asked.keep ? serve : say_goodbye, c);
}

/* ---- the end of a connection: the client's color ---- */

static void
throw_away(client *c)
{
	ssize_t n = read(c->fd, c->in, sizeof c->in);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		close_client(c);
}

/* Closed at once, the socket would reset the connection if the client has sent more, and the
 * response might be lost. */
static void
say_goodbye(client *c)
{
	shutdown(c->fd, SHUT_WR);
	be_patient(c);
	fdcb(c->fd, selread, cwrap(throw_away, c, CLIENT_COLOR(c)));
}

static void
close_client(client *c)
{
	be_calm(c);
	fdcb(c->fd, selread, NULL);
	fdcb(c->fd, selwrite, NULL);
	close(c->fd);
	delete c;
	cpucb_tail(cwrap(client_gone, ACCEPT_COLOR));
}

/* ---- the start ---- */

static int
usage(const char *name)
{
	fprintf(stderr, "usage: %s [-c CLIENTS] [-t SECONDS] [-n CONNECTIONS] PORT FOLDER\n",
	    name);
	return 2;
}

int
main(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "c:t:n:")) != -1) {
		if (option == '?')
			return usage(argv[0]);
		const char name[] = {'-', (char)option, '\0'};
		int value = number_argument(argv[0], name, optarg, COUNT_MAX);
		if (value < 1)
			return usage(argv[0]);
		if (option == 'c')
			clients_max = value;
		else if (option == 't')
			patience_s = value;
		else
			closed_max = value;
	}
	if (argc - optind != 2)
		return usage(argv[0]);
	int port = number_argument(argv[0], "PORT", argv[optind], PORT_MAX);
	make_errors();
	if (!load_folder(argv[optind + 1], "/"))
		PANIC("%s: %s\n", argv[optind + 1], strerror(errno));
	listener = listen_on("sws", port);
	start_accepting();
	amain();
}
