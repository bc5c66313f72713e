/* SPDX-License-Identifier: MIT */
/*
 * master.c: the side that sends the options and sums the results.
 */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load/message.h"
#include "load/remote.h"

#define SLAVES_MAX 256

struct slave {
	char name[280]; /* HOST:PORT */
	int fd;         /* -1: not connected, or done */
	struct load_progress last;
	uint32_t seconds; /* messages about them */
};

struct master {
	const struct load_options *options;
	struct slave *slaves;
	uint32_t count;
	load_progress_fn *progress;
	void *arg;
	uint32_t shown; /* seconds that all slaves have reported */
};

static bool
report(const struct slave *s, const char *what)
{
	fprintf(stderr, "sws-load: slave %s: %s\n", s->name, what);
	return false;
}

/* Take "HOST:PORT,HOST:PORT" apart. */
static bool
parse_slaves(struct master *m, const char *text)
{
	m->slaves = calloc(SLAVES_MAX, sizeof m->slaves[0]);
	if (m->slaves == NULL) {
		fputs("sws-load: out of memory\n", stderr);
		return false;
	}
	while (*text != '\0') {
		size_t len = strcspn(text, ",");
		struct slave *s = &m->slaves[m->count];

		if (m->count == SLAVES_MAX || len >= sizeof s->name
		    || memchr(text, ':', len) == NULL) {
			fprintf(stderr, "sws-load: --master: '%.*s' is not HOST:PORT, or one too "
			    "many\n", (int)len, text);
			return false;
		}
		memcpy(s->name, text, len);
		s->fd = -1;
		m->count++;
		text += len + (text[len] == ',');
	}
	if (m->count > m->options->clients) {
		fputs("sws-load: --clients is less than the number of slaves\n", stderr);
		return false;
	}
	return true;
}

static bool
connect_slave(struct slave *s)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found, *a;
	char host[sizeof s->name], *colon, *name = host;
	int error;

	strcpy(host, s->name);
	colon = strrchr(host, ':');
	*colon = '\0';
	if (host[0] == '[' && colon[-1] == ']') {
		colon[-1] = '\0';
		name++;
	}
	error = getaddrinfo(name, colon + 1, &hints, &found);
	if (error != 0)
		return report(s, gai_strerror(error));
	for (a = found; a != NULL && s->fd < 0; a = a->ai_next) {
		s->fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (s->fd >= 0 && connect(s->fd, a->ai_addr, a->ai_addrlen) != 0) {
			error = errno;
			close(s->fd);
			s->fd = -1;
		}
	}
	freeaddrinfo(found);
	return s->fd >= 0 || report(s, strerror(error));
}

static bool
send_job(const struct master *m, uint32_t i, const char *list)
{
	const struct slave *s = &m->slaves[i];
	size_t len;
	char *text = load_options_encode(m->options, i, m->count, &len);
	bool ok;

	if (text == NULL)
		return report(s, "out of memory");
	ok = load_message_send(s->fd, "job", text, len)
	    && load_message_send(s->fd, "list", list != NULL ? list : "",
	    list != NULL ? strlen(list) : 0);
	free(text);
	return ok || report(s, strerror(errno));
}

static bool
await_ready(const struct slave *s)
{
	struct load_message m;
	bool ok;

	if (!load_message_receive(s->fd, &m))
		return report(s, "it has gone");
	ok = strcmp(m.name, "ready") == 0;
	if (!ok)
		report(s, strcmp(m.name, "fail") == 0 ? m.text : "it is not ready");
	load_message_fini(&m);
	return ok;
}

static bool
take_result(const struct slave *s, struct load_message *m, struct load_result *sum)
{
	struct load_result result;
	bool ok = load_result_init(&result) && load_result_read(&result, m->text)
	    && load_result_add(sum, &result);

	load_result_fini(&result);
	return ok || report(s, "it sends no result");
}

/* One message of a slave; *left is one less when it was the last. */
static bool
take_message(struct slave *s, struct load_result *sum, uint32_t *left)
{
	struct load_message m;
	bool ok = true;

	if (!load_message_receive(s->fd, &m))
		return report(s, "it has gone");
	if (strcmp(m.name, "second") == 0) {
		s->seconds++;
		ok = sscanf(m.text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &s->last.responses,
		    &s->last.errors, &s->last.bytes) == 3 || report(s, "it sends no numbers");
	} else if (strcmp(m.name, "result") == 0) {
		ok = take_result(s, &m, sum);
		close(s->fd);
		s->fd = -1;
		(*left)--;
	} else
		ok = report(s, strcmp(m.name, "fail") == 0 ? m.text : "it sends no message");
	load_message_fini(&m);
	return ok;
}

/* Show the next second, if all slaves have reported it. */
static void
show(struct master *m)
{
	struct load_progress sum = {0};

	for (uint32_t i = 0; i < m->count; i++) {
		if (m->slaves[i].seconds <= m->shown)
			return;
		sum.responses += m->slaves[i].last.responses;
		sum.errors += m->slaves[i].last.errors;
		sum.bytes += m->slaves[i].last.bytes;
	}
	m->shown++;
	if (m->progress != NULL)
		m->progress(m->arg, &sum);
}

/* Collect until each slave has sent its result. */
static bool
collect(struct master *m, struct load_result *sum)
{
	struct pollfd fds[SLAVES_MAX];
	uint32_t left = m->count;

	while (left > 0) {
		int n;

		/* A negative descriptor is not polled. */
		for (uint32_t i = 0; i < m->count; i++)
			fds[i] = (struct pollfd){m->slaves[i].fd, POLLIN, 0};
		n = poll(fds, m->count, -1);
		if (n < 0 && errno != EINTR) {
			fprintf(stderr, "sws-load: poll: %s\n", strerror(errno));
			return false;
		}
		for (uint32_t i = 0; n > 0 && i < m->count; i++)
			if (fds[i].revents != 0 && !take_message(&m->slaves[i], sum, &left))
				return false;
		show(m);
	}
	return true;
}

bool
load_master(const struct load_options *o, const char *list, load_progress_fn *progress, void *arg,
    struct load_result *result)
{
	struct master m = {.options = o, .progress = progress, .arg = arg};
	bool ok = parse_slaves(&m, o->master);

	for (uint32_t i = 0; ok && i < m.count; i++)
		ok = connect_slave(&m.slaves[i]);
	for (uint32_t i = 0; ok && i < m.count; i++)
		ok = send_job(&m, i, list);
	for (uint32_t i = 0; ok && i < m.count; i++)
		ok = await_ready(&m.slaves[i]);
	for (uint32_t i = 0; ok && i < m.count; i++)
		ok = load_message_send(m.slaves[i].fd, "go", "", 0)
		    || report(&m.slaves[i], strerror(errno));
	ok = ok && collect(&m, result);
	for (uint32_t i = 0; i < m.count; i++)
		if (m.slaves[i].fd >= 0)
			close(m.slaves[i].fd);
	free(m.slaves);
	return ok;
}
