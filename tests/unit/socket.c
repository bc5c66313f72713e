/* SPDX-License-Identifier: MIT */
/*
 * socket.c: where the live socket may be, which files it replaces, and which users it answers.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "look/live/socket.h"

enum { OTHER_UID = 65534, TAKERS = 8 };

static char base[64]; /* this test's directory */

static int
begin(void **state)
{
	(void)state;
	snprintf(base, sizeof base, "/tmp/mely-unit-XXXXXX");
	return mkdtemp(base) == NULL;
}

static int
end(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", base);
	return system(command);
}

static const char *
in_base(const char *name)
{
	static char path[4][128];
	static int next;

	next = (next + 1) % 4;
	snprintf(path[next], sizeof path[next], "%s/%s", base, name);
	return path[next];
}

static int
dial(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(at.sun_path, path, strlen(path) + 1);
	assert_true(fd >= 0);
	if (connect(fd, (struct sockaddr *)&at, sizeof at) != 0) {
		close(fd);
		return -errno;
	}
	return fd;
}

static mode_t
mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

/* ---- directories ----------------------------------------------------------------------------- */

static void
directory_is_made_and_checked(void **state)
{
	const char *dir = in_base("dir"), *link = in_base("link"), *file = in_base("file");
	mode_t mask = umask(0);

	(void)state;
	assert_int_equal(melyint_socket_directory(dir), 0);
	assert_int_equal(mode_of(dir), 0700);
	assert_int_equal(melyint_socket_directory(dir), 0); /* it exists already */
	assert_int_equal(chmod(dir, 0750), 0);
	assert_int_equal(melyint_socket_directory(dir), -EPERM);
	assert_int_equal(chmod(dir, 0701), 0);
	assert_int_equal(melyint_socket_directory(dir), -EPERM);
	assert_int_equal(chmod(dir, 0700), 0);
	assert_int_equal(symlink(dir, link), 0);
	assert_int_equal(melyint_socket_directory(link), -ENOTDIR);
	close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	assert_int_equal(melyint_socket_directory(file), -ENOTDIR);
	assert_int_equal(melyint_socket_directory(in_base("no/such")), -ENOENT);
	if (geteuid() == 0) {
		assert_int_equal(chown(dir, OTHER_UID, OTHER_UID), 0);
		assert_int_equal(melyint_socket_directory(dir), -EPERM);
	}
	umask(mask);
}

/* Another user made a directory where ours would be. */
static void
squatter_is_not_trusted(void **state)
{
	struct melyint_socket s = {.fd = -1};

	(void)state;
	assert_int_equal(mkdir(in_base("run"), 0700), 0);
	assert_int_equal(mkdir(in_base("run/mely"), 0777), 0);
	assert_int_equal(chmod(in_base("run/mely"), 0777), 0);
	setenv("XDG_RUNTIME_DIR", in_base("run"), 1);
	/* The library uses the other default instead. */
	assert_int_equal(melyint_socket_listen(&s, NULL), 0);
	assert_int_not_equal(strncmp(s.path, base, strlen(base)), 0);
	melyint_socket_close(&s);
	assert_int_equal(chmod(in_base("run/mely"), 0700), 0);
	assert_int_equal(melyint_socket_listen(&s, ""), 0);
	assert_int_equal(strncmp(s.path, base, strlen(base)), 0);
	melyint_socket_close(&s);
	unsetenv("XDG_RUNTIME_DIR");
}

/* ---- files ----------------------------------------------------------------------------------- */

static void
mode_and_end(void **state)
{
	struct melyint_socket s = {.fd = -1};
	mode_t mask = umask(0);

	(void)state;
	assert_int_equal(melyint_socket_listen(&s, in_base("a.sock")), 0);
	umask(mask);
	assert_int_equal(mode_of(s.path), 0600);
	assert_int_equal(fcntl(s.fd, F_GETFD), FD_CLOEXEC);
	melyint_socket_close(&s);
	assert_int_equal(access(in_base("a.sock"), F_OK), -1);
	assert_int_equal(s.fd, -1);
	melyint_socket_close(&s); /* a second close does nothing */
}

