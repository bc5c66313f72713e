/* SPDX-License-Identifier: MIT */
/*
 * timer.c: timers, each armed in the poller of one core.
 *
 * NOTE(timers)
 *   A. The record, under its guard, holds the state that the program has asked for (due_ns,
 *      repeat_ns, off, stopped). A thread that holds the poller (NOTE(hold) in poller.c) makes the
 *      poller's heap (armed.c) follow it: as a rule the thread that changed the record, in
 *      melyint_timer_settle(), even if the poller is another core's or that core is stuck. Only if
 *      that core sleeps, inside its poller, melyint_timer_settle() sends the record's message to
 *      the core's own color.
 *   B. A timer that fires reads the record first. If it was stopped or suspended, or is not due
 *      yet, its handler does not run. (It is early when the program has moved it to a later time,
 *      or when the wall clock was set back.) So a stop is exact however late the message is, and
 *      moving a timer to a later time changes the record alone: the poller finds out at the old
 *      time.
 *   C. A wall-clock timer is armed for a little less than the time left, in steps that get shorter,
 *      so that a slewed clock does not make it late. When the clock is set, clockfd becomes ready,
 *      and all wall-clock timers of the core are armed again.
 */
#include "io/kinds.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "core/hooks.h"
#include "io/armed.h"
#include "io/due.h"
#include "io/state.h"
#include "sched/post.h"
#include "core/weight.h"

enum { WALL_FINAL_NS = 1000000000, WALL_STEP = 64 };

static MELY_TLS uint64_t current_overruns;

static void message(void *arg);

/* First among the core's events: a handler of the program that ran before it in the same wake-up
 * and did not return would delay the timer, although other cores serve the poller. */
static struct mely_handler message_handler MELY_LASTING =
    MELY_HANDLER_WITH(message, MELYINT_OWN_HANDLER_NS, 1, MELY_PRIORITY_MAX);

static uint64_t
wall_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t
now_of(const struct melyint_watch *w)
{
	return w->u.timer.wall ? wall_now_ns() : melyint_now_ns();
}

static struct melyint_poller *
poller_of(const struct melyint_watch *w)
{
	MELY_DEBUG_ASSERT(w->u.timer.core < w->io->rt->cores_count);
	return w->io->rt->cores[w->u.timer.core].fixed.poller;
}

static bool
wanted(const struct melyint_watch *w)
{
	return !w->stopped && !w->off && !w->u.timer.over;
}

/* ---- under the poller's hold and the guard --------------------------------------------------- */

static void
link_wall(struct melyint_poller *p, struct melyint_watch *w)
{
	struct melyint_watch_timer *t = &w->u.timer;

	MELY_DEBUG_ASSERT(t->wall && melyint_lock_held(&p->hold));
	/* If this fails, a jump of the clock is noticed at the next step only. */
	(void)melyint_poller_watch_clock(p);
	t->next = p->walls;
	t->link = &p->walls;
	if (t->next != NULL)
		t->next->u.timer.link = &t->next;
	p->walls = w;
}

static void
disarm(struct melyint_poller *p, struct melyint_watch *w)
{
	struct melyint_watch_timer *t = &w->u.timer;

	MELY_ASSERT(t->armed && w->refs > 0 && p == poller_of(w));
	MELY_DEBUG_ASSERT(melyint_lock_held(&p->hold) && melyint_lock_held(&w->own));
	t->armed = false;
	w->refs--;
	melyint_armed_remove(p, w);
	if (t->wall) {
		MELY_ASSERT(*t->link == w);
		*t->link = t->next;
		if (t->next != NULL)
			t->next->u.timer.link = t->link;
	}
}

/* C of NOTE(timers): when to look at the wall clock again, as monotonic time. */
static uint64_t
wall_step_ns(uint64_t due_ns)
{
	uint64_t wall_ns = wall_now_ns();
	uint64_t left_ns = due_ns > wall_ns ? due_ns - wall_ns : 0;

	if (left_ns > WALL_FINAL_NS)
		left_ns -= left_ns / WALL_STEP;
	return melyint_now_ns() + left_ns;
}

