/* SPDX-License-Identifier: MIT */
/*
 * slave.c: the side that runs. One master after the other.
 */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mely/mely.h>

#include "load/message.h"
#include "load/remote.h"

#define ARGUMENTS_MAX 512

struct job {
	int fd;
	struct load_options options;
	struct load_run run;
	struct load_message text, list;
};

/* The arguments in the text of a job; false: it is another text, or from another version. */
static bool
parse_job(struct job *job)
{
	char *argv[ARGUMENTS_MAX + 1], version[32];
	unsigned index, count;
	int argc = 0;

	/* The version and the number come first, where a program has its name. */
	for (size_t at = 0; at < job->text.len; at += strlen(job->text.text + at) + 1) {
		if (argc == ARGUMENTS_MAX)
			return false;
		argv[argc++] = job->text.text + at;
	}
	if (argc < 2 || sscanf(argv[0], "%31s %u/%u", version, &index, &count) != 3
	    || strcmp(version, mely_version()) != 0 || index >= count)
		return false;
	argv[argc] = NULL;
	if (load_options_parse(&job->options, argc, argv) != LOAD_OPTIONS_RUN)
		return false;
	job->options.phase = (double)index / count;
	return job->options.slave == NULL && job->options.master == NULL
	    && job->options.make_specweb == NULL;
}

/* On core 0, which must not wait: a line is so short that the socket takes it whole. */
static void
send_second(void *arg, const struct load_progress *p)
{
	struct job *job = arg;
	char numbers[80], line[120];
	int len = snprintf(numbers, sizeof numbers, "%" PRIu64 " %" PRIu64 " %" PRIu64,
	    p->responses, p->errors, p->bytes);
	int all = snprintf(line, sizeof line, "second %d\n%s", len, numbers);

	/* Without a master there is nothing to measure for. */
	if (send(job->fd, line, (size_t)all, MSG_NOSIGNAL | MSG_DONTWAIT) != all)
		mely_stop(job->run.rt, MELY_STOP_DISCARD);
}

static bool
send_result(int fd, const struct load_result *result)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	bool ok;

	if (out == NULL)
		return false;
	load_result_write(result, out);
	ok = fclose(out) == 0 && load_message_send(fd, "result", text, len);
	free(text);
	return ok;
}

static bool
fail(struct job *job, const char *why)
{
	fprintf(stderr, "sws-load: %s\n", why);
	load_message_send(job->fd, "fail", why, strlen(why));
	return false;
}

static bool
run(struct job *job)
{
	struct load_message go;
	struct load_result result;
	bool ok;

	if (!load_message_send(job->fd, "ready", "", 0)
	    || !load_message_expect(job->fd, "go", &go))
		return false;
	load_message_fini(&go);
	ok = load_result_init(&result);
	if (!ok || !load_run(&job->run, send_second, job, &result))
		ok = fail(job, "the run has failed; the slave's standard error says why");
	else
		ok = send_result(job->fd, &result);
	load_result_fini(&result);
	return ok;
}

/* A master sends its job at once; after that, it may wait for other slaves. */
static bool
receive_job(struct job *job)
{
	struct timeval limit = {10, 0}, none = {0, 0};

	return setsockopt(job->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0
	    && load_message_expect(job->fd, "job", &job->text)
	    && load_message_expect(job->fd, "list", &job->list)
	    && setsockopt(job->fd, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none) == 0;
}

static void
serve(struct job *job)
{
	if (!receive_job(job))
		return;
	if (!parse_job(job)) {
		fail(job, "a job that this version does not know");
		return;
	}
	if (load_run_init(&job->run, &job->options,
	    job->options.list != NULL ? job->list.text : NULL))
		run(job);
	else
		fail(job, "it cannot begin; its standard error says why");
	load_run_fini(&job->run);
}

/* Listen at "[ADDRESS:]PORT"; -1 after a message. */
static int
listen_at(const char *where)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
	const char *colon = strrchr(where, ':'), *port = colon != NULL ? colon + 1 : where;
	char host[280] = "127.0.0.1", *name = host;
	int on = 1, fd, error;

	if (colon != NULL)
		snprintf(host, sizeof host, "%.*s", (int)(colon - where), where);
	if (host[0] == '[' && host[strlen(host) - 1] == ']') {
		host[strlen(host) - 1] = '\0';
		name++;
	}
	error = port[0] == '\0' ? EAI_NONAME
	    : getaddrinfo(strcmp(name, "*") == 0 ? NULL : name, port, &hints, &found);
	if (error != 0) {
		fprintf(stderr, "sws-load: --slave: %s: %s\n", where, gai_strerror(error));
		return -1;
	}
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0
	    || bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, 16) != 0) {
		fprintf(stderr, "sws-load: --slave: %s: %s\n", where, strerror(errno));
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	freeaddrinfo(found);
	return fd;
}

static void
print_ready(int fd)
{
	char host[NI_MAXHOST], port[NI_MAXSERV];
	struct sockaddr_storage a;
	socklen_t len = sizeof a;

	if (getsockname(fd, (struct sockaddr *)&a, &len) != 0
	    || getnameinfo((struct sockaddr *)&a, len, host, sizeof host, port, sizeof port,
	    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return;
	printf(strchr(host, ':') != NULL ? "sws-load: slave at [%s]:%s\n"
	    : "sws-load: slave at %s:%s\n", host, port);
	fflush(stdout);
}

int
load_slave(const char *where)
{
	int fd = listen_at(where), on = 1;
	bool interrupted = false;

	if (fd < 0)
		return 1;
	print_ready(fd);
	while (!interrupted) {
		struct job *job = calloc(1, sizeof *job);
		int master = job != NULL ? accept4(fd, NULL, NULL, SOCK_CLOEXEC) : -1;

		if (master >= 0) {
			setsockopt(master, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
			job->fd = master;
			serve(job);
			interrupted = atomic_load_explicit(&job->run.interrupted,
			    memory_order_relaxed);
			load_message_fini(&job->text);
			load_message_fini(&job->list);
			close(master);
		} else if (job == NULL || (errno != EINTR && errno != ECONNABORTED)) {
			fprintf(stderr, "sws-load: --slave: %s\n", strerror(errno));
			free(job);
			break;
		}
		free(job);
	}
	close(fd);
	return interrupted ? 0 : 1;
}
