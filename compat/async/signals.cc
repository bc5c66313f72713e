/* SPDX-License-Identifier: MIT */
/*
 * signals.cc: a signal handler records the signal and wakes the loop; a pass calls the callback.
 * Color 0 owns the callbacks; any thread may touch the records.
 */
#include "signals.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "../src/say.h"
#include "counted.h"
#include "posts.h"
#include "wait.h"

namespace melycompat {

namespace {

std::atomic<bool> came[NSIG];
std::atomic<bool> any_came;

/* Never destroyed: callbacks may refer to objects that no longer exist then. */
cbv::ptr *
callbacks()
{
	static cbv::ptr *const all = new cbv::ptr[NSIG];

	return all;
}

void
note(int sig)
{
	/* release, both: pair with the acquires in signals_run */
	came[sig].store(true, std::memory_order_release);
	any_came.store(true, std::memory_order_release);
	wait_from_signal();
}

void
on_signal(int sig)
{
	int saved = errno;

	note(sig);
	errno = saved;
}

void
install(int sig, void (*handler)(int), int flags)
{
	struct sigaction action = {};
	sigset_t set;

	action.sa_handler = handler;
	action.sa_flags = flags & ~SA_SIGINFO;
	sigfillset(&action.sa_mask);
	if (sigaction(sig, &action, nullptr) < 0)
		die("sigcb: signal %d: %s", sig, std::strerror(errno));
	sigemptyset(&set);
	sigaddset(&set, sig);
	pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}

cbv::ptr
signal_set(int sig, cbv::ptr cb, int flags)
{
	if (sig <= 0 || sig >= NSIG)
		die("sigcb: %d is not a signal", sig);
	cbv::ptr old = callbacks()[sig];
	callbacks()[sig] = cb;
	if (cb)
		install(sig, on_signal, flags);
	else if (sig == SIGCHLD)
		signals_start();
	else
		install(sig, SIG_DFL, flags);
	/* Signals for the old callback do not reach the next one. relaxed: no other data is read */
	if (!cb && sig != SIGCHLD)
		came[sig].store(false, std::memory_order_relaxed);
	return old;
}

void
signal_child_ended()
{
	siginfo_t ended = {};

	if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0)
		note(SIGCHLD);
}

void
signals_start()
{
	if (!callbacks()[SIGCHLD]) {
		install(SIGCHLD, on_signal, SA_RESTART | SA_NOCLDSTOP);
		signal_child_ended(); /* a child may have ended before */
	}
	/* Signals may have arrived before the loop could be woken. acquire: as below */
	if (any_came.load(std::memory_order_acquire))
		wait_from_signal();
}

/* A callback may call acheck or amain, which must find the signals with higher numbers. */
static void
note_those_behind(int sig)
{
	while (++sig < NSIG)
		/* relaxed: on_signal has ordered it, through any_came */
		if (came[sig].load(std::memory_order_relaxed)) {
			note(sig);
			return;
		}
}

void
signals_run()
{
	int sig;

	/* acquire, here and below: pair with the releases in on_signal */
	if (!any_came.load(std::memory_order_acquire))
		return;
	any_came.store(false, std::memory_order_relaxed); /* before `came` is read */
	for (sig = 1; sig < NSIG; sig++) {
		if (!came[sig].exchange(false, std::memory_order_acq_rel))
			continue;
		note_those_behind(sig);
		if (callbacks()[sig])
			call_or_post(job_of(callbacks()[sig]));
		else if (sig == SIGCHLD)
			children_run();
	}
}

}
