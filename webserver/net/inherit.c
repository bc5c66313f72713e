/* SPDX-License-Identifier: MIT */
/*
 * inherit.c: what the environment says of open sockets. In the thread that starts the server.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assertion.h"
#include "net/inherit.h"

#define FDS_MAX 100000

/* Make a socket as those that sws opens itself. */
static bool
adopt(int fd)
{
	int on = 1, unsent = SWS_UNSENT_MAX, value = 0;
	socklen_t len = sizeof value;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0
	    || getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &len) != 0 || value != 1
	    || getsockopt(fd, SOL_SOCKET, SO_TYPE, &value, &len) != 0 || value != SOCK_STREAM
	    || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
		return false;
	/* Not for a Unix socket. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
	return true;
}

static int
add(struct sws_inherited *in, const char *key, int group, int fd)
{
	struct sws_inherited_one *more = realloc(in->one, ((size_t)in->count + 1) * sizeof *more);

	if (more == NULL) {
		fputs("sws: no memory\n", stderr);
		return -1;
	}
	in->one = more;
	if (!adopt(fd)) {
		fprintf(stderr, "sws: descriptor %d (%s) is not a stream socket that listens\n",
		    fd, key);
		return -1;
	}
	in->one[in->count++] = (struct sws_inherited_one){key, group, fd};
	return 0;
}

/* A number from 0 to max; -1: none. */
static long
number(const char *text, long max)
{
	char *end;
	long n;

	if (text == NULL || text[0] < '0' || text[0] > '9')
		return -1;
	n = strtol(text, &end, 10);
	return *end == '\0' && n <= max ? n : -1;
}

/* ---- systemd ------------------------------------------------------------------------------- */

/* The keys of count names with colons in between: each with "fd:" before it. */
static char *
make_keys(const char *names, int count)
{
	size_t len = names != NULL ? strlen(names) : 0;
	char *keys = calloc(1, len + (size_t)count * sizeof "fd:unknown");
	char *to = keys;

	for (int i = 0; keys != NULL && i < count; i++) {
		size_t n = names != NULL ? strcspn(names, ":") : 0;

		to = stpcpy(to, "fd:");
		/* As sd_listen_fds_with_names has it. */
		to = n > 0 ? mempcpy(to, names, n) : stpcpy(to, "unknown");
		*to++ = '\0';
		if (names != NULL)
			names += names[n] == ':' ? n + 1 : n;
	}
	return keys;
}

static int
read_listen_fds(struct sws_inherited *in)
{
	long pid = number(getenv("LISTEN_PID"), INT32_MAX);
	long count = number(getenv("LISTEN_FDS"), FDS_MAX);
	const char *key;
	int status = 0;

	if (pid != getpid() || count <= 0)
		return 0;
	key = in->text = make_keys(getenv("LISTEN_FDNAMES"), (int)count);
	if (key == NULL) {
		fputs("sws: no memory\n", stderr);
		return -1;
	}
	for (int i = 0; status == 0 && i < count; i++) {
		int group = i;

		for (int k = 0; k < in->count; k++)
			if (strcmp(in->one[k].key, key) == 0)
				group = in->one[k].group;
		status = add(in, key, group, SWS_LISTEN_FDS_START + i);
		key += strlen(key) + 1;
	}
	return status;
}

/* ---- the server before this one ------------------------------------------------------------ */

static int
read_handover(struct sws_inherited *in, const char *text)
{
	char *rest = in->text = strdup(text), *key, *fds;
	int status = in->text != NULL ? 0 : -1;

	in->ready = (int)number(status == 0 ? strsep(&rest, " ") : NULL, INT32_MAX);
	if (in->ready < 0 || fcntl(in->ready, F_SETFD, FD_CLOEXEC) != 0)
		status = -1;
	for (int group = 0; status == 0 && (key = strsep(&rest, " ")) != NULL; group++) {
		fds = strsep(&rest, " ");
		status = fds != NULL && key[0] != '\0' ? 0 : -1;
		while (status == 0 && fds != NULL) {
			long fd = number(strsep(&fds, ","), INT32_MAX);

			status = fd >= 0 ? add(in, key, group, (int)fd) : -1;
		}
	}
	if (status != 0)
		fputs("sws: what " SWS_HANDOVER " says cannot be used\n", stderr);
	return status;
}

int
sws_inherited_read(struct sws_inherited *in)
{
	const char *text = getenv(SWS_HANDOVER);
	int status;

	*in = (struct sws_inherited){.ready = -1};
	status = text != NULL ? read_handover(in, text) : read_listen_fds(in);
	/* They are for this process, not for one that it starts. */
	unsetenv(SWS_HANDOVER);
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	return status;
}

/* ---- taking them --------------------------------------------------------------------------- */

int
sws_inherited_find(const struct sws_inherited *in, const char *key)
{
	for (int i = 0; i < in->count; i++)
		if (in->one[i].fd >= 0 && strcmp(in->one[i].key, key) == 0)
			return in->one[i].group;
	return -1;
}

int
sws_inherited_take(struct sws_inherited *in, int group)
{
	for (int i = 0; i < in->count; i++) {
		int fd = in->one[i].fd;

		if (fd >= 0 && in->one[i].group == group) {
			in->one[i].fd = -1;
			return fd;
		}
	}
	return -1;
}

const char *
sws_inherited_named(const struct sws_inherited *in)
{
	for (int i = 0; i < in->count; i++)
		if (in->one[i].fd >= 0 && strncmp(in->one[i].key, "fd:", 3) == 0)
			return in->one[i].key;
	return NULL;
}

void
sws_inherited_ready(struct sws_inherited *in)
{
	if (in->ready < 0)
		return;
	/* A server that has ended meanwhile waits no more. */
	(void)!write(in->ready, "", 1);
	close(in->ready);
	in->ready = -1;
}

void
sws_inherited_close(struct sws_inherited *in)
{
	for (int i = 0; i < in->count; i++)
		if (in->one[i].fd >= 0)
			close(in->one[i].fd);
	if (in->ready >= 0)
		close(in->ready);
	free(in->one);
	free(in->text);
	*in = (struct sws_inherited){.ready = -1};
}
