/* SPDX-License-Identifier: MIT */
/*
 * mely_fd.cc: queues of callbacks per descriptor in dialect "mely". Section 0.3 of the facts.
 */
#include "mely.h"

#include <sys/socket.h>

#include "counted.h"
#include "facts.h"

static char order[64];
static int ordered, ends[2];

static void
put(int c)
{
	order[ordered++] = (char)c;
	order[ordered] = '\0';
}

static void
check_order(const char *wanted)
{
	if (strcmp(order, wanted) != 0) {
		fprintf(stderr, "ran %s, not %s\n", order, wanted);
		facts_fail(__FILE__, __LINE__, "order");
	}
	FACTS_END();
}

static void
pair()
{
	FACT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
}

static char
get()
{
	char c = 0;

	return read(ends[0], &c, 1) == 1 ? c : '-';
}

static void
give(const char *text)
{
	FACT(write(ends[1], text, strlen(text)) == (ssize_t)strlen(text));
}

/* ---- the queue ---- */

static void
first_reader(int times)
{
	static int calls;

	put('1');
	get();
	if (++calls == times)
		fdcb_finished(true);
}

static void
second_reader()
{
	put('2');
	get();
	if (strlen(order) == 5)
		check_order("11122");
}

/* Only the head is called, repeatedly, until it is finished. */
static void
queue_up()
{
	FACT_EQ(selread, 0);
	FACT_EQ(selwrite, 1);
	pair();
	give("abcde");
	fdcb(ends[0], selread, cwrap(first_reader, 3, 1));
	fdcb(ends[0], selread, cwrap(second_reader, 2));
}

static void
queues()
{
	queue_up();
	amain();
}

static void
queues_inside()
{
	cpucb_tail(cwrap(queue_up, 7));
	amain();
}

static void
undo()
{
	put('u');
	get();
	fdcb_finished(true);
	fdcb_finished(false);
	if (strlen(order) == 2)
		check_order("uu");
}

static void
finished_is_undone()
{
	pair();
	give("ab");
	fdcb(ends[0], selread, cwrap(undo, 1));
	amain();
}

static void
elsewhere()
{
	fdcb_finished(true); /* nothing to finish */
	give("ab");
}

static void
kept_until_two()
{
	put('k');
	get();
	if (strlen(order) == 2)
		check_order("kk");
}

/* Each dispatch starts with "keep", whatever an earlier or other callback chose. */
static void
finished_is_reset()
{
	pair();
	fdcb(ends[0], selread, cwrap(kept_until_two, 1));
	cpucb_tail(cwrap(elsewhere, 1));
	amain();
}

static void
never()
{
	facts_fail(__FILE__, __LINE__, "a dropped callback ran");
}

/* Level-triggered: unread data is reported again. */
static void
leave_it()
{
	put('l');
	if (strlen(order) == 5)
		check_order("lllll");
}

static void
is_level_triggered()
{
	pair();
	give("a");
	fdcb(ends[0], selread, cwrap(leave_it, 1));
	amain();
}

/* ---- freeing ---- */

static void
ignore(counted)
{
	facts_fail(__FILE__, __LINE__, "a dropped callback ran");
}

static void
check_all_freed()
{
	FACT_EQ(counted::alive, 0);
	FACTS_END();
}

static void
drop_queue(counted)
{
	get();
	fdcb(ends[0], selread, NULL); /* this one, and two queued after it */
	fdcb_finished(true);          /* of a dropped queue */
	FACT(counted::alive >= 2);    /* the parameter, and the callback that runs */
	cpucb_tail(cwrap(check_all_freed, 1));
}

static void
null_drops_all()
{
	pair();
	give("ab");
	fdcb(ends[0], selread, cwrap(drop_queue, counted(), 1));
	fdcb(ends[0], selread, cwrap(ignore, counted(), 1));
	fdcb(ends[0], selread, cwrap(ignore, counted(), 2));
	amain();
}

static void
finish_and_die(counted)
{
	get();
	fdcb_finished(true);
	cpucb_tail(cwrap(check_all_freed, 1));
}

static void
finished_frees()
{
	pair();
	give("ab");
	fdcb(ends[0], selread, cwrap(finish_and_die, counted(), 1));
	amain();
}