static void
arm(struct melyint_poller *p, struct melyint_watch *w)
{
	struct melyint_watch_timer *t = &w->u.timer;

	MELY_DEBUG_ASSERT(melyint_lock_held(&p->hold) && melyint_lock_held(&w->own));
	MELY_ASSERT(!t->armed && p == poller_of(w));
	MELY_DEBUG_ASSERT(wanted(w));
	t->armed_ns = t->wall ? wall_step_ns(t->due_ns) : t->due_ns;
	melyint_armed_add(p, w);
	t->armed = true;
	w->refs++;
	if (MELY_UNLIKELY(p->due != NULL))
		melyint_due_armed(p);
	if (t->wall)
		link_wall(p, w);
}

static void
bring_in_line(struct melyint_poller *p, struct melyint_watch *w)
{
	MELY_DEBUG_ASSERT(melyint_watch_guarded(w));
	if (w->u.timer.armed)
		disarm(p, w);
	if (wanted(w))
		arm(p, w);
	MELY_DEBUG_ASSERT(w->u.timer.armed == wanted(w));
}

/* It was due at now_ns or before. */
static void
expire(struct melyint_watch *w, uint64_t now_ns)
{
	struct melyint_watch_timer *t = &w->u.timer;

	MELY_ASSERT(now_ns >= t->due_ns && !t->over);
	if (t->repeat_ns != 0) {
		uint64_t turns = 1 + (now_ns - t->due_ns) / t->repeat_ns;

		t->due_ns += turns * t->repeat_ns;
		t->overruns += turns;
		if (w->stage == MELYINT_STAGE_REST)
			t->overruns--; /* this turn is not missed */
	} else {
		t->over = true;
		t->again = w->stage == MELYINT_STAGE_RUNNING;
	}
	MELY_DEBUG_ASSERT(t->over ? t->repeat_ns == 0 : t->due_ns > now_ns);
	if (w->stage == MELYINT_STAGE_REST)
		melyint_watch_post(w);
}

static void
fire(struct melyint_poller *p, struct melyint_watch *w)
{
	uint64_t now_ns;

	melyint_watch_guard(w);
	disarm(p, w);
	if (wanted(w)) {
		now_ns = now_of(w);
		if (now_ns >= w->u.timer.due_ns)
			expire(w, now_ns);
		if (wanted(w))
			arm(p, w);
	}
	melyint_watch_drop(w);
}

void
melyint_timer_fire_due(struct melyint_poller *p)
{
	uint64_t now_ns = melyint_now_ns();

	MELY_DEBUG_ASSERT(melyint_lock_held(&p->hold));
	/* A timer that is armed again is due later, or is over with its next turn. */
	while (melyint_armed_first_ns(p) <= now_ns)
		fire(p, p->first);
	p->ran_ticks = melyint_ticks();
}

static void
message(void *arg)
{
	struct melyint_watch *w = arg;
	struct melyint_poller *p = melyint_self->fixed.poller;

	melyint_lock_take(&p->hold);
	melyint_watch_guard(w);
	MELY_ASSERT(p == poller_of(w) && w->u.timer.messaged);
	MELY_DEBUG_ASSERT(melyint_self->batch.color == &melyint_self->self_color);
	w->u.timer.messaged = false;
	w->refs--;
	bring_in_line(p, w);
	melyint_watch_drop(w);
	melyint_lock_drop(&p->hold);
}

void
melyint_timer_clock_set(struct melyint_poller *p)
{
	struct melyint_watch *w, *next;

	MELY_DEBUG_ASSERT(melyint_lock_held(&p->hold));
	/* A timer that is armed again is linked in front, where the loop has passed. */
	for (w = p->walls; w != NULL; w = next) {
		next = w->u.timer.next;
		melyint_watch_guard(w);
		MELY_DEBUG_ASSERT(w->u.timer.wall && w->u.timer.armed && p == poller_of(w));
		bring_in_line(p, w);
		melyint_watch_drop(w);
	}
}

/* ---- any thread ------------------------------------------------------------------------------ */

static void
send_message(struct melyint_watch *w)
{
	MELY_DEBUG_ASSERT(melyint_watch_guarded(w) && w->refs < UINT8_MAX);
	MELY_ASSERT(!w->u.timer.messaged);
	w->u.timer.messaged = true;
	w->refs++;
	if (melyint_post(&w->io->rt->cores[w->u.timer.core].self_color, &w->u.timer.message,
	    MELYINT_POST_INTERNAL) < 0) {
		/* Only in the child of a fork, where no core runs. */
		w->u.timer.messaged = false;
		w->refs--;
	}
}

