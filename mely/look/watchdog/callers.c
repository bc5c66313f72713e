/* SPDX-License-Identifier: MIT */
/*
 * callers.c: backtraces of other cores' threads, for reports of stalls.
 *
 * NOTE(backtrace)
 *   A. The monitor sets the stage to WANTED and sends the core's thread a signal. The thread's
 *      signal handler sets it to TAKING, writes down the return addresses on its stack and sets it
 *      to TAKEN. The monitor gives up by changing WANTED to NONE; if that fails, the thread is
 *      writing.
 *   B. The signal handler walks the stack with the unwinder of the compiler's runtime, and does
 *      nothing else: it looks up no names and takes no locks of the library. The library calls the
 *      unwinder once before, so that it loads or allocates nothing in the handler. The handler
 *      finds its core in melyint_self, without a call. The monitor looks up names when it prints.
 *   C. The monitor sends the signal while it holds the core's lock and the core is attended, so
 *      that the thread cannot end meanwhile; and only while the process has our handler for the
 *      signal. A signal that arrives late finds another stage than WANTED.
 *   D. The kernel does not restart some system calls after a signal handler: a sleep, poll,
 *      epoll_wait; with a time limit also futex and calls on sockets. The monitor sends no signal
 *      to a thread that waits in one, because a report must not change what the program does. The
 *      line names the call.
 */
#include "look/watchdog/callers.h"

#ifndef MELYINT_SIM
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#include "base/assert.h"
#include "base/syscalls.h"

/* backtrace->stage */
enum { NONE, WANTED, TAKING, TAKEN };

enum {
	SHOWN = 16,
#ifdef MELYINT_COLOR_CHECK /* handlers run on separate stacks, which a signal must not disturb */
	HERE = 0
#else
	HERE = 1
#endif
};

/* ---- in the thread --------------------------------------------------------------------------- */

struct walk {
	struct melyint_backtrace *to;
	bool inside; /* past the frames of the signal handler itself */
};

static _Unwind_Reason_Code
on_frame(struct _Unwind_Context *context, void *arg)
{
	struct walk *walk = arg;
	int exact = 0;
	uintptr_t pc = (uintptr_t)_Unwind_GetIPInfo(context, &exact);
	struct melyint_frame *frame;

	walk->inside = walk->inside || exact != 0;
	if (!walk->inside)
		return _URC_NO_REASON;
	if (pc == 0 || walk->to->frames_count == MELYINT_FRAMES)
		return _URC_END_OF_STACK;
	frame = &walk->to->frames[walk->to->frames_count++];
	frame->pc = pc;
	frame->start = (uintptr_t)_Unwind_GetRegionStart(context);
	frame->exact = exact != 0;
	return _URC_NO_REASON;
}

static void
on_signal(int signum)
{
	struct melyint_core *core = melyint_self;
	struct melyint_backtrace *b = core != NULL ? core->fixed.backtrace : NULL;
	struct walk walk = {b, false};
	int wanted = WANTED, error = errno;

	(void)signum;
	/* acquire: pairs with the release in melyint_backtrace_forget */
	if (b != NULL && MELY_CAS(&b->stage, &wanted, TAKING, acquire)) {
		b->frames_count = 0;
		(void)_Unwind_Backtrace(on_frame, &walk);
		/* release: pairs with the acquire in melyint_backtrace_taken */
		MELY_STORE(&b->stage, TAKEN, release);
	}
	errno = error;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static _Unwind_Reason_Code
on_nothing(struct _Unwind_Context *context, void *arg)
{
	(void)context, (void)arg;
	return _URC_END_OF_STACK;
}

/* Whether the process has our handler for the signal. */
static bool
is_ours(int signum)
{
	struct sigaction now;

	return sigaction(signum, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
	    now.sa_handler == on_signal;
}

void
melyint_backtrace_begin(struct mely_runtime *rt)
{
	int signum = rt->config.stall_signal;
	struct sigaction action, old;

	if (signum == 0)
		return;
	(void)_Unwind_Backtrace(on_nothing, NULL); /* B of NOTE(backtrace) */
	if (sigaction(signum, NULL, &old) != 0 || (old.sa_flags & SA_SIGINFO) ||
	    (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN))
		return; /* the program's own, or ours already */
	memset(&action, 0, sizeof action);
	action.sa_handler = on_signal;
	action.sa_flags = SA_RESTART;
	sigfillset(&action.sa_mask);
	(void)sigaction(signum, &action, NULL);
}

/* Read a short file of a thread in /proc into text. */
static bool
read_proc(pid_t tid, const char *what, char *text, size_t size)
{
	char path[64];
	size_t n;
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)tid, what);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	n = fread(text, 1, size - 1, file);
	text[n] = '\0';
	fclose(file);
	return n > 0;
}

/* The file has "running", or a number, and arguments unless it is -1. */
static void
read_call(pid_t tid, struct melyint_thread_state *state)
{
	char text[512], *at;
	int i;

	if (!read_proc(tid, "syscall", text, sizeof text) || text[0] == 'r')
		return;
	state->call = strtol(text, &at, 10);
	for (i = 0; i < MELYINT_CALL_ARGS && state->call >= 0; i++)
		state->args[i] = strtoull(at, &at, 16);
}

static struct melyint_thread_state
state_of(pid_t tid, int signum)
{
	struct melyint_thread_state state = {.state = '?', .call = -1};
	unsigned long long blocked;
	char text[4096], *at;

	if (read_proc(tid, "status", text, sizeof text)) {
		at = strstr(text, "\nState:\t");
		if (at != NULL)
			state.state = at[8];
		at = strstr(text, "\nSigBlk:\t");
		if (at != NULL && signum > 0 && sscanf(at + 9, "%llx", &blocked) == 1)
			state.signal_blocked = (blocked >> (signum - 1) & 1) != 0;
	}
	if (state.state != 'R')
		read_call(tid, &state);
	return state;
}