static void
null_before_amain()
{
	pair();
	give("a");
	fdcb(ends[0], selread, cwrap(ignore, counted(), 1));
	fdcb(ends[0], selread, NULL);
	fdcb(ends[0], selwrite, NULL);
	delaycb(0, 3000000, cwrap(check_all_freed, 1));
	amain();
}

static void
check_again()
{
	FACT_EQ(counted::alive, 0);
	check_order("aaa");
}

static cbv self;

static void
again(counted)
{
	put('a');
	get();
	fdcb(ends[0], selread, NULL);
	if (strlen(order) == 3) {
		self->setFlagAutoFree(true);
		fdcb(ends[0], selread, self);
		fdcb(ends[0], selread, NULL);
		cpucb_tail(cwrap(check_again, 1));
		return;
	}
	fdcb(ends[0], selread, self);
}

/* Dropped and watched again during its own call, without auto-free. */
static void
callback_reuse()
{
	pair();
	give("abc");
	self = cwrap(again, counted(), 1);
	self->setFlagAutoFree(false);
	fdcb(ends[0], selread, self);
	amain();
}

static void
is_head_already()
{
	cbv cb = cwrap(never, 1);

	pair();
	fdcb(ends[0], selread, cb);
	fdcb(ends[0], selread, cb);
	FACTS_END();
}

/* ---- queued, then dropped ---- */

static int other[2];

static void
drop_other(int fd)
{
	put('d');
	fdcb(ends[0], selread, NULL);
	fdcb(other[0], selread, NULL);
	(void)fd;
	delaycb(0, 5000000, cwrap(check_order, "d", 1));
}

/* Both are ready; whichever runs first keeps the other from running. */
static void
drop_of_a_ready_one()
{
	pair();
	FACT(pipe(other) == 0);
	give("a");
	FACT(write(other[1], "b", 1) == 1);
	fdcb(ends[0], selread, cwrap(drop_other, 0, 1));
	fdcb(other[0], selread, cwrap(drop_other, 1, 1));
	amain();
}

/* ---- colors ---- */

static int reading, writing, met;

static void
exclusive_reader(int rounds)
{
	static int calls;

	FACT_EQ(facts_add(&reading, 1), 1);
	usleep(10);
	FACT_EQ(facts_add(&reading, -1), 0);
	fdcb_finished(true);
	if (++calls == rounds)
		FACTS_END();
	fdcb(ends[0], selread, cwrap(exclusive_reader, rounds, calls % 5));
}

/* One direction never runs twice at a time, though its callbacks have many colors. */
static void
excludes_itself()
{
	pair();
	give("a");
	fdcb(ends[0], selread, cwrap(exclusive_reader, 500, 1));
	fdcb(ends[0], selread, cwrap(exclusive_reader, 500, 2));
	amain();
}

static void
meet(int write)
{
	facts_add(write ? &writing : &reading, 1);
	while (facts_get(&reading) == 0 || facts_get(&writing) == 0)
		usleep(100);
	FACTS_END();
}

/* The two directions may have two colors, and then run in parallel. */
static void
directions_are_apart()
{
	pair();
	give("a");
	fdcb(ends[0], selread, cwrap(meet, 0, 1));
	fdcb(ends[0], selwrite, cwrap(meet, 1, 2));
	amain();
}

static void
check_place(int worker)
{
	FACT_EQ(get_current_proc(), worker);
	FACT_EQ(get_current_color(), -(worker + 1));
	FACTS_END();
}

/* Set on one worker, called on another. */
static void
any_color_from_anywhere()
{
	int last = task_get_nthreads() - 1;

	pair();
	give("a");
	fdcb(ends[0], selread, cwrap(check_place, last, -(last + 1)));
}

static void
any_worker()
{
	cpucb_tail(cwrap(any_color_from_anywhere, -1));
	amain();
}

static void *
from_thread(void *)
{
	any_color_from_anywhere();
	return NULL;
}

static void
start_thread()
{
	facts_thread(from_thread);
}

static void
any_thread()
{
	cpucb_tail(wrap(start_thread));
	amain();
}

static void
drop_from_elsewhere(int rounds)
{
	fdcb(ends[0], selread, NULL);
	if (rounds == 0)
		FACTS_END();
	fdcb(ends[0], selread, cwrap(exclusive_reader, 1 << 30, rounds % 4));
	cpucb_tail(cwrap(drop_from_elsewhere, rounds - 1, 9));
}

