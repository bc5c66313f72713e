/* SPDX-License-Identifier: MIT */
/*
 * async_aios.cc: reading lines and bytes in dialect "async". Section 1.9 of the facts, aios.h.
 */
#include "aios.h"

#include <sys/ioctl.h>

#include "stream_pair.h"

static void
give_all(const char *text)
{
	give(text);
	FACT(shutdown(ends[1], SHUT_WR) == 0);
}

static const char *const *wanted; /* lines; NULL: the end */

static void
line_is(str line, int err)
{
	const char *want = *wanted++;

	FACT_EQ(get_current_color(), 0);
	FACT_EQ(err, 0);
	if (want == NULL) {
		FACT(!line);
		FACTS_END();
	}
	FACT(line);
	if (line != want)
		fprintf(stderr, "read \"%s\", not \"%s\"\n", line.cstr(), want);
	FACT(line == want);
	stream->readline(wrap(line_is));
}

static void
expect_lines(const char *text, const char *const *lines)
{
	pair();
	wanted = lines;
	stream->readline(wrap(line_is));
	give_all(text);
	amain();
}

static void
lines()
{
	static const char *const are[] = {"one", "", "three", NULL};

	expect_lines("one\n\nthree\n", are);
}

/* A bare CRLF keeps its CR, and so does a CR that is not at the end of a line. */
static void
crlf()
{
	static const char *const are[] = {"one", "\r", "a\rb", "x\r", NULL};

	expect_lines("one\r\n\r\na\rb\nx\r\r\n", are);
}

static void
last_line_without_an_end()
{
	static const char *const are[] = {"one", NULL};

	expect_lines("one\ntwo", are);
}

static void
only_the_end()
{
	static const char *const are[] = {NULL};

	expect_lines("", are);
}

static void
at_end_again(str line, int err)
{
	FACT(!line && err == 0);
	if (++calls == 3)
		FACTS_END();
	stream->readline(wrap(at_end_again));
}

static void
the_end_stays()
{
	pair();
	give_all("");
	stream->readline(wrap(at_end_again));
	amain();
}

static void
with_nul(str line, int)
{
	FACT_EQ(line.len(), 3);
	FACT(memcmp(line.cstr(), "a\0b", 3) == 0);
	FACTS_END();
}

static void
lines_may_hold_nul()
{
	pair();
	FACT(write(ends[1], "a\0b\n", 4) == 4);
	stream->readline(wrap(with_nul));
	amain();
}

static void
count_line(str line, int)
{
	FACT(line == "b");
	calls++;
}

static void
second_is_there(str line, int)
{
	FACT(line == "a");
	stream->readline(wrap(count_line));
	FACT_EQ(calls, 1); /* called at once, without the loop */
	FACTS_END();
}

static void
calls_before_it_returns()
{
	pair();
	give("a\nb\n");
	stream->readline(wrap(second_is_there));
	FACT_EQ(calls, 0); /* nothing has been read yet */
	amain();
}

static void
next_of_many(str line, int err)
{
	if (line) {
		FACT(line == "x");
		calls++;
		stream->readline(wrap(next_of_many));
		return;
	}
	FACT_EQ(err, 0);
	FACT_EQ(calls, 100000);
	FACTS_END();
}

/* With any number of lines the depth of the stack is bounded. */
static void
many_lines()
{
	pid_t writer;

	pair();
	writer = fork();
	if (writer == 0) {
		for (int i = 0; i < 1000; i++) {
			char text[200];
			for (int j = 0; j < 200; j += 2)
				memcpy(text + j, "x\n", 2);
			FACT(write(ends[1], text, sizeof text) == sizeof text);
		}
		_exit(0);
	}
	close(ends[1]);
	stream->readline(wrap(next_of_many));
	amain();
}

static void
second_read_panics()
{
	pair();
	stream->readline(wrap(never));
	stream->readline(wrap(never));
	FACTS_END();
}

static void
second_any_panics()
{
	pair();
	stream->readline(wrap(never));
	stream->readany(wrap(never));
	FACTS_END();
}

static void
any_is(const char *text, str got, int err)
{
	FACT(got && got == text);
	FACT_EQ(err, 0);
	if (++calls == 2)
		FACTS_END();
	give("c\r\nd");
	stream->readany(wrap(any_is, "c\r\nd"));
}

