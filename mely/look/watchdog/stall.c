/* SPDX-License-Identifier: MIT */
/*
 * stall.c: report and count handlers that run for longer than their limit.
 *
 * NOTE(stall)
 *   A. For the statistics, a core publishes the number of the handler that it entered last, how
 *      many events of its batch have begun, and its counts of batches and sleeps. The monitor reads
 *      these each quarter of a limit. While they stay the same, it is one call; so a row of short
 *      calls is never mistaken for a long one. The core does nothing for this.
 *   B. A call has run at least since the first reading that saw it. When that time reaches the
 *      handler's limit, the monitor counts a stall and, if the rates allow, reports it, and again
 *      at ten times the limit, a hundred times, and so on. So a reported call has run for the
 *      limit; and a call that has run for two readings more is reported, if the monitor gets a
 *      processor. Readings are a quarter of the shortest limit apart, but at least PERIOD_MIN_NS.
 *   C. A report waits up to ANSWER_NS for the backtrace, by readings that follow soon; the monitor
 *      does other work meanwhile. The backtrace counts only if the same call still runs then.
 *   D. The values of one reading need not belong together: all of them have to stay the same for
 *      the time of a limit.
 *   E. While the color checker writes a report, which can take a second, handlers wait for it. So
 *      before a call is counted or reported, the monitor waits until no report is being written. If
 *      it had to wait, the call's time begins again.
 */
#include "look/watchdog/stall.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "look/watchdog/callers.h"
#include "color/names_marks.h"
#include "core/handlers.h"
#include "look/watchdog/monitor.h"
#include "base/syscalls.h"

/* The shortest limit of any handler of this process; any thread. */
static _Atomic uint32_t shortest_ms MELY_LASTING = UINT32_MAX;

void
mely_handler_set_stall(struct mely_handler *handler, uint32_t ms)
{
	struct melyint_handler_entry *entry;
	uint32_t least = MELY_LOAD(&shortest_ms, relaxed); /* a setting */

	if (handler == NULL)
		return;
	/* The slow way finds the entry even if another thread has just given the number, and its
	 * entry is not visible yet. */
	entry = melyint_handler_entry(melyint_handler_number_slow(handler));
	/* relaxed, all: settings, which the next reading sees */
	MELY_STORE(&entry->stall_ms, ms, relaxed);
	while (ms != 0 && ms < least && !MELY_CAS(&shortest_ms, &least, ms, relaxed))
		;
}

#ifndef MELYINT_SIM

enum {
	MS = 1000000,
	PERIOD_MIN_NS = 5 * MS,
	ANSWER_NS = 100 * MS,
	ANSWER_LOOK_NS = MS,
	LATER = 10,         /* times the time, until the next report of a call */
	COLOR = 96
};

/* Identifies a call of a handler: equal values, same call. */
struct call {
	uint64_t batches, sleeps;
	uint32_t begun;
	uint32_t handler;
	bool runs;
};

/* What the monitor has seen of a core. The monitor's. */
struct seen {
	struct call call;
	uint64_t since_ns;     /* it has run at least since then, */
	uint64_t cpu_ns;       /* ... when this was the thread's CPU time */
	uint64_t seen_ns, cpu_now_ns; /* time and CPU time at the last reading that saw it */
	uint64_t next_ns;      /* report it after that time; 0: not yet known */
	uint64_t asked_ns;     /* since then a report waits for its backtrace; 0: none waits */
	char color[COLOR];     /* found then, and so is state; "": the call had ended */
	struct melyint_thread_state state;
	bool counted;
	char why[MELYINT_WHY]; /* why there is no backtrace; "": there may be one */
};

struct melyint_stall {
	struct melyint_step step;
	struct mely_runtime *rt;
	struct melyint_rate rate;
	struct seen *seen;     /* by core */
	uint64_t *told_ns;     /* by handler: the last report */
};

/* ---- reading --------------------------------------------------------------------------------- */

