/* SPDX-License-Identifier: MIT */
/*
 * async_signal.cc: signals and children of dialect "async". Section 1.1 of the facts, traps 11 and
 * 14.
 */
#include "async.h"

#include "marks.h"

static void
expect_soon(const char *what)
{
	delaycb(0, 20 * MS, wrap(expect, what));
}

static void
raise_here(int sig)
{
	kill(getpid(), sig);
}

/* ---- signals ---- */

static void
many()
{
	for (int i = 0; i < 5; i++)
		kill(getpid(), SIGUSR1);
	signals_arrive();
	expect_soon("s");
}

/* Several signals before the call cause one call; and the callback stays. */
static void
collapse()
{
	sigcb(SIGUSR1, wrap(mark, 's'));
	cpucb_tail(wrap(many));
	amain();
}

static void
second_time()
{
	mark('s');
	if (seen == "s")
		delaycb(0, MS, wrap(raise_here, SIGUSR1));
	else
		expect("ss");
}

static void
stays()
{
	sigcb(SIGUSR1, wrap(second_time));
	delaycb(0, MS, wrap(raise_here, SIGUSR1));
	amain();
}

static bool held;

static void
take_lock()
{
	held = true;
	kill(getpid(), SIGUSR1);
	usleep(5000); /* it has arrived by now and is pending */
	held = false;
}

static void
ordinary()
{
	FACT(!held);
	FACT_EQ(get_current_color(), 0);
	FACTS_END();
}

/* Called as a separate event, never inside a callback. */
static void
never_inside()
{
	sigcb(SIGUSR1, wrap(ordinary));
	delaycb(0, MS, wrap(take_lock));
	amain();
}

static void
in_its_color()
{
	FACT_EQ(get_current_color(), 7);
	FACTS_END();
}

static void
colored()
{
	sigcb(SIGUSR1, cwrap(in_its_color, 7));
	delaycb(0, MS, wrap(raise_here, SIGUSR1));
	amain();
}

static void
returns_previous()
{
	cbv::ptr first = wrap(mark, 'a'), second = wrap(mark, 'b');

	FACT(!sigcb(SIGUSR1, first));
	FACT(sigcb(SIGUSR1, second) == first);
	FACT(sigcb(SIGUSR1, NULL) == second);
	FACT(!sigcb(SIGUSR1, NULL));
	FACTS_END();
}

static void
replaced()
{
	sigcb(SIGUSR1, wrap(mark, 'a'));
	sigcb(SIGUSR1, wrap(mark, 'b'));
	kill(getpid(), SIGUSR1);
	acheck();
	expect("b");
}

static void
default_again()
{
	sigcb(SIGUSR1, wrap(mark, 'a'));
	sigcb(SIGUSR1, NULL);
	kill(getpid(), SIGUSR1);
}

static void
block(int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* A shell may have started the program with the signal blocked. */
static void
is_unblocked()
{
	block(SIGUSR1);
	sigcb(SIGUSR1, wrap(expect, ""));
	delaycb(0, MS, wrap(raise_here, SIGUSR1));
	amain();
}

static void
set_inside()
{
	sigcb(SIGUSR1, wrap(expect, ""));
	kill(getpid(), SIGUSR1);
}

static void
unblocked_inside()
{
	block(SIGUSR1);
	delaycb(0, MS, wrap(set_inside));
	amain();
}

/* The flags are those of sigaction. */
static void
flags()
{
	struct sigaction action;

	sigcb(SIGUSR1, wrap(mark, 'a'), SA_RESTART);
	FACT(sigaction(SIGUSR1, NULL, &action) == 0 && (action.sa_flags & SA_RESTART) != 0);
	sigcb(SIGUSR1, wrap(mark, 'a'));
	FACT(sigaction(SIGUSR1, NULL, &action) == 0 && (action.sa_flags & SA_RESTART) == 0);
	FACTS_END();
}

static void
resets(int left)
{
	mark('s');
	if (left == 0)
		expect("ss");
	sigcb(SIGUSR1, wrap(resets, left - 1));
	kill(getpid(), SIGUSR1);
}

/* A callback replaces itself. */
static void
sets_the_next()
{
	sigcb(SIGUSR1, wrap(resets, 1));
	delaycb(0, MS, wrap(raise_here, SIGUSR1));
	amain();
}

static void
no_signal()
{
	sigcb(0, wrap(mark, 'a'));
}

static void
by_ascending_number()
{
	sigcb(SIGTERM, wrap(mark, 'c'));
	sigcb(SIGHUP, wrap(mark, 'a'));
	sigcb(SIGUSR1, wrap(mark, 'b'));
	kill(getpid(), SIGTERM);
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGHUP);
	acheck();
	expect("abc");
}

