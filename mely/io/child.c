/* SPDX-License-Identifier: MIT */
/*
 * child.c: children. Each is watched through its own pidfd, which to fd.c is an ordinary
 * descriptor. The library does not touch SIGCHLD and reaps no other child.
 *
 * Where the system has no pidfds (before Linux 5.3, in a sandbox, under valgrind) a timerfd
 * replaces it, and the watcher's event checks for the child every CHECK_NS.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/descriptor.h"
#include "io/kinds.h"

enum { CHECK_NS = 20000000 };

static MELY_TLS int current_status;

static int
open_substitute(void)
{
	struct itimerspec often = {{0, CHECK_NS}, {0, CHECK_NS}};
	int fd = melyint_fd_high(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)), r;

	if (fd >= 0) {
		r = timerfd_settime(fd, 0, &often, NULL);
		MELY_ASSERT(r == 0); /* with these arguments */
	}
	return fd;
}

/* A descriptor that becomes readable when the child ends, or a negative error; -ESRCH also for a
 * process that is not a child of this one. */
static int
open_child(pid_t pid)
{
	siginfo_t info;
	int fd;

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		return errno == ECHILD ? -ESRCH : -errno;
	fd = melyint_fd_high((int)syscall(SYS_pidfd_open, pid, 0)); /* closes on exec by itself */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = open_substitute();
	MELY_DEBUG_ASSERT(fd < 0 || (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
	return fd < 0 ? -errno : fd;
}

int
mely_child_watch(struct mely_color *color, pid_t pid, struct mely_handler *handler, void *arg,
    mely_watch *id)
{
	int fd, r;

	if (color == NULL || handler == NULL || handler->fn == NULL || id == NULL || pid <= 0)
		return -EINVAL;
	r = melyint_io_usable(mely_color_runtime(color));
	if (r < 0)
		return r;
	fd = open_child(pid);
	if (fd < 0)
		return fd;
	r = melyint_fd_watch_child(color, fd, pid, handler, arg, id);
	if (r < 0)
		close(fd);
	return r;
}

bool
melyint_child_reap(pid_t pid, int fd)
{
	pid_t r = waitpid(pid, &current_status, WNOHANG);
	uint64_t expirations;

	MELY_DEBUG_ASSERT(pid > 0 && fd >= 0); /* waitpid(-1) would reap any child */
	MELY_ASSERT(r <= 0 || r == pid);
	/* The handler that reads the status runs next, on the same core. */
	MELY_DEBUG_ASSERT(melyint_self != NULL && melyint_self->batch.color != NULL);
	/* The child lives. Reading quiets the timerfd until the next check; a pidfd refuses it. */
	if (r == 0 && read(fd, &expirations, sizeof(expirations)) < 0)
		return false;
	/* The program reaped the child, or ignores SIGCHLD: it has ended, its status is lost. */
	if (r < 0)
		current_status = -1;
	return r != 0;
}

int
mely_child_status(void)
{
	return current_status;
}
