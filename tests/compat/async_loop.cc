/* SPDX-License-Identifier: MIT */
/*
 * async_loop.cc: descriptors and passes of dialect "async". Section 1.1 of the facts, and rules 4
 * and 7 of section 0.
 */
#include "async.h"

#include "marks.h"

static int times;

static void
expect_next(const char *what)
{
	delaycb(0, 0, wrap(expect, what));
}

/* In a later pass than the timers that are due at the same time. */
static void
expect_soon(const char *what)
{
	delaycb(0, 20000000, wrap(expect_next, what));
}

/* After the callbacks of ready descriptors. Not armed before amain: those timers run first. */
static void
expect_later(const char *what)
{
	delaycb(0, 0, wrap(expect_soon, what));
}

/* A pipe with data to read. */
static int
full_pipe()
{
	int fds[2];

	FACT(pipe(fds) == 0 && write(fds[1], "xy", 2) == 2);
	return fds[0];
}

static int
socket_end(int *other)
{
	int fds[2];

	FACT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	*other = fds[1];
	return fds[0];
}

/* ---- one callback for each direction ---- */

static void
last(int fd, char c)
{
	mark(c);
	fdcb(fd, selread, NULL);
	delaycb(0, 0, wrap(expect, "b"));
}

static void
replaces()
{
	int fd = full_pipe();

	fdcb(fd, selread, wrap(mark, 'a'));
	fdcb(fd, selread, wrap(last, fd, 'b'));
	amain();
}

static void
three_times(int fd)
{
	char c;

	mark('r');
	if (++times == 2)
		FACT(read(fd, &c, 1) == 1); /* one byte is left, so it stays ready */
	if (times == 3) {
		fdcb(fd, selread, NULL);
		expect_later("rrr");
	}
}

static void
stays_until_removed()
{
	int fd = full_pipe();

	fdcb(fd, selread, wrap(three_times, fd));
	amain();
}

static void
null_disables()
{
	int fd = full_pipe();

	fdcb(fd, selread, wrap(mark, 'r'));
	fdcb(fd, selread, NULL);
	fdcb(fd, selwrite, NULL); /* it never had one */
	expect_later("");
	amain();
}

static void
once(int fd, selop op, char c)
{
	mark(c);
	fdcb(fd, op, NULL);
}

/* Each direction has its own callback; removing one leaves the other. */
static void
both_directions()
{
	int other, fd = socket_end(&other);

	FACT(write(other, "x", 1) == 1);
	fdcb(fd, selwrite, wrap(once, fd, selwrite, 'w'));
	fdcb(fd, selread, wrap(once, fd, selread, 'r'));
	expect_later("rw");
	amain();
}

static void
again(int fd, selop op, char c)
{
	once(fd, op, c);
	if (c < 'c')
		fdcb(fd, op, wrap(again, fd, op, char(c + 1)));
	else
		expect("abc");
}

/* A callback may set the next one. */
static void
sets_the_next()
{
	int fd = full_pipe();

	fdcb(fd, selread, wrap(again, fd, selread, 'a'));
	amain();
}

static void
hang_up(selop op)
{
	int other, fd = socket_end(&other);

	close(other);
	fdcb(fd, op, wrap(once, fd, op, 'h'));
	expect_later("h");
	amain();
}

static void
hang_up_is_readable()
{
	hang_up(selread);
}

static void
hang_up_is_writable()
{
	hang_up(selwrite);
}

/* The reader of a pipe has closed it, which is an error for the writer. */
static void
error_is_writable()
{
	int fds[2];

	FACT(pipe(fds) == 0);
	close(fds[0]);
	while (write(fds[1], "x", 1) == 1)
		;
	FACT_EQ(errno, EPIPE);
	fdcb(fds[1], selwrite, wrap(once, fds[1], selwrite, 'e'));
	expect_later("e");
	amain();
}

/* ---- what is not open, or not for waiting ---- */

static void
a_few_times(int fd, selop op)
{
	if (++times == 3) {
		fdcb(fd, op, NULL);
		FACTS_END();
	}
}

static void
file_is_ready(selop op)
{
	int fd = open("/proc/self/exe", O_RDONLY);

	FACT(fd >= 0);
	fdcb(fd, op, wrap(a_few_times, fd, op));
	amain();
}

static void
file_is_readable()
{
	file_is_ready(selread);
}

static void
file_is_writable()
{
	file_is_ready(selwrite);
}

