/* SPDX-License-Identifier: MIT */
/*
 * watch.c: the life of a watcher's record, whatever its kind: made, posted, run, stopped, freed.
 *
 * NOTE(exact stop)
 *   A. The event of a record goes REST -> QUEUED (posted) -> RUNNING (its trampoline has checked
 *      in, under the guard) -> REST.
 *   B. A stop marks the record, under the guard. What else it does depends on the stage.
 *      REST     Nothing runs any more.
 *      QUEUED   The stop cancels the event. If that succeeds, the record is in REST. If not,
 *               another core has taken the event, but its trampoline has not checked in and will
 *               find the mark. Either way the program's handler does not run; only the record
 *               waits.
 *      RUNNING  In a handler of the watcher's color, the caller is that very handler (exclusion);
 *               it does not run again. Elsewhere the stop returns -EINPROGRESS and leaves its
 *               `done`, which is posted when the handler has ended.
 *   C. Until that end a second stop returns -EINPROGRESS, too. It may leave its `done` if no other
 *      stop has left one.
 *   D. refs counts what still refers to the record: the event in flight, a cancel that has not
 *      ended, a timer armed in a loop, a message on its way. The record is freed when it is stopped
 *      and refs is 0.
 *   E. Once the record is marked, the library touches nothing of the program's (struct
 *      mely_handler, argument) any more.
 */
#include "io/watch.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "core/hooks.h"
#include "core/handlers.h"
#include "core/weight.h"
#include "io/slots.h"
#include "io/state.h"
#include "sched/cancel.h"
#include "sched/post.h"

static void cancel_over(void *arg);

static struct mely_handler over_handler MELY_LASTING =
    MELY_HANDLER_WITH(cancel_over, MELYINT_OWN_HANDLER_NS, 1, 0);

/* How many refs of the record its own state explains. */
static unsigned
refs_known(const struct melyint_watch *w)
{
	unsigned refs = w->stage != MELYINT_STAGE_REST;

	if (w->kind == MELYINT_KIND_TIMER)
		refs += (unsigned)w->u.timer.armed + w->u.timer.messaged + w->u.timer.aside;
	return refs;
}

/* What holds of a taken record whenever its guard is taken or dropped: D of NOTE(exact stop). */
static void
assert_sound(const struct melyint_watch *w)
{
	bool counted = w->kind == MELYINT_KIND_TIMER || w->kind == MELYINT_KIND_SIGNAL ||
	    w->kind == MELYINT_KIND_DRAIN;

	MELY_DEBUG_ASSERT(melyint_watch_guarded(w) && (MELY_PEEK(&w->gen) & 1) == 1);
	/* Descriptors and work may have one more. */
	MELY_DEBUG_ASSERT(counted ? w->refs == refs_known(w) : w->refs >= refs_known(w));
	MELY_DEBUG_ASSERT(!w->cancelling || w->stopped);
	MELY_DEBUG_ASSERT(w->done == NULL || w->done_color != NULL);
}

/* A copy whose measured time goes on from what the program's handler knows, under its number. */
static void
copy_handler(struct mely_handler *copy, struct mely_handler *user, void (*trampoline)(void *))
{
	mely_handler_init(copy, trampoline, user->name);
	copy->time_ns = user->time_ns;
	copy->penalty = user->penalty;
	copy->priority = user->priority;
	/* relaxed: a measurement; nothing is published with it */
	MELY_STORE(&copy->_measured_ns, MELY_LOAD(&user->_measured_ns, relaxed), relaxed);
	/* relaxed: given once. To the user the copy and the original are one handler. */
	MELY_STORE(&copy->_number, melyint_handler_number(user), relaxed);
	copy->_reserved = &over_handler; /* marks it for melyint_watch_is_ours */
}

int
melyint_watch_new(struct melyint_io *io, const struct melyint_watch_ask *ask,
    struct melyint_watch **watch)
{
	struct melyint_watch *w;
	int r;

