/* SPDX-License-Identifier: MIT */
/*
 * socket.c: listen on a Unix socket in a place that only its user controls.
 *
 * NOTE(socket)
 *   A. Other users can write to the parent of the default directory (/tmp), so the library trusts
 *      the directory only if it is one of ours, not a link, that no other user may enter. Once that
 *      is so, no other user can replace it: /tmp is sticky.
 *   B. The mode of a socket's file is the mode of the socket before bind: the library uses fchmod,
 *      because umask belongs to the whole process, whose other threads create files.
 *   C. A file is stale if no process listens: connect is refused. A living process accepts, or has
 *      a full backlog. The library removes nothing but sockets.
 *   D. A socket that is bound but does not listen yet looks stale; and of two processes that take
 *      over one stale file, the second would remove the new file of the first. So a process locks
 *      the file's directory (flock) while it binds and listens, or checks and removes. That leaves
 *      no file behind, and ends with the process. A directory that cannot be locked, because it
 *      cannot be read for example, is used without a lock.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/descriptor.h"
#include "look/live/socket.h"

enum {
	BACKLOG = 16,
	LOCK_MS = 2000, /* longest wait while others open and close sockets */
	SWEEP_MAX = 1024,
	RUNTIMES_MAX = 64 /* of one process, at the default place */
};

/* ---- the directory --------------------------------------------------------------------------- */

