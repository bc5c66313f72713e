/* SPDX-License-Identifier: MIT */
/*
 * child.c: children, each watched by a pidfd of its own, which is an ordinary descriptor to
 * io/fd.c. SIGCHLD is not touched, and no other child is reaped.
 *
 * Where there are no pidfds (before Linux 5.3, in a sandbox, under valgrind) a timerfd stands in,
 * which makes the watcher's event look for the child every LOOK_NS.
 */
#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/fd.h"

enum { LOOK_NS = 20000000 };

static MELY_TLS int current_status;

static int
open_stand_in(void)
{
	struct itimerspec often = {{0, LOOK_NS}, {0, LOOK_NS}};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd >= 0)
		(void)timerfd_settime(fd, 0, &often, NULL); /* can't fail with these */
	return fd;
}

/* What becomes readable when the child ends, or a negative errno; -ESRCH also for a process that
 * is no child of ours. */
static int
open_child(pid_t pid)
{
	siginfo_t info;
	int fd;

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		return errno == ECHILD ? -ESRCH : -errno;
	fd = (int)syscall(SYS_pidfd_open, pid, 0); /* closes on exec by itself */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = open_stand_in();
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
	uint64_t looks;

	/* Lives: a stand-in is to be quiet until the next look; a pidfd refuses to be read. */
	if (r == 0 && read(fd, &looks, sizeof(looks)) < 0)
		return false;
	/* Somebody else reaped it, or SIGCHLD is ignored: it has ended, how is not known. */
	if (r < 0)
		current_status = -1;
	return r != 0;
}

int
mely_child_status(void)
{
	return current_status;
}
