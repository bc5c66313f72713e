/* SPDX-License-Identifier: MIT */
/*
 * monitor.c: the background thread of a runtime.
 *
 * NOTE(monitor)
 *   A. While a core is awake, the thread wakes by itself: it waits in poll(2) until the earliest
 *      time that a step has returned. The cores do nothing for that.
 *   B. When all cores sleep, there is nothing to monitor, and the thread must not tick. It sets
 *      `resting` and waits without a limit. A core that wakes sets `busy`, then tests `resting`. If
 *      it is set, the core clears it and arms a timer, for which the monitor waits too. So the
 *      monitor wakes one period later, the shortest that its steps have, and does not get in the
 *      way of the work that woke the core. A step with `afterwards` is called once more after the
 *      last core has fallen asleep. Of several cores that wake, one arms the timer. That is
 *      one system call at most for each round of the monitor.
 *   C. The core stores busy and loads resting, the monitor stores resting and loads busy, all
 *      seq_cst: at least one of the two sees the store of the other. If the monitor does, it clears
 *      `resting` and goes on.
 *   D. Any thread adds steps, to a list that the monitor thread takes as a whole. Only the thread
 *      touches the steps on its own list.
 *   E. The thread calls steps under the mutex `turn`. An exit of the process waits for it, no
 *      longer than for a core, and then no step is called any more and the thread ends. The end of
 *      a run joins it. A fork leaves it behind; a renewed runtime of the child has no steps.
 */
#include "look/watchdog/monitor.h"

#ifndef MELYINT_SIM
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/descriptor.h"
#include "base/clock.h"
#include "base/threadmask.h"
#include "core/hooks.h"

enum {
	POLLS_FIRST = 8,
	OWN_POLLS = 2,  /* wakefd and timerfd */
	HALT_MS = 2000  /* for a step that takes long */
};

static MELY_TLS struct melyint_monitor *monitor_self; /* the monitor this thread is, or NULL */

/* ---- rest ------------------------------------------------------------------------------------ */

static bool
any_awake(const struct mely_runtime *rt)
{
	int i;

	for (i = 0; i < rt->cores_count; i++) {
		/* seq_cst: C of NOTE(monitor), pairs with melyint_monitor_awake */
		if (MELY_LOAD(&rt->cores[i].hint.busy, seq_cst) != 0)
			return true;
	}
	return false;
}

/* How often cores fell asleep. It grows whenever cores have been awake. */
static uint64_t
sleeps(const struct mely_runtime *rt)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < rt->cores_count; i++)
		sum += MELY_LOAD(&rt->cores[i].counters.sleeps, relaxed); /* before busy: doze */
	return sum;
}

/* Has a core been awake since a step that wants to see its work was called? */
static bool
owes_look(const struct melyint_monitor *m)
{
	const struct melyint_step *step;
	uint64_t sum = sleeps(m->rt);

	for (step = m->steps; step != NULL; step = step->next)
		if (step->while_awake && step->afterwards && step->sleeps != sum)
			return true;
	return false;
}

/* B of NOTE(monitor). True: all cores sleep, and the first that wakes will arm the timer. */
static bool
rest(struct melyint_monitor *m)
{
	bool yes = true;

	if (any_awake(m->rt))
		return false;
	/* seq_cst: C of NOTE(monitor), pairs with melyint_monitor_awake */
	MELY_STORE(&m->resting, true, seq_cst);
	if (!any_awake(m->rt) && !owes_look(m))
		return true;
	/* relaxed: a core may clear it first; then its timer causes one more round */
	(void)MELY_CAS(&m->resting, &yes, false, relaxed);
	return false;
}

static void
rouse(struct mely_runtime *rt)
{
	struct melyint_monitor *m = rt->look.monitor;
	/* relaxed: a hint, as in look */
	uint64_t ns = MELY_LOAD(&m->period_ns, relaxed);
	struct itimerspec once = {.it_value = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)}};
	int error = errno;
	bool yes = true;

	/* relaxed: publishes nothing; one of several cores arms the timer */
	if (MELY_CAS(&m->resting, &yes, false, relaxed))
		(void)timerfd_settime(m->timerfd, 0, &once, NULL); /* cannot fail with these */
	errno = error;
}

