/* SPDX-License-Identifier: MIT */
/*
 * async_closed.cc: descriptors that are closed before their callbacks are dropped, and files in
 * other colors. Section 1.1 of the facts.
 */
#include "async.h"

#include "facts.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INSTRUMENTED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define INSTRUMENTED
#endif
#endif

#ifdef INSTRUMENTED
enum { STRAYS = 1000 };
#else
enum { STRAYS = 5000 };
#endif

static int times;

static void
mark()
{
	facts_add(&times, 1);
}

static void
expect_none()
{
	FACT_EQ(times, 0);
	FACTS_END();
}

static int
full_pipe()
{
	int fds[2];

	FACT(pipe(fds) == 0 && write(fds[1], "xy", 2) == 2);
	return fds[0];
}

static int
socket_end()
{
	int fds[2];

	FACT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	return fds[0];
}

/* Neither direction is watched any more, whichever is dropped first. */
static void
close_then_null_twice()
{
	int fd = socket_end();

	fdcb(fd, selread, wrap(mark));
	fdcb(fd, selwrite, wrap(mark));
	acheck();
	close(fd);
	fdcb(fd, selread, NULL);
	fdcb(fd, selwrite, NULL);
	FACTS_END();
}

/* A closed descriptor stays ready, but another descriptor has its number. */
static void
number_is_another_ones(bool drop)
{
	int fd = full_pipe(), fds[2];

	fdcb(fd, selread, wrap(mark));
	FACT(dup(fd) >= 0 && close(fd) == 0);
	if (drop)
		fdcb(fd, selread, NULL);
	FACT(pipe(fds) == 0 && fds[0] == fd);
	fdcb(fds[0], selread, wrap(mark));
	delaycb(0, 20000000, wrap(expect_none));
}

static void
stray_and_the_next()
{
	delaycb(0, 0, wrap(number_is_another_ones, true));
	amain();
}

static void
stray_replaced()
{
	delaycb(0, 0, wrap(number_is_another_ones, false));
	amain();
}

/* Only the wait looks at a number: until then it may be opened, and its callback dropped. */
static void
closed_then_opened()
{
	int fd = full_pipe(), gone = full_pipe(), kept = full_pipe();

	close(fd);
	close(gone);
	fdcb(fd, selread, wrap(mark));
	fdcb(gone, selread, wrap(mark));
	fdcb(gone, selwrite, wrap(mark));
	fdcb(gone, selwrite, NULL);
	fdcb(gone, selread, NULL);
	FACT(dup2(kept, fd) == fd);
}

static void
opened_is_read()
{
	if (times == 0)
		delaycb(0, 1000000, wrap(opened_is_read));
	else
		FACTS_END();
}

static void
opened_before_wait()
{
	delaycb(0, 0, wrap(closed_then_opened));
	delaycb(0, 1000000, wrap(opened_is_read));
	amain();
}

static void
opened_by_hand()
{
	int fd = full_pipe();

	fdcb(fd, selread, wrap(mark));
	acheck();
	fdcb(fd, selread, NULL);
	times = 0;
	closed_then_opened();
	acheck();
	FACT_EQ(times, 1);
	FACTS_END();
}

static void
reads_three_times(int fd)
{
	FACT_EQ(get_current_color(), 5);
	if (++times < 3)
		return;
	fdcb(fd, selread, NULL);
	FACTS_END();
}

/* As in color 0, it is always ready. */
static void
file_of_a_color()
{
	int fd = open("/proc/self/exe", O_RDONLY);

	FACT(fd >= 0);
	fdcb(fd, selread, cwrap(reads_three_times, fd, 5));
	amain();
}

static void
watches(int fd)
{
	fdcb(fd, selread, wrap(mark));
	fdcb(fd, selread, NULL);
	cpucb_tail(cwrap(watches, fd, 3));
}

/* The expansion of the macro, which passes the source line of the call. */
static void
by_its_other_name()
{
	int fd = full_pipe();

#ifndef fdcb
	FACT(!"fdcb is a macro");
#endif
	FACT_EQ(selread, 0);
	FACT_EQ(selwrite, 1);
	_fdcb(fd, selread, wrap(mark), "a_file.cc", 12);
	acheck();
	FACT_EQ(times, 1);
	_fdcb(fd, selread, NULL, "a_file.cc", 13);
	_fdcb(-1, selread, wrap(mark), "a_file.cc", 14);
}

static void
makes_strays(int left)
{
	static int fds[2] = {-1, -1}, kept = -1;

	close(kept);
	close(fds[1]);
	if (left == 0)
		FACTS_END();
	FACT(pipe(fds) == 0 && write(fds[1], "x", 1) == 1);
	kept = dup(fds[0]);
	fdcb(fds[0], selread, wrap(mark));
	close(fds[0]);
	fdcb(fds[0], selread, NULL);
	delaycb(0, 0, wrap(makes_strays, left - 1));
}

/* The wait set of color 0 is created again while another color uses it. */
static void
strays_elsewhere()
{
	int fds[2];

	FACT(pipe(fds) == 0);
	delaycb(0, 0, wrap(makes_strays, STRAYS));
	cpucb_tail(cwrap(watches, fds[0], 3));
	amain();
}

static const struct fact facts[] = {
	CASE_ON(1, close_then_null_twice),
	CASE(opened_before_wait),
	CASE_ON(1, opened_by_hand),
	CASE(stray_and_the_next),
	CASE(stray_replaced),
	CASE_ON(2, strays_elsewhere),
	{"by_its_other_name", by_its_other_name, 1, "a_file.cc:14", 1},
	CASE(file_of_a_color),
};

FACTS_MAIN(facts)
