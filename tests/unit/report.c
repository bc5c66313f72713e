/* SPDX-License-Identifier: MIT */
/*
 * report.c: lines of reports: text that does not fit, readable numbers, limits on repetition; names
 * of functions and of system calls.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "unit.h"
#include "look/report.h"
#include "look/watchdog/callers.h"
#include "base/syscalls.h"

static void
lines_are_cut(void **state)
{
	static const char text[] = "0123456789";
	struct melyint_line line = {0};
	int i;

	(void)state;
	for (i = 0; i < 1000; i++)
		melyint_line_add(&line, "%s", text);
	assert_true(line.used < MELYINT_LINE);
	assert_int_equal(line.used, strlen(line.text));
	assert_string_equal(line.text + line.used - 3, "...");
	/* The text before it is unchanged. */
	for (i = 0; (size_t)i < line.used - 4; i++)
		assert_int_equal(line.text[i], text[i % 10]);
	melyint_line_add(&line, "more");
	assert_string_equal(line.text + line.used - 3, "...");
}

/* At each length up to the end. */
static void
lines_end_where_they_must(void **state)
{
	size_t length, i;

	(void)state;
	for (length = MELYINT_LINE - 20; length < MELYINT_LINE + 20; length++) {
		struct melyint_line line = {0};

		for (i = 0; i < length; i++)
			melyint_line_add(&line, "x");
		assert_true(line.used < MELYINT_LINE);
		assert_int_equal(line.used, strlen(line.text));
		if (line.used != length)
			assert_string_equal(line.text + line.used - 3, "...");
	}
}

static void
numbers(void **state)
{
	static const struct {
		uint64_t n;
		const char *text;
	} cases[] = {{0, "0"}, {7, "7"}, {999, "999"}, {1000, "1,000"}, {12031, "12,031"},
	    {1000000, "1,000,000"}, {1002003004, "1,002,003,004"},
	    {UINT64_MAX, "18,446,744,073,709,551,615"}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct melyint_line line = {0};

		melyint_line_number(&line, cases[i].n);
		assert_string_equal(line.text, cases[i].text);
	}
}

static void
ten_a_minute(void **state)
{
	const uint64_t second = 1000000000, begin = 5 * second;
	struct melyint_rate rate = {0};
	struct melyint_line line = {0};
	int said = 0, i;

	(void)state;
	for (i = 0; i < 60; i++)
		said += melyint_rate_allows(&rate, begin + (uint64_t)i * second);
	assert_int_equal(said, 10);
	melyint_line_add(&line, "x");
	melyint_rate_add(&rate, &line, "things");
	assert_string_equal(line.text, "x (50 more before it not shown)");
	melyint_rate_add(&rate, &line, "things");
	assert_string_equal(line.text, "x (50 more before it not shown)");
	assert_true(melyint_rate_allows(&rate, begin + 60 * second));
	for (i = 0; i < 11; i++)
		(void)melyint_rate_allows(&rate, begin + 61 * second);
	line = (struct melyint_line){0};
	melyint_rate_add(&rate, &line, "things");
	assert_string_equal(line.text, "things not shown: 2");
}

__attribute__((noinline)) static int
not_exported(int n)
{
	return n * n + 1;
}

static const char *
code_at(uintptr_t pc, bool exact)
{
	static struct melyint_line line;

	line = (struct melyint_line){0};
	melyint_line_add_code(&line, pc, exact);
	return line.text;
}

static void
places_in_code(void **state)
{
	int (*fn)(int n) = not_exported;
	uintptr_t at = (uintptr_t)fn;
	unsigned long long first, next;
	char *heap = malloc(16), wanted[32];

	(void)state;
	assert_int_equal(fn(2), 5);
	/* addr2line takes the address in the file: that of the call, before the return address */
	assert_int_equal(sscanf(code_at(at, true), "report+0x%llx", &first), 1);
	assert_true(first > 0);
	assert_int_equal(sscanf(code_at(at + 3, false), "report+0x%llx", &next), 1);
	assert_int_equal(next, first + 2);
	/* A function that no sanitizer replaces. */
	assert_string_equal(code_at((uintptr_t)getpagesize, true), "getpagesize+0x0");
	assert_string_equal(code_at((uintptr_t)getpagesize + 1, false), "getpagesize+0x1");
	assert_non_null(heap);
	snprintf(wanted, sizeof wanted, "0x%llx", (unsigned long long)(uintptr_t)heap);
	assert_string_equal(code_at((uintptr_t)heap, true), wanted);
	free(heap);
}