static const char *
signal_name(int signum)
{
	const char *name = sigabbrev_np(signum);

	return name != NULL ? name : "RT";
}

/* C of NOTE(backtrace). */
static bool
send_signal(struct melyint_core *core, int signum)
{
	bool sent;

	melyint_lock_take(&core->lock);
	sent = core->locked.attended && pthread_kill(core->locked.attendant, signum) == 0;
	melyint_lock_drop(&core->lock);
	return sent;
}

bool
melyint_backtrace_ask(struct melyint_core *core, char why[MELYINT_WHY],
    struct melyint_thread_state *state)
{
	int signum = core->rt->config.stall_signal;

	*state = state_of(MELY_LOAD(&core->shown.tid, relaxed), signum); /* written once attended */
	if (signum == 0) {
		snprintf(why, MELYINT_WHY, "no backtrace: stall_signal is 0");
	} else if (!is_ours(signum)) {
		snprintf(why, MELYINT_WHY,
		    "no backtrace: the program handles signal %d (%s) itself", signum,
		    signal_name(signum));
	} else if (state->signal_blocked) {
		snprintf(why, MELYINT_WHY, "no backtrace: the thread blocks signal %d (%s)",
		    signum, signal_name(signum));
	} else if (state->state != 'R' && melyint_call_is_cut_short(state->call, state->args)) {
		snprintf(why, MELYINT_WHY, "no backtrace: the call would not outlast a signal");
	} else if (core->fixed.backtrace == NULL) {
		snprintf(why, MELYINT_WHY, "no backtrace: not under the color checker");
	} else if (!melyint_backtrace_forget(core)) {
		snprintf(why, MELYINT_WHY, "no backtrace: the last one is still being written");
	} else {
		/* relaxed: the thread writes only after the signal */
		MELY_STORE(&core->fixed.backtrace->stage, WANTED, relaxed);
		if (send_signal(core, signum))
			return true;
		MELY_STORE(&core->fixed.backtrace->stage, NONE, relaxed); /* as above */
		snprintf(why, MELYINT_WHY, "no backtrace: the thread has ended");
	}
	return false;
}

bool
melyint_backtrace_taken(struct melyint_core *core)
{
	/* acquire: pairs with the release in on_signal */
	return MELY_LOAD(&core->fixed.backtrace->stage, acquire) == TAKEN;
}

bool
melyint_backtrace_forget(struct melyint_core *core)
{
	struct melyint_backtrace *b = core->fixed.backtrace;
	int stage = WANTED;

	if (b == NULL)
		return true;
	/* release, both: pairs with the acquire in on_signal: we have read the frames */
	if (MELY_CAS(&b->stage, &stage, NONE, release) || stage == NONE)
		return true;
	if (stage == TAKING)
		return false;
	MELY_STORE(&b->stage, NONE, release);
	return true;
}

/* ---- printing -------------------------------------------------------------------------------- */

void
melyint_line_add_code(struct melyint_line *line, uintptr_t pc, bool exact)
{
	/* A return address may be the first byte of the next function. */
	uintptr_t at = exact ? pc : pc - 1;
	struct link_map *map;
	void *extra = NULL;
	const char *file;
	Dl_info info;

	if (dladdr1((void *)at, &info, &extra, RTLD_DL_LINKMAP) == 0 || info.dli_fname == NULL) {
		melyint_line_add(line, "0x%llx", (unsigned long long)pc);
		return;
	}
	map = extra;
	if (info.dli_sname != NULL) {
		melyint_line_add(line, "%.79s+0x%llx", info.dli_sname,
		    (unsigned long long)(pc - (uintptr_t)info.dli_saddr));
		return;
	}
	/* For addr2line: the address in the file, of the call and not of what follows it. */
	file = strrchr(info.dli_fname, '/');
	melyint_line_add(line, "%.47s+0x%llx", file != NULL ? file + 1 : info.dli_fname,
	    (unsigned long long)(at - (map != NULL ? map->l_addr : 0)));
}

void
melyint_backtrace_add(struct melyint_core *core, void (*fn)(void *arg),
    struct melyint_line *line)
{
	const struct melyint_backtrace *b = core->fixed.backtrace;
	int count = b->frames_count, i;

	/* Leave out what called the handler. */
	for (i = 0; i < b->frames_count; i++)
		if (fn != NULL && b->frames[i].start == (uintptr_t)fn)
			count = i + 1;
	for (i = 0; i < count && i < SHOWN; i++) {
		if (i > 0)
			melyint_line_add(line, " < ");
		melyint_line_add_code(line, b->frames[i].pc, b->frames[i].exact);
	}
	if (i < count)
		melyint_line_add(line, " < %d more", count - i);
}

/* ---- life ------------------------------------------------------------------------------------ */

int
melyint_backtrace_new(struct mely_runtime *rt)
{
	size_t n = (size_t)rt->cores_count, i;

	if (rt->config.stall_ms == 0 || rt->config.stall_signal == 0 || !HERE)
		return 0;
	rt->look.backtraces = calloc(n, sizeof rt->look.backtraces[0]);
	if (rt->look.backtraces == NULL)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		rt->cores[i].fixed.backtrace = &rt->look.backtraces[i];
	return 0;
}

void
melyint_backtrace_free(struct mely_runtime *rt)
{
	free(rt->look.backtraces);
	rt->look.backtraces = NULL;
}

void
melyint_backtrace_reset(struct melyint_core *core)
{
	if (core->fixed.backtrace != NULL)
		MELY_STORE(&core->fixed.backtrace->stage, NONE, relaxed); /* one thread */
}
#endif
