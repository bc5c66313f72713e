/* SPDX-License-Identifier: MIT */
/*
 * async_aios_out.cc: writing, timeouts, and standard input and output in dialect "async". Section
 * 1.9 of the facts, aios.h.
 */
#include "aios.h"
#include "rwfd.h"

#include "stream_pair.h"

/* Read everything, up to the end. */
static str
receive()
{
	strbuf all;

	while (all.tosuio()->input(ends[1]) > 0)
		;
	return all;
}

static bool
nonblocking(int fd)
{
	return (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0;
}

/* ---- writing ---- */

/* Check everything up to the end against text; then run the callback. */
static void
collect(const char *text, cbv then)
{
	static strbuf all;
	int n = all.tosuio()->input(ends[1]);

	if (n > 0 || (n < 0 && errno == EAGAIN))
		return;
	fdcb(ends[1], selread, NULL);
	FACT_EQ(n, 0);
	FACT(str(all) == text);
	(*then)();
}

static void
end()
{
	FACTS_END();
}

static void
expect_sent(const char *text, cbv then)
{
	make_async(ends[1]);
	fdcb(ends[1], selread, wrap(collect, text, then));
}

/* Output arrives in order, when the loop runs; then the end. */
static void
writes_in_order()
{
	static char first[] = "first ", third[] = "third ", fourth[] = "fourth";
	iovec v[2] = {{third, 6}, {fourth, 6}};

	pair();
	stream->write(first, 6);
	stream << "second " << 2 << " " << str("str ");
	stream->writev(v, 2);
	memset(first, '-', 6); /* the stream has copies */
	memset(third, '-', 6);
	stream << "\n";
	stream->sendeof();
	expect_sent("first second 2 str third fourth\n", wrap(end));
	amain();
}

static void
through_ref(aios_t a)
{
	a << 1 << "," << 2u << "\n";
	a->sendeof();
}

static void
appends_through_ref()
{
	pair();
	through_ref(stream);
	expect_sent("1,2\n", wrap(end));
	amain();
}

static size_t arrived;

static void
drain()
{
	static char buffer[65536];
	ssize_t n = read(ends[1], buffer, sizeof buffer);

	for (ssize_t i = 0; i < n; i++)
		FACT_EQ((u_char)buffer[i], (arrived + i) % 251);
	if (n > 0)
		arrived += n;
	if (n != 0)
		return;
	FACT_EQ(arrived, 3000000);
	FACTS_END();
}

static void
watch_other_end()
{
	make_async(ends[1]);
	fdcb(ends[1], selread, wrap(drain));
}

static void
write_much()
{
	static char much[3000000];

	for (size_t i = 0; i < sizeof much; i++)
		much[i] = (char)(i % 251);
	pair();
	stream->write(much, sizeof much); /* there is no reader, but write returns */
}

static void
does_not_wait()
{
	write_much();
	stream->sendeof();
	delaycb(0, 5000000, wrap(watch_other_end));
	amain();
}

/* After the last reference is dropped, the output is sent before the descriptor is closed. */
static void
sends_when_dropped()
{
	write_much();
	stream = NULL;
	FACT(fcntl(ends[0], F_GETFD) >= 0);
	delaycb(0, 5000000, wrap(watch_other_end));
	amain();
}

static void
closed_when_dropped()
{
	pair();
	stream->readline(wrap(never)); /* dropped with the stream */
	stream = NULL;
	FACT(fcntl(ends[0], F_GETFD) < 0);
	FACTS_END();
}

static void
drop_it(str line, int)
{
	FACT(line == "a");
	stream = NULL;
	FACT(fcntl(ends[0], F_GETFD) < 0);
	FACTS_END();
}

static void
dropped_by_its_callback()
{
	pair();
	stream->readline(wrap(drop_it));
	give("a\nb\n");
	amain();
}

static void
kept_by_callback(ptr<aios> a, str line, int)
{
	FACT(line == "a");
	FACT_EQ(a->fdno(), ends[0]);
	FACTS_END();
}

/* A callback that holds a reference keeps the stream that calls it alive. */
static void
kept_by_its_callback()
{
	pair();
	stream->readline(wrap(kept_by_callback, stream));
	stream = NULL;
	give("a\n");
	amain();
}

static void
still_reads(str line, int)
{
	FACT(line == "answer");
	FACTS_END();
}

static void
give_answer()
{
	give("answer\n");
}

static void
sendeof_leaves_reading()
{
	pair();
	stream << "question";
	stream->sendeof();
	stream << "not sent";
	stream->readline(wrap(still_reads));
	expect_sent("question", wrap(give_answer));
	amain();
}

static void
sent_is(int code, int last, int err)
{
	FACT_EQ(err, code);
	if (++calls == last)
		FACTS_END();
}

static void
check_calls_end(int n)
{
	FACT_EQ(calls, n);
	FACTS_END();
}

static void
setwcb_when_sent()
{
	pair();
	stream->setwcb(wrap(sent_is, 0, 2));
	FACT_EQ(calls, 1); /* nothing is pending */
	stream << "a";
	stream->setwcb(wrap(sent_is, 0, 2));
	FACT_EQ(calls, 1);
	amain();
}

static void
setwcb_on_an_error()
{
	pair();
	close(ends[1]);
	stream << "a";
	stream->setwcb(wrap(sent_is, EPIPE, 1));
	amain();
}

static void
writing_fails_for_readers_too()
{
	pair();
	give("line\n");
	FACT(shutdown(ends[1], SHUT_RD) == 0);
	stream << "a";
	FACT_EQ(stream->flush(), EPIPE);
	stream->readline(wrap(has_error, EPIPE));
	amain();
}

static void
flushes()
{
	pid_t reader;

	write_much();
	reader = fork();
	if (reader == 0) {
		size_t all = 0;
		ssize_t n;
		char buffer[4096];
		close(ends[0]);
		while (all < 3000000 && (n = read(ends[1], buffer, sizeof buffer)) > 0)
			all += n;
		_exit(all == 3000000 ? 0 : 1);
	}
	FACT_EQ(stream->flush(), 0);
	FACT(nonblocking(ends[0]));
	int status;
	FACT(waitpid(reader, &status, 0) == reader && status == 0);
	FACTS_END();
}

static void
read_descriptor()
{
	char text[8] = "";
	int fd;

	FACT_EQ(readfd(ends[1], text, sizeof text, &fd), 3);
	FACT(strcmp(text, "abc") == 0);
	FACT(fd >= 0);
	FACT(write(fd, "x", 1) == 1);
	FACTS_END();
}

static void
sends_descriptors()
{
	int pipes[2];

	pair();
	FACT(pipe(pipes) == 0);
	stream->sendfd(pipes[1]);
	stream << "abc";
	FACT_EQ(stream->flush(), 0);
	FACT(fcntl(pipes[1], F_GETFD) < 0); /* the stream has closed it */
	read_descriptor();
}

/* ---- timeouts and ends ---- */

static timespec begun;

static long
ms_since_begun()
{
	timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000;
}

static void
not_early(str line, int err)
{
	FACT(!line);
	FACT_EQ(err, ETIMEDOUT);
	FACT(ms_since_begun() >= 999);
	FACTS_END();
}

static void
times_out()
{
	pair();
	clock_gettime(CLOCK_MONOTONIC, &begun);
	stream->settimeout(1);
	stream->readline(wrap(not_early));
	amain();
}

static void
times_out_later()
{
	if (ms_since_begun() >= 990)
		return; /* the loop was held up, and the timeout may be due in this pass */
	clock_gettime(CLOCK_MONOTONIC, &begun);
	give("unfinished");
}

/* Progress restarts the timeout. */
static void
timeout_is_of_no_progress()
{
	pair();
	clock_gettime(CLOCK_MONOTONIC, &begun);
	stream->settimeout(1);
	stream->readline(wrap(not_early));
	delaycb(0, 500000000, wrap(times_out_later));
	amain();
}

static void
reads_again()
{
	clock_gettime(CLOCK_MONOTONIC, &begun);
	stream->readline(wrap(not_early));
}

static void
got_first(str line, int err)
{
	FACT(line == "first");
	FACT_EQ(err, 0);
	delaycb(0, 700000000, wrap(reads_again));
}

/* An earlier wait does not count. */
static void
timeout_begins_with_the_wait()
{
	pair();
	stream->settimeout(1);
	stream->readline(wrap(got_first));
	give("first\n");
	amain();
}

static void
sent_too_late(int err)
{
	FACT_EQ(err, ETIMEDOUT);
	FACTS_END();
}

static void
writing_times_out()
{
	write_much();
	stream->settimeout(1);
	stream->setwcb(wrap(sent_too_late));
	amain();
}

static void
idle_does_not_time_out()
{
	pair();
	stream->settimeout(1);
	stream->readline(wrap(never));
	stream->readcancel();
	delaycb(1, 300000000, wrap(check_calls_end, 0));
	amain();
}

static void
no_timeout_any_more()
{
	pair();
	stream->settimeout(1);
	stream->readline(wrap(never));
	stream->settimeout(0);
	delaycb(1, 300000000, wrap(check_calls_end, 0));
	amain();
}

static void
after_abort(str line, int err)
{
	FACT(!line);
	FACT_EQ(err, EBADF);
	calls++;
}

static void
aborts()
{
	pair();
	stream << "lost";
	stream->readline(wrap(never));
	stream->abort();
	FACT_EQ(stream->fdno(), -1);
	FACT(fcntl(ends[0], F_GETFD) < 0);
	FACT(receive().len() == 0);
	stream << "lost, too";
	stream->readline(wrap(after_abort));
	FACT_EQ(calls, 1);
	FACTS_END();
}

static void
debug_done(str, int)
{
	stream->setdebug(NULL);
	stream << "not shown\n";
	FACTS_END();
}

static void
shows_what_it_does()
{
	pair();
	stream->setdebug("TEST");
	stream << "question " << 1 << "\r\n";
	stream->readline(wrap(debug_done));
	give("answer\n");
	amain();
}

/* ---- standard input and output ---- */

static void
including_changes_stdio()
{
	FACT(nonblocking(0));
	FACT(nonblocking(1));
	FACT_EQ(ain->fdno(), 0);
	FACT_EQ(aout->fdno(), 1);
	pid_t child = fork();
	if (child == 0)
		exit(0); /* exit restores the modes, which the parent shares */
	waitpid(child, NULL, 0);
	FACT(!nonblocking(1));
	FACTS_END();
}

static void
ain_line(str line, int)
{
	FACT(line == "from standard input");
	aout << "said " << line << "\n";
	FACTS_END();
}

static void
reads_and_writes_stdio()
{
	int pipes[2];

	FACT(pipe(pipes) == 0 && dup2(pipes[0], 0) == 0);
	FACT(write(pipes[1], "from standard input\n", 20) == 20);
	ain->readline(wrap(ain_line));
	amain();
}

/* The output is printed although the loop never runs. */
static void
aout_is_flushed_at_exit()
{
	aout << "last words\n";
	FACTS_END();
}

static const char file_name[] = "/proc/self/exe";

static void
some_of_file(str text, int err)
{
	FACT_EQ(err, 0);
	FACT(text.len() > 4 && memcmp(text.cstr(), "\177ELF", 4) == 0);
	FACTS_END();
}

/* A file, as standard input often is; epoll cannot wait for it. */
static void
reads_files()
{
	stream = aios::alloc(open(file_name, O_RDONLY));
	stream->readany(wrap(some_of_file));
	amain();
}

static const struct fact facts[] = {
	CASE(writes_in_order),
	CASE_ON(1, appends_through_ref),
	CASE(does_not_wait),
	CASE(sends_when_dropped),
	CASE_ON(1, closed_when_dropped),
	CASE(dropped_by_its_callback),
	CASE(kept_by_its_callback),
	CASE(sendeof_leaves_reading),
	CASE(setwcb_when_sent),
	CASE(setwcb_on_an_error),
	CASE_ON(1, writing_fails_for_readers_too),
	CASE_ON(1, flushes),
	CASE_ON(1, sends_descriptors),
	CASE(times_out),
	CASE_ON(2, timeout_is_of_no_progress),
	CASE_ON(2, timeout_begins_with_the_wait),
	CASE_ON(2, writing_times_out),
	CASE_ON(1, idle_does_not_time_out),
	CASE_ON(1, no_timeout_any_more),
	CASE(aborts),
	{"shows_what_it_does", shows_what_it_does, FACTS_PASSED, "TEST ==> question 1\n", 1},
	{"shows_what_it_reads", shows_what_it_does, FACTS_PASSED, "TEST <== answer\n", 1},
	CASE_ON(1, including_changes_stdio),
	{"reads_and_writes_stdio", reads_and_writes_stdio, FACTS_PASSED,
	    "said from standard input\n", 0},
	{"aout_is_flushed_at_exit", aout_is_flushed_at_exit, FACTS_PASSED, "last words\n", 0},
	CASE(reads_files),
};

FACTS_MAIN(facts)