/* ---- children ---- */

static pid_t
child(int status)
{
	pid_t pid = fork();

	FACT(pid >= 0);
	if (pid == 0)
		_exit(status);
	return pid;
}

/* Wait until the child has ended, without reaping it. */
static void
let_it_end(pid_t pid)
{
	siginfo_t info;

	FACT_EQ(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

static bool
is_reaped(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG) < 0 && errno == ECHILD;
}

static void
ended(pid_t pid, int expected, int status)
{
	FACT(WIFEXITED(status));
	FACT_EQ(WEXITSTATUS(status), expected);
	FACT(is_reaped(pid));
	FACTS_END();
}

static void
before_amain()
{
	pid_t pid = child(7);

	chldcb(pid, wrap(ended, pid, 7));
	let_it_end(pid);
	amain();
}

static void
fork_inside()
{
	pid_t pid = child(9);

	let_it_end(pid); /* the loop must not reap it during this callback */
	chldcb(pid, wrap(ended, pid, 9));
}

static void
fork_and_register()
{
	cpucb_tail(wrap(fork_inside));
	amain();
}

static void
fork_in_pass()
{
	delaycb(0, MS, wrap(fork_inside));
	amain();
}

static void
by_hand()
{
	pid_t pid = child(3);

	chldcb(pid, wrap(ended, pid, 3));
	for (;;)
		acheck();
}

static void
was_killed(int status)
{
	FACT(WIFSIGNALED(status));
	FACT_EQ(WTERMSIG(status), SIGTERM);
	FACTS_END();
}

/* The status is that of waitpid. */
static void
raw_status()
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	chldcb(pid, wrap(was_killed));
	kill(pid, SIGTERM);
	amain();
}

static int left;

static void
one_of_many(pid_t pid, int expected, int status)
{
	FACT_EQ(WEXITSTATUS(status), expected);
	FACT(is_reaped(pid));
	if (--left == 0)
		FACTS_END();
}

static void
fork_many()
{
	left = 20;
	for (int i = 0; i < 20; i++) {
		pid_t pid = child(i);

		chldcb(pid, wrap(one_of_many, pid, i));
	}
}

static void
many_children()
{
	delaycb(0, 0, wrap(fork_many));
	amain();
}

static void
in_color_five(int status)
{
	FACT_EQ(WEXITSTATUS(status), 4);
	FACT_EQ(get_current_color(), 5);
	FACTS_END();
}

static void
colored_child()
{
	chldcb(child(4), cwrap(in_color_five, 5));
	amain();
}

static void
mark_status(char c, int)
{
	mark(c);
}

static void
second_replaces()
{
	pid_t pid = child(0);

	chldcb(pid, wrap(mark_status, 'a'));
	chldcb(pid, wrap(mark_status, 'b'));
	while (seen.empty())
		acheck();
	expect("b");
}

static void
null_drops()
{
	pid_t pid = child(0);

	chldcb(pid, wrap(mark_status, 'a'));
	chldcb(pid, NULL);
	expect_soon("");
	amain();
}

static pid_t orphan;

static void
too_late()
{
	FACT(is_reaped(orphan)); /* it had no callback */
	chldcb(orphan, wrap(mark_status, 'a'));
	expect_soon("");
}

static void
soon_too_late()
{
	delaycb(0, 20 * MS, wrap(too_late));
}

/* All children are reaped; without a callback in time the status is lost. */
static void
reaps_all()
{
	orphan = child(0);
	let_it_end(orphan);
	/* amain's first pass reaps it; before that the callback would be in time. */
	delaycb(0, 0, wrap(soon_too_late));
	amain();
}

static void
reap_myself()
{
	FACT(waitpid(orphan, NULL, WNOHANG) == orphan);
	FACTS_END();
}

