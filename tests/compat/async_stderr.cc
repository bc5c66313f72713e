/* SPDX-License-Identifier: MIT */
/*
 * async_stderr.cc: messages of dialect "async" while the loop runs: asynchronous, in whole lines,
 * from all colors. Section 1.4 of the facts.
 */
#include "async.h"

#include "facts.h"

static int fds[2];
static strbuf got;

/* Messages go to a pipe from now on. */
static void
divert()
{
	FACT(pipe(fds) == 0 && fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0);
	errfd = fds[1];
}

static bool
nothing_yet()
{
	char c;

	return read(fds[0], &c, 1) == -1 && errno == EAGAIN;
}

/* After output has appeared and been read into got, call cb. */
static void
has_come(cbv cb)
{
	FACT(got.tosuio()->input(fds[0]) > 0);
	fdcb(fds[0], selread, NULL);
	(*cb)();
}

static void
when_it_comes(cbv cb)
{
	fdcb(fds[0], selread, wrap(has_come, cb));
}

/* ---- asynchronous, whole lines ---- */

static void
rest_came()
{
	FACT(str(got) == "a line\nanother\npartial and its end\n");
	FACTS_END();
}

static void
line_came()
{
	FACT(str(got) == "a line\nanother\n"); /* and not the beginning of the third */
	warn << "and its end";
	FACT(nothing_yet());
	warnx << "\n";
	FACT(nothing_yet());
	when_it_comes(wrap(rest_came));
}

static void
whole_lines()
{
	warn("a line\n");
	warn << "another\npartial ";
	FACT(nothing_yet());
	when_it_comes(wrap(line_came));
}

static void
lines()
{
	divert();
	warn << "before amain\n";
	FACT(got.tosuio()->input(fds[0]) == 13);
	got.clear();
	cpucb_tail(wrap(whole_lines));
	amain();
}

/* print would keep only the address of such text; here it must be copied. */
static void
kept_came()
{
	FACT_EQ(got.len(), 300);
	FACT(strchr(str(got), 'y') == NULL);
	FACTS_END();
}

static void
print_and_change()
{
	char text[300];

	memset(text, 'x', 299);
	text[299] = '\0';
	warn("%s\n", text);
	memset(text, 'y', 299);
	when_it_comes(wrap(kept_came));
}

static void
copied()
{
	divert();
	cpucb_tail(wrap(print_and_change));
	amain();
}

static void
append_flag()
{
	FACT(fcntl(errfd, F_GETFL) & O_APPEND);
	FACTS_END();
}

static void
appends()
{
	divert();
	FACT(!(fcntl(errfd, F_GETFL) & O_APPEND));
	cpucb_tail(wrap(append_flag));
	amain();
}

/* ---- a descriptor that accepts no more data ---- */

enum { LINES = 4000 };

static int next_line;

static void
read_slowly()
{
	str line;

	FACT(got.tosuio()->input(fds[0]) > 0);
	while ((line = suio_getline(got.tosuio()))) {
		FACT(line == str(strbuf("line %d of many that do not fit", next_line)));
		next_line++;
	}
	if (next_line == LINES)
		FACTS_END();
}

static void
print_much()
{
	int i;

	for (i = 0; i < LINES; i++)
		warn("line %d of many that do not fit\n", i);
	FACT(nothing_yet());
	fdcb(fds[0], selread, wrap(read_slowly));
}

static void
full_pipe()
{
	divert();
	cpucb_tail(wrap(print_much));
	amain();
}

/* A line longer than the largest write to a pipe. */
static void
read_long_line()
{
	FACT(got.tosuio()->input(fds[0]) > 0);
	if (got.tosuio()->linelen() > 0) {
		FACT_EQ(got.len(), 100001);
		FACTS_END();
	}
}

static void
print_long_line()
{
	warn.tosuio()->fill('x', 100000);
	warn << "\n";
	fdcb(fds[0], selread, wrap(read_long_line));
}

static void
long_line()
{
	divert();
	cpucb_tail(wrap(print_long_line));
	amain();
}

/* ---- all colors ---- */

enum { COLORS = 32, EACH = 100 };

static int seen[COLORS];

static void
read_all()
{
	static int count;
	str line;

	FACT(got.tosuio()->input(fds[0]) > 0);
	while ((line = suio_getline(got.tosuio()))) {
		int color = -1, n = -1;

		FACT(sscanf(line, "color %d says %d", &color, &n) == 2);
		FACT(line == str(strbuf("color %d says %d", color, n)));
		FACT_EQ(n, seen[color]++);
		if (++count == COLORS * EACH)
			FACTS_END();
	}
}

static void
speak(int n)
{
	warn << "color " << get_current_color() << " says " << n << "\n";
	if (n + 1 < EACH)
		cpucb_tail(cwrap(speak, n + 1, get_current_color()));
}

