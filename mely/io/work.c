/* SPDX-License-Identifier: MIT */
/*
 * work.c: blocking work. Each class has its own queue and its own helper threads, so that slow
 * name servers do not stop file reads. The library makes a helper when work waits and no helper is
 * idle, up to the class's limit. A helper blocks all signals but those that a fault raises, and
 * ends after IDLE_S without work. When the program's function has returned, the helper posts the
 * record's event to the program's color.
 *
 * Locks: a record's guard before the lock of a class. A helper holds one of them at a time.
 */
#include "io/kinds.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/assert.h"
#include "base/threadmask.h"
#include "core/hooks.h"
#include "io/poller.h"

enum { CLASSES = MELY_WORK_USER + 1, IDLE_S = 10 };

struct helper {
	struct work_class *of;      /* constant */
	pthread_t thread;
	enum { HELPER_NONE, HELPER_ALIVE, HELPER_ENDED } state; /* ENDED: to be joined */
};

struct work_class {
	struct mely_runtime *rt;    /* constant */
	const char *name;           /* constant */
	int helpers_max;            /* constant */
	pthread_mutex_t lock;
	pthread_cond_t work;        /* first != NULL, or `ending` */
	pthread_cond_t rest;        /* running == 0, or a helper has ended */
	/* under the lock */
	struct melyint_watch *first;
	struct melyint_watch **last;
	struct helper *helpers;     /* helpers_max of them */
	int alive;
	int idle;
	int promised;               /* idle helpers that were signalled and have not woken yet */
	int running;                /* functions, until their events are posted */
	bool ending;
};

struct melyint_work_pool {
	struct work_class classes[CLASSES];
};

/* ---- the queue of a class; under its lock ---------------------------------------------------- */

/* What holds of a class whenever its lock is taken or dropped. */
static void
assert_class(const struct work_class *c)
{
	MELY_DEBUG_ASSERT(*c->last == NULL && (c->first == NULL) == (c->last == &c->first));
	MELY_DEBUG_ASSERT(c->promised >= 0 && c->promised <= c->idle);
	MELY_DEBUG_ASSERT(c->running >= 0 && c->idle + c->running <= c->alive);
	MELY_DEBUG_ASSERT(c->alive <= c->helpers_max);
}

static void
enqueue(struct work_class *c, struct melyint_watch *w)
{
	MELY_ASSERT(!w->u.work.waiting && *c->last == NULL);
	assert_class(c);
	w->u.work.next = NULL;
	w->u.work.link = c->last;
	w->u.work.waiting = true;
	*c->last = w;
	c->last = &w->u.work.next;
	assert_class(c);
}

static void
dequeue(struct work_class *c, struct melyint_watch *w)
{
	MELY_ASSERT(w->u.work.waiting && *w->u.work.link == w);
	*w->u.work.link = w->u.work.next;
	if (w->u.work.next != NULL)
		w->u.work.next->u.work.link = w->u.work.link;
	else
		c->last = w->u.work.link;
	w->u.work.waiting = false;
	assert_class(c);
}

/* Join the helpers that have ended. Returns one that is not a thread; NULL: all are alive. */
static struct helper *
spare_helper(struct work_class *c)
{
	struct helper *spare = NULL;
	int i, alive = 0;

	for (i = 0; i < c->helpers_max; i++) {
		struct helper *h = &c->helpers[i];

		if (h->state == HELPER_ENDED) {
			pthread_join(h->thread, NULL);
			h->state = HELPER_NONE;
		}
		if (h->state == HELPER_NONE)
			spare = h;
		else
			alive++;
	}
	MELY_ASSERT(alive == c->alive);
	return spare;
}

/* ---- helpers --------------------------------------------------------------------------------- */

/* One piece of work has posted its completion, or will not do so. */
static void
count_down(struct melyint_io *io)
{
	struct mely_runtime *rt = io->rt;

	MELY_DEBUG_ASSERT(MELY_PEEK(&io->pending) > 0);
	/* release: pairs with the acquire in melyint_io_pending: a reader of 0 sees the post.
	 * relaxed: io->closing is a hint, the drain also checks by itself. */
	if (MELY_SUB(&io->pending, 1, release) == 1 && MELY_LOAD(&io->closing, relaxed))
		melyint_poller_wake(&rt->cores[0]);
}

