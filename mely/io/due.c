/* SPDX-License-Identifier: MIT */
/*
 * due.c: a heap of the times for which a libev loop has its timers armed, and a timerfd in the
 * poller's set that follows the earliest while the core's thread waits in the program's own loop.
 * libev does not say when its next timer is due; a poller keeps this heap only for such a core.
 * All of it is under the poller's hold.
 */
#include "io/due.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/descriptor.h"
#include "base/clock.h"
#include "io/kinds.h"

enum {
	ROOM_FIRST = 64,
	LOST_NS = 1000000 /* between passes that enter libev for timers outside the heap */
};

struct entry {
	uint64_t at_ns;
	struct melyint_watch *w;
};

struct melyint_due {
	struct entry *heap;
	uint32_t count, room;
	uint32_t lost;       /* timers for which there was no memory */
	int timerfd;
	bool waiting;        /* the thread is in the program's loop: timerfd follows the heap */
	uint64_t pass_ns;    /* a pass is due by then, whatever the timers are */
	uint64_t set_ns;     /* what timerfd is set to; UINT64_MAX: to nothing */
};

/* ---- the heap -------------------------------------------------------------------------------- */

/* The entry is where its timer says it is, and in order with its neighbors. */
static void
assert_in_place(const struct melyint_due *due, uint32_t i)
{
	const struct entry *e = &due->heap[i];
	uint32_t child = 2 * i + 1;

	MELY_DEBUG_ASSERT(i < due->count && e->w->u.timer.due_place == i + 1);
	MELY_DEBUG_ASSERT(e->w->u.timer.armed && e->w->u.timer.armed_ns == e->at_ns);
	MELY_DEBUG_ASSERT(i == 0 || due->heap[(i - 1) / 2].at_ns <= e->at_ns);
	MELY_DEBUG_ASSERT(child >= due->count || due->heap[child].at_ns >= e->at_ns);
	MELY_DEBUG_ASSERT(child + 1 >= due->count || due->heap[child + 1].at_ns >= e->at_ns);
}

/* Each timer that the loop has armed is in the heap or counts as lost. */
static void
assert_complete(const struct melyint_poller *p)
{
	MELY_DEBUG_ASSERT(melyint_lock_held(&p->hold));
	MELY_DEBUG_ASSERT(p->due->count + p->due->lost == p->armed);
}

static void
put(struct melyint_due *due, uint32_t i, struct entry entry)
{
	MELY_DEBUG_ASSERT(i < due->count && due->count <= due->room);
	due->heap[i] = entry;
	entry.w->u.timer.due_place = i + 1;
}

static void
sift_up(struct melyint_due *due, uint32_t i, struct entry entry)
{
	while (i > 0 && due->heap[(i - 1) / 2].at_ns > entry.at_ns) {
		put(due, i, due->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	put(due, i, entry);
	assert_in_place(due, i);
}

static void
sift_down(struct melyint_due *due, uint32_t i, struct entry entry)
{
	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child + 1 < due->count && due->heap[child + 1].at_ns < due->heap[child].at_ns)
			child++;
		if (child >= due->count || due->heap[child].at_ns >= entry.at_ns)
			break;
		put(due, i, due->heap[child]);
		i = child;
	}
	put(due, i, entry);
	assert_in_place(due, i);
}

static bool
make_room(struct melyint_due *due)
{
	uint32_t room = due->room != 0 ? 2 * due->room : ROOM_FIRST;
	struct entry *heap;

	MELY_DEBUG_ASSERT(due->count <= due->room);
	if (due->count < due->room)
		return true;
	heap = realloc(due->heap, room * sizeof(heap[0]));
	if (heap == NULL)
		return false;
	due->heap = heap;
	due->room = room;
	return true;
}

/* When the first timer is due; UINT64_MAX: no timer is armed. */
static uint64_t
first(const struct melyint_due *due)
{
	uint64_t at_ns = due->count != 0 ? due->heap[0].at_ns : UINT64_MAX;

	if (due->count != 0)
		assert_in_place(due, 0);
	if (due->lost != 0) {
		uint64_t look_ns = melyint_now_ns() + LOST_NS;

		at_ns = look_ns < at_ns ? look_ns : at_ns;
	}
	return at_ns;
}

/* ---- the timerfd ----------------------------------------------------------------------------- */

static void
follow(struct melyint_due *due)
{
	uint64_t at_ns = first(due);
	struct itimerspec when = {{0, 0}, {0, 0}};
	int r;

	MELY_DEBUG_ASSERT(due->waiting);
	if (due->pass_ns < at_ns)
		at_ns = due->pass_ns;
	/* A time that has passed is set again: its report may have been read. */
	if (at_ns == due->set_ns && (at_ns == UINT64_MAX || at_ns > melyint_now_ns()))
		return;
	due->set_ns = at_ns;
	if (at_ns != UINT64_MAX) {
		at_ns = at_ns != 0 ? at_ns : 1; /* 0 would disarm it */
		when.it_value.tv_sec = (time_t)(at_ns / 1000000000);
		when.it_value.tv_nsec = (long)(at_ns % 1000000000);
	}
	r = timerfd_settime(due->timerfd, TFD_TIMER_ABSTIME, &when, NULL);
	MELY_DEBUG_ASSERT(r == 0); /* with these arguments */
}

