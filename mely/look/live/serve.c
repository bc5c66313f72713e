/* SPDX-License-Identifier: MIT */
/*
 * serve.c: clients of the live socket.
 *
 * NOTE(serve)
 *   A. The listener, the clients and the eventfd of the dump signal are in one epoll set, which the
 *      monitor waits for: one step of its list (NOTE(monitor)), added when the first of them is
 *      opened. The step never blocks. It reads what has arrived, from at most MELYINT_CLIENTS
 *      clients, and makes at most one answer for each.
 *   B. The step holds live->lock, and so do the calls that open and close. No holder of a core's
 *      lock or of life_lock takes it; so the step may take a core's lock.
 *   C. The step drops a client that has not finished its line, or has not read its answer, by its
 *      deadline; that has been idle for long; or that sent something that is not a request.
 *   D. In the child of a fork, a thread that does not exist there may have held the lock. Renew and
 *      free initialize it again: the phase is FORKED, and there is one thread.
 *   E. The child of a fork has the descriptors and the epoll set too: a close alone neither takes
 *      a descriptor out of the set nor tells the peer. So the process that opened them does both
 *      before it closes, and the child only closes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mely/stats.h>

#include "base/assert.h"
#include "base/text.h"
#include "core/core.h"
#include "look/live/private.h"
#include "look/live/request.h"
#include "look/live/socket.h"

enum {
	EVENTS = MELYINT_CLIENTS + 2,
	ANSWER_MOST = 8 << 20, /* bytes */
	HEAD = 24             /* "mely/1 ok    1234567890\n" */
};

#define LINE_NS UINT64_C(2000000000)    /* from the first byte of a request to its newline */
#define ANSWER_NS UINT64_C(5000000000)  /* from a request until the client has read its answer */
#define DUMP_NS UINT64_C(100000000)     /* for a stderr that accepts nothing */
#define DEAF_NS UINT64_C(500000000)     /* until the next try, if no descriptor is free */
#define IDLE_NS UINT64_C(60000000000)   /* from an answer to the next request */

/* ---- answers --------------------------------------------------------------------------------- */

static int
add(struct melyint_text *text, const void *bytes, size_t length)
{
	size_t at;

	if (length > ANSWER_MOST)
		return -EMSGSIZE;
	at = melyint_text_reserve(text, length, 1);
	if (text->failed)
		return -ENOMEM;
	memcpy(text->data + at, bytes, length);
	return 0;
}

static int
make(struct mely_runtime *rt, const struct melyint_request *request, struct melyint_text *text)
{
	struct mely_stats *stats;
	size_t length = 0;
	char *made = NULL;
	int error = mely_stats_take(rt, request->oldest ? MELY_STATS_BY_AGE : 0, request->colors,
	    &stats);

	if (error != 0)
		return error;
	if (request->kind == MELYINT_REQUEST_STATS)
		error = add(text, stats, stats->size);
	else if (request->kind == MELYINT_REQUEST_JSON)
		error = mely_stats_json(stats, &made, &length);
	else
		error = mely_stats_prometheus(stats, &made, &length);
	mely_stats_free(stats);
	if (error == 0 && made != NULL)
		error = add(text, made, length);
	free(made);
	return error;
}

/* Append the answer to text. 0 or a negative error. */
static int
answer(struct mely_runtime *rt, const struct melyint_request *request,
    struct melyint_text *text)
{
	switch (request->kind) {
	case MELYINT_REQUEST_STATS:
	case MELYINT_REQUEST_JSON:
	case MELYINT_REQUEST_PROMETHEUS:
		return make(rt, request, text);
	case MELYINT_REQUEST_DUMP:
		return melyint_dump_text(rt, text);
	default:
		melyint_text_add(text, "%s\n", mely_version());
		return 0;
	}
}

/* ---- clients --------------------------------------------------------------------------------- */

static void
answer_free(struct melyint_client *client)
{
	free(client->answer.data);
	memset(&client->answer, 0, sizeof client->answer);
}

void
melyint_client_drop(struct melyint_live *live, struct melyint_client *client)
{
	/* E of NOTE(serve) */
	if (live->pid == getpid()) {
		(void)melyint_live_watch(live, EPOLL_CTL_DEL, client->fd, 0, 0);
		(void)shutdown(client->fd, SHUT_RDWR);
	}
	close(client->fd);
	client->fd = -1;
	answer_free(client);
}

int
melyint_live_watch(struct melyint_live *live, int op, int fd, uint32_t events, uint32_t slot)
{
	struct epoll_event event = {.events = events, .data = {.u32 = slot}};

	return epoll_ctl(live->epoll, op, fd, &event) == 0 ? 0 : -errno;
}

/* Begin an answer; answer_end fills in its head. */
static void
answer_begin(struct melyint_client *client)
{
	answer_free(client);
	(void)melyint_text_reserve(&client->answer, HEAD, 1); /* answer_end tests text->failed */
	client->sent = 0;
}

/* Complete the answer. False: no memory. */
static bool
answer_end(struct melyint_client *client, const char *status)
{
	struct melyint_text *text = &client->answer;
	char head[HEAD + 1];

	if (text->failed)
		return false;
	snprintf(head, sizeof head, "mely/1 %-5.5s %10u\n", status,
	    (unsigned)(text->length - HEAD));
	memcpy(text->data, head, HEAD);
	return true;
}

static bool
answer_error(struct melyint_client *client, const char *what)
{
	answer_begin(client);
	melyint_text_add(&client->answer, "%s\n", what);
	client->last = true;
	return answer_end(client, "error");
}

