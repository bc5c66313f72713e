/* SPDX-License-Identifier: MIT */
/*
 * async_life.cc: the life of a program of dialect "async": what async.h includes, what happens
 * before main, forks, exits, clocks. Sections 0 and 1.1 of the facts.
 */
#define MELYCOMPAT_TIMENOW 1
#include "async.h"
#include "select.h"
#include "sfs_select.h"

#include "facts.h"

#define MS 1000000

static int left;
static bool done;

static void
finish()
{
	done = true;
}

static void
end()
{
	FACTS_END();
}

/* ---- what async.h brings ---- */

static long
which(int)
{
	return 1;
}

static long
which(void *)
{
	return 2;
}

struct sibling {
};
struct derived : sibling {
};

static auto_ptr<derived>
make_derived()
{
	return auto_ptr<derived>(new derived);
}

static void
small_templates()
{
	auto_ptr<derived> one(make_derived());
	derived *address = one.get();
	auto_ptr<sibling> other(one);

	FACT(one.get() == NULL && other.get() == address);
	other = make_derived();
	other.reset(new sibling);
	FACT(other.get() != NULL);
	FACT_EQ(min(3, 2), 2);
	FACT_EQ(max<long>(3, 4u), 4);
	FACT_EQ(max(3, 3), 3);
	FACT_EQ(implicit_cast<int>('a'), 'a');
	FACT_EQ(which(NULL), 1); /* a plain 0 */
	FACT_EQ(which((void *)NULL), 2);
	FACT_EQ(sizeof NULL, sizeof(int));
	FACTS_END();
}

/* async.h alone declares these. */
static void
posix()
{
	u_int32_t word = 1;
	u_int64_t hyper = 1;
	u_int16_t port = 1;
	u_int8_t octet = 1;
	u_int n = 1;
	u_char c = 1;
	u_long l = 1;
	sockaddr_un un;
	sockaddr_in in;
	iovec iov = {&c, 1};
	va_list *ap = NULL;
	struct stat sb;
	hostent *host = NULL;
	passwd *pw = getpwuid(getuid());
	timeval tv = {0, 0};

	FACT(word + hyper + port + octet + n + c + l == 7);
	FACT(sizeof un > sizeof in && iov.iov_len == 1 && !ap && !host && tv.tv_sec == 0);
	FACT(pw == NULL || pw->pw_name != NULL);
	FACT(fstat(0, &sb) == 0 || errno != 0);
	FACT(WIFEXITED(0) && inet_addr("127.0.0.1") == htonl(INADDR_LOOPBACK));
	FACT(mmap(NULL, 0, PROT_READ, MAP_PRIVATE, -1, 0) == MAP_FAILED);
	FACT(strlen("abc") == 3 && isdigit('1') && O_RDONLY == 0 && SIGTERM > 0);
	FACTS_END();
}

#ifndef SFSLITE_AT_VERSION
#error "programs ask for the version"
#endif
#if !SFSLITE_AT_VERSION(1, 2, 9, 113) || !SFSLITE_AT_VERSION(0, 8, 20, 1)
#error "it is a late one"
#endif
#if SFSLITE_AT_VERSION(9, 0, 0, 0)
#error "but not that late"
#endif

static void
selectors()
{
	FACT_EQ(sfs_core::set_select_policy(sfs_core::SELECT_STD), 0);
	FACT_EQ(sfs_core::set_select_policy(sfs_core::SELECT_EPOLL), 0);
	FACT_EQ(sfs_core::set_select_policy(sfs_core::SELECT_KQUEUE), -1);
	sfs_core::set_compact_interval(10);
	FACTS_END();
}

static int fd_ready;

static void
readable()
{
	fdcb(fd_ready, selread, NULL);
	sfs_core::set_busywait(false);
	delaycb(0, MS, wrap(end));
}

static void
busy()
{
	int fds[2];

	FACT(pipe(fds) == 0 && write(fds[1], "x", 1) == 1);
	fd_ready = fds[0];
	sfs_core::set_busywait(true);
	acheck(); /* returns, since nothing can become ready */
	fdcb(fd_ready, selread, wrap(readable));
	amain();
}

/* ---- before main ---- */

static void
pipe_signal()
{
	struct sigaction action;

	FACT(sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_IGN);
	FACTS_END();
}

