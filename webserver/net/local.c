/* SPDX-License-Identifier: MIT */
/*
 * local.c: the files of Unix sockets. All but the removal in the thread that starts the server.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assertion.h"
#include "net/local.h"

/* Has the process ended that listened at the file that a bind has found? */
static bool
is_stale(const struct sws_endpoint *e)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct stat st;
	bool refused;

	if (fd < 0 || lstat(e->name, &st) != 0 || !S_ISSOCK(st.st_mode)) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	refused = connect(fd, &e->address[0].any, e->address_len[0]) != 0 && errno == ECONNREFUSED;
	close(fd);
	return refused;
}

/* Two that start at once must not both find a file stale, and the second remove the new one of the
 * first: a lock of the folder. -1: none. */
static int
lock_folder(const char *path)
{
	char folder[sizeof(struct sockaddr_un)];
	const char *slash = strrchr(path, '/');
	int fd;

	if (slash == NULL)
		strcpy(folder, ".");
	else
		snprintf(folder, sizeof folder, "%.*s", slash > path ? (int)(slash - path) : 1,
		    path);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX) != 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Bind, in place of the file of a server that has ended without removing it. */
static int
bind_file(int fd, const struct sws_endpoint *e)
{
	mode_t mask = e->mode >= 0 ? umask(0777 & ~(mode_t)e->mode) : 0;
	int status = bind(fd, &e->address[0].any, e->address_len[0]) == 0 ? 0 : -errno;

	if (status == -EADDRINUSE && is_stale(e)) {
		status = unlink(e->name) != 0
		    || bind(fd, &e->address[0].any, e->address_len[0]) != 0 ? -errno : 0;
	}
	if (e->mode >= 0)
		umask(mask);
	return status;
}

void
sws_local_adopt(struct sws_endpoint *e)
{
	struct stat st;

	if (e->name[0] != '@' && lstat(e->name, &st) == 0) {
		e->file_dev = st.st_dev;
		e->file_ino = st.st_ino;
	}
}

int
sws_local_listen(struct sws_endpoint *e)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), lock, status;

	SWS_ASSERT(e->kind == SWS_ENDPOINT_UNIX);
	if (fd < 0)
		return -errno;
	lock = e->name[0] != '@' ? lock_folder(e->name) : -1;
	status = bind_file(fd, e);
	/* Within the lock: a file whose socket does not listen yet looks stale. */
	if (status == 0 && listen(fd, SOMAXCONN) != 0)
		status = -errno;
	if (status == 0)
		sws_local_adopt(e);
	if (lock >= 0)
		close(lock);
	if (status == 0)
		return fd;
	close(fd);
	return status;
}

void
sws_local_remove(const struct sws_endpoint *e)
{
	struct stat st;

	if (e->file_ino != 0 && lstat(e->name, &st) == 0 && st.st_dev == e->file_dev
	    && st.st_ino == e->file_ino)
		unlink(e->name);
}
