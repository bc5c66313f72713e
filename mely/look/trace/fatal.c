/* SPDX-License-Identifier: MIT */
/*
 * fatal.c: the trace of a program that dies of a signal.
 *
 * NOTE(fatal)
 *   A. While a trace is on, the library catches SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT, unless
 *      the program ignores them. The handler writes the traces, restores the action from before,
 *      and makes the signal happen again: it returns to the instruction that faulted, or sends a
 *      signal that was sent once more, with the same information. So the program's own handler, the
 *      exit status and the core dump are what they would be without a trace.
 *   B. The handler allocates nothing and takes no lock. Other threads go on; the writer leaves out
 *      the records that they overwrite during the copy (NOTE(ring)).
 *   C. The first thread that dies writes. Another thread that dies meanwhile waits for it, because
 *      its death would end the process before the file is complete; but it does not wait forever.
 *   D. Cores have an alternate stack for the handler, because a full stack is a way to die.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "look/trace/tracer.h"

enum {
	TRACERS_MAX = 16,
	WAIT_MS = 5000
};

static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
enum { FATAL = sizeof fatal / sizeof fatal[0] };

/* written under the trace lock */
static _Atomic(struct melyint_tracer *) tracers[TRACERS_MAX];
static struct sigaction before[FATAL];
static bool installed[FATAL];
static int watched;

/* any thread: the thread that writes, and whether it has finished */
static _Atomic pid_t dying;
static _Atomic bool written;

/* ---- when it happens ------------------------------------------------------------------------- */

static void
nap(void)
{
	const struct timespec ms = {0, 1000000};

	nanosleep(&ms, NULL);
}

/* Without the reason: strerror is not safe in a signal handler. */
static void
complain(const struct melyint_tracer *tracer)
{
	static const char begin[] = "mely: trace ", end[] = ": could not be written\n";
	char line[PATH_MAX + sizeof begin + sizeof end];
	size_t length = strlen(tracer->path);

	memcpy(line, begin, sizeof begin - 1);
	memcpy(line + sizeof begin - 1, tracer->path, length);
	memcpy(line + sizeof begin - 1 + length, end, sizeof end - 1);
	if (write(STDERR_FILENO, line, length + sizeof begin + sizeof end - 2) < 0)
		return; /* no place to report that */
}

static void
write_trace(struct melyint_tracer *tracer, int signum)
{
	char why[] = "signal 00", *digit = why + 7;
	int ms;

	if (tracer->pid != getpid())
		return;
	if (signum >= 10)
		*digit++ = (char)('0' + signum / 10);
	*digit++ = (char)('0' + signum % 10);
	*digit = '\0';
	/* acquire: C of NOTE(tracer); a stop that is under way gets time to finish */
	for (ms = 0; MELY_EXCHANGE(&tracer->writing, true, acquire); ms++) {
		if (ms == WAIT_MS)
			return;
		nap();
	}
	/* relaxed: a stop clears it before it clears `writing` */
	if (MELY_LOAD(&tracer->on, relaxed) && melyint_trace_write(tracer, why) != 0)
		complain(tracer);
}

/* C of NOTE(fatal). */
static void
write_all(int signum)
{
	pid_t first = 0, self = (pid_t)syscall(SYS_gettid);
	int i, ms;

	/* relaxed: one thread is first */
	if (!MELY_CAS(&dying, &first, self, relaxed)) {
		/* acquire: pairs with the release below */
		for (ms = 0; first != self && ms < WAIT_MS && !MELY_LOAD(&written, acquire); ms++)
			nap();
		return;
	}
	for (i = 0; i < TRACERS_MAX; i++) {
		/* acquire: pairs with the release in melyint_fatal_watch */
		struct melyint_tracer *tracer = MELY_LOAD(&tracers[i], acquire);

		if (tracer != NULL)
			write_trace(tracer, signum);
	}
	MELY_STORE(&written, true, release); /* pairs with the acquire above */
}

static void
caught(int signum, siginfo_t *info, void *context)
{
	int error = errno, i;

	(void)context;
	write_all(signum);
	for (i = 0; i < FATAL; i++) {
		if (fatal[i] == signum)
			(void)sigaction(signum, &before[i], NULL);
	}
	/* A fault happens again when the handler returns. */
	if (info->si_code <= 0)
		(void)syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signum, info);
	errno = error;
}

/* ---- watching -------------------------------------------------------------------------------- */

static void
install(void)
{
	struct sigaction action = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	int i;

	sigemptyset(&action.sa_mask);
	for (i = 0; i < FATAL; i++) {
		if (sigaction(fatal[i], NULL, &before[i]) < 0 ||
		    (!(before[i].sa_flags & SA_SIGINFO) && before[i].sa_handler == SIG_IGN))
			continue;
		installed[i] = sigaction(fatal[i], &action, NULL) == 0;
	}
}

/* Restore the actions from before, unless the program has installed others since. */
static void
uninstall(void)
{
	struct sigaction now;
	int i;

	for (i = 0; i < FATAL; i++) {
		if (installed[i] && sigaction(fatal[i], NULL, &now) == 0 &&
		    (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == caught)
			(void)sigaction(fatal[i], &before[i], NULL);
		installed[i] = false;
	}
}

void
melyint_fatal_watch(struct melyint_tracer *tracer)
{
	int i;

	for (i = 0; i < TRACERS_MAX; i++) {
		if (MELY_LOAD(&tracers[i], relaxed) != NULL) /* written under the lock */
			continue;
		/* release: pairs with the acquire in write_all */
		MELY_STORE(&tracers[i], tracer, release);
		if (watched++ == 0)
			install();
		return;
	}
	melyint_say("trace %s: more than %d traces: a fatal signal does not write it",
	    tracer->path, TRACERS_MAX);
}

void
melyint_fatal_unwatch(struct melyint_tracer *tracer)
{
	int i;

	for (i = 0; i < TRACERS_MAX; i++) {
		/* relaxed, both: written under the lock; a dying thread sets `writing` first */
		if (MELY_LOAD(&tracers[i], relaxed) != tracer)
			continue;
		MELY_STORE(&tracers[i], NULL, relaxed);
		if (--watched == 0)
			uninstall();
	}
}

void
melyint_fatal_fork(void)
{
	int i;

	for (i = 0; i < TRACERS_MAX; i++)
		MELY_STORE(&tracers[i], NULL, relaxed); /* one thread */
	if (watched > 0)
		uninstall();
	watched = 0;
}

/* D of NOTE(fatal). A thread that has an alternate stack keeps it. */
void
melyint_fatal_stack(const struct melyint_tracer *tracer, int core)
{
	static MELY_TLS bool ours;
	stack_t now, stack = {.ss_size = MELYINT_FATAL_STACK};

	if (tracer == NULL) {
		stack.ss_flags = SS_DISABLE;
		if (ours)
			(void)sigaltstack(&stack, NULL);
		ours = false;
		return;
	}
	stack.ss_sp = tracer->stacks + (size_t)core * MELYINT_FATAL_STACK;
	if (sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_DISABLE))
		ours = sigaltstack(&stack, NULL) == 0;
}