static void
null_device_by_hand()
{
	int fd = open("/dev/null", O_RDWR);

	fdcb(fd, selwrite, wrap(a_few_times, fd, selwrite));
	for (;;)
		acheck();
}

/* A descriptor that is always ready does not starve others, and can be removed. */
static void
stop_it(int fd)
{
	fdcb(fd, selread, NULL);
	times = 0;
	expect_later("");
}

static void
count()
{
	times++;
}

static void
file_and_timer()
{
	int fd = open("/proc/self/exe", O_RDONLY);

	fdcb(fd, selread, wrap(count));
	delaycb(0, 5000000, wrap(stop_it, fd));
	amain();
}

static void
not_open()
{
	fdcb(-1, selread, wrap(mark, 'x'));
}

static void
watch_closed()
{
	int fd = full_pipe();

	close(fd);
	fdcb(fd, selread, wrap(mark, 'x'));
}

static void
not_open_inside()
{
	delaycb(0, 0, wrap(watch_closed));
	amain();
}

static void
no_direction()
{
	fdcb(0, (selop)2, wrap(mark, 'x'));
}

/* Closed first and dropped later, while another descriptor keeps the file open: the next descriptor
 * of that number works, and nothing spins. */
static void
closed_before_dropped(int *dup_of)
{
	int fd = full_pipe(), other;

	fdcb(fd, selread, wrap(mark, 'x'));
	acheck();
	seen = "";
	*dup_of = dup(fd);
	close(fd);
	fdcb(fd, selread, NULL);
	FACT_EQ(socket_end(&other), fd);
	FACT(write(other, "x", 1) == 1);
	fdcb(fd, selread, wrap(last, fd, 'b'));
}

static void
close_then_null()
{
	int kept;

	closed_before_dropped(&kept);
	for (;;)
		acheck();
}

static void
stray_does_not_spin()
{
	int kept, fd = full_pipe();
	int passes = 0;
	bool *over = New bool(false);

	fdcb(fd, selread, wrap(mark, 'x'));
	acheck();
	kept = dup(fd);
	close(fd);
	fdcb(fd, selread, NULL);
	struct local {
		static void set(bool *b) { *b = true; }
	};
	delaycb(0, 50000000, wrap(local::set, over));
	for (; !*over; passes++)
		acheck();
	FACT(passes < 100);
	close(kept);
	FACTS_END();
}

/* ---- the order of a pass ---- */

static void
mark_once(int fd, selop op, char c)
{
	once(fd, op, c);
}

static int low, high, sockets_other;
static lazycb_t *lazy;

static void
mark_lazy()
{
	mark('l');
	lazycb_remove(lazy);
}

/* Everything is due after the wait. */
static void
prepare_pass()
{
	low = full_pipe();
	high = socket_end(&sockets_other);
	FACT(low < high && write(sockets_other, "x", 1) == 1);
	yieldcb(wrap(mark, 'y'));
	timespec past = {1, 0};
	timecb(past, wrap(mark, 't'));
	fdcb(high, selwrite, wrap(mark_once, high, selwrite, '3'));
	fdcb(high, selread, wrap(mark_once, high, selread, '2'));
	fdcb(low, selread, wrap(mark_once, low, selread, '1'));
	sigcb(SIGUSR2, wrap(mark, 'b'));
	sigcb(SIGUSR1, wrap(mark, 'a'));
	kill(getpid(), SIGUSR2);
	kill(getpid(), SIGUSR1);
	signals_arrive();
	lazy = lazycb(0, wrap(mark_lazy));
}

static void
order_by_hand()
{
	prepare_pass();
	acheck();
	expect("lab123ty");
}

static void
check_inside()
{
	prepare_pass();
	acheck();
	expect("lab123ty");
}

static void
order_inside()
{
	cpucb(wrap(check_inside));
	amain();
}

/* A pass of amain: one of its callbacks makes everything ready. */
static void
order_in_amain()
{
	delaycb(0, 0, wrap(prepare_pass));
	expect_later("lab123ty");
	amain();
}

static void
drop_other(int own, int other)
{
	mark('a');
	fdcb(own, selread, NULL);
	fdcb(other, selread, NULL);
}

static void
prepare_two()
{
	low = full_pipe();
	high = full_pipe();
	fdcb(low, selread, wrap(drop_other, low, high));
	fdcb(high, selread, wrap(drop_other, high, low));
}

