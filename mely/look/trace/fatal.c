/* SPDX-License-Identifier: MIT */
/*
 * fatal.c: the trace of a program that dies of a signal.
 *
 * NOTE(fatal)
 *   A. While a trace is on, SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT are caught, unless the
 *      program ignores them. The handler writes the traces, puts back what was there before, and
 *      has the signal come again: a fault by going back to the instruction, a signal that
 *      was sent by sending it once more with the same information. So the program's own handler,
 *      the exit status and the core dump are what they would have been.
 *   B. Nothing is allocated or locked on the way. Other threads go on; what they overwrite while it
 *      is copied is left out (NOTE(ring)).
 *   C. The first thread that dies writes. Another one that dies meanwhile waits for it, or the
 *      process would be gone before the file is whole; but not for ever.
 *   D. Cores have a stack of their own for it, since a full stack is a way to die.
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

/* anyone: the thread that writes, and whether it is done */
static _Atomic pid_t dying;
static _Atomic bool written;

/* ---- when it happens ------------------------------------------------------------------------- */

static void
nap(void)
{
	const struct timespec ms = {0, 1000000};

	nanosleep(&ms, NULL);
}

/* Without a reason: to put it into words is not allowed here. */
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
		return; /* nobody to tell */
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
	/* acquire: C of NOTE(tracer); a stop that is on its way is given time to be done */
	for (ms = 0; MELY_EXCHANGE(&tracer->writing, true, acquire); ms++) {
		if (ms == WAIT_MS)
			return;
		nap();
	}
	/* relaxed: a stop has cleared it before it gave back `writing` */
	if (MELY_LOAD(&tracer->on, relaxed) && melyint_trace_write(tracer, why) != 0)
		complain(tracer);
}

/* C of NOTE(fatal). */
static void
write_all(int signum)
{
	pid_t nobody = 0, self = (pid_t)syscall(SYS_gettid);
	int i, ms;

	/* relaxed: one of them is first */
	if (!MELY_CAS(&dying, &nobody, self, relaxed)) {
		/* acquire: pairs with the release below */
		for (ms = 0; nobody != self && ms < WAIT_MS && !MELY_LOAD(&written, acquire); ms++)
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
	/* A fault happens again by itself. */
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

/* Put back what was there, unless somebody has put his own on top. */
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
	melyint_say("trace %s: too many at once; not written on a fatal signal", tracer->path);
}

void
melyint_fatal_unwatch(struct melyint_tracer *tracer)
{
	int i;

	for (i = 0; i < TRACERS_MAX; i++) {
		/* relaxed, both: written under the lock; one that just dies has its `writing` */
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

/* D of NOTE(fatal). A thread that has one keeps it. */
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