/* A program that handles SIGCHLD itself gets the signal and reaps its children. */
static void
own_sigchld()
{
	sigcb(SIGCHLD, wrap(reap_myself));
	orphan = child(0);
	amain();
}

static void
sigchld_back()
{
	sigcb(SIGCHLD, wrap(mark, 'x'));
	sigcb(SIGCHLD, NULL);
	orphan = child(6);
	chldcb(orphan, wrap(ended, orphan, 6));
	amain();
}

/* ---- SFS_OPTIONS=z ---- */

static void
with_zombies(const char *name)
{
	setenv("SFS_OPTIONS", "ez", 1);
	execl("/proc/self/exe", "facts", name, (char *)NULL);
	_exit(98);
}

static void
late_is_called_at_once()
{
	FACT_EQ(waitid(P_PID, (id_t)orphan, NULL, WEXITED | WNOWAIT | WNOHANG), 0);
	chldcb(orphan, wrap(mark_status, 'z'));
	FACT(seen == "z"); /* synchronously */
	FACT(is_reaped(orphan));
	orphan = child(6);
	chldcb(orphan, wrap(ended, orphan, 6)); /* this child ends later */
}

static void
zombies()
{
	orphan = child(0);
	let_it_end(orphan);
	delaycb(0, 20 * MS, wrap(late_is_called_at_once));
	amain();
}

static void
zombies_by_call()
{
	sfs_core::set_zombie_collect(true);
	zombies();
}

static void
keeps_zombies()
{
	with_zombies("zombies");
}

/* The child's runtime does not have threads, and does not touch the parent's. */
static void
child_touches_its_own()
{
	int fds[2];
	pid_t pid;

	FACT(pipe(fds) == 0);
	fdcb(fds[0], selread, wrap(expect, ""));
	pid = fork();
	if (pid == 0) {
		fdcb(fds[0], selread, NULL);
		close(fds[0]);
		delaycb(0, 0, cbv_null);
		_exit(0);
	}
	FACT(waitpid(pid, NULL, 0) == pid || errno == ECHILD);
	FACT(write(fds[1], "x", 1) == 1);
}

static void
child_of_a_callback()
{
	delaycb(0, MS, wrap(child_touches_its_own));
	amain();
}

static void
set_anew()
{
	sigcb(SIGUSR1, wrap(mark, 'n'));
	delaycb(0, 5 * MS, wrap(expect, ""));
}

static void
dropped_with_its_note()
{
	sigcb(SIGUSR1, wrap(mark, 'a'));
	kill(getpid(), SIGUSR1);
	signals_arrive();
	sigcb(SIGUSR1, NULL);
	set_anew();
}

/* A callback set after NULL does not get an earlier signal. */
static void
null_forgets()
{
	delaycb(0, 0, wrap(dropped_with_its_note));
	amain();
}

static const struct fact facts[] = {
	CASE(collapse),
	CASE(stays),
	CASE(never_inside),
	CASE(colored),
	CASE_ON(1, returns_previous),
	CASE_ON(1, replaced),
	{"default_again", default_again, 1000 + SIGUSR1, NULL, 1},
	CASE(is_unblocked),
	CASE(unblocked_inside),
	CASE(null_forgets),
	CASE_ON(1, flags),
	CASE(sets_the_next),
	{"no_signal", no_signal, 1, "0 is not a signal", 1},
	CASE_ON(1, by_ascending_number),
	CASE(before_amain),
	CASE(fork_and_register),
	CASE(fork_in_pass),
	CASE_ON(1, by_hand),
	CASE_ON(2, raw_status),
	CASE(many_children),
	CASE(colored_child),
	CASE_ON(1, second_replaces),
	CASE_ON(2, null_drops),
	CASE(reaps_all),
	CASE_ON(2, own_sigchld),
	CASE_ON(2, sigchld_back),
	CASE(keeps_zombies),
	CASE_ON(1, zombies_by_call),
	CASE(child_of_a_callback),
};

static const struct fact helpers[] = {
	CASE(zombies),
};

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "zombies") == 0)
		return facts_main(argc, argv, helpers, 1);
	return facts_main(argc, argv, facts, sizeof facts / sizeof facts[0]);
}