static struct call
call_of(const struct melyint_core *core)
{
	/* relaxed, all: D of NOTE(stall) */
	struct call call = {
		.batches = MELY_LOAD(&core->counters.batches, relaxed),
		.sleeps = MELY_LOAD(&core->counters.sleeps, relaxed),
		.begun = MELY_LOAD(&core->tallies.begun, relaxed),
		.handler = MELY_LOAD(&core->tallies.handler, relaxed),
		.runs = MELY_LOAD(&core->hint.busy, relaxed) != 0 &&
		    MELY_LOAD(&core->shown.running, relaxed) != NULL
	};

	return call;
}

static bool
same(const struct call *a, const struct call *b)
{
	return a->batches == b->batches && a->sleeps == b->sleeps && a->begun == b->begun &&
	    a->handler == b->handler && a->runs == b->runs;
}

/* CPU time of the thread that attends core; 0: no thread. */
static uint64_t
cpu_time(const struct melyint_core *core)
{
	/* relaxed: the thread may have ended */
	clockid_t clock = MELY_LOAD(&core->shown.cpu_clock, relaxed);
	struct timespec ts;

	if (clock == 0 || clock_gettime(clock, &ts) != 0)
		return 0;
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The limit of a handler in ns; 0: none. */
static uint64_t
limit_of(const struct mely_runtime *rt, const struct melyint_handler_entry *entry)
{
	uint32_t ms = entry != NULL ? MELY_LOAD(&entry->stall_ms, relaxed) : 0; /* a setting */

	if (ms == MELY_STALL_NEVER)
		return 0;
	return (ms != 0 ? ms : rt->config.stall_ms) * (uint64_t)MS;
}

/* ---- the report ------------------------------------------------------------------------------ */

/* The color that runs on core, in words; "": none runs any more. */
static void
name_color(struct melyint_core *core, char text[COLOR])
{
	struct mely_color *color;
	char name[COLOR / 2] = "";
	unsigned flags = 0;
	uint32_t id = 0;
	int n = 0;

	text[0] = '\0';
	melyint_lock_take(&core->lock);
	color = MELY_LOAD(&core->shown.running, relaxed); /* under the lock, as its flags */
	if (color != NULL) {
		flags = MELY_LOAD(&color->_flags, relaxed);
		id = color->_id;
	}
	melyint_lock_drop(&core->lock);
	if (color == NULL)
		return;
	if (flags & MELYINT_COLOR_OBJECT)
		n = snprintf(text, COLOR, " of color %p", (void *)color);
	else
		n = snprintf(text, COLOR, " of color %" PRIu32, id);
	/* The color may no longer exist: use only its address. */
	if (flags & MELYINT_COLOR_NOTED)
		(void)melyint_colorext_name(core->rt->colorext, color, name, sizeof name);
	if (name[0] != '\0')
		snprintf(text + n, COLOR - (size_t)n, " (%s)", name);
}

static void
add_state(const struct seen *seen, struct melyint_line *line)
{
	const char *name;

	if (seen->state.state == 'R' || seen->state.state == '?')
		return;
	if (seen->state.call < 0) {
		melyint_line_add(line, ", waiting in state %c", seen->state.state);
		return;
	}
	name = melyint_call_name(seen->state.call);
	if (name != NULL)
		melyint_line_add(line, ", waiting in %s", name);
	else
		melyint_line_add(line, ", waiting in system call %ld", seen->state.call);
}

/* ended: another call runs now. */
static void
report(struct melyint_stall *stall, struct melyint_core *core, struct seen *seen, bool ended)
{
	const struct melyint_handler_entry *entry = melyint_handler_entry(seen->call.handler);
	const char *name = melyint_handler_name(seen->call.handler);
	struct melyint_line line = {0};

	melyint_line_add(&line, "core %d: handler %s%s has run for ", core->index,
	    name != NULL ? name : "(unknown)", seen->color);
	melyint_line_number(&line, (seen->seen_ns - seen->since_ns) / MS);
	melyint_line_add(&line, " ms");
	if (seen->cpu_now_ns >= seen->cpu_ns && seen->cpu_now_ns != 0)
		melyint_line_add(&line, ", %" PRIu64 " of them on a processor",
		    (seen->cpu_now_ns - seen->cpu_ns) / MS);
	add_state(seen, &line);
	if (ended) {
		melyint_line_add(&line, "; no backtrace: the call has ended");
	} else if (seen->why[0] != '\0') {
		melyint_line_add(&line, "; %s", seen->why);
	} else if (!melyint_backtrace_taken(core)) {
		melyint_line_add(&line, "; no backtrace: the thread did not answer in time");
	} else {
		melyint_line_add(&line, ", at ");
		melyint_backtrace_add(core, entry != NULL ? entry->fn : NULL, &line);
	}
	melyint_rate_add(&stall->rate, &line, "stalls");
	melyint_report(stall->rt, &line);
	(void)melyint_backtrace_forget(core);
	seen->asked_ns = 0;
}

/* Whether the rates allow a report of the handler now. */
static bool
may_report(struct melyint_stall *stall, uint32_t handler, uint64_t now_ns)
{
	uint64_t *told_ns = &stall->told_ns[handler < MELYINT_HANDLERS ? handler : 0];

	if (*told_ns != 0 && now_ns - *told_ns < MELYINT_RATE_NS) {
		stall->rate.hidden++;
		return false;
	}
	if (!melyint_rate_allows(&stall->rate, now_ns))
		return false;
	*told_ns = now_ns;
	return true;
}

/* Another call than at the last reading. */
static void
begin(struct melyint_stall *stall, struct melyint_core *core, struct seen *seen,
    const struct call *call, uint64_t now_ns)
{
	if (seen->asked_ns != 0)
		report(stall, core, seen, true);
	*seen = (struct seen){.call = *call, .since_ns = now_ns};
	if (call->runs)
		seen->cpu_ns = cpu_time(core);
}

static void
count(struct melyint_core *core, struct seen *seen, struct melyint_handler_entry *entry)
{
	seen->counted = true;
	/* relaxed: a count */
	if (entry != NULL)
		MELY_ADD(&entry->stalls, 1, relaxed);
	MELY_COUNT(&core->counters.stalls, 1); /* the monitor's */
}

/* A report of a call that goes on is due: find out what it says. */
static void
ask(struct melyint_core *core, struct seen *seen, uint64_t now_ns)
{
	struct call call;

	seen->asked_ns = now_ns;
	seen->why[0] = '\0';
	name_color(core, seen->color);
	(void)melyint_backtrace_ask(core, seen->why, &seen->state);
	call = call_of(core);
	if (!same(&call, &seen->call))
		seen->color[0] = '\0'; /* it may be of another call */
}

/* The call of a core goes on. True: a backtrace is under way, read again soon. */
static bool
goes_on(struct melyint_stall *stall, struct melyint_core *core, struct seen *seen, uint64_t now_ns)
{
	struct melyint_handler_entry *entry = melyint_handler_entry(seen->call.handler);
	uint64_t limit_ns = limit_of(stall->rt, entry), ran_ns = now_ns - seen->since_ns;
	struct call call;

	seen->seen_ns = now_ns;
	if (limit_ns == 0 || ran_ns < limit_ns)
		return false;
	if ((!seen->counted || ran_ns >= seen->next_ns) && melyint_check_waited()) {
		seen->since_ns = melyint_now_ns(); /* E of NOTE(stall) */
		seen->cpu_ns = cpu_time(core);
		return false;
	}
	seen->cpu_now_ns = cpu_time(core);
	if (!seen->counted) {
		count(core, seen, entry);
		seen->next_ns = limit_ns;
	}
	if (seen->asked_ns == 0 && ran_ns >= seen->next_ns) {
		while (seen->next_ns <= ran_ns)
			seen->next_ns *= LATER;
		if (may_report(stall, seen->call.handler, now_ns))
			ask(core, seen, now_ns);
	}
	if (seen->asked_ns == 0)
		return false;
	if (seen->why[0] == '\0' && !melyint_backtrace_taken(core) &&
	    now_ns - seen->asked_ns < ANSWER_NS)
		return true;
	/* The backtrace is of this call if the call still runs. */
	call = call_of(core);
	if (same(&call, &seen->call))
		report(stall, core, seen, false);
	return seen->asked_ns != 0;
}

static uint64_t
look(struct melyint_step *step, uint64_t now_ns)
{
	struct melyint_stall *stall = MELY_CONTAINER_OF(step, struct melyint_stall, step);
	struct mely_runtime *rt = stall->rt;
	uint32_t least = MELY_LOAD(&shortest_ms, relaxed); /* a setting */
	uint64_t period_ns;
	bool soon = false;
	int i;

	for (i = 0; i < rt->cores_count; i++) {
		struct melyint_core *core = &rt->cores[i];
		struct seen *seen = &stall->seen[i];
		struct call call = call_of(core);

		if (!same(&call, &seen->call))
			begin(stall, core, seen, &call, now_ns);
		else if (call.runs)
			soon |= goes_on(stall, core, seen, now_ns);
	}
	least = least < rt->config.stall_ms ? least : rt->config.stall_ms;
	period_ns = least * (uint64_t)MS / 4;
	if (period_ns < PERIOD_MIN_NS)
		period_ns = PERIOD_MIN_NS;
	return now_ns + (soon ? ANSWER_LOOK_NS : period_ns);
}

/* ---- life ------------------------------------------------------------------------------------ */

static int
add(struct mely_runtime *rt)
{
	rt->look.stall->step = (struct melyint_step){.look = look, .fd = -1, .while_awake = true};
	return melyint_monitor_add(rt, &rt->look.stall->step);
}

int
melyint_stall_new(struct mely_runtime *rt)
{
	struct melyint_stall *stall;
	int error;

	if (rt->config.stall_ms == 0)
		return 0;
	stall = calloc(1, sizeof *stall);
	if (stall == NULL)
		return -ENOMEM;
	rt->look.stall = stall;
	stall->rt = rt;
	stall->seen = calloc((size_t)rt->cores_count, sizeof stall->seen[0]);
	stall->told_ns = calloc(MELYINT_HANDLERS, sizeof stall->told_ns[0]);
	if (stall->seen == NULL || stall->told_ns == NULL)
		return -ENOMEM;
	error = melyint_backtrace_new(rt);
	return error == 0 ? add(rt) : error;
}

void
melyint_stall_free(struct mely_runtime *rt)
{
	struct melyint_stall *stall = rt->look.stall;

	if (stall == NULL)
		return;
	melyint_backtrace_free(rt);
	free(stall->told_ns);
	free(stall->seen);
	free(stall);
	rt->look.stall = NULL;
}

int
melyint_stall_renew(struct mely_runtime *rt)
{
	struct melyint_stall *stall = rt->look.stall;
	int i;

	if (stall == NULL)
		return 0;
	memset(stall->seen, 0, (size_t)rt->cores_count * sizeof stall->seen[0]);
	for (i = 0; i < rt->cores_count; i++)
		melyint_backtrace_reset(&rt->cores[i]);
	return add(rt);
}

void
melyint_stall_begin(struct mely_runtime *rt)
{
	if (rt->look.stall != NULL)
		melyint_backtrace_begin(rt);
}

static MELY_TLS pid_t own_tid; /* of this thread; 0: unknown */

void
melyint_stall_fork(void)
{
	own_tid = 0;
}

void
melyint_stall_attend(struct melyint_core *core)
{
	clockid_t clock = 0;

	if (core->rt->look.stall == NULL)
		return;
	/* Each mely_run_once_for comes here. */
	if (own_tid == 0)
		own_tid = gettid();
	core->locked.attendant = pthread_self();
	(void)pthread_getcpuclockid(pthread_self(), &clock); /* cannot fail for itself */
	/* relaxed, both: the monitor may use those of a thread that has ended, for which the system
	 * returns an error */
	MELY_STORE(&core->shown.cpu_clock, clock, relaxed);
	MELY_STORE(&core->shown.tid, own_tid, relaxed);
}

void
melyint_stall_end(struct mely_runtime *rt)
{
	struct melyint_stall *stall = rt->look.stall;
	struct melyint_line line = {0};
	int i;

	if (stall == NULL)
		return;
	for (i = 0; i < rt->cores_count; i++) {
		if (stall->seen[i].asked_ns != 0)
			report(stall, &rt->cores[i], &stall->seen[i], true);
		stall->seen[i] = (struct seen){0};
	}
	melyint_rate_add(&stall->rate, &line, "stalls");
	if (line.used != 0)
		melyint_report(rt, &line);
}
#endif
