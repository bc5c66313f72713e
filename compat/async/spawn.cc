/* SPDX-License-Identifier: MIT */
/*
 * spawn.cc: children and the programs that they run. Color 0.
 *
 * A child has only the thread that forked it, and copies of all locks in whatever state they were.
 * So it makes only system calls here, runs the program's callback and prints messages.
 */
#include "async.h"

extern char **environ;

namespace melycompat {

namespace {

enum {
	FIRST_FREE_FD = 3, /* the first one above standard input, output and error */
	EXIT_NO_EXEC = 1
};

/* The signal mask that the program started with; the threads of the loop block all signals. */
struct initial_mask {
	sigset_t mask;

	initial_mask() { pthread_sigmask(SIG_BLOCK, nullptr, &mask); }
} at_start;

/* The program that spawn or aspawn runs. */
struct program {
	const char *path;
	char *const *argv;
	int in, out, err;
	const cbv::ptr &postforkcb;
	char *const *env;

	/* Runs in the child; returns errno on failure. */
	void
	run() const
	{
		setstdfds(in, out, err);
		if (postforkcb)
			(*postforkcb)();
		execve(path, argv, env != nullptr ? env : environ);
	}
};

/* Runs in the child: make fd one of the first three. */
void
place(int fd, int wanted)
{
	if (fd == wanted)
		(void)fcntl(fd, F_SETFD, 0);
	else
		(void)dup2(fd, wanted);
}

/* Move a descriptor above the first three. */
int
above_std(int fd, int wanted)
{
	int copy;

	if (fd >= FIRST_FREE_FD || fd == wanted)
		return fd;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
	return copy < 0 ? fd : copy;
}

/* The errno that the child sent; 0: it sent nothing, because its program runs. */
int
read_error(int fd)
{
	int error = 0;
	ssize_t n;

	do
		n = read(fd, &error, sizeof error);
	while (n < 0 && errno == EINTR);
	return n == static_cast<ssize_t>(sizeof error) ? error : 0;
}

void
reap(pid_t pid)
{
	while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR)
		;
}

/* Runs in the child of spawn; never returns. */
[[noreturn]] void
run_or_report(const program &p, int fd)
{
	int error;
	ssize_t n;

	p.run();
	error = errno;
	n = write(fd, &error, sizeof error);
	(void)n; /* if the write fails, the error cannot be reported at all */
	_exit(EXIT_NO_EXEC);
}

}

}

using namespace melycompat;

void
setstdfds(int in, int out, int err)
{
	int fds[3], given[3] = {in, out, err}, i;

	for (i = 0; i < 3; i++)
		fds[i] = above_std(given[i], i);
	for (i = 0; i < 3; i++)
		place(fds[i], i);
	for (i = 0; i < 3; i++)
		if (fds[i] >= FIRST_FREE_FD)
			close(fds[i]); /* given twice, closed twice: harmless in a child */
}

pid_t
afork()
{
	pid_t pid;
	int copy;

	pid = fork();
	if (pid != 0)
		return pid;
	signal(SIGPIPE, SIG_DFL);
	pthread_sigmask(SIG_SETMASK, &at_start.mask, nullptr);
	copy = fcntl(errfd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
	if (copy >= 0)
		errfd = copy;
	return 0;
}

pid_t
spawn(const char *path, char *const *argv, int in, int out, int err, cbv::ptr postforkcb,
    char *const *env)
{
	program p = {path, argv, in, out, err, postforkcb, env};
	int fds[2], error;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	pid = afork();
	if (pid == 0)
		run_or_report(p, above_std(fds[1], -1));
	error = pid < 0 ? errno : 0;
	close(fds[1]);
	if (pid > 0 && (error = read_error(fds[0])) != 0)
		reap(pid);
	close(fds[0]);
	if (error == 0)
		return pid;
	errno = error;
	return -1;
}

pid_t
aspawn(const char *path, char *const *argv, int in, int out, int err, cbv::ptr postforkcb,
    char *const *env)
{
	program p = {path, argv, in, out, err, postforkcb, env};
	pid_t pid = afork();

	if (pid != 0)
		return pid;
	p.run();
	warn("%s: %m\n", path);
	_exit(EXIT_NO_EXEC);
}