/* Under the guard: does the heap differ from the record, with no message on its way? Chooses the
 * poller of a timer that is not armed. */
static bool
unsettled(struct melyint_watch *w)
{
	struct melyint_watch_timer *t = &w->u.timer;
	struct mely_runtime *rt = w->io->rt;

	MELY_DEBUG_ASSERT(w->kind == MELYINT_KIND_TIMER && melyint_lock_held(&w->own));
	if (t->messaged)
		return false;
	if (t->armed)
		return !wanted(w) || t->wall || t->due_ns < t->armed_ns;
	if (wanted(w)) {
		int core = melyint_io_inside(rt) ? melyint_self->index : mely_color_core(w->color);

		t->core = (uint16_t)(core < 0 || core >= rt->cores_count ? 0 : core);
	}
	return wanted(w);
}

/* Let a thread that holds the poller have the guard, which it may wait for. */
static void
step_aside(struct melyint_watch *w)
{
	MELY_ASSERT(w->refs < UINT8_MAX);
	w->refs++;
	w->u.timer.aside++;
	melyint_watch_drop(w);
	sched_yield();
	melyint_watch_guard(w);
	MELY_ASSERT(w->u.timer.aside > 0 && w->refs >= w->u.timer.aside);
	w->u.timer.aside--;
	w->refs--;
}

void
melyint_timer_settle(struct melyint_watch *w)
{
	MELY_DEBUG_ASSERT(melyint_watch_guarded(w));
	while (unsettled(w)) {
		struct melyint_poller *p = poller_of(w);

		if (melyint_lock_try(&p->hold)) {
			bring_in_line(p, w);
			melyint_lock_drop(&p->hold);
			return;
		}
		/* relaxed: a hint. A core that falls asleep now finds the message, as it finds any
		 * post. A core that is awake does not hold its poller for long, nor does any other
		 * thread. */
		if (MELY_LOAD(&p->core->locked.sleep, relaxed) != MELYINT_AWAKE) {
			send_message(w);
			return;
		}
		step_aside(w);
	}
}

static uint64_t
due_after(bool wall, uint64_t when_ns)
{
	uint64_t now_ns;

	if (wall)
		return when_ns < UINT64_MAX / 2 ? when_ns : UINT64_MAX / 2;
	now_ns = melyint_now_ns();
	MELY_DEBUG_ASSERT(now_ns < UINT64_MAX / 2); /* or the difference wraps */
	return when_ns < UINT64_MAX / 2 - now_ns ? now_ns + when_ns : UINT64_MAX / 2;
}

/* A period with which no sum overflows. */
static uint64_t
bounded(uint64_t repeat_ns)
{
	return repeat_ns < UINT64_MAX / 4 ? repeat_ns : UINT64_MAX / 4;
}

/* Under the guard, at rest, with an event outstanding: post it, unless it is suspended. */
static void
post_again(struct melyint_watch *w)
{
	MELY_DEBUG_ASSERT(w->u.timer.again && w->stage == MELYINT_STAGE_REST);
	if (w->off)
		return;
	w->u.timer.again = false;
	melyint_watch_post(w);
}

static void
run(void *arg)
{
	struct melyint_watch *w = arg;

	if (!melyint_watch_enter(w))
		return;
	MELY_DEBUG_ASSERT(w->kind == MELYINT_KIND_TIMER && melyint_lock_held(&w->own));
	current_overruns = w->u.timer.overruns;
	w->u.timer.overruns = 0;
	melyint_lock_drop(&w->own);
	melyint_run_watcher(w, w->fn, w->arg);
	current_overruns = 0;
	melyint_watch_guard(w);
	if (!melyint_watch_leave(w))
		return;
	if (w->u.timer.again) {
		post_again(w);
	} else if (w->u.timer.over) {
		MELY_DEBUG_ASSERT(w->u.timer.repeat_ns == 0 && !w->u.timer.armed);
		w->stopped = true; /* a one-shot timer ends when it has run */
	}
	melyint_watch_drop(w);
}

int
mely_timer_start(struct mely_color *color, uint64_t when_ns, uint64_t repeat_ns, unsigned flags,
    struct mely_handler *handler, void *arg, mely_watch *timer)
{
	struct melyint_watch_ask ask = {.kind = MELYINT_KIND_TIMER, .color = color,
	    .handler = handler, .arg = arg, .trampoline = run};
	struct melyint_watch *w;
	int r;