void
melyint_monitor_awake(struct melyint_core *core)
{
	/* seq_cst, both: pairs with rest; of the two at least one sees the other */
	MELY_STORE(&core->hint.busy, 1, seq_cst);
	if (MELY_UNLIKELY(MELY_LOAD(&core->rt->look.monitor->resting, seq_cst)))
		rouse(core->rt);
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void
take_coming(struct melyint_monitor *m)
{
	/* acquire: pairs with the release in melyint_monitor_add */
	struct melyint_step *step = MELY_EXCHANGE(&m->coming, NULL, acquire);

	while (step != NULL) {
		struct melyint_step *next = step->next;

		step->due_ns = 0;
		step->revents = 0;
		step->next = m->steps;
		m->steps = step;
		step = next;
	}
}

/* Call the steps that are due or ready; after a wake, all that are not while_awake. */
static void
look(struct melyint_monitor *m, bool woken)
{
	struct melyint_step **link = &m->steps;
	uint64_t now_ns = melyint_now_ns(), least_ns = MELYINT_STEP_NEVER, sum = sleeps(m->rt);

	while (*link != NULL) {
		struct melyint_step *step = *link, *next = step->next;
		bool awaited = step->while_awake;
		uint64_t due_ns = step->due_ns;

		if (step->revents != 0 || now_ns >= due_ns || (woken && !awaited)) {
			step->sleeps = sum;
			due_ns = step->look(step, now_ns);
			if (due_ns == MELYINT_STEP_OVER) {
				*link = next;
				continue;
			}
			step->due_ns = due_ns;
			step->period_ns = due_ns > now_ns ? due_ns - now_ns : 0;
		}
		if (awaited && step->period_ns != 0 && due_ns != MELYINT_STEP_NEVER &&
		    step->period_ns < least_ns)
			least_ns = step->period_ns;
		link = &step->next;
	}
	/* relaxed: a core that arms the timer may use an older one */
	if (least_ns != MELYINT_STEP_NEVER)
		MELY_STORE(&m->period_ns, least_ns, relaxed);
}

/* Make room for that number of descriptors. Returns the number that has room. */
static size_t
make_room(struct melyint_monitor *m, size_t wanted)
{
	struct pollfd *polls;

	if (wanted <= m->polls_room)
		return wanted;
	polls = realloc(m->polls, 2 * wanted * sizeof *polls);
	if (polls == NULL)
		return m->polls_room; /* the others are called when their time is due */
	m->polls = polls;
	m->polls_room = 2 * wanted;
	return wanted;
}

/* Fill in the descriptors for poll. Returns the time limit, in the monotonic clock. */
static uint64_t
prepare(struct melyint_monitor *m, size_t *count)
{
	uint64_t until_ns = MELYINT_STEP_NEVER, awake_ns = MELYINT_STEP_NEVER;
	struct melyint_step *step;
	size_t n = OWN_POLLS;

	for (step = m->steps; step != NULL; step = step->next)
		n += step->fd >= 0;
	*count = make_room(m, n);
	n = OWN_POLLS;
	for (step = m->steps; step != NULL; step = step->next) {
		uint64_t *least_ns = step->while_awake ? &awake_ns : &until_ns;

		if (step->due_ns < *least_ns)
			*least_ns = step->due_ns;
		if (step->fd >= 0 && n < *count)
			m->polls[n++] = (struct pollfd){step->fd, step->events, 0};
	}
	/* relaxed, both: the thread's own descriptors */
	m->polls[0] = (struct pollfd){MELY_LOAD(&m->wakefd, relaxed), POLLIN, 0};
	m->polls[1] = (struct pollfd){m->timerfd, POLLIN, 0};
	if (awake_ns < until_ns && !rest(m))
		until_ns = awake_ns;
	return until_ns;
}

/* Wait, and set revents of the steps. True: after melyint_monitor_wake. */
static bool
await(struct melyint_monitor *m, uint64_t until_ns, size_t count)
{
	uint64_t now_ns = melyint_now_ns(), left_ns, times;
	struct melyint_step *step;
	struct timespec limit;
	size_t n;
	bool woken;
	int found;

	left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	limit = (struct timespec){(time_t)(left_ns / 1000000000), (long)(left_ns % 1000000000)};
	found = ppoll(m->polls, count, until_ns == MELYINT_STEP_NEVER ? NULL : &limit, NULL);
	woken = found > 0 && m->polls[0].revents != 0;
	/* Neither blocks; their counts do not matter. */
	for (n = 0; n < OWN_POLLS && found > 0; n++)
		if (m->polls[n].revents != 0 && read(m->polls[n].fd, &times, sizeof times) < 0)
			times = 0;
	n = OWN_POLLS;
	for (step = m->steps; step != NULL; step = step->next) {
		step->revents = 0;
		if (step->fd >= 0 && n < count)
			step->revents = found > 0 ? m->polls[n++].revents : 0;
	}
	return woken;
}

static void *
monitor_thread(void *arg)
{
	struct melyint_monitor *m = arg;
	bool on = true, woken = true; /* all steps are called at the start */
	uint64_t until_ns = 0;
	size_t count = 0;

	pthread_setname_np(pthread_self(), "mely/mon");
	monitor_self = m;
	melyint_check_thread(true);
	while (on) {
		pthread_mutex_lock(&m->turn);
		/* acquire: pairs with the release in melyint_monitor_join */
		on = !m->halted && !MELY_LOAD(&m->stopping, acquire);
		if (on) {
			take_coming(m);
			look(m, woken);
			until_ns = prepare(m, &count);
		}
		pthread_mutex_unlock(&m->turn);
		if (on)
			woken = await(m, until_ns, count);
	}
	/* relaxed: a core that sees the old value arms a timer in vain */
	MELY_STORE(&m->resting, false, relaxed);
	melyint_check_thread(false);
	return NULL;
}

/* ---- any thread ------------------------------------------------------------------------------ */

void
melyint_monitor_wake(struct mely_runtime *rt)
{
	/* acquire: pairs with the release in open_fds */
	int fd = MELY_LOAD(&rt->look.monitor->wakefd, acquire), error = errno;
	uint64_t one = 1;

	/* Fails only if the counter is full, which takes 2^64 wake-ups. */
	if (fd >= 0 && write(fd, &one, sizeof one) < 0)
		errno = error;
}

static int
open_fds(struct melyint_monitor *m)
{
	int fd, error;

	if (MELY_LOAD(&m->wakefd, relaxed) >= 0) /* under life_lock */
		return 0;
	if (make_room(m, POLLS_FIRST) < POLLS_FIRST)
		return -ENOMEM;
	fd = melyint_fd_high(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	m->timerfd = fd < 0 ? -1 :
	    melyint_fd_high(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
	if (m->timerfd < 0) {
		error = -errno;
		if (fd >= 0)
			close(fd);
		return error;
	}
	/* release: pairs with the acquire in melyint_monitor_wake */
	MELY_STORE(&m->wakefd, fd, release);
	return 0;
}

int
melyint_monitor_add(struct mely_runtime *rt, struct melyint_step *step)
{
	struct melyint_monitor *m = rt->look.monitor;
	int error, phase;

	pthread_mutex_lock(&rt->life.lock);
	error = open_fds(m);
	if (error == 0) {
		step->next = MELY_LOAD(&m->coming, relaxed); /* checked by the exchange */
		/* release: pairs with the acquire in take_coming */
		while (!MELY_CAS(&m->coming, &step->next, step, release))
			;
		/* acquire: pairs with the release stores of the life cycle */
		phase = MELY_LOAD(&rt->phase, acquire);
		if (phase == MELYINT_RUNNING || phase == MELYINT_DRAINING)
			melyint_monitor_start(rt);
		melyint_monitor_wake(rt);
	}
	pthread_mutex_unlock(&rt->life.lock);
	return error;
}

/* ---- life ------------------------------------------------------------------------------------ */

int
melyint_monitor_new(struct mely_runtime *rt)
{
	struct melyint_monitor *m = calloc(1, sizeof *m);

	if (m == NULL)
		return -ENOMEM;
	m->rt = rt;
	MELY_STORE(&m->wakefd, -1, relaxed); /* one thread */
	m->timerfd = -1;
	pthread_mutex_init(&m->turn, NULL);
	rt->look.monitor = m;
	return 0;
}

static void
close_fds(struct melyint_monitor *m)
{
	int fd = MELY_LOAD(&m->wakefd, relaxed); /* one thread */

	MELY_STORE(&m->wakefd, -1, relaxed); /* one thread */
	if (fd >= 0) {
		close(fd);
		close(m->timerfd);
	}
}

void
melyint_monitor_free(struct mely_runtime *rt)
{
	struct melyint_monitor *m = rt->look.monitor;

	if (m == NULL)
		return;
	close_fds(m);
	pthread_mutex_destroy(&m->turn);
	free(m->polls);
	free(m);
	rt->look.monitor = NULL;
}

void
melyint_monitor_start(struct mely_runtime *rt)
{
	struct melyint_monitor *m = rt->look.monitor;
	sigset_t mask, old;
	int error;

	if (m->started || MELY_LOAD(&m->wakefd, relaxed) < 0) /* under life_lock */
		return;
	/* relaxed, both: there is no thread yet */
	MELY_STORE(&m->stopping, false, relaxed);
	MELY_STORE(&m->resting, false, relaxed);
	melyint_thread_mask(&mask);
	pthread_sigmask(SIG_SETMASK, &mask, &old);
	error = pthread_create(&m->thread, NULL, monitor_thread, m);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	m->started = error == 0;
	if (error != 0)
		melyint_say("no monitor thread: %s", strerror(error));
}

void
melyint_monitor_join(struct mely_runtime *rt)
{
	struct melyint_monitor *m = rt->look.monitor;
	bool started;

	pthread_mutex_lock(&rt->life.lock);
	started = m->started;
	m->started = false;
	pthread_mutex_unlock(&rt->life.lock);
	if (!started)
		return;
	/* release: pairs with the acquire in monitor_thread */
	MELY_STORE(&m->stopping, true, release);
	melyint_monitor_wake(rt);
	pthread_join(m->thread, NULL);
}

void
melyint_monitor_halt(struct mely_runtime *rt)
{
	struct melyint_monitor *m = rt->look.monitor;
	const struct timespec nap = {0, 1000000};
	int ms;

	/* acquire: pairs with the store in the child of a fork, where the lock is the parent's */
	if (m == monitor_self || MELY_LOAD(&rt->phase, acquire) == MELYINT_FORKED)
		return;
	for (ms = 0; pthread_mutex_trylock(&m->turn) != 0; ms++) {
		if (ms == HALT_MS) {
			melyint_say("exit: the monitor is still busy");
			return;
		}
		nanosleep(&nap, NULL);
	}
	m->halted = true;
	pthread_mutex_unlock(&m->turn);
}

int
melyint_monitor_renew(struct mely_runtime *rt)
{
	struct melyint_monitor *m = rt->look.monitor;

	close_fds(m);
	m->started = m->halted = false;
	m->steps = NULL;
	pthread_mutex_init(&m->turn, NULL);
	/* relaxed, all: one thread */
	MELY_STORE(&m->coming, NULL, relaxed);
	MELY_STORE(&m->resting, false, relaxed);
	return 0;
}
#endif