static void
readany_takes_what_there_is()
{
	pair();
	give("a\nb");
	stream->readany(wrap(any_is, "a\nb"));
	amain();
}

static void
rest_is(str got, int)
{
	FACT(got && got == "two");
	FACTS_END();
}

static void
any_after_line(str line, int)
{
	FACT(line == "one");
	stream->readany(wrap(rest_is));
}

static void
lines_then_the_rest()
{
	pair();
	give_all("one\ntwo");
	stream->readline(wrap(any_after_line));
	amain();
}

static void
cancelled_then_read()
{
	stream->readcancel();
	stream->readcancel();
	stream->readany(wrap(rest_is));
	give("two");
}

static void
readcancel()
{
	pair();
	stream->readline(wrap(never));
	delaycb(0, 5000000, wrap(cancelled_then_read));
	amain();
}

static void
whole_again(str line, int)
{
	FACT(line == "word one");
	FACTS_END();
}

static void
give_back(str line, int)
{
	FACT(line == "word one");
	stream->unread(9);
	stream->readline(wrap(whole_again));
}

static void
unread()
{
	pair();
	give("word one\n");
	stream->readline(wrap(give_back));
	amain();
}

static void
two_are(str line, int)
{
	static int n;

	FACT(line == (n == 0 ? "word one" : "abcdefghi"));
	if (n++ == 1)
		FACTS_END();
	stream->readline(wrap(two_are));
}

/* The buffer was full, and its content has been moved. */
static void
unread_when_all_is_in()
{
	int left;

	FACT(ioctl(stream->fdno(), FIONREAD, &left) == 0);
	if (left > 0) {
		delaycb(0, 1000000, wrap(unread_when_all_is_in));
		return;
	}
	stream->readcancel();
	stream->unread(9);
	give("i\n");
	stream->readline(wrap(two_are));
}

static void
read_in_vain(str line, int)
{
	FACT(line == "word one");
	stream->readline(wrap(never));
	give("h");
	unread_when_all_is_in();
}

static void
unread_after_readcancel()
{
	FACT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	stream = aios::alloc(ends[0], 16);
	give("word one\nabcdefg");
	stream->readline(wrap(read_in_vain));
	amain();
}

static void
unread_for_a_read()
{
	stream->unread(9);
	facts_fail(__FILE__, __LINE__, "the read has not been given what there is");
}

static void
read_before_unread(str line, int)
{
	FACT(line == "word one");
	stream->readline(wrap(whole_again));
	delaycb(0, wrap(unread_for_a_read));
}

static void
unread_while_a_read_waits()
{
	pair();
	give("word one\n");
	stream->readline(wrap(read_before_unread));
	amain();
}

static void
unread_too_much()
{
	pair();
	stream->unread(1);
	FACTS_END();
}

static void
then_too_long(str line, int)
{
	FACT(line == "123456789"); /* with its end just what fits */
	stream->readline(wrap(has_error, EFBIG));
}

static void
line_too_long()
{
	pair();
	stream = aios::alloc(dup(ends[0]), 10);
	give("123456789\n1234567890\n");
	stream->readline(wrap(then_too_long));
	amain();
}

static void
read_error()
{
	int fd = open("/", O_RDONLY);

	stream = aios::alloc(fd);
	stream->readline(wrap(has_error, EISDIR));
	amain();
}

static const struct fact facts[] = {
	CASE(lines),
	CASE(crlf),
	CASE(last_line_without_an_end),
	CASE(only_the_end),
	CASE(the_end_stays),
	CASE_ON(1, lines_may_hold_nul),
	CASE(calls_before_it_returns),
	CASE(many_lines),
	CASE_ENDS(second_read_panics, 1000 + SIGABRT, "PANIC"),
	CASE_ENDS(second_any_panics, 1000 + SIGABRT, "PANIC"),
	CASE(readany_takes_what_there_is),
	CASE(lines_then_the_rest),
	CASE(readcancel),
	CASE_ON(1, unread),
	CASE_ON(1, unread_after_readcancel),
	CASE_ON(1, unread_while_a_read_waits),
	CASE_ENDS(unread_too_much, 1000 + SIGABRT, "PANIC"),
	CASE_ON(1, line_too_long),
	CASE_ON(1, read_error),
};

FACTS_MAIN(facts)