static void
has_limits()
{
	FACT(atoi(getenv("FDLIM_SOFT")) == 100);
	FACT(atoi(getenv("FDLIM_HARD")) == 500);
	rlimit limit;
	FACT(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	FACT_EQ(limit.rlim_cur, 500);
	FACT_EQ(limit.rlim_max, 500);
	FACTS_END();
}

static void
descriptor_limits()
{
	rlimit limit = {100, 500};

	unsetenv("FDLIM_SOFT");
	unsetenv("FDLIM_HARD");
	FACT(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	execl("/proc/self/exe", "facts", "has_limits", (char *)NULL);
}

static void
never_too_many()
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		setenv("MELY_CORES", "200", 1);
		execl("/proc/self/exe", "facts", "count_workers", (char *)NULL);
		_exit(98);
	}
	FACT(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	FACT_EQ(WEXITSTATUS(status), MAX_THREADS);
	FACTS_END();
}

static void
count_workers()
{
	exit(task_get_nthreads());
}

/* ---- nothing runs before the loop ---- */

static bool in_loop;

static void
counts_down()
{
	FACT(in_loop);
	if (facts_add(&left, -1) == 0)
		FACTS_END();
}

static int
threads()
{
	int n = 0;
	DIR *dir = opendir("/proc/self/task");

	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n - 2;
}

static int
full_pipe()
{
	int fds[2];

	FACT(pipe(fds) == 0 && write(fds[1], "x", 1) == 1);
	return fds[0];
}

static void
all_kinds()
{
	int fd = full_pipe();

	left = 6;
	cpucb_tail(wrap(counts_down));
	cpucb(cwrap(counts_down, 3));
	delaycb(0, 0, wrap(counts_down));
	delaycb(0, 0, cwrap(counts_down, 4));
	sigcb(SIGUSR1, wrap(counts_down));
	kill(getpid(), SIGUSR1);
	fdcb(fd, selread, wrap(counts_down));
}

static void
held_before_amain()
{
	all_kinds();
	usleep(20000);
	FACT_EQ(threads(), 1);
	in_loop = true;
	amain();
}

/* A program becomes a daemon after its preparations; the child is the program. */
static void
fork_before()
{
	int status;
	pid_t pid;

	all_kinds();
	pid = fork();
	if (pid == 0) {
		in_loop = true;
		kill(getpid(), SIGUSR1);
		amain();
	}
	FACT(waitpid(pid, &status, 0) == pid);
	FACT(WIFEXITED(status) && WEXITSTATUS(status) == FACTS_PASSED);
	FACTS_END();
}

static void
expect_passes(const char *what, int *fds)
{
	char c;

	FACT(read(fds[0], &c, 1) == 1 && c == *what);
	FACTS_END();
}

static void
drop_and_leave(int *fds)
{
	fdcb(fds[0], selread, NULL);
	close(fds[0]);
	done = false;
	delaycb(0, MS, wrap(finish));
	while (!done)
		acheck();
	FACTS_END();
}

/* Both continue, each with its own loop. */
static void
fork_after_acheck()
{
	static int fds[2];
	int status;
	pid_t pid;

	FACT(pipe(fds) == 0);
	delaycb(0, 0, wrap(finish));
	fdcb(fds[0], selread, wrap(expect_passes, "p", fds));
	while (!done)
		acheck();
	pid = fork();
	if (pid == 0)
		drop_and_leave(fds);
	FACT(waitpid(pid, &status, 0) == pid);
	FACT(WIFEXITED(status) && WEXITSTATUS(status) == FACTS_PASSED);
	FACT(write(fds[1], "p", 1) == 1);
	for (;;)
		acheck();
}

static void
fork_after_acheck_child_runs()
{
	int status;
	pid_t pid;

	delaycb(0, 0, wrap(finish));
	while (!done)
		acheck();
	pid = fork();
	if (pid == 0) {
		left = 3;
		in_loop = true;
		cpucb_tail(wrap(counts_down));
		cpucb_tail(cwrap(counts_down, 5));
		delaycb(0, MS, cwrap(counts_down, 6));
		amain();
	}
	FACT(waitpid(pid, &status, 0) == pid);
	FACT(WIFEXITED(status) && WEXITSTATUS(status) == FACTS_PASSED);
	FACTS_END();
}

/* ---- exit ---- */

struct at_exit {
	~at_exit();
};

static int after_exit;
static pthread_t who_exits;

at_exit::~at_exit()
{
	int then = facts_get(&after_exit);

	usleep(20000);
	FACT_EQ(facts_get(&after_exit), then); /* workers no longer run anything */
	FACT(then == 0 || pthread_equal(who_exits, pthread_self()));
	printf("destroyed\n");
}

static at_exit object;

static void
goes_on()
{
	facts_add(&after_exit, 1);
	cpucb_tail(cwrap(goes_on, get_current_color()));
}

static void
exit_here()
{
	who_exits = pthread_self();
	end();
}

static void
exits()
{
	for (int color = 1; color < 5; color++)
		cpucb_tail(cwrap(goes_on, color));
	delaycb(0, 5 * MS, wrap(exit_here));
	amain();
}

static void
exits_in_a_color()
{
	cpucb_tail(cwrap(goes_on, 1));
	cpucb_tail(wrap(goes_on));
	delaycb(0, 5 * MS, cwrap(exit_here, 6));
	amain();
}

/* Check that fn passes and writes nothing to standard error. */
static void
expect_silence(void (*fn)())
{
	int status, fds[2];
	char text[1000];
	ssize_t n;
	pid_t pid;

	FACT(pipe(fds) == 0);
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], 2);
		fn();
	}
	close(fds[1]);
	n = read(fds[0], text, sizeof text - 1);
	FACT(n >= 0 && waitpid(pid, &status, 0) == pid);
	text[n] = '\0';
	printf("%s", text);
	FACT(n == 0 && WIFEXITED(status) && WEXITSTATUS(status) == FACTS_PASSED);
	FACTS_END();
}

