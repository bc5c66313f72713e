/* SPDX-License-Identifier: MIT */
/*
 * filter.c: the list is that of sws, of the runtime and of the C library beneath them: threads come
 * and go, a stalled core gets a signal, the live view has its socket.
 *
 * A call that is not in the list fails as it would on a kernel that is too old for it, which the C
 * library is prepared for; so clone3, whose flags no filter can see, becomes clone. The kernel
 * decides calls that are always allowed by a table, so they cost little more than without a filter.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assertion.h"
#include "ops/filter.h"

/* Allowed with any arguments. Names that this machine lacks do not count. */
static const char *const allowed[] = {
	/* bytes */
	"read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "preadv2", "pwritev",
	"pwritev2", "sendfile", "sendfile64", "splice", "lseek", "_llseek", "close", "close_range",
	"dup", "dup2", "dup3", "fcntl", "fcntl64", "pipe", "pipe2", "fadvise64", "fadvise64_64",
	"readahead", "fsync", "fdatasync", "ftruncate", "ftruncate64", "flock",
	/* sockets; socket itself is below */
	"accept", "accept4", "bind", "connect", "listen", "getsockname", "getpeername",
	"getsockopt", "setsockopt", "shutdown", "recv", "recvfrom", "recvmsg", "recvmmsg", "send",
	"sendto", "sendmsg", "sendmmsg",
	/* names, which Landlock limits */
	"open", "openat", "openat2", "stat", "stat64", "lstat", "lstat64", "fstat", "fstat64",
	"newfstatat", "fstatat64", "statx", "statfs", "statfs64", "fstatfs", "fstatfs64", "access",
	"faccessat", "faccessat2", "readlink", "readlinkat", "getdents", "getdents64", "getcwd",
	"rename", "renameat", "renameat2", "unlink", "unlinkat", "umask", "fchmod",
	"inotify_init1", "inotify_add_watch", "inotify_rm_watch",
	/* memory; what makes code executable is below */
	"munmap", "mremap", "madvise", "brk", "mincore", "mlock", "munlock", "membarrier",
	"get_mempolicy", "mbind", "set_mempolicy",
	/* waiting */
	"epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2",
	"poll", "ppoll", "ppoll_time64", "select", "_newselect", "pselect6", "pselect6_time64",
	"eventfd2", "signalfd4", "timerfd_create", "timerfd_settime", "timerfd_settime64",
	"timerfd_gettime", "timerfd_gettime64",
	/* threads */
	"futex", "futex_time64", "futex_waitv", "futex_wait", "futex_wake", "futex_requeue",
	"set_robust_list", "get_robust_list", "rseq", "set_tid_address", "exit", "exit_group",
	"gettid", "sched_yield", "sched_getaffinity", "sched_setaffinity", "sched_getparam",
	"sched_getscheduler", "sched_get_priority_max", "sched_get_priority_min", "getcpu",
	/* signals */
	"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigreturn", "rt_sigpending",
	"rt_sigtimedwait", "rt_sigtimedwait_time64", "rt_sigsuspend", "sigaltstack",
	"restart_syscall", "pause", "wait4", "waitid",
	/* time */
	"clock_gettime", "clock_gettime64", "clock_getres", "clock_getres_time64",
	"clock_nanosleep", "clock_nanosleep_time64", "nanosleep", "gettimeofday", "time", "times",
	"timer_create", "timer_settime", "timer_settime64", "timer_gettime", "timer_delete",
	"timer_getoverrun", "setitimer", "getitimer",
	/* the process */
	"getpid", "getppid", "getuid", "getuid32", "geteuid", "geteuid32", "getgid", "getgid32",
	"getegid", "getegid32", "getresuid", "getresuid32", "getresgid", "getresgid32",
	"getgroups", "getgroups32", "getrlimit", "ugetrlimit", "getrusage", "sysinfo", "uname",
	"getrandom", "getpriority",
};