	r = melyint_slots_take(&io->slots, ask->color, ask->guard, ask->late, &w);
	if (r < 0)
		return r;
	melyint_color_hold(ask->color);
	copy_handler(&w->handler, ask->handler, ask->trampoline);
	mely_event_init(&w->ev, &w->handler, w);
	mely_event_init(&w->over, &over_handler, w);
	w->kind = (uint8_t)ask->kind;
	w->stage = MELYINT_STAGE_REST;
	w->stopped = false;
	w->off = false;
	w->cancelling = false;
	w->refs = 0;
	w->io = io;
	w->color = ask->color;
	w->user = ask->handler;
	w->fn = ask->handler->fn;
	w->arg = ask->arg;
	w->done_color = NULL;
	w->done = NULL;
	memset(&w->u, 0, sizeof(w->u));
	melyint_check_watch_made(w);
	assert_sound(w);
	*watch = w;
	return 0;
}

mely_watch
melyint_watch_id(const struct melyint_watch *w)
{
	MELY_DEBUG_ASSERT(melyint_watch_guarded(w) && (MELY_PEEK(&w->gen) & 1) == 1);
	/* relaxed: the caller holds the guard */
	return (mely_watch)MELY_LOAD(&w->gen, relaxed) << 32 | w->slot;
}

static struct melyint_watch *
hold(struct melyint_io *io, mely_watch id)
{
	struct melyint_watch *w = melyint_slots_at(&io->slots, (uint32_t)id);
	uint32_t gen = (uint32_t)(id >> 32);
	struct melyint_lock *guard;

	/* acquire: pairs with the releases in melyint_slots_take and _retire. A stale id ends here
	 * as a rule. */
	if (w == NULL || (gen & 1) == 0 || MELY_LOAD(&w->gen, acquire) != gen)
		return NULL;
	/* acquire: pairs with the release in melyint_slots_take */
	guard = MELY_LOAD(&w->guard, acquire);
	melyint_lock_take(guard);
	/* relaxed: if the generation is still that of the id, guard was set before it and is the
	 * lock that this thread holds, so neither can change now; if not, nothing else is read */
	if (MELY_LOAD(&w->gen, relaxed) == gen && MELY_LOAD(&w->guard, relaxed) == guard) {
		MELY_ASSERT(w->magic == MELYINT_WATCH_MAGIC && w->slot == (uint32_t)id);
		assert_sound(w);
		return w;
	}
	melyint_lock_drop(guard);
	return NULL;
}

struct melyint_watch *
melyint_watch_hold(struct melyint_io *io, mely_watch id)
{
	struct melyint_watch *w;

	/* B of NOTE(slotmem): until the guard is held, or was found to be another's */
	if (melyint_io_inside(io->rt))
		return hold(io, id);
	/* acq_rel: pairs with the exchange in core/grace.c; a reader that comes after it finds the
	 * pages as they are when they were given back, and no id names them */
	MELY_ADD(&io->readers, 1, acq_rel);
	w = hold(io, id);
	/* release: what this thread did to the lock comes before pages that go when 0 is seen */
	MELY_SUB(&io->readers, 1, release);
	return w;
}

struct melyint_watch *
melyint_watch_hold_live(struct melyint_io *io, mely_watch id, enum melyint_kind kind)
{
	struct melyint_watch *w = melyint_watch_hold(io, id);

	if (w != NULL && (w->kind != kind || w->stopped)) {
		melyint_watch_drop(w);
		return NULL;
	}
	return w;
}

void
melyint_watch_guard(struct melyint_watch *w)
{
	MELY_DEBUG_ASSERT(w->magic == MELYINT_WATCH_MAGIC);
	/* relaxed: constant while the record is taken */
	melyint_lock_take(MELY_LOAD(&w->guard, relaxed));
	assert_sound(w);
}