/* Both are ready; the first one disables the other. */
static void
looked_at_again()
{
	delaycb(0, 0, wrap(prepare_two));
	expect_later("a");
	amain();
}

static void
looked_at_again_by_hand()
{
	prepare_two();
	delaycb(0, 0, wrap(mark, 't'));
	acheck();
	expect("at");
}

static void
signal_drops()
{
	mark('s');
	fdcb(low, selread, NULL);
}

static void
signal_before_descriptor()
{
	low = full_pipe();
	fdcb(low, selread, wrap(mark, 'r'));
	sigcb(SIGUSR1, wrap(signal_drops));
	kill(getpid(), SIGUSR1);
	acheck();
	expect("s");
}

/* By then the number belongs to another descriptor, which is not ready. */
static void
swap_other(int own, int other)
{
	int end;

	mark('a');
	fdcb(own, selread, NULL);
	fdcb(other, selread, NULL);
	close(other);
	FACT_EQ(socket_end(&end), other);
	fdcb(other, selread, wrap(mark, 'n'));
}

static void
other_number()
{
	low = full_pipe();
	high = full_pipe();
	fdcb(low, selread, wrap(swap_other, low, high));
	fdcb(high, selread, wrap(mark, 'h'));
	expect_later("a");
	amain();
}

/* A new callback for a descriptor that was ready when the pass began is called in this pass. */
static void
replace_other(int own, int other)
{
	mark('a');
	fdcb(own, selread, NULL);
	fdcb(other, selread, wrap(mark_once, other, selread, 'n'));
}

static void
replaced_in_the_pass()
{
	low = full_pipe();
	high = full_pipe();
	fdcb(low, selread, wrap(replace_other, low, high));
	fdcb(high, selread, wrap(mark_once, high, selread, 'h'));
	delaycb(0, 0, wrap(mark, 't'));
	acheck();
	expect("ant");
}

/* ---- the references to a callback ---- */

struct counted : public virtual refcount {
	int fd;
	static int alive;

	explicit counted(int f) : fd(f) { alive++; }
	~counted() { alive--; }
	void
	readable()
	{
		mark('r');
		fdcb(fd, selread, NULL);
		fd = -1; /* this object lives until the end of the call, unless it has been freed */
	}
};

int counted::alive;

static void
is_gone()
{
	FACT_EQ(counted::alive, 0);
	expect("r");
}

static void
is_gone_soon()
{
	delaycb(0, 20000000, wrap(is_gone));
}

static void
last_reference()
{
	int fd = full_pipe();

	fdcb(fd, selread, wrap(ref<counted>(New refcounted<counted>(fd)), &counted::readable));
	FACT_EQ(counted::alive, 1);
	delaycb(0, 20000000, wrap(is_gone_soon));
	amain();
}

static void
dropped_at_once()
{
	int fd = full_pipe();

	fdcb(fd, selread, wrap(ref<counted>(New refcounted<counted>(fd)), &counted::readable));
	fdcb(fd, selread, NULL);
	FACT_EQ(counted::alive, 0);
	FACTS_END();
}

/* ---- the table of cases ---- */

static const struct fact facts[] = {
	CASE(replaces),
	CASE(stays_until_removed),
	CASE(null_disables),
	CASE(both_directions),
	CASE(sets_the_next),
	CASE_ON(2, hang_up_is_readable),
	CASE_ON(2, hang_up_is_writable),
	CASE_ON(2, error_is_writable),
	CASE(file_is_readable),
	CASE_ON(1, file_is_writable),
	CASE_ON(1, null_device_by_hand),
	CASE(file_and_timer),
	{"not_open", not_open, 1, "fdcb: descriptor -1", 1},
	{"not_open_inside", not_open_inside, 1, "loop.cc:", 2},
	{"no_direction", no_direction, 1, "neither selread nor selwrite", 1},
	CASE_ON(1, close_then_null),
	CASE_ON(1, stray_does_not_spin),
	CASE_ON(1, order_by_hand),
	CASE(order_inside),
	CASE(order_in_amain),
	CASE(looked_at_again),
	CASE_ON(1, looked_at_again_by_hand),
	CASE_ON(1, signal_before_descriptor),
	CASE(other_number),
	CASE_ON(1, replaced_in_the_pass),
	CASE(last_reference),
	CASE_ON(1, dropped_at_once),
};

FACTS_MAIN(facts)
