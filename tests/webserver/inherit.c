/* SPDX-License-Identifier: MIT */
/*
 * inherit.c: sockets by LISTEN_FDS and by SWS_HANDOVER: which are taken, by which key, and what is
 * refused.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit.h"
#include "../../webserver/net/inherit.c"

/* A socket with this number, which listens or not. */
static void
place(int fd, bool listens)
{
	int s = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(s >= 0);
	if (listens)
		assert_int_equal(listen(s, 1), 0);
	if (s == fd)
		return;
	assert_int_equal(dup2(s, fd), fd);
	close(s);
}

static bool
is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void
say(const char *pid, const char *count, const char *names, const char *handover)
{
	const char *const variables[][2] = {{"LISTEN_PID", pid}, {"LISTEN_FDS", count},
		{"LISTEN_FDNAMES", names}, {SWS_HANDOVER, handover}};

	for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
		unsetenv(variables[i][0]);
		if (variables[i][1] != NULL)
			setenv(variables[i][0], variables[i][1], 1);
	}
}

/* What is not for this process is left alone. */
static void
nothing(void **state)
{
	static const char *const pids[] = {"1", "", "x", "-1", NULL};
	struct sws_inherited in;

	(void)state;
	for (size_t i = 0; i < sizeof pids / sizeof pids[0]; i++) {
		say(pids[i], "1", "a", NULL);
		assert_int_equal(sws_inherited_read(&in), 0);
		assert_int_equal(in.count, 0);
		assert_null(getenv("LISTEN_FDS"));
		assert_null(sws_inherited_named(&in));
		sws_inherited_ready(&in);
		sws_inherited_close(&in);
	}
}

static void
listen_fds(void **state)
{
	struct sws_inherited in;
	char pid[16];
	int web;

	(void)state;
	snprintf(pid, sizeof pid, "%d", (int)getpid());
	for (int fd = 3; fd < 7; fd++)
		place(fd, true);
	say(pid, "4", "web:other:web", NULL);
	assert_int_equal(sws_inherited_read(&in), 0);
	assert_int_equal(in.count, 4);
	assert_int_equal(sws_inherited_find(&in, "web"), -1);
	assert_int_equal(sws_inherited_find(&in, "fd:we"), -1);
	web = sws_inherited_find(&in, "fd:web");
	assert_string_equal(sws_inherited_named(&in), "fd:web");
	assert_int_equal(sws_inherited_take(&in, web), 3);
	assert_int_equal(sws_inherited_take(&in, web), 5);
	assert_int_equal(sws_inherited_take(&in, web), -1);
	assert_int_equal(sws_inherited_find(&in, "fd:web"), -1);
	assert_string_equal(sws_inherited_named(&in), "fd:other");
	/* One more socket than names. */
	assert_true(sws_inherited_find(&in, "fd:unknown") >= 0);
	assert_int_equal(fcntl(3, F_GETFD), FD_CLOEXEC);
	assert_true(fcntl(3, F_GETFL) & O_NONBLOCK);
	sws_inherited_close(&in);
	/* What is taken stays open, and nothing else. */
	assert_true(is_open(3) && is_open(5));
	assert_false(is_open(4) || is_open(6));
	close(3);
	close(5);

	/* A socket that does not listen is none that a server can use. */
	place(3, false);
	say(pid, "1", "web", NULL);
	assert_int_equal(sws_inherited_read(&in), -1);
	sws_inherited_close(&in);
	close(3);
	say(pid, "1", "web", NULL);
	assert_int_equal(sws_inherited_read(&in), -1);
	sws_inherited_close(&in);
}

static void
handover(void **state)
{
	static const char *const wrong[] = {"", "x", "-1", "3", "40 key 41", "40 key", "40 key 50,",
		"40 key ,50", "40 key 50x", "40  50", "99999999999 key 50"};
	struct sws_inherited in;
	int ends[2], first, second;
	char byte = 'x';

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(dup2(ends[1], 40), 40);
	close(ends[1]);
	for (int fd = 50; fd < 53; fd++)
		place(fd, true);
	/* Two endpoints may have the same key, such as that of any free port. */
	say(NULL, NULL, NULL, "40 127.0.0.1:0 50,51 127.0.0.1:0 52");
	assert_int_equal(sws_inherited_read(&in), 0);
	assert_null(getenv(SWS_HANDOVER));
	assert_null(sws_inherited_named(&in));
	first = sws_inherited_find(&in, "127.0.0.1:0");
	assert_int_equal(sws_inherited_take(&in, first), 50);
	assert_int_equal(sws_inherited_take(&in, first), 51);
	assert_int_equal(sws_inherited_take(&in, first), -1);
	second = sws_inherited_find(&in, "127.0.0.1:0");
	assert_true(second >= 0 && second != first);
	assert_int_equal(sws_inherited_take(&in, second), 52);
	sws_inherited_ready(&in);
	sws_inherited_ready(&in);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	assert_false(is_open(40));
	sws_inherited_close(&in);
	close(ends[0]);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		print_message("'%s'\n", wrong[i]);
		place(40, true);
		say(NULL, NULL, NULL, wrong[i]);
		assert_int_equal(sws_inherited_read(&in), -1);
		sws_inherited_close(&in);
		if (!is_open(50))
			place(50, true);
	}
	for (int fd = 40; fd < 53; fd++)
		close(fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing),
		cmocka_unit_test(listen_fds),
		cmocka_unit_test(handover),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