/* Send what the socket takes. False: drop the client. */
static bool
push(struct melyint_live *live, struct melyint_client *client, uint64_t now)
{
	struct melyint_text *text = &client->answer;

	while (client->sent < text->length) {
		ssize_t n = send(client->fd, text->data + client->sent,
		    text->length - client->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n >= 0)
			client->sent += (size_t)n;
		else if (errno == EAGAIN)
			return true;
		else if (errno != EINTR)
			return false;
	}
	if (client->last)
		return false;
	answer_free(client);
	client->until_ns = now + IDLE_NS;
	return melyint_live_watch(live, EPOLL_CTL_MOD, client->fd, EPOLLIN,
	    (uint32_t)(client - live->clients)) == 0;
}

/* Bytes have arrived: answer if they are a line. False: drop the client. */
static bool
reply(struct melyint_live *live, struct melyint_client *client, uint64_t now)
{
	struct melyint_request request;
	int length = melyint_request_parse(client->request, client->got, &request);
	bool made;

	if (length == 0)
		return true;
	if (length < 0) {
		made = answer_error(client, "requests: stats, json, prometheus, dump, version");
	} else if ((uint32_t)length != client->got) {
		made = answer_error(client, "one request at a time");
	} else {
		int error;

		answer_begin(client);
		error = answer(live->rt, &request, &client->answer);
		made = error == 0 ? answer_end(client, "ok") :
		    answer_error(client, strerror(-error));
	}
	client->got = 0;
	client->until_ns = now + ANSWER_NS;
	return made && melyint_live_watch(live, EPOLL_CTL_MOD, client->fd, EPOLLOUT,
	    (uint32_t)(client - live->clients)) == 0 && push(live, client, now);
}

/* A client can be read. False: drop it. */
static bool
pull(struct melyint_live *live, struct melyint_client *client, uint64_t now)
{
	ssize_t n = recv(client->fd, client->request + client->got,
	    sizeof client->request - client->got, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	if (client->got == 0)
		client->until_ns = now + LINE_NS;
	client->got += (uint32_t)n;
	return reply(live, client, now);
}

static int
listening(struct melyint_live *live, bool on)
{
	live->deaf_until_ns = 0;
	return melyint_live_watch(live, EPOLL_CTL_MOD, live->socket.fd, on ? EPOLLIN : 0,
	    MELYINT_SLOT_LISTENER);
}

/* Accept one client a step: others wait in the backlog. */
static void
welcome(struct melyint_live *live, uint64_t now)
{
	static const char busy[] = "mely/1 error          5\nbusy\n";
	int fd, i;

	if (live->socket.fd < 0)
		return;
	fd = melyint_socket_accept(&live->socket);
	if (fd < 0) {
		/* Out of descriptors: clients wait in the backlog; do not spin. */
		if (fd != -EAGAIN && fd != -EACCES && listening(live, false) == 0)
			live->deaf_until_ns = now + DEAF_NS;
		return;
	}
	for (i = 0; i < MELYINT_CLIENTS && live->clients[i].fd >= 0; i++)
		;
	if (i < MELYINT_CLIENTS &&
	    melyint_live_watch(live, EPOLL_CTL_ADD, fd, EPOLLIN, (uint32_t)i) == 0) {
		memset(&live->clients[i], 0, sizeof live->clients[i]);
		live->clients[i].fd = fd;
		live->clients[i].until_ns = now + LINE_NS;
		return;
	}
	/* It fits into the buffer of a new socket. */
	if (send(fd, busy, sizeof busy - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		i = 0;
	(void)shutdown(fd, SHUT_RDWR);
	close(fd);
}

/* ---- the step -------------------------------------------------------------------------------- */

/* C of NOTE(serve). Returns the next deadline. */
static uint64_t
expire(struct melyint_live *live, uint64_t now)
{
	uint64_t next = MELYINT_STEP_NEVER;
	int i;

	if (live->deaf_until_ns != 0 && live->deaf_until_ns <= now)
		(void)listening(live, true); /* it listened before */
	if (live->deaf_until_ns != 0)
		next = live->deaf_until_ns;
	for (i = 0; i < MELYINT_CLIENTS; i++) {
		struct melyint_client *client = &live->clients[i];

		if (client->fd < 0)
			continue;
		if (client->until_ns <= now)
			melyint_client_drop(live, client);
		else if (client->until_ns < next)
			next = client->until_ns;
	}
	return next;
}

static void
handle(struct melyint_live *live, const struct epoll_event *event, uint64_t now, bool *dump)
{
	struct melyint_client *client = &live->clients[event->data.u32 % MELYINT_CLIENTS];
	uint64_t count;
	bool stays;

	if (event->data.u32 == MELYINT_SLOT_LISTENER) {
		welcome(live, now);
	} else if (event->data.u32 == MELYINT_SLOT_ASKED) {
		*dump = read(live->dump_fd, &count, sizeof count) == sizeof count;
	} else if (client->fd >= 0) {
		stays = client->answer.length > 0 ? push(live, client, now) :
		    pull(live, client, now);
		if (!stays)
			melyint_client_drop(live, client);
	}
}

uint64_t
melyint_live_look(struct melyint_step *step, uint64_t now_ns)
{
	struct melyint_live *live = MELY_CONTAINER_OF(step, struct melyint_live, step);
	struct epoll_event events[EVENTS];
	uint64_t next;
	bool dump = false;
	int n, i;

	pthread_mutex_lock(&live->lock);
	melyint_dumpsig_here(live);
	n = epoll_wait(live->epoll, events, EVENTS, 0);
	for (i = 0; i < n; i++)
		handle(live, &events[i], now_ns, &dump);
	next = expire(live, now_ns);
	pthread_mutex_unlock(&live->lock);
	if (dump) {
		/* There is no place to report an error. */
		(void)melyint_dump(live->rt, STDERR_FILENO, DUMP_NS);
	}
	return next;
}