static void
do_work(struct melyint_watch *w, const char *name)
{
	struct melyint_io *io = w->io;

	/* The ref that submit took keeps the record. */
	melyint_run_work(w, name, w->u.work.fn, w->arg);
	melyint_watch_guard(w);
	MELY_ASSERT(w->kind == MELYINT_KIND_WORK && w->refs == 1);
	w->refs--;
	melyint_watch_post(w);
	melyint_watch_drop(w);
	count_down(io);
}

/* Under the lock. False: no work came. */
static bool
wait_for_work(struct work_class *c)
{
	struct timespec until;
	int r = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += IDLE_S;
	c->idle++;
	while (c->first == NULL && !c->ending && r != ETIMEDOUT) {
		r = pthread_cond_timedwait(&c->work, &c->lock, &until);
		if (r == 0 && c->promised > 0)
			c->promised--;
	}
	c->idle--;
	if (c->promised > c->idle)
		c->promised = c->idle;
	assert_class(c);
	return c->first != NULL;
}

static void *
help(void *arg)
{
	struct helper *h = arg;
	struct work_class *c = h->of;

	MELY_DEBUG_ASSERT(melyint_self == NULL); /* a helper is not a core */
	pthread_setname_np(pthread_self(), c->name);
	/* The core that made this thread may be pinned. */
	if (c->rt->limits.bound && CPU_COUNT(&c->rt->unbound) > 0)
		(void)sched_setaffinity(0, sizeof c->rt->unbound, &c->rt->unbound);
	melyint_check_thread(true);
	pthread_mutex_lock(&c->lock);
	while (c->first != NULL || wait_for_work(c)) {
		struct melyint_watch *w = c->first;

		dequeue(c, w);
		c->running++;
		pthread_mutex_unlock(&c->lock);
		do_work(w, c->name);
		pthread_mutex_lock(&c->lock);
		if (--c->running == 0)
			pthread_cond_broadcast(&c->rest);
	}
	MELY_ASSERT(h->state == HELPER_ALIVE);
	c->alive--;
	h->state = HELPER_ENDED;
	assert_class(c);
	pthread_cond_broadcast(&c->rest);
	pthread_mutex_unlock(&c->lock);
	melyint_check_thread(false);
	return NULL;
}