static void
living_is_left_alone(void **state)
{
	struct melyint_socket s = {.fd = -1}, t = {.fd = -1};

	(void)state;
	assert_int_equal(melyint_socket_listen(&s, in_base("b.sock")), 0);
	assert_int_equal(melyint_socket_listen(&t, in_base("b.sock")), -EADDRINUSE);
	assert_int_equal(t.fd, -1);
	assert_true(dial(s.path) >= 0);
	melyint_socket_close(&s);
}

static void
stale_is_taken_over(void **state)
{
	struct melyint_socket s = {.fd = -1}, t = {.fd = -1};

	(void)state;
	assert_int_equal(melyint_socket_listen(&s, in_base("c.sock")), 0);
	close(s.fd); /* as when its process is killed: the file stays */
	assert_int_equal(dial(in_base("c.sock")), -ECONNREFUSED);
	assert_int_equal(melyint_socket_listen(&t, in_base("c.sock")), 0);
	/* The end of the first one does not remove the file, which is another's now. */
	s.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	melyint_socket_close(&s);
	assert_true(dial(in_base("c.sock")) >= 0);
	melyint_socket_close(&t);
	assert_int_equal(access(in_base("c.sock"), F_OK), -1);
}

/* While one process checks the file, no other removes it. */
static void
lock_keeps_others_out(void **state)
{
	struct melyint_socket s = {.fd = -1}, t = {.fd = -1};
	struct stat before, after;
	int dir = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_int_equal(melyint_socket_listen(&s, in_base("l.sock")), 0);
	close(s.fd);
	assert_int_equal(stat(in_base("l.sock"), &before), 0);
	assert_int_equal(flock(dir, LOCK_EX), 0);
	assert_int_equal(melyint_socket_listen(&t, in_base("l.sock")), -EBUSY);
	assert_int_equal(t.fd, -1);
	s.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	melyint_socket_close(&s);
	assert_int_equal(stat(in_base("l.sock"), &after), 0);
	assert_true(before.st_ino == after.st_ino);
	close(dir);
	assert_int_equal(melyint_socket_listen(&t, in_base("l.sock")), 0);
	melyint_socket_close(&t);
}

/* Wait for the go, listen, report whether that succeeded, and stay until the end. */
static void
take_it(const char *path, int go, int told, int end)
{
	struct melyint_socket s = {.fd = -1};
	char byte;

	while (read(go, &byte, 1) != 0)
		;
	byte = melyint_socket_listen(&s, path) == 0 ? 'y' : 'n';
	if (write(told, &byte, 1) != 1)
		_exit(1);
	while (read(end, &byte, 1) != 0)
		;
	_exit(0);
}

/* Of many processes at the same time one takes over a stale socket, and that one answers. */
static void
one_of_many_takes_over(void **state)
{
	const char *path = in_base("m.sock");
	int go[2], told[2], end[2], i, had, round;
	pid_t pids[TAKERS];
	char byte;

	(void)state;
	for (round = 0; round < 40; round++) {
		assert_true(pipe(go) == 0 && pipe(told) == 0 && pipe(end) == 0);
		for (i = 0; i < TAKERS; i++) {
			pids[i] = fork();
			assert_true(pids[i] >= 0);
			if (pids[i] == 0) {
				close(go[1]);
				close(end[1]);
				close(STDERR_FILENO);
				take_it(path, go[0], told[1], end[0]);
			}
		}
		close(go[1]);
		for (i = had = 0; i < TAKERS; i++) {
			assert_int_equal(read(told[0], &byte, 1), 1);
			had += byte == 'y';
		}
		assert_int_equal(had, 1);
		i = dial(path);
		assert_true(i >= 0);
		close(i);
		close(end[1]); /* and it is stale again */
		for (i = 0; i < TAKERS; i++)
			assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
		close(go[0]);
		close(end[0]);
		close(told[0]);
		close(told[1]);
	}
}

static void
what_is_no_socket_stays(void **state)
{
	struct melyint_socket s = {.fd = -1};
	const char *file = in_base("precious");
	int fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	struct stat st;

	(void)state;
	assert_int_equal(write(fd, "data", 4), 4);
	close(fd);
	assert_int_equal(melyint_socket_listen(&s, file), -EEXIST);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_size, 4);
	/* Nor what a link points at. */
	assert_int_equal(symlink(file, in_base("to-it")), 0);
	assert_int_equal(melyint_socket_listen(&s, in_base("to-it")), -EEXIST);
	assert_int_equal(stat(file, &st), 0);
}

