/* SPDX-License-Identifier: MIT */
/*
 * sandbox.c: what a process in the sandbox of sws cannot do any more, and what it still can. Each
 * attempt has a child process of its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "ops/filter.h"
#include "ops/landlock.h"
#include "ops/sandbox.h"

/* The table of the test: a root, and a log. */
const struct sws_setting sws_settings[] = {
	{"root", SWS_SETTING_TEXT, offsetof(struct sws_site_options, root), .of_site = true,
	    .path = SWS_PATH_READ},
	{"user", SWS_SETTING_TEXT, offsetof(struct sws_options, user), .path = SWS_PATH_LOG},
	{.name = NULL}
};

static char top[] = "/tmp/mely-sandbox-XXXXXX";
static char root[64], file[96], outside[64], log_file[96];
static int root_fd;

/* The status of a child that does this in the sandbox: 0, an errno, or 1000 and its signal. */
static int
in_sandbox(int (*attempt)(void))
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct sws_site_options site = {.root = root};
		struct sws_options options = {.sites = &site, .sites_count = 1, .user = log_file,
			.sandbox = SWS_SANDBOX_REQUIRE};
		char text[SWS_SANDBOX_TEXT];

		if (sws_sandbox_enter(&options, "", text) != 0)
			_exit(255);
		_exit(attempt());
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int
result(long n)
{
	return n >= 0 ? 0 : errno;
}

/* ---- files --------------------------------------------------------------------------------- */

static int
read_passwd(void)
{
	return result(open("/etc/passwd", O_RDONLY));
}

static int
read_outside(void)
{
	return result(open(outside, O_RDONLY));
}

static int
read_by_link(void)
{
	/* The policy "follow": nothing but the sandbox is in the way. */
	return result(openat(root_fd, "link", O_RDONLY));
}

static int
read_inside(void)
{
	struct open_how how = {.flags = O_RDONLY,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};

	return result(syscall(SYS_openat2, root_fd, "file", &how, sizeof how));
}

static int
reopen_root(void)
{
	return result(open(root, O_RDONLY | O_DIRECTORY));
}

static int
write_inside(void)
{
	return result(open(file, O_WRONLY));
}

static int
make_inside(void)
{
	return result(openat(root_fd, "new", O_WRONLY | O_CREAT, 0600));
}

static int
write_log(void)
{
	return result(open(log_file, O_WRONLY | O_APPEND | O_CREAT, 0600));
}

static int
read_log(void)
{
	return result(open(log_file, O_RDONLY));
}

static void
files(void **state)
{
	(void)state;
	assert_int_equal(in_sandbox(read_passwd), EACCES);
	assert_int_equal(in_sandbox(read_outside), EACCES);
	assert_int_equal(in_sandbox(read_by_link), EACCES);
	assert_int_equal(in_sandbox(read_inside), 0);
	assert_int_equal(in_sandbox(reopen_root), 0);
	assert_int_equal(in_sandbox(write_inside), EACCES);
	assert_int_equal(in_sandbox(make_inside), EACCES);
	assert_int_equal(in_sandbox(write_log), 0);
	assert_int_equal(in_sandbox(read_log), EACCES);
}

/* ---- system calls -------------------------------------------------------------------------- */

static int
run_program(void)
{
	return result(execl("/bin/true", "true", (char *)NULL));
}

static int
run_program_at(void)
{
	return result(syscall(SYS_execveat, AT_FDCWD, "/bin/true", NULL, NULL, 0));
}

static int
trace_parent(void)
{
	return result(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
}

static int
divide(void)
{
	return result(fork());
}

static int
signal_parent(void)
{
	return result(kill(getppid(), 0));
}

static int
make_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	    0) != MAP_FAILED ? 0 : errno;
}

static int
listen_anew(void)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return fd < 0 ? errno : result(bind(fd, (struct sockaddr *)&addr, sizeof addr));
}

static int
raw_socket(void)
{
	return result(socket(AF_PACKET, SOCK_RAW, 0));
}

static int
unknown_call(void)
{
	return result(syscall(SYS_personality, 0xffffffff));
}

static void
calls(void **state)
{
	(void)state;
	assert_int_equal(in_sandbox(run_program), 1000 + SIGSYS);
	assert_int_equal(in_sandbox(run_program_at), 1000 + SIGSYS);
	assert_int_equal(in_sandbox(trace_parent), 1000 + SIGSYS);
	assert_int_equal(in_sandbox(divide), ENOSYS);
	assert_int_equal(in_sandbox(signal_parent), ENOSYS);
	assert_int_equal(in_sandbox(make_code), ENOSYS);
	assert_int_equal(in_sandbox(raw_socket), ENOSYS);
	assert_int_equal(in_sandbox(unknown_call), ENOSYS);
	if (sws_landlock_abi() >= 4)
		assert_int_equal(in_sandbox(listen_anew), EACCES);
}

/* ---- threads ------------------------------------------------------------------------------- */

static void *
try_passwd(void *arg)
{
	*(int *)arg = read_passwd();
	return NULL;
}

static int
from_thread(void)
{
	pthread_t thread;
	int got = 0, error = pthread_create(&thread, NULL, try_passwd, &got);

	if (error == 0)
		pthread_join(thread, NULL);
	return error == 0 ? got : 200;
}

static int
from_aborting(void)
{
	abort();
}

static void
threads(void **state)
{
	(void)state;
	assert_int_equal(in_sandbox(from_thread), EACCES);
	/* A core dump says what went wrong. */
	assert_int_equal(in_sandbox(from_aborting), 1000 + SIGABRT);
}

/* ---- all ----------------------------------------------------------------------------------- */

static int
none(void)
{
	return 0;
}

static void
make_file(const char *name, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT, mode);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files),
		cmocka_unit_test(calls),
		cmocka_unit_test(threads),
	};
	char link[96];
	int failed;

	if (mkdtemp(top) == NULL)
		return 1;
	snprintf(root, sizeof root, "%s/root", top);
	snprintf(file, sizeof file, "%s/file", root);
	snprintf(link, sizeof link, "%s/link", root);
	snprintf(outside, sizeof outside, "%s/outside", top);
	snprintf(log_file, sizeof log_file, "%s/log/access.log", top);
	if (mkdir(root, 0700) != 0 || symlink(outside, link) != 0)
		return 1;
	snprintf(link, sizeof link, "%s/log", top);
	if (mkdir(link, 0700) != 0)
		return 1;
	make_file(outside, 0600);
	make_file(file, 0600);
	make_file(log_file, 0600);
	root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	failed = in_sandbox(none) == 255;
	if (failed)
		failed = 77; /* it has said why */
	else
		failed = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(link, sizeof link, "rm -rf %s", top);
	return system(link) == 0 ? failed : 1;
}