int
melyint_socket_directory(const char *path)
{
	struct stat st;

	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return -errno;
	/* A of NOTE(socket) */
	if (lstat(path, &st) != 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (st.st_uid != geteuid() || (st.st_mode & (S_IRWXG | S_IRWXO)) != 0)
		return -EPERM;
	return 0;
}

/* The default directory, checked. */
static int
default_directory(char *dir, size_t size)
{
	const char *run = secure_getenv("XDG_RUNTIME_DIR");
	int n;

	if (run != NULL && run[0] == '/') {
		n = snprintf(dir, size, "%s/mely", run);
		if (n > 0 && (size_t)n < size && melyint_socket_directory(dir) == 0)
			return 0;
	}
	snprintf(dir, size, "/tmp/mely-%lu", (unsigned long)geteuid());
	return melyint_socket_directory(dir);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* D of NOTE(socket): lock the directory of path. Returns a descriptor for unlock; -1 if it cannot
 * be locked; -EBUSY if another process keeps it locked. */
static int
lock(const char *path)
{
	const struct timespec nap = {0, 1000000};
	const char *slash = strrchr(path, '/');
	char dir[MELYINT_SOCKET_PATH + 32];
	int fd, ms;

	if (slash == NULL)
		snprintf(dir, sizeof dir, ".");
	else
		snprintf(dir, sizeof dir, "%.*s", (int)(slash - path) + 1, path);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	for (ms = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; ms++) {
		if (errno == EWOULDBLOCK && ms < LOCK_MS) {
			nanosleep(&nap, NULL);
			continue;
		}
		ms = errno;
		close(fd);
		return ms == EWOULDBLOCK ? -EBUSY : -1;
	}
	return fd;
}

static void
unlock(int fd)
{
	if (fd < 0)
		return;
	flock(fd, LOCK_UN); /* the child of a fork may have it too */
	close(fd);
}

static void
address(struct sockaddr_un *at, const char *path)
{
	memset(at, 0, sizeof *at);
	at->sun_family = AF_UNIX;
	memcpy(at->sun_path, path, strlen(path) + 1);
}

/* C of NOTE(socket): remove a stale file. 0 if path is free now. Under the lock. */
static int
remove_stale(const char *path)
{
	struct sockaddr_un at;
	struct stat st;
	int fd, error;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = melyint_fd_high(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (fd < 0)
		return -errno;
	address(&at, path);
	error = connect(fd, (struct sockaddr *)&at, sizeof at) == 0 ? 0 : errno;
	close(fd);
	if (error == ENOENT)
		return 0;
	if (error != ECONNREFUSED)
		return error == 0 || error == EAGAIN || error == EINPROGRESS ? -EADDRINUSE : -error;
	return unlink(path) == 0 || errno == ENOENT ? 0 : -errno;
}

/* Under the lock. */
static int
listen_locked(struct melyint_socket *s, const char *path)
{
	struct sockaddr_un at;
	int fd, error;

	fd = melyint_fd_high(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (fd < 0)
		return -errno;
	address(&at, path);
	/* B of NOTE(socket) */
	error = fchmod(fd, S_IRUSR | S_IWUSR) == 0 ? 0 : -errno;
	if (error == 0 && bind(fd, (struct sockaddr *)&at, sizeof at) != 0)
		error = -errno;
	if (error == -EADDRINUSE) {
		error = remove_stale(path);
		if (error == 0 && bind(fd, (struct sockaddr *)&at, sizeof at) != 0)
			error = -errno;
	}
	if (error == 0 && listen(fd, BACKLOG) != 0) {
		error = -errno;
		(void)unlink(path); /* bind created it */
	}
	if (error != 0) {
		close(fd);
		return error;
	}
	s->fd = fd;
	s->pid = getpid();
	memcpy(s->path, path, strlen(path) + 1);
	return 0;
}

/* Bind and listen at path, without a message. */
static int
listen_at(struct melyint_socket *s, const char *path)
{
	int error, held;

	if (strlen(path) >= sizeof s->path)
		return -ENAMETOOLONG;
	held = lock(path);
	if (held == -EBUSY)
		return -EBUSY;
	error = listen_locked(s, path);
	unlock(held);
	return error;
}

/* Remove a stale file. If another process holds the lock, the file stays for the next one. */
static int
remove_at(const char *path)
{
	int held = lock(path), error;

	if (held == -EBUSY)
		return -EBUSY;
	error = remove_stale(path);
	unlock(held);
	return error;
}

/* Remove the files that dead processes have left at the default place. A process id that is dead
 * here may be alive in another container, hence C of NOTE(socket) as well. */
static void
sweep(const char *dir)
{
	DIR *stream = opendir(dir);
	struct dirent *entry;
	int seen = 0;

	if (stream == NULL)
		return;
	while ((entry = readdir(stream)) != NULL && seen++ < SWEEP_MAX) {
		char path[MELYINT_SOCKET_PATH + 32];
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (pid <= 0 || pid > INT_MAX || *end != '.' || kill((pid_t)pid, 0) == 0 ||
		    errno != ESRCH)
			continue;
		if (snprintf(path, sizeof path, "%s/%s", dir, entry->d_name) < MELYINT_SOCKET_PATH)
			(void)remove_at(path);
	}
	closedir(stream);
}

/* Listen at the default place, under the first name that no other runtime of the process has. The
 * file of a dead process with the same id is stale, and replaced. */
static int
listen_default(struct melyint_socket *s, char *path, size_t size)
{
	char dir[MELYINT_SOCKET_PATH];
	int error = default_directory(dir, sizeof dir), i;

	if (error == 0)
		sweep(dir);
	snprintf(path, size, "%s", dir);
	for (i = 1; error == 0 && i <= RUNTIMES_MAX; i++) {
		if (i == 1)
			snprintf(path, size, "%s/%d.sock", dir, (int)getpid());
		else
			snprintf(path, size, "%s/%d.%d.sock", dir, (int)getpid(), i);
		error = listen_at(s, path);
		if (error == 0)
			return 0;
		if (error == -EADDRINUSE && i < RUNTIMES_MAX)
			error = 0;
	}
	return error;
}

int
melyint_socket_listen(struct melyint_socket *s, const char *path)
{
	char place[MELYINT_SOCKET_PATH + 32];
	const char *why;
	int error;

	if (path != NULL && path[0] != '\0') {
		snprintf(place, sizeof place, "%s", path);
		error = listen_at(s, path);
	} else {
		error = listen_default(s, place, sizeof place);
	}
	if (error == 0)
		return 0;
	switch (error) {
	case -EADDRINUSE:
		why = "a process listens there";
		break;
	case -EEXIST:
		why = "exists and is not a socket";
		break;
	case -EBUSY:
		why = "another process keeps its directory locked";
		break;
	case -ENAMETOOLONG:
		why = "longer than 107 bytes";
		break;
	case -EPERM:
		why = "not a directory of this user that is closed to others (mode 0700)";
		break;
	default:
		why = strerror(-error);
	}
	melyint_say("socket %s: %s", place, why);
	return error;
}

void
melyint_socket_close(struct melyint_socket *s)
{
	bool own = s->pid == getpid();

	if (s->fd < 0)
		return;
	/* The child of a fork may have it too, so a close alone would not end the listening. */
	if (own)
		shutdown(s->fd, SHUT_RDWR);
	close(s->fd);
	s->fd = -1;
	/* Unless another process listens there by now. */
	if (own)
		(void)remove_at(s->path);
}

/* ---- peers ----------------------------------------------------------------------------------- */

bool
melyint_socket_admits(uid_t peer, uid_t own)
{
	return peer == own || peer == 0;
}

int
melyint_socket_accept(const struct melyint_socket *s)
{
	struct ucred peer;
	socklen_t size = sizeof peer;
	int fd = melyint_fd_high(accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));

	if (fd < 0)
		return errno == EINTR || errno == ECONNABORTED ? -EAGAIN : -errno;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	    melyint_socket_admits(peer.uid, geteuid()))
		return fd;
	close(fd);
	return -EACCES;
}