static void
bad_places(void **state)
{
	struct melyint_socket s = {.fd = -1};
	char path[MELYINT_SOCKET_PATH + 2];

	(void)state;
	memset(path, 'x', sizeof path);
	path[0] = '/';
	path[MELYINT_SOCKET_PATH] = '\0';
	assert_int_equal(melyint_socket_listen(&s, path), -ENAMETOOLONG);
	assert_int_equal(melyint_socket_listen(&s, in_base("no/such/dir.sock")), -ENOENT);
	assert_int_equal(s.fd, -1);
}

/* A child that closes its parent's socket leaves the file. */
static void
child_leaves_it(void **state)
{
	struct melyint_socket s = {.fd = -1};
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(melyint_socket_listen(&s, in_base("d.sock")), 0);
	pid = fork();
	if (pid == 0) {
		melyint_socket_close(&s);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(dial(s.path) >= 0);
	melyint_socket_close(&s);
}

/* At the default place several runtimes of a process get different names, and the files of dead
 * processes are removed. */
static void
default_names(void **state)
{
	struct melyint_socket s = {.fd = -1}, t = {.fd = -1};
	char name[64];
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(mkdir(in_base("own"), 0700), 0);
	setenv("XDG_RUNTIME_DIR", in_base("own"), 1);
	pid = fork();
	if (pid == 0)
		_exit(melyint_socket_listen(&s, NULL) == 0 ? 0 : 1); /* leaves its file */
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	snprintf(name, sizeof name, "own/mely/%d.sock", (int)pid);
	assert_int_equal(access(in_base(name), F_OK), 0);
	assert_int_equal(melyint_socket_listen(&s, NULL), 0);
	assert_int_equal(access(in_base(name), F_OK), -1);
	assert_int_equal(melyint_socket_listen(&t, NULL), 0);
	snprintf(name, sizeof name, "own/mely/%d.sock", (int)getpid());
	assert_string_equal(s.path, in_base(name));
	snprintf(name, sizeof name, "own/mely/%d.2.sock", (int)getpid());
	assert_string_equal(t.path, in_base(name));
	melyint_socket_close(&s);
	melyint_socket_close(&t);
	unsetenv("XDG_RUNTIME_DIR");
}

/* ---- peers ----------------------------------------------------------------------------------- */

static void
credentials(void **state)
{
	(void)state;
	assert_true(melyint_socket_admits(1000, 1000));
	assert_true(melyint_socket_admits(0, 1000));
	assert_true(melyint_socket_admits(0, 0));
	assert_false(melyint_socket_admits(1001, 1000));
	assert_false(melyint_socket_admits(1000, 0));
}

/* The socket refuses another user, even one that the file's mode would admit. */
static void
other_user_is_turned_away(void **state)
{
	struct melyint_socket s = {.fd = -1};
	int fd, status;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(melyint_socket_listen(&s, in_base("e.sock")), 0);
	assert_int_equal(chmod(base, 0755), 0);
	pid = fork();
	if (pid == 0) /* 0600 keeps it out */
		_exit(setuid(OTHER_UID) == 0 && dial(s.path) == -EACCES ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(chmod(s.path, 0666), 0);
	pid = fork();
	if (pid == 0)
		_exit(setuid(OTHER_UID) == 0 && dial(s.path) >= 0 ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(melyint_socket_accept(&s), -EACCES);
	fd = dial(s.path);
	assert_true(fd >= 0);
	assert_true(melyint_socket_accept(&s) >= 0);
	assert_int_equal(melyint_socket_accept(&s), -EAGAIN);
	melyint_socket_close(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(directory_is_made_and_checked),
		cmocka_unit_test(squatter_is_not_trusted),
		cmocka_unit_test(mode_and_end),
		cmocka_unit_test(living_is_left_alone),
		cmocka_unit_test(stale_is_taken_over),
		cmocka_unit_test(lock_keeps_others_out),
		cmocka_unit_test(one_of_many_takes_over),
		cmocka_unit_test(what_is_no_socket_stays),
		cmocka_unit_test(bad_places),
		cmocka_unit_test(child_leaves_it),
		cmocka_unit_test(default_names),
		cmocka_unit_test(credentials),
		cmocka_unit_test(other_user_is_turned_away),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