/* Under the lock: make one more helper, if the limit allows. */
static void
add_helper(struct work_class *c)
{
	struct helper *h = spare_helper(c);
	sigset_t mask, before;

	MELY_ASSERT(c->alive < c->helpers_max || h == NULL);
	if (h == NULL)
		return;
	melyint_thread_mask(&mask);
	pthread_sigmask(SIG_SETMASK, &mask, &before);
	if (pthread_create(&h->thread, NULL, help, h) == 0) {
		h->state = HELPER_ALIVE;
		c->alive++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Under the lock: wake or make a helper for what was just enqueued. 0; -EAGAIN: none exists and
 * none can be made. */
static int
call_helper(struct work_class *c)
{
	MELY_DEBUG_ASSERT(c->first != NULL);
	if (c->idle > c->promised) {
		c->promised++;
		pthread_cond_signal(&c->work);
		return 0;
	}
	add_helper(c);
	return c->alive > 0 ? 0 : -EAGAIN;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The trampoline of the completion. */
static void
run(void *arg)
{
	struct melyint_watch *w = arg;

	if (!melyint_watch_enter(w))
		return;
	MELY_DEBUG_ASSERT(w->kind == MELYINT_KIND_WORK && melyint_lock_held(&w->own));
	melyint_lock_drop(&w->own);
	melyint_run_watcher(w, w->fn, w->arg);
	melyint_watch_guard(w);
	MELY_DEBUG_ASSERT(w->refs == 1 && !w->stopped); /* melyint_work_stop does not mark it */
	w->stopped = true; /* it runs once: melyint_watch_leave posts done */
	(void)melyint_watch_leave(w);
}

/* Under the guard, not queued: it will not be done. */
static void
forget(struct melyint_watch *w)
{
	MELY_ASSERT(!w->u.work.waiting && w->stage == MELYINT_STAGE_REST);
	MELY_DEBUG_ASSERT(w->refs == 1 && !w->stopped);
	w->refs--;
	w->stopped = true;
	count_down(w->io);
}

static int
submit(struct melyint_io *io, struct melyint_watch *w)
{
	struct work_class *c = &io->work->classes[w->u.work.work_class];
	int r;

	MELY_DEBUG_ASSERT(melyint_watch_guarded(w) && w->refs == 0);
	w->refs++;
	pthread_mutex_lock(&c->lock);
	enqueue(c, w);
	r = call_helper(c);
	if (r < 0)
		dequeue(c, w);
	assert_class(c);
	pthread_mutex_unlock(&c->lock);
	if (r < 0)
		forget(w);
	return r;
}

int
mely_work(struct mely_color *color, enum mely_work_class work_class, void (*fn)(void *arg),
    struct mely_handler *handler, void *arg, mely_watch *id)
{
	struct melyint_watch_ask ask = {.kind = MELYINT_KIND_WORK, .color = color,
	    .handler = handler, .arg = arg, .trampoline = run};
	struct mely_runtime *rt;
	struct melyint_watch *w;
	int r;

	if (color == NULL || handler == NULL || handler->fn == NULL || fn == NULL ||
	    (unsigned)work_class >= CLASSES)
		return -EINVAL;
	rt = mely_color_runtime(color);
	r = melyint_io_usable(rt);
	/* Handlers may still need work to finish what they began. relaxed: a handler runs before
	 * the discard, which parks the cores first. */
	ask.late = r == -ESHUTDOWN && melyint_io_inside(rt) &&
	    !MELY_LOAD(&rt->io->discarding, relaxed);
	if (r < 0 && !ask.late)
		return r;
	/* Before the slot is taken: the lock of the slots orders this before a stop that refuses
	 * slots. So a drain that reads 0 has refused this work or counts it. relaxed: that lock
	 * orders it. */
	MELY_ADD(&rt->io->pending, 1, relaxed);
	r = melyint_watch_new(rt->io, &ask, &w);
	if (r < 0) {
		count_down(rt->io);
		return r;
	}
	MELY_DEBUG_ASSERT(melyint_watch_guarded(w) && MELY_PEEK(&rt->io->pending) > 0);
	w->u.work.fn = fn;
	w->u.work.work_class = (uint8_t)work_class;
	if (id != NULL)
		*id = melyint_watch_id(w);
	r = submit(rt->io, w);
	melyint_watch_drop(w);
	return r;
}

int
melyint_work_stop(struct melyint_watch *w, struct mely_color *done_color,
    struct mely_event *done)
{
	struct work_class *c = &w->io->work->classes[w->u.work.work_class];
	bool waiting;
	int r = 0;

	MELY_DEBUG_ASSERT(melyint_watch_guarded(w) && w->kind == MELYINT_KIND_WORK);
	pthread_mutex_lock(&c->lock);
	waiting = w->u.work.waiting;
	if (waiting)
		dequeue(c, w);
	pthread_mutex_unlock(&c->lock);
	if (waiting)
		forget(w);
	else if (w->stage == MELYINT_STAGE_RUNNING)
		r = melyint_watch_stop_late(w, done_color, done);
	else
		r = melyint_watch_await(w, done_color, done);
	melyint_watch_drop(w);
	return r;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void
hand_back(struct melyint_io *io, struct melyint_watch *w)
{
	const struct mely_config *config = &io->rt->config;
	struct mely_handback left = {.left = MELY_LEFT_WORK};

	melyint_watch_guard(w);
	MELY_DEBUG_ASSERT(w->kind == MELYINT_KIND_WORK && w->io == io);
	left.color = w->color;
	left.handler = w->user;
	left.arg = w->arg;
	forget(w);
	melyint_watch_drop(w);
	melyint_check_out();
	if (config->handback != NULL)
		config->handback(config->handback_ctx, &left);
	else if (left.handler->drop != NULL)
		left.handler->drop(left.arg);
	melyint_check_in();
}

/* Under the lock: wait until no function runs, or until then; 0: for ever. */
static bool
await_helpers(struct work_class *c, uint64_t until_ns)
{
	while (c->running > 0) {
		uint64_t now_ns = melyint_now_ns();
		struct timespec until;

		if (until_ns == 0) {
			pthread_cond_wait(&c->rest, &c->lock);
			continue;
		}
		if (now_ns >= until_ns)
			return false;
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += (time_t)((until_ns - now_ns) / 1000000000);
		until.tv_nsec += (long)((until_ns - now_ns) % 1000000000);
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		(void)pthread_cond_timedwait(&c->rest, &c->lock, &until);
	}
	return true;
}

void
melyint_work_discard(struct melyint_io *io, uint64_t until_ns)
{
	int i;

	MELY_ASSERT(MELY_PEEK(&io->discarding) && MELY_PEEK(&io->closing));
	for (i = 0; i < CLASSES; i++) {
		struct work_class *c = &io->work->classes[i];

		pthread_mutex_lock(&c->lock);
		while (c->first != NULL) {
			struct melyint_watch *w = c->first;

			dequeue(c, w);
			pthread_mutex_unlock(&c->lock);
			hand_back(io, w);
			pthread_mutex_lock(&c->lock);
		}
		if (!await_helpers(c, until_ns))
			melyint_say("%s: blocking work goes on after the end of the run", c->name);
		assert_class(c);
		pthread_mutex_unlock(&c->lock);
	}
}

static int
class_init(struct work_class *c, struct mely_runtime *rt, const char *name, int helpers_max)
{
	pthread_condattr_t attr;
	int i;

	c->rt = rt;
	c->name = name;
	c->helpers_max = helpers_max;
	c->helpers = calloc((size_t)helpers_max, sizeof(*c->helpers));
	if (c->helpers == NULL)
		return -ENOMEM;
	for (i = 0; i < helpers_max; i++)
		c->helpers[i].of = c;
	c->first = NULL;
	c->last = &c->first;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->work, &attr);
	pthread_cond_init(&c->rest, &attr);
	pthread_condattr_destroy(&attr);
	return 0;
}

static void
pool_free(struct melyint_io *io)
{
	int i;

	for (i = 0; i < CLASSES; i++)
		free(io->work->classes[i].helpers);
	free(io->work);
	io->work = NULL;
}

int
melyint_work_init(struct melyint_io *io)
{
	static const char *const names[CLASSES] = {"mely/file", "mely/name", "mely/user"};
	const struct mely_config *config = &io->rt->config;
	const int most[CLASSES] = {config->helpers_files, config->helpers_names,
	    config->helpers_user};
	int i;

	MELY_ASSERT(io->work == NULL);
	io->work = calloc(1, sizeof(*io->work));
	if (io->work == NULL)
		return -ENOMEM;
	for (i = 0; i < CLASSES; i++) {
		if (class_init(&io->work->classes[i], io->rt, names[i], most[i]) < 0) {
			pool_free(io);
			return -ENOMEM;
		}
	}
	return 0;
}

static void
class_fini(struct work_class *c)
{
	pthread_mutex_lock(&c->lock);
	c->ending = true;
	pthread_cond_broadcast(&c->work);
	while (c->alive > 0)
		pthread_cond_wait(&c->rest, &c->lock);
	pthread_mutex_unlock(&c->lock);
	MELY_ASSERT(c->first == NULL && c->running == 0 && c->idle == 0);
	(void)spare_helper(c);
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->work);
	pthread_cond_destroy(&c->rest);
}

void
melyint_work_fini(struct melyint_io *io)
{
	int i;

	if (io->work == NULL)
		return;
	for (i = 0; i < CLASSES; i++)
		class_fini(&io->work->classes[i]);
	pool_free(io);
}

void
melyint_work_forget(struct melyint_io *io)
{
	/* Threads that do not exist here may hold the locks: only memory can be freed. */
	if (io->work != NULL)
		pool_free(io);
	/* relaxed: the child has one thread */
	MELY_STORE(&io->pending, 0, relaxed);
}