void
melyint_watch_drop(struct melyint_watch *w)
{
	/* relaxed: this thread holds it */
	struct melyint_lock *guard = MELY_LOAD(&w->guard, relaxed);
	struct melyint_io *io = w->io;
	struct mely_color *color = NULL;
	bool gone = w->stopped && w->refs == 0;
	struct mely_event *ended;

	assert_sound(w);
	if (gone) {
		melyint_check_watch_gone(w);
		MELY_ASSERT(w->stage == MELYINT_STAGE_REST && w->done == NULL);
		color = w->color;
		melyint_slots_retire(w);
	}
	melyint_lock_drop(guard);
	if (!gone)
		return;
	ended = melyint_slots_free(&io->slots, w);
	if (ended != NULL)
		(void)melyint_post(color, ended, MELYINT_POST_INTERNAL);
}

void
melyint_watch_post(struct melyint_watch *w)
{
	unsigned flags = MELYINT_POST_INTERNAL;

	MELY_DEBUG_ASSERT(melyint_watch_guarded(w));
	MELY_DEBUG_ASSERT(w->stage == MELYINT_STAGE_REST && !w->stopped && !w->off);
	MELY_DEBUG_ASSERT(w->refs < UINT8_MAX && !mely_event_pending(&w->over));
	if (w->kind == MELYINT_KIND_FD)
		flags |= MELYINT_POST_READY;
	w->stage = MELYINT_STAGE_QUEUED;
	w->refs++;
	if (MELY_UNLIKELY(melyint_post(w->color, &w->ev, flags) < 0)) {
		/* Nothing runs in the child of a fork. */
		MELY_ASSERT(MELY_PEEK(&w->io->rt->phase) == MELYINT_FORKED);
		w->stage = MELYINT_STAGE_REST;
		w->refs--;
	}
}

bool
melyint_watch_unpost(struct melyint_watch *w)
{
	MELY_DEBUG_ASSERT(melyint_watch_guarded(w) && !w->stopped);
	/* An event that another core has taken must run: if it were dropped, its ref would stay. */
	if (w->stage == MELYINT_STAGE_QUEUED && melyint_cancel_queued(&w->ev) == 0) {
		w->stage = MELYINT_STAGE_REST;
		w->refs--;
	}
	assert_sound(w);
	return w->stage == MELYINT_STAGE_REST;
}

/* A queued event of a record that is being stopped. */
static void
stop_queued(struct melyint_watch *w)
{
	int r = mely_event_cancel(&w->ev, &w->io->rt->cores[0].self_color, &w->over);

	MELY_DEBUG_ASSERT(w->stopped && !w->cancelling && w->refs > 0);
	if (r == 0) {
		w->stage = MELYINT_STAGE_REST;
		w->refs--;
	} else if (r == -EINPROGRESS) {
		/* The event may run and find the mark, or not run at all. So only cancel_over drops
		 * its ref. */
		w->cancelling = true;
	} else {
		/* Entered, but not checked in: melyint_watch_enter drops the ref. */
		MELY_ASSERT(r == -ENOENT);
	}
}

/* Under the guard: does the handler run, and not on this thread in this very color? */
static bool
runs_elsewhere(const struct melyint_watch *w)
{
	return w->stage == MELYINT_STAGE_RUNNING && mely_current_color() != w->color;
}

/* Under the guard: a handler that runs once is the program's when it has been entered. */
static bool
has_been_entered_last(const struct melyint_watch *w)
{
	return w->stage == MELYINT_STAGE_RUNNING && (w->kind == MELYINT_KIND_DRAIN ||
	    w->kind == MELYINT_KIND_CHILD ||
	    (w->kind == MELYINT_KIND_TIMER && w->u.timer.repeat_ns == 0));
}

int
melyint_watch_stop(struct melyint_watch *w, struct mely_color *done_color,
    struct mely_event *done)
{
	MELY_DEBUG_ASSERT(melyint_watch_guarded(w));
	MELY_ASSERT(!w->stopped);
	w->stopped = true;
	/* The program's handler keeps what was measured. relaxed: a measurement */
	if (!has_been_entered_last(w))
		MELY_STORE(&w->user->_measured_ns, MELY_LOAD(&w->handler._measured_ns, relaxed),
		    relaxed);
	if (w->stage == MELYINT_STAGE_QUEUED)
		stop_queued(w);
	if (runs_elsewhere(w))
		return melyint_watch_await(w, done_color, done);
	melyint_check_watch_over(w);
	return 0;
}