	if (color == NULL || handler == NULL || handler->fn == NULL || timer == NULL ||
	    (flags & ~(unsigned)MELY_TIMER_WALL) != 0)
		return -EINVAL;
	r = melyint_io_usable(mely_color_runtime(color));
	if (r == 0)
		r = melyint_watch_new(mely_color_runtime(color)->io, &ask, &w);
	if (r < 0)
		return r;
	w->u.timer.wall = (flags & MELY_TIMER_WALL) != 0;
	w->u.timer.due_ns = due_after(w->u.timer.wall, when_ns);
	w->u.timer.repeat_ns = bounded(repeat_ns);
	mely_event_init(&w->u.timer.message, &message_handler, w);
	*timer = melyint_watch_id(w);
	melyint_timer_settle(w);
	melyint_watch_drop(w);
	return 0;
}

int
mely_timer_again(struct mely_runtime *rt, mely_watch timer, uint64_t when_ns,
    uint64_t repeat_ns)
{
	int r = melyint_io_unforked(rt);
	struct melyint_watch *w;

	if (r < 0)
		return r;
	w = melyint_watch_hold_live(rt->io, timer, MELYINT_KIND_TIMER);
	if (w == NULL)
		return -ENOENT;
	(void)melyint_watch_unpost(w);
	w->u.timer.due_ns = due_after(w->u.timer.wall, when_ns);
	w->u.timer.repeat_ns = bounded(repeat_ns);
	w->u.timer.overruns = 0;
	w->u.timer.over = false;
	w->u.timer.again = false;
	melyint_timer_settle(w);
	melyint_watch_drop(w);
	return 0;
}

int
melyint_timer_stop(struct melyint_watch *w, struct mely_color *done_color,
    struct mely_event *done)
{
	int r;

	MELY_DEBUG_ASSERT(w->kind == MELYINT_KIND_TIMER);
	r = melyint_watch_stop(w, done_color, done);
	melyint_timer_settle(w);
	/* No thread needs to come back to it. */
	MELY_DEBUG_ASSERT(!w->u.timer.armed || w->u.timer.messaged);
	melyint_watch_drop(w);
	return r;
}

/* A suspended timer is not armed; resuming arms it, also for a time that has passed. */
void
melyint_timer_enable(struct melyint_watch *w, bool on)
{
	bool queued = w->stage == MELYINT_STAGE_QUEUED;

	MELY_DEBUG_ASSERT(melyint_watch_guarded(w) && w->kind == MELYINT_KIND_TIMER);
	w->off = !on;
	if (!on && queued && melyint_watch_unpost(w))
		w->u.timer.again = true;
	if (on && w->u.timer.again && w->stage == MELYINT_STAGE_REST)
		post_again(w);
	/* No expiry waits for a handler that nothing will post. */
	MELY_DEBUG_ASSERT(w->off || !w->u.timer.again || w->stage != MELYINT_STAGE_REST);
	melyint_timer_settle(w);
}

void
melyint_timer_close(struct melyint_watch *w)
{
	MELY_DEBUG_ASSERT(w->kind == MELYINT_KIND_TIMER && melyint_watch_guarded(w));
	(void)melyint_watch_stop(w, NULL, NULL);
	melyint_watch_drop(w);
}

uint64_t
mely_timer_overruns(void)
{
	return current_overruns;
}

/* ---- with the cores parked ------------------------------------------------------------------- */

bool
melyint_timer_is_message(const struct mely_handler *handler)
{
	return handler == &message_handler;
}

void
melyint_timer_disarm(struct melyint_watch *w)
{
	struct melyint_poller *p = poller_of(w);

	MELY_DEBUG_ASSERT(melyint_watch_guarded(w));
	MELY_ASSERT(w->kind == MELYINT_KIND_TIMER);
	if (w->u.timer.armed) {
		/* Outside threads may be in a call; none waits for a guard while it holds the
		 * poller. */
		melyint_lock_take(&p->hold);
		disarm(p, w);
		melyint_lock_drop(&p->hold);
	}
	if (w->u.timer.messaged) {
		w->u.timer.messaged = false;
		w->refs--;
	}
}