/* While one color reads, another drops the callback and sets it again: still one call at a time. */
static void
drops_race_with_calls()
{
	pair();
	give("a");
	cpucb_tail(cwrap(drop_from_elsewhere, 2000, 9));
	amain();
}

/* ---- the end of a connection ---- */

static void
hung_up(int write)
{
	char c;

	if (write)
		FACT(send(ends[0], "x", 1, 0) < 0); /* and no SIGPIPE */
	else
		FACT(read(ends[0], &c, 1) <= 0);
	fdcb(ends[0], write ? selwrite : selread, NULL);
	if (facts_add(&met, 1) == 2)
		FACTS_END();
}

static void
close_other()
{
	close(ends[1]);
}

/* The other end is closed: both directions are called, though this end was not writable before. */
static void
hang_up()
{
	pair();
	while (write(ends[0], order, sizeof order) > 0)
		;
	fdcb(ends[0], selread, cwrap(hung_up, 0, 1));
	fdcb(ends[0], selwrite, cwrap(hung_up, 1, 2));
	delaycb(0, 5000000, wrap(close_other));
	amain();
}

static void
failed(int ready)
{
	fdcb(other[1], ready == 0 ? selread : selwrite, NULL);
	if (facts_add(&met, 1) == 2)
		FACTS_END();
}

static void
close_reader()
{
	close(other[0]);
}

/* Only an error: the reader of a full pipe has closed it. Both directions are called. */
static void
error_wakes_both()
{
	FACT(pipe(other) == 0 && fcntl(other[1], F_SETFL, O_NONBLOCK) == 0);
	while (write(other[1], order, sizeof order) > 0)
		;
	fdcb(other[1], selread, cwrap(failed, 0, 1));
	fdcb(other[1], selwrite, cwrap(failed, 1, 2));
	delaycb(0, 5000000, wrap(close_reader));
	amain();
}

/* ---- priority ---- */

static void
put_once(int fd, int c)
{
	put(c);
	fdcb(fd, selread, NULL);
}

static void
watch_ready(int color, int prio, int c)
{
	int fds[2];

	FACT(pipe(fds) == 0 && write(fds[1], "x", 1) == 1);
	fdcb(fds[0], selread, cpwrap(put_once, fds[0], c, color, prio));
}

static void
check_four()
{
	if (strlen(order) < 4) {
		delaycb(0, 1000000, cpwrap(check_four, 6, -11));
		return;
	}
	check_order("abcd");
}

static void
watch_four()
{
	watch_ready(2, -9, 'd');
	watch_ready(3, 5, 'b');
	watch_ready(4, 0, 'c');
	watch_ready(5, 9, 'a');
	delaycb(0, 20000000, cpwrap(check_four, 6, -11));
}

/* Callbacks that are ready at once run in the order of their priorities. */
static void
has_priority()
{
	cpucb_tail(cwrap(watch_four, 1));
	amain();
}

static void
bad_descriptor()
{
	fdcb(-1, selread, wrap(never));
	FACTS_END();
}

static void
fdcb_closed()
{
	fdcb(777, selread, wrap(never));
	FACTS_END();
}

static void
closed_descriptor()
{
	cpucb_tail(wrap(fdcb_closed));
	amain();
}

static const struct fact facts[] = {
	CASE(queues),
	CASE(queues_inside),
	CASE(finished_is_undone),
	CASE(finished_is_reset),
	CASE(is_level_triggered),
	CASE(null_drops_all),
	CASE(finished_frees),
	CASE(null_before_amain),
	CASE(callback_reuse),
	CASE_ENDS(is_head_already, 1, "head of descriptor"),
	CASE(drop_of_a_ready_one),
	CASE(excludes_itself),
	CASE_ON(2, directions_are_apart),
	CASE(any_worker),
	CASE(any_thread),
	CASE(drops_race_with_calls),
	CASE(hang_up),
	CASE(error_wakes_both),
	CASE_ON(1, has_priority),
	CASE_ENDS(bad_descriptor, 1, "not a descriptor"),
	CASE_ENDS(closed_descriptor, 1, "cannot watch descriptor"),
};

FACTS_MAIN(facts)