int
melyint_watch_await(struct melyint_watch *w, struct mely_color *done_color,
    struct mely_event *done)
{
	MELY_DEBUG_ASSERT(melyint_watch_guarded(w));
	MELY_DEBUG_ASSERT(done == NULL || done_color != NULL);
	if (done == NULL)
		return -EINPROGRESS;
	if (w->done != NULL)
		return -EALREADY;
	melyint_check_promise(done);
	melyint_color_hold(done_color);
	w->done_color = done_color;
	w->done = done;
	return -EINPROGRESS;
}

int
melyint_watch_stop_late(struct melyint_watch *w, struct mely_color *done_color,
    struct mely_event *done)
{
	MELY_DEBUG_ASSERT(melyint_watch_guarded(w));
	return runs_elsewhere(w) ? melyint_watch_await(w, done_color, done) : -ENOENT;
}

/* Under the guard: the handler has ended. */
static void
post_done(struct melyint_watch *w)
{
	if (MELY_LIKELY(w->done == NULL))
		return;
	MELY_DEBUG_ASSERT(w->stopped && w->done_color != NULL);
	/* -EALREADY: the program has posted it itself, and it runs after the end in any case. */
	(void)melyint_post(w->done_color, w->done, MELYINT_POST_INTERNAL);
	w->done = NULL;
}

static void
cancel_over(void *arg)
{
	struct melyint_watch *w = arg;

	melyint_watch_guard(w);
	MELY_ASSERT(w->stopped && w->cancelling && w->stage == MELYINT_STAGE_QUEUED);
	w->stage = MELYINT_STAGE_REST;
	w->refs--;
	melyint_watch_drop(w);
}

bool
melyint_watch_enter(struct melyint_watch *w)
{
	melyint_watch_guard(w);
	MELY_ASSERT(w->stage == MELYINT_STAGE_QUEUED);
	MELY_DEBUG_ASSERT(melyint_self->batch.color == w->color);
	if (MELY_LIKELY(!w->stopped)) {
		w->stage = MELYINT_STAGE_RUNNING;
		/* relaxed: a measurement; the first one is worth sharing at once */
		if (MELY_UNLIKELY(MELY_LOAD(&w->user->_measured_ns, relaxed) == 0))
			MELY_STORE(&w->user->_measured_ns,
			    MELY_LOAD(&w->handler._measured_ns, relaxed), relaxed);
		return true;
	}
	if (!w->cancelling) {
		w->stage = MELYINT_STAGE_REST;
		w->refs--;
	}
	melyint_watch_drop(w);
	return false;
}

bool
melyint_watch_leave(struct melyint_watch *w)
{
	MELY_DEBUG_ASSERT(melyint_watch_guarded(w) && melyint_self->batch.color == w->color);
	MELY_ASSERT(w->stage == MELYINT_STAGE_RUNNING);
	w->stage = MELYINT_STAGE_REST;
	w->refs--;
	if (MELY_LIKELY(!w->stopped))
		return true;
	post_done(w);
	melyint_watch_drop(w);
	return false;
}

/* ---- the end of a run ------------------------------------------------------------------------ */

bool
melyint_watch_is_over(const struct mely_handler *handler)
{
	return handler == &over_handler;
}

bool
melyint_watch_is_ours(const struct mely_handler *handler)
{
	return handler == &over_handler || handler->_reserved == &over_handler;
}

void
melyint_watch_lost(struct melyint_watch *w, bool over)
{
	MELY_ASSERT(w->stage == MELYINT_STAGE_QUEUED && w->stopped);
	/* Until a cancel has ended, only its end drops the ref of the event. */
	if (over || !w->cancelling) {
		w->stage = MELYINT_STAGE_REST;
		w->refs--;
	}
	post_done(w);
	melyint_watch_drop(w);
}