void
melyint_due_add(struct melyint_poller *p, struct melyint_watch *w)
{
	struct melyint_due *due = p->due;

	MELY_DEBUG_ASSERT(melyint_lock_held(&p->hold) && melyint_watch_guarded(w));
	MELY_DEBUG_ASSERT(w->u.timer.armed && w->u.timer.due_place == 0);
	if (make_room(due))
		sift_up(due, due->count++, (struct entry){w->u.timer.armed_ns, w});
	else
		due->lost++;
	/* Another thread may have armed it: the core's own is in the program's poll. */
	if (due->waiting)
		follow(due);
}

/* The timerfd stays as it is: at worst a pass finds that there is nothing to do. */
void
melyint_due_remove(struct melyint_poller *p, struct melyint_watch *w)
{
	struct melyint_due *due = p->due;
	uint32_t i = w->u.timer.due_place;
	struct entry last;

	MELY_DEBUG_ASSERT(melyint_lock_held(&p->hold) && !w->u.timer.armed);
	w->u.timer.due_place = 0;
	if (i == 0) {
		MELY_ASSERT(due->lost > 0);
		due->lost--;
		return;
	}
	MELY_ASSERT(i <= due->count && due->heap[i - 1].w == w);
	i--;
	last = due->heap[--due->count];
	assert_complete(p);
	if (i == due->count)
		return;
	if (i > 0 && due->heap[(i - 1) / 2].at_ns > last.at_ns)
		sift_up(due, i, last);
	else
		sift_down(due, i, last);
}

/* ---- the core's thread ----------------------------------------------------------------------- */

void
melyint_due_enter(struct melyint_core *core)
{
	struct melyint_poller *p = core->fixed.poller;

	MELY_DEBUG_ASSERT(core == melyint_self && core->batch.color == NULL);
	melyint_lock_take(&p->hold);
	assert_complete(p);
	p->due->waiting = false;
	p->woken = false;
	melyint_poller_collect(p, p->armed != 0 && first(p->due) <= melyint_now_ns());
	melyint_lock_drop(&p->hold);
	melyint_signal_tick(core->rt->io);
}

void
melyint_due_leave(struct melyint_core *core, uint64_t pass_ns)
{
	struct melyint_poller *p = core->fixed.poller;

	MELY_DEBUG_ASSERT(core == melyint_self && core->batch.color == NULL);
	melyint_lock_take(&p->hold);
	MELY_DEBUG_ASSERT(!p->due->waiting); /* one enters, then leaves */
	/* A wake-up that was met in the pass no longer makes the set readable. */
	p->due->pass_ns = p->woken ? 0 : pass_ns;
	p->woken = false;
	p->due->waiting = true;
	follow(p->due);
	melyint_lock_drop(&p->hold);
}

uint64_t
melyint_due_at(struct melyint_core *core)
{
	struct melyint_poller *p = core->fixed.poller;
	uint64_t at_ns;

	melyint_lock_take(&p->hold);
	assert_complete(p);
	at_ns = first(p->due);
	if (p->due->pass_ns < at_ns)
		at_ns = p->due->pass_ns;
	melyint_lock_drop(&p->hold);
	return at_ns;
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Add the timers that are armed already. */
static void
find_armed(struct melyint_poller *p)
{
	struct melyint_io *io = p->core->rt->io;
	uint32_t slot;

	for (slot = 0; slot < melyint_slots_used(&io->slots); slot++) {
		struct melyint_watch *w = melyint_slots_at(&io->slots, slot);

		/* acquire: pairs with the release in melyint_slots_take */
		w = melyint_watch_hold(io, (mely_watch)MELY_LOAD(&w->gen, acquire) << 32 | slot);
		if (w == NULL)
			continue;
		if (w->kind == MELYINT_KIND_TIMER && w->u.timer.armed &&
		    w->u.timer.core == p->core->index)
			melyint_due_add(p, w);
		melyint_watch_drop(w);
	}
	assert_complete(p);
}

static int
keep_times(struct melyint_poller *p)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.u64 = MELYINT_POLL_DUE};
	struct melyint_due *due = calloc(1, sizeof(*due));
	int error = 0;

	MELY_DEBUG_ASSERT(melyint_lock_held(&p->hold) && p->due == NULL);
	if (due == NULL)
		return -ENOMEM;
	due->pass_ns = due->set_ns = UINT64_MAX;
	due->timerfd = melyint_fd_high(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
	if (due->timerfd < 0)
		error = -errno;
	else if (epoll_ctl(p->epfd, EPOLL_CTL_ADD, due->timerfd, &ev) < 0)
		error = -errno;
	if (error != 0) {
		if (due->timerfd >= 0)
			close(due->timerfd);
		free(due);
		return error;
	}
	p->due = due;
	find_armed(p);
	return 0;
}

int
melyint_due_open(struct melyint_core *core)
{
	struct melyint_poller *p = core->fixed.poller;
	int error = 0;

	MELY_ASSERT(core->index == 0); /* the program polls this core's set only */
	melyint_lock_take(&p->hold);
	if (p->due == NULL)
		error = keep_times(p);
	melyint_lock_drop(&p->hold);
	if (error == 0)
		melyint_poller_wake(core);
	return error;
}

void
melyint_due_free(struct melyint_poller *p)
{
	if (p->due == NULL)
		return;
	close(p->due->timerfd);
	free(p->due->heap);
	free(p->due);
	p->due = NULL;
}