static void
many_colors()
{
	int i;

	divert();
	fdcb(fds[0], selread, wrap(read_all));
	for (i = 0; i < COLORS; i++)
		cpucb_tail(cwrap(speak, 0, i));
	amain();
}

/* ---- ends of the program ---- */

static void
hold_and_exit()
{
	warn << "a line\n";
	warn << "without a newline";
	exit(3);
}

static void
exit_flushes()
{
	setprogname("prog");
	cpucb_tail(wrap(hold_and_exit));
	amain();
}

static void
hold_and_fatal()
{
	warn << "held, ";
	fatal << "the end\n";
}

static void
fatal_flushes()
{
	cpucb_tail(cwrap(hold_and_fatal, 5));
	amain();
}

static void
hold_and_panic()
{
	warn << "held, ";
	panic << "at once\n";
}

static void
panic_flushes()
{
	cpucb_tail(cwrap(hold_and_panic, 5));
	amain();
}

static struct at_end {
	at_end() : on(false) {}
	~at_end()
	{
		if (!on)
			return;
		/* Long enough for another exit to end the process, if there were one. */
		(void)poll(NULL, 0, 300);
		warn << "a destructor\n";
	}
	bool on;
} at_end;

/* Several colors call fatal at once: one of them ends the program, with all that belongs to it. */
static void
fatal_at_once(int *there)
{
	facts_add(there, 1);
	while (facts_get(there) < task_get_nthreads())
		continue;
	fatal << "of many\n";
}

static void
fatal_of_many()
{
	static int there;
	int i;

	at_end.on = true;
	for (i = 0; i < task_get_nthreads(); i++)
		cpucb_tail(cwrap(fatal_at_once, &there, -(i + 1)));
	amain();
}

static int hook_color = -1;

static void
note_color()
{
	_exit(hook_color == get_current_color() ? FACTS_PASSED : 96);
}

static void
fatal_in_a_color()
{
	hook_color = get_current_color();
	FACT_EQ(hook_color, 5);
	fatal << "with a hook\n";
}

/* It runs on the thread that called fatal. */
static void
hook_of_a_color()
{
	fatalhook = note_color;
	cpucb_tail(cwrap(fatal_in_a_color, 5));
	amain();
}

/* Messages of destructors are printed, too. */
static void
hold_and_leave()
{
	warn << "held, ";
	at_end.on = true;
	exit(4);
}

static void
destructors_say()
{
	cpucb_tail(wrap(hold_and_leave));
	amain();
}

/* ---- children ---- */

static void
child_came(pid_t pid)
{
	int status;

	FACT(waitpid(pid, &status, 0) == pid || errno == ECHILD);
	FACT(str(got) == "the child's\n" || str(got) == "the child's\nfatal: child\n");
	got.clear();
	FACTS_END();
}

static void
fork_and_print()
{
	pid_t pid;

	warn << "the parent's ";
	pid = fork();
	if (pid == 0) {
		warn << "the child's\n"; /* at once, and not what the parent holds */
		fatal << "child\n";
	}
	FACT(pid > 0);
	when_it_comes(wrap(child_came, pid));
}

static void
in_a_child()
{
	divert();
	cpucb_tail(wrap(fork_and_print));
	amain();
}

static void
line_after_flush()
{
	FACT(str(got) == "a line\nanother\n");
	FACTS_END();
}

static void
flush()
{
	warn << "held, ";
	FACT(nothing_yet());
	err_flush();
	FACT(got.tosuio()->input(fds[0]) > 0 && str(got) == "held, ");
	got.clear();
	warn << "and again held\n";
	FACT(nothing_yet());
	err_flush();
	FACT(got.tosuio()->input(fds[0]) > 0 && str(got) == "and again held\n");
	err_flush();
	FACT(nothing_yet());
	got.clear();
	warn << "a line\nanother\n"; /* it is still the loop that writes */
	when_it_comes(wrap(line_after_flush));
}

static void
flushes_at_once()
{
	divert();
	cpucb_tail(wrap(flush));
	amain();
}

#define ENDS(fn, status, prints) {#fn, fn, status, prints, 0}

static const struct fact facts[] = {
	CASE(lines),
	CASE(copied),
	CASE_ON(1, appends),
	CASE(full_pipe),
	CASE_ON(1, long_line),
	CASE(many_colors),
	ENDS(exit_flushes, 3, "prog: a line\nprog: without a newline"),
	ENDS(fatal_flushes, 1, "held, fatal: the end\n"),
	ENDS(panic_flushes, 1000 + SIGABRT, "held, PANIC: "),
	ENDS(fatal_of_many, 1, "fatal: of many\na destructor\n"),
	CASE(hook_of_a_color),
	ENDS(destructors_say, 4, "held, a destructor\n"),
	CASE(flushes_at_once),
	CASE(in_a_child)
};

FACTS_MAIN(facts)
