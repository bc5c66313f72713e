/* SPDX-License-Identifier: MIT */
/* syscalls.c: see syscalls.h. Not all of them exist on every processor. */
#include <stddef.h>
#include <sys/syscall.h>

#include "syscalls.h"

struct call {
	long number;
	const char *name;
	bool cut_short;
};

static const struct call calls[] = {
	{-1, NULL, true},
	{SYS_nanosleep, "nanosleep", true},
	{SYS_clock_nanosleep, "clock_nanosleep", true},
	{SYS_ppoll, "ppoll", true},
	{SYS_pselect6, "pselect6", true},
	{SYS_epoll_pwait, "epoll_pwait", true},
	{SYS_rt_sigsuspend, "rt_sigsuspend", true},
	{SYS_rt_sigtimedwait, "rt_sigtimedwait", true},
	{SYS_io_getevents, "io_getevents", true},
	{SYS_semop, "semop", true},
	{SYS_semtimedop, "semtimedop", true},
	{SYS_msgrcv, "msgrcv", true},
	{SYS_msgsnd, "msgsnd", true},
#ifdef SYS_poll
	{SYS_poll, "poll", true},
#endif
#ifdef SYS_select
	{SYS_select, "select", true},
#endif
#ifdef SYS_epoll_wait
	{SYS_epoll_wait, "epoll_wait", true},
#endif
#ifdef SYS_epoll_pwait2
	{SYS_epoll_pwait2, "epoll_pwait2", true},
#endif
#ifdef SYS_pause
	{SYS_pause, "pause", true},
#endif
#ifdef SYS_io_pgetevents
	{SYS_io_pgetevents, "io_pgetevents", true},
#endif
#ifdef SYS_io_uring_enter
	{SYS_io_uring_enter, "io_uring_enter", true},
#endif
	{SYS_futex, "futex", false},
	{SYS_read, "read", false},
	{SYS_pread64, "pread64", false},
	{SYS_readv, "readv", false},
	{SYS_write, "write", false},
	{SYS_pwrite64, "pwrite64", false},
	{SYS_writev, "writev", false},
	{SYS_fsync, "fsync", false},
	{SYS_fdatasync, "fdatasync", false},
	{SYS_openat, "openat", false},
	{SYS_close, "close", false},
	{SYS_flock, "flock", false},
	{SYS_fcntl, "fcntl", false},
	{SYS_ioctl, "ioctl", false},
	{SYS_accept, "accept", false},
	{SYS_accept4, "accept4", false},
	{SYS_connect, "connect", false},
	{SYS_recvfrom, "recvfrom", false},
	{SYS_recvmsg, "recvmsg", false},
	{SYS_sendto, "sendto", false},
	{SYS_sendmsg, "sendmsg", false},
	{SYS_wait4, "wait4", false},
	{SYS_waitid, "waitid", false},
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

bool
melyint_call_is_cut_short(long call)
{
	const struct call *found = find(call);

	return found != NULL && found->cut_short;
}

const char *
melyint_call_name(long call)
{
	const struct call *found = find(call);

	return found != NULL ? found->name : NULL;
}
