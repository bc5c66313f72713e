/* SPDX-License-Identifier: MIT */
/*
 * syscalls.c: the table of system calls in which a thread can wait. Some of them do not exist on
 * every processor. Any thread; constant data.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "base/syscalls.h"

/* When does a signal handler cut the call short? */
enum when {
	NEVER,
	ALWAYS,
	TIMED,  /* if it has a time limit, argument LIMIT */
	SOCKET  /* if its first argument is a socket with a time limit */
};

enum { LIMIT = 3 };

struct call {
	long number;
	const char *name;
	enum when cut_short;
};

static const struct call calls[] = {
	{-1, NULL, ALWAYS},
	{SYS_nanosleep, "nanosleep", ALWAYS},
	{SYS_clock_nanosleep, "clock_nanosleep", ALWAYS},
	{SYS_ppoll, "ppoll", ALWAYS},
	{SYS_pselect6, "pselect6", ALWAYS},
	{SYS_epoll_pwait, "epoll_pwait", ALWAYS},
	{SYS_rt_sigsuspend, "rt_sigsuspend", ALWAYS},
	{SYS_rt_sigtimedwait, "rt_sigtimedwait", ALWAYS},
	{SYS_io_getevents, "io_getevents", ALWAYS},
	{SYS_semop, "semop", ALWAYS},
	{SYS_semtimedop, "semtimedop", ALWAYS},
	{SYS_msgrcv, "msgrcv", ALWAYS},
	{SYS_msgsnd, "msgsnd", ALWAYS},
#ifdef SYS_poll
	{SYS_poll, "poll", ALWAYS},
#endif
#ifdef SYS_select
	{SYS_select, "select", ALWAYS},
#endif
#ifdef SYS_epoll_wait
	{SYS_epoll_wait, "epoll_wait", ALWAYS},
#endif
#ifdef SYS_epoll_pwait2
	{SYS_epoll_pwait2, "epoll_pwait2", ALWAYS},
#endif
#ifdef SYS_pause
	{SYS_pause, "pause", ALWAYS},
#endif
#ifdef SYS_io_pgetevents
	{SYS_io_pgetevents, "io_pgetevents", ALWAYS},
#endif
#ifdef SYS_futex_waitv
	{SYS_futex_waitv, "futex_waitv", TIMED},
#endif
#ifdef SYS_io_uring_enter
	{SYS_io_uring_enter, "io_uring_enter", ALWAYS},
#endif
	{SYS_futex, "futex", TIMED},
	{SYS_read, "read", SOCKET},
	{SYS_pread64, "pread64", NEVER},
	{SYS_readv, "readv", SOCKET},
	{SYS_write, "write", SOCKET},
	{SYS_pwrite64, "pwrite64", NEVER},
	{SYS_writev, "writev", SOCKET},
	{SYS_fsync, "fsync", NEVER},
	{SYS_fdatasync, "fdatasync", NEVER},
	{SYS_openat, "openat", NEVER},
	{SYS_close, "close", NEVER},
	{SYS_flock, "flock", NEVER},
	{SYS_fcntl, "fcntl", NEVER},
	{SYS_ioctl, "ioctl", NEVER},
	{SYS_accept, "accept", SOCKET},
	{SYS_accept4, "accept4", SOCKET},
	{SYS_connect, "connect", SOCKET},
	{SYS_recvfrom, "recvfrom", SOCKET},
	{SYS_recvmsg, "recvmsg", SOCKET},
	{SYS_sendto, "sendto", SOCKET},
	{SYS_sendmsg, "sendmsg", SOCKET},
	{SYS_recvmmsg, "recvmmsg", SOCKET},
	{SYS_sendmmsg, "sendmmsg", SOCKET},
	{SYS_wait4, "wait4", NEVER},
	{SYS_waitid, "waitid", NEVER},
};

static const struct call *
find(long call)
{
	size_t i;

	for (i = 0; i < sizeof calls / sizeof calls[0]; i++)
		if (calls[i].number == call)
			return &calls[i];
	return NULL;
}

/* Does the socket have the time limit? Yes when that is unknown; no when fd is not a socket. */
static bool
is_limited(int fd, int limit)
{
	struct timeval time = {0, 0};
	socklen_t size = sizeof time;

	if (getsockopt(fd, SOL_SOCKET, limit, &time, &size) != 0)
		return errno != ENOTSOCK;
	return time.tv_sec != 0 || time.tv_usec != 0;
}

bool
melyint_call_is_cut_short(long call, const uint64_t args[MELYINT_CALL_ARGS])
{
	const struct call *found = find(call);

	switch (found != NULL ? found->cut_short : NEVER) {
	case ALWAYS:
		return true;
	case TIMED:
		return args[LIMIT] != 0;
	case SOCKET:
		return is_limited((int)args[0], SO_RCVTIMEO) ||
		    is_limited((int)args[0], SO_SNDTIMEO);
	default:
		return false;
	}
}

const char *
melyint_call_name(long call)
{
	const struct call *found = find(call);

	return found != NULL ? found->name : NULL;
}