static void
waits_for_good()
{
	cpucb_tail(cwrap(end, 6));
	for (;;)
		acheck();
}

static void
waits_while_another_exits()
{
	cpucb_tail(wrap(waits_for_good));
	amain();
}

/* The exit does not wait for a callback that waits in acheck. */
static void
exits_beside_acheck()
{
	expect_silence(waits_while_another_exits);
}

static void
held_back()
{
	warnx << "no newline";
	exit(FACTS_PASSED);
}

/* The rest of the text for standard error is written. */
static void
exit_writes_all()
{
	delaycb(0, 0, wrap(held_back));
	amain();
}

/* ---- clocks ---- */

static bool
before(const timespec &a, const timespec &b)
{
	return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

static void
same_in_a_pass()
{
	timespec first = sfs_get_tsnow(), second;
	timespec real;

	usleep(2000);
	second = sfs_get_tsnow();
	FACT(!before(first, second) && !before(second, first));
	FACT(!before(tsnow, first) && !before(first, tsnow));
	FACT(timenow == first.tv_sec && sfs_get_timenow() == first.tv_sec);
	clock_gettime(CLOCK_REALTIME, &real);
	FACT(before(sfs_get_tsnow(), real));
	second = sfs_get_tsnow(true);
	FACT(before(first, second) && !before(second, real));
	FACT(sfs_get_timenow(true) >= real.tv_sec);
}

static void
is_later(timespec then)
{
	FACT(before(then, sfs_get_tsnow()));
	FACTS_END();
}

static void
clock_of_pass()
{
	same_in_a_pass();
	delaycb(0, 2 * MS, wrap(is_later, sfs_get_tsnow()));
}

static void
clocks()
{
	timespec real;

	clock_gettime(CLOCK_REALTIME, &real);
	FACT(timenow >= real.tv_sec - 60 && timenow <= real.tv_sec); /* from the start */
	delaycb(0, 0, wrap(clock_of_pass));
	amain();
}

static void
clock_elsewhere()
{
	timespec first = sfs_get_tsnow();

	usleep(1000);
	FACT(before(first, sfs_get_tsnow()));
	FACTS_END();
}

static void
clock_of_colors()
{
	cpucb_tail(cwrap(clock_elsewhere, 3));
	amain();
}

/* Predefined callbacks that do nothing. */
static void
nulls()
{
	cbv_null();
	cbi_null(1);
	cbb_null(true);
	delaycb(0, 0, cbv_null);
	delaycb(0, MS, wrap(end));
	amain();
}

static const struct fact facts[] = {
	CASE_ON(1, small_templates),
	CASE_ON(1, posix),
	CASE_ON(1, selectors),
	CASE(busy),
	CASE_ON(1, pipe_signal),
	CASE_ON(1, descriptor_limits),
	CASE_ON(1, never_too_many),
	CASE(held_before_amain),
	CASE(fork_before),
	CASE(fork_after_acheck),
	CASE(fork_after_acheck_child_runs),
	{"exits", exits, FACTS_PASSED, "destroyed", 0},
	{"exits_in_a_color", exits_in_a_color, FACTS_PASSED, "destroyed", 0},
	CASE_ON(2, exits_beside_acheck),
	CASE_ON(8, exits_beside_acheck),
	{"exit_writes_all", exit_writes_all, FACTS_PASSED, "no newline", 0},
	CASE(clocks),
	CASE_ON(2, clock_of_colors),
	CASE_ON(1, nulls),
};

static const struct fact helpers[] = {
	CASE(count_workers),
	CASE(has_limits),
};

int
main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof helpers / sizeof helpers[0]; i++)
		if (argc == 2 && strcmp(argv[1], helpers[i].name) == 0)
			helpers[i].fn();
	return facts_main(argc, argv, facts, sizeof facts / sizeof facts[0]);
}
