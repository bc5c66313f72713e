/* SPDX-License-Identifier: MIT */
/*
 * live.c: the calls of mely/live.h: what they return, and what is left of a socket and a signal at
 * the end of a runtime, of a process and in the child of a fork. What is said through the socket is
 * tests/live/live_test.py's.
 */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static char base[] = "/tmp/mely-live-XXXXXX";

static const char *
in_base(const char *name)
{
	static char path[128];

	snprintf(path, sizeof path, "%s/%s", base, name);
	return path;
}

static bool
is_socket(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

static void
calls(void)
{
	struct mely_runtime *rt = test_runtime(2);
	char path[128];

	TEST_EQ(mely_socket_path(rt, path, sizeof path), 0);
	TEST_CHECK(path[0] == '\0');
	TEST_EQ(mely_socket_close(rt), -ENOENT);
	TEST_OK(mely_socket_open(rt, in_base("a.sock")));
	TEST_CHECK(is_socket(in_base("a.sock")));
	TEST_EQ(mely_socket_path(rt, path, sizeof path), strlen(in_base("a.sock")));
	TEST_CHECK(strcmp(path, in_base("a.sock")) == 0);
	TEST_EQ(mely_socket_path(rt, path, 5), strlen(in_base("a.sock")));
	TEST_CHECK(strcmp(path, "/tmp") == 0);
	TEST_EQ(mely_socket_open(rt, in_base("b.sock")), -EALREADY);
	TEST_OK(mely_socket_close(rt));
	TEST_CHECK(!is_socket(in_base("a.sock")));
	TEST_EQ(mely_socket_open(rt, in_base("no/such")), -ENOENT);
	TEST_OK(mely_socket_open(rt, in_base("a.sock")));
	test_run_dry(rt); /* a run does not end it */
	TEST_CHECK(is_socket(in_base("a.sock")));
	TEST_OK(mely_runtime_free(rt));
	TEST_CHECK(!is_socket(in_base("a.sock")));
}

static void
open_without_descriptors(void)
{
	struct mely_runtime *rt = test_runtime(1);
	const struct rlimit none = {0, 0};

	TEST_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
	TEST_EQ(mely_socket_open(rt, in_base("c.sock")), -EMFILE);
	TEST_EQ(mely_socket_open(rt, NULL), -EMFILE);
	TEST_OK(mely_runtime_free(rt));
}

/* A line names each socket that cannot be opened, and why. */
static void
failures_are_told(void)
{
	char text[512], want[192];

	TEST_EQ(test_child(open_without_descriptors, text, sizeof text), 0);
	snprintf(want, sizeof want, "mely: socket %s: %s\nmely: socket of mely-top: %s\n",
	    in_base("c.sock"), strerror(EMFILE), strerror(EMFILE));
	if (strcmp(text, want) != 0)
		test_fail(__FILE__, __LINE__, "the lines are '%s'", text);
}

/* ---- dumps ---------------------------------------------------------------------------------- */

static int ends[2];

static void
on_dump(void *arg)
{
	TEST_OK(mely_dump(arg, ends[1]));
}

static struct mely_handler dumper = MELY_HANDLER(on_dump);

/* A handler looks at its own runtime. */
static void
dump_in_a_handler(void)
{
	struct mely_runtime *rt = test_runtime(1);
	char text[4096];
	ssize_t n;

	TEST_EQ(pipe(ends), 0);
	TEST_OK(mely_post_id(rt, 7, &dumper, rt));
	TEST_OK(mely_post_id(rt, 8, &dumper, rt));
	test_run_dry(rt);
	n = read(ends[0], text, sizeof text - 1);
	TEST_CHECK(n > 0);
	text[n] = '\0';
	TEST_CHECK(strstr(text, "core 0: runs on_dump of color 7, for ") != NULL);
	TEST_CHECK(strstr(text, "color 8: core 0, 1 event waiting, the oldest for ") != NULL);
	close(ends[0]);
	close(ends[1]);
	TEST_OK(mely_runtime_free(rt));
}

/* Without a reader it gives up. */
static void
dump_to_a_full_pipe(void)
{
	struct mely_runtime *rt = test_runtime(1);
	char byte = 'x';

	TEST_EQ(pipe(ends), 0);
	TEST_EQ(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	while (write(ends[1], &byte, 1) == 1)
		;
	TEST_EQ(fcntl(ends[1], F_SETFL, 0), 0); /* a write would block */
	TEST_EQ(mely_dump(rt, ends[1]), -ETIMEDOUT);
	TEST_EQ(mely_dump(rt, -1), -EBADF);
	close(ends[0]);
	close(ends[1]);
	TEST_OK(mely_runtime_free(rt));
}

/* ---- signals -------------------------------------------------------------------------------- */

static void
on_signal(int signo)
{
	(void)signo;
}

static bool
is_default(int signo)
{
	struct sigaction action;

	return sigaction(signo, NULL, &action) == 0 && action.sa_handler == SIG_DFL;
}

static void
signals(void)
{
	struct mely_runtime *rt = test_runtime(1), *other = test_runtime(1);

	TEST_EQ(mely_dump_on_signal(rt, SIGKILL), -EINVAL);
	TEST_EQ(mely_dump_on_signal(rt, -1), -EINVAL);
	TEST_EQ(mely_dump_on_signal(rt, 1000), -EINVAL);
	TEST_OK(mely_dump_on_signal(rt, 0)); /* it is off */
	TEST_OK(mely_dump_on_signal(rt, SIGUSR1));
	TEST_OK(mely_dump_on_signal(rt, SIGUSR1));
	TEST_CHECK(!is_default(SIGUSR1));
	TEST_EQ(mely_dump_on_signal(other, SIGUSR1), -EBUSY);
	/* Another one instead. */
	TEST_OK(mely_dump_on_signal(rt, SIGUSR2));
	TEST_CHECK(is_default(SIGUSR1));
	TEST_OK(mely_dump_on_signal(other, SIGUSR1));
	TEST_OK(mely_dump_on_signal(other, 0));
	TEST_CHECK(is_default(SIGUSR1));
	/* What was ignored is ignored again. */
	signal(SIGUSR1, SIG_IGN);
	TEST_OK(mely_dump_on_signal(other, SIGUSR1));
	TEST_OK(mely_dump_on_signal(other, 0));
	TEST_CHECK(signal(SIGUSR1, SIG_DFL) == SIG_IGN);
	/* The program's own handler stays. */
	signal(SIGUSR1, on_signal);
	TEST_EQ(mely_dump_on_signal(other, SIGUSR1), -EBUSY);
	TEST_CHECK(signal(SIGUSR1, SIG_DFL) == on_signal);
	TEST_OK(mely_runtime_free(rt));
	TEST_CHECK(is_default(SIGUSR2));
	TEST_OK(mely_runtime_free(other));
}

static off_t
size_of(int fd)
{
	struct stat st;

	TEST_EQ(fstat(fd, &st), 0);
	return st.st_size;
}

/* The signal comes, and stderr, a file here, tells what the core runs. */
static void
on_ask(void *arg)
{
	off_t before = size_of(STDERR_FILENO);
	int tries;

	TEST_EQ(kill(getpid(), SIGUSR1), 0);
	for (tries = 0; tries < 20000 && size_of(STDERR_FILENO) == before; tries++)
		usleep(1000);
	*(bool *)arg = tries < 20000;
}

static struct mely_handler asker = MELY_HANDLER(on_ask);

/* The program blocks the signal, and runs more than once: there is a dump in each run. */
static void
dumps_in_each_run(void)
{
	struct mely_runtime *rt = test_runtime(1);
	int runs, out = dup(STDERR_FILENO), file;
	bool told[3];
	sigset_t usr1;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	TEST_EQ(pthread_sigmask(SIG_BLOCK, &usr1, NULL), 0);
	TEST_OK(mely_dump_on_signal(rt, SIGUSR1));
	file = open(in_base("stderr"), O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
	TEST_CHECK(file >= 0 && dup2(file, STDERR_FILENO) >= 0);
	for (runs = 0; runs < 3; runs++) {
		told[runs] = false;
		TEST_OK(mely_post_id(rt, 1, &asker, &told[runs]));
		test_run_dry(rt);
	}
	TEST_CHECK(dup2(out, STDERR_FILENO) >= 0);
	close(out);
	close(file);
	for (runs = 0; runs < 3; runs++)
		TEST_CHECK(told[runs]);
	TEST_OK(mely_runtime_free(rt));
	/* One that came too late for the last run's thread is not to end the test. */
	signal(SIGUSR1, SIG_IGN);
	TEST_EQ(pthread_sigmask(SIG_UNBLOCK, &usr1, NULL), 0);
	signal(SIGUSR1, SIG_DFL);
}

/* ---- other processes ------------------------------------------------------------------------ */

static void
join(pid_t pid)
{
	int status;

	TEST_CHECK(pid > 0);
	TEST_EQ(waitpid(pid, &status, 0), pid);
	TEST_EQ(status, 0);
}

/* The child has nothing of it, and leaves the parent's alone; renewed, it gets its own. */
static void
forks(void)
{
	struct mely_config config;
	struct mely_runtime *rt;
	char before[128], after[128];
	pid_t pid;

	TEST_EQ(setenv("XDG_RUNTIME_DIR", base, 1), 0);
	test_config(&config, 1);
	config.socket = "";
	config.dump_signal = SIGUSR1;
	rt = test_runtime_with(&config);
	TEST_CHECK(mely_socket_path(rt, before, sizeof before) > 0);
	TEST_CHECK(strncmp(before, base, strlen(base)) == 0);
	pid = fork();
	if (pid == 0) {
		TEST_EQ(mely_socket_open(rt, NULL), -ECHILD);
		TEST_EQ(mely_socket_close(rt), -ECHILD);
		TEST_EQ(mely_dump(rt, STDERR_FILENO), -ECHILD);
		TEST_EQ(mely_dump_on_signal(rt, SIGUSR2), -ECHILD);
		TEST_EQ(raise(SIGUSR1), 0); /* has no handler here */
		TEST_OK(mely_runtime_renew(rt));
		TEST_CHECK(mely_socket_path(rt, after, sizeof after) > 0);
		TEST_CHECK(strcmp(before, after) != 0 && is_socket(after));
		test_run_dry(rt);
		TEST_OK(mely_runtime_free(rt));
		TEST_CHECK(!is_socket(after) && is_socket(before));
		_exit(0);
	}
	join(pid);
	TEST_CHECK(is_socket(before));
	pid = fork();
	if (pid == 0)
		_exit(mely_runtime_free(rt));
	join(pid);
	TEST_CHECK(is_socket(before));
	TEST_OK(mely_runtime_free(rt));
	TEST_CHECK(!is_socket(before));
}

/* Whichever epoll set this process has: nothing is in it that is ready for ever. */
static void
sets_fall_silent(void)
{
	char path[300], target[64];
	struct dirent *entry;
	DIR *dir = opendir("/proc/self/fd");

	TEST_CHECK(dir != NULL);
	while ((entry = readdir(dir)) != NULL) {
		struct pollfd set = {atoi(entry->d_name), POLLIN, 0};
		ssize_t n;
		int tries;

		snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
		n = readlink(path, target, sizeof target - 1);
		target[n > 0 ? n : 0] = '\0';
		if (strcmp(target, "anon_inode:[eventpoll]") != 0)
			continue;
		/* A thread may be about to take what is there: then it is silent soon. */
		for (tries = 0; tries < 20000 && poll(&set, 1, 0) != 0; tries++)
			usleep(1000);
		TEST_CHECK(tries < 20000);
	}
	closedir(dir);
}

static int
dial(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	const struct timeval limit = {20, 0}; /* what must come */
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(at.sun_path, path, strlen(path) + 1);
	TEST_EQ(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
	TEST_EQ(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
	return fd;
}

/* The other end closes: bytes, and an end. */
static void
ends_soon(int fd)
{
	char text[256];
	ssize_t n;

	while ((n = recv(fd, text, sizeof text, 0)) > 0)
		;
	TEST_EQ(n, 0);
	close(fd);
}

static void
on_heir(void *arg)
{
	struct mely_runtime *rt = arg;
	int first = dial(in_base("heir.sock")), second = dial(in_base("heir.sock"));
	char head[24];
	pid_t pid;

	/* Both are clients of it, and not only in its backlog. */
	TEST_EQ(send(first, "version\n", 8, 0), 8);
	TEST_EQ(recv(first, head, sizeof head, MSG_WAITALL), sizeof head);
	TEST_EQ(send(second, "version\n", 8, 0), 8);
	TEST_EQ(recv(second, head, sizeof head, MSG_WAITALL), sizeof head);
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* when a check fails here */
		for (;;)
			pause();
	}
	TEST_CHECK(pid > 0);
	TEST_EQ(send(first, "garbage\n", 8, 0), 8);
	ends_soon(first);
	sets_fall_silent();
	TEST_OK(mely_socket_close(rt));
	ends_soon(second);
	sets_fall_silent();
	TEST_EQ(kill(pid, SIGKILL), 0);
	TEST_EQ(waitpid(pid, NULL, 0), pid);
}

static struct mely_handler heir = MELY_HANDLER(on_heir);

/* A child that lives on has all descriptors, too. What is closed is closed nevertheless. */
static void
child_lives_on(void)
{
	struct mely_runtime *rt = test_runtime(1);

	TEST_OK(mely_socket_open(rt, in_base("heir.sock")));
	TEST_OK(mely_post_id(rt, 1, &heir, rt));
	test_run_dry(rt);
	TEST_OK(mely_runtime_free(rt));
}

static void
on_exit_now(void *arg)
{
	(void)arg;
	exit(0);
}

static struct mely_handler leaver = MELY_HANDLER(on_exit_now);

/* A process that exits, in a handler or without having run, leaves no socket. */
static void
exits(void)
{
	/* ThreadSanitizer reports a leak: an exit in a handler does not join the monitor. */
	int runs, most = TEST_TSAN ? 1 : 2;

	for (runs = 0; runs < most; runs++) {
		pid_t pid = fork();

		if (pid == 0) {
			struct mely_runtime *rt = test_runtime(2);

			TEST_OK(mely_socket_open(rt, in_base("exit.sock")));
			TEST_CHECK(is_socket(in_base("exit.sock")));
			if (runs == 1) {
				TEST_OK(mely_post_id(rt, 1, &leaver, NULL));
				TEST_OK(mely_run(rt));
			}
			exit(0);
		}
		join(pid);
		TEST_CHECK(!is_socket(in_base("exit.sock")));
	}
}

int
main(int argc, char **argv)
{
	char command[128];

	test_init(argc, argv, 120);
	TEST_CHECK(mkdtemp(base) != NULL);
	TEST_CASE(calls);
	TEST_CASE(failures_are_told);
	TEST_CASE(dump_in_a_handler);
	TEST_CASE(dump_to_a_full_pipe);
	TEST_CASE(signals);
	TEST_CASE(dumps_in_each_run);
	TEST_CASE(forks);
	TEST_CASE(child_lives_on);
	TEST_CASE(exits);
	snprintf(command, sizeof command, "rm -rf %s", base);
	TEST_EQ(system(command), 0);
	return test_done();
}