static void
calls(void **state)
{
	static const uint64_t none[MELYINT_CALL_ARGS], limited[MELYINT_CALL_ARGS] = {[3] = 0x7f00};

	(void)state;
	assert_true(melyint_call_is_cut_short(SYS_clock_nanosleep, none));
	assert_string_equal(melyint_call_name(SYS_clock_nanosleep), "clock_nanosleep");
	assert_false(melyint_call_is_cut_short(SYS_futex, none));
	assert_true(melyint_call_is_cut_short(SYS_futex, limited));
	assert_string_equal(melyint_call_name(SYS_futex), "futex");
	assert_true(melyint_call_is_cut_short(-1, none)); /* not known */
	assert_null(melyint_call_name(-1));
	assert_false(melyint_call_is_cut_short(SYS_getpid, limited));
	assert_null(melyint_call_name(SYS_getpid));
}

static void
calls_on_sockets(void **state)
{
	static const long on_sockets[] = {SYS_read, SYS_write, SYS_accept4, SYS_connect,
	    SYS_recvfrom, SYS_sendmsg};
	struct timeval limit = {1, 0};
	int pipes[2], pair[2];
	size_t i;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(setsockopt(pair[1], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit), 0);
	for (i = 0; i < sizeof on_sockets / sizeof on_sockets[0]; i++) {
		uint64_t args[MELYINT_CALL_ARGS] = {(uint64_t)pipes[0]};

		assert_false(melyint_call_is_cut_short(on_sockets[i], args));
		args[0] = (uint64_t)pair[0];
		assert_false(melyint_call_is_cut_short(on_sockets[i], args));
		args[0] = (uint64_t)pair[1];
		assert_true(melyint_call_is_cut_short(on_sockets[i], args));
	}
	close(pipes[0]);
	close(pipes[1]);
	close(pair[0]);
	close(pair[1]);
}

/* A full stderr does not block a thread; the next line reports how much was lost. */
static void
to_nobody(void **state)
{
	static struct mely_runtime rt;
	static char much[4096];
	struct melyint_line line = {0};
	int pipes[2], saved = dup(STDERR_FILENO), flags, i;
	size_t used = 0;
	ssize_t n;

	(void)state;
	alarm(60);
	assert_int_equal(pipe(pipes), 0);
	flags = fcntl(pipes[1], F_GETFL);
	assert_int_equal(fcntl(pipes[1], F_SETFL, flags | O_NONBLOCK), 0);
	while ((n = write(pipes[1], much, sizeof much)) > 0)
		used += (size_t)n;
	assert_int_equal(fcntl(pipes[1], F_SETFL, flags), 0);
	assert_true(saved >= 0 && dup2(pipes[1], STDERR_FILENO) >= 0);
	for (i = 0; i < 3; i++) {
		melyint_line_add(&line, "lost");
		melyint_report(&rt, &line);
	}
	for (; used > 0; used -= (size_t)n) {
		n = read(pipes[0], much, used < sizeof much ? used : sizeof much);
		assert_true(n > 0);
	}
	for (i = 0; i < 2; i++) {
		melyint_line_add(&line, "said");
		melyint_report(&rt, &line);
	}
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	n = read(pipes[0], much, sizeof much - 1);
	assert_true(n > 0);
	much[n] = '\0';
	assert_string_equal(much,
	    "mely: said (lines that could not be written: 3)\nmely: said\n");
	close(saved);
	close(pipes[0]);
	close(pipes[1]);
	alarm(0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_cut),
		cmocka_unit_test(lines_end_where_they_must),
		cmocka_unit_test(numbers),
		cmocka_unit_test(ten_a_minute),
		cmocka_unit_test(places_in_code),
		cmocka_unit_test(calls),
		cmocka_unit_test(calls_on_sockets),
		cmocka_unit_test(to_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