/* Those of a program that an attacker has taken over. */
static const char *const deadly[] = {
	"execve", "execveat", "fork", "vfork", "ptrace", "process_vm_readv", "process_vm_writev",
	"kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "bpf",
	"mount", "umount2", "pivot_root", "chroot", "setns", "unshare", "open_by_handle_at",
	"move_mount", "open_tree", "fsopen", "add_key", "request_key", "keyctl", "userfaultfd",
	"perf_event_open", "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid",
	"setgroups", "capset", "pidfd_getfd",
};

/* A call that is allowed if an argument is as it should be; several rows are alternatives. */
struct argument {
	const char *call;
	struct scmp_arg_cmp cmp;
};

#define EQUAL(at, value) SCMP_CMP64(at, SCMP_CMP_EQ, (uint64_t)(value), 0)
#define MASKED(at, mask, value) SCMP_CMP64(at, SCMP_CMP_MASKED_EQ, (uint64_t)(mask), \
	(uint64_t)(value))

static int
add_calls(scmp_filter_ctx filter, uint32_t action, const char *const *names, size_t count)
{
	int status = 0;

	for (size_t i = 0; status == 0 && i < count; i++) {
		int call = seccomp_syscall_resolve_name(names[i]);

		if (call != __NR_SCMP_ERROR)
			status = seccomp_rule_add(filter, action, call, 0);
	}
	return status;
}

static int
add_arguments(scmp_filter_ctx filter)
{
	const uint64_t self = (uint64_t)getpid();
	const struct argument arguments[] = {
		{"clone", MASKED(0, CLONE_THREAD, CLONE_THREAD)},
		/* Nothing becomes code. */
		{"mmap", MASKED(2, PROT_EXEC, 0)},
		{"mmap2", MASKED(2, PROT_EXEC, 0)},
		{"mprotect", MASKED(2, PROT_EXEC, 0)},
		{"socket", EQUAL(0, AF_UNIX)},
		{"socket", EQUAL(0, AF_INET)},
		{"socket", EQUAL(0, AF_INET6)},
		{"socketpair", EQUAL(0, AF_UNIX)},
		{"ioctl", EQUAL(1, FIONREAD)},
		{"ioctl", EQUAL(1, FIONBIO)},
		{"ioctl", EQUAL(1, TCGETS)},
		{"ioctl", EQUAL(1, TIOCGWINSZ)},
		{"ioctl", EQUAL(1, TIOCOUTQ)},
		{"prctl", EQUAL(0, PR_SET_NAME)},
		{"prctl", EQUAL(0, PR_GET_NAME)},
		{"prctl", EQUAL(0, PR_SET_TIMERSLACK)},
		{"prctl", EQUAL(0, PR_GET_DUMPABLE)},
		{"prctl", EQUAL(0, 0x53564d41)}, /* PR_SET_VMA: the C library names memory */
		/* Signals to ourselves: a stalled core, abort. */
		{"kill", EQUAL(0, self)},
		{"tgkill", EQUAL(0, self)},
		{"rt_sigqueueinfo", EQUAL(0, self)},
		{"rt_tgsigqueueinfo", EQUAL(0, self)},
		{"pidfd_open", EQUAL(0, self)},
		{"prlimit64", EQUAL(0, 0)},
		{"prlimit64", EQUAL(0, self)},
	};
	int status = 0;

	for (size_t i = 0; status == 0 && i < sizeof arguments / sizeof arguments[0]; i++) {
		int call = seccomp_syscall_resolve_name(arguments[i].call);

		if (call != __NR_SCMP_ERROR)
			status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
			    arguments[i].cmp);
	}
	return status;
}

int
sws_filter_enforce(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int status;

	if (filter == NULL)
		return -ENOMEM;
	/* Threads, should there be any. An older kernel or library may not know these two. */
	(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	status = add_calls(filter, SCMP_ACT_ALLOW, allowed, sizeof allowed / sizeof allowed[0]);
	if (status == 0)
		status = add_calls(filter, SCMP_ACT_KILL_PROCESS, deadly,
		    sizeof deadly / sizeof deadly[0]);
	if (status == 0)
		status = add_arguments(filter);
	if (status == 0)
		status = seccomp_load(filter);
	SWS_ASSERT(status <= 0);
	seccomp_release(filter);
	return status;
}
