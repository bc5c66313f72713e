/* SPDX-License-Identifier: MIT */
/*
 * dumpsig.c: signals that make a dump.
 *
 * NOTE(dumpsig)
 *   A. The signal handler only adds to an eventfd, for which the monitor thread of the runtime that
 *      claimed the signal waits. So the handler does only what is safe there, and a dump comes even
 *      while each core is in a handler of the program.
 *   B. The eventfd of a signal is made once and stays open until the process ends: a signal handler
 *      that runs on another thread during a release may still write to it.
 *   C. The child of a fork shares the eventfd. Its signal handler sees another process id and does
 *      nothing, until a renewed runtime claims the signal again, with a new eventfd.
 *   D. The core threads block signals, and a program may block them too; so the monitor thread
 *      unblocks this one. Each run has its own monitor thread.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/atomic.h"
#include "look/live/private.h"

enum { SIGNALS = 65 };

struct claim {
	_Atomic int fd;    /* eventfd + 1, so that 0 is none; written under claims_lock */
	_Atomic int pid;   /* of the process that claimed it; 0: free; likewise */
	struct sigaction old; /* before the claim; under claims_lock */
};

static pthread_mutex_t claims_lock MELY_LASTING = PTHREAD_MUTEX_INITIALIZER;
static struct claim claims[SIGNALS] MELY_LASTING;

static void
asked(int signo)
{
	struct claim *claim = &claims[signo];
	uint64_t one = 1;
	int error = errno, fd;

	/* acquire: pairs with the release in melyint_dumpsig_claim */
	if (MELY_LOAD(&claim->pid, acquire) == (int)getpid()) {
		fd = MELY_LOAD(&claim->fd, relaxed) - 1; /* published by pid */
		/* If the counter is full, a dump is due anyway. */
		if (write(fd, &one, sizeof one) < 0)
			errno = error;
	}
	errno = error;
}

/* Whether the signal has no handler of the program. */
static bool
free_to_take(int signo)
{
	struct sigaction old;

	return sigaction(signo, NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
	    (old.sa_handler == SIG_DFL || old.sa_handler == SIG_IGN || old.sa_handler == asked);
}

static int
claim_locked(int signo, int *fd)
{
	struct claim *claim = &claims[signo];
	struct sigaction action, old;
	/* relaxed, all: under the lock */
	int was = MELY_LOAD(&claim->pid, relaxed);

	if (was == (int)getpid() || !free_to_take(signo))
		return -EBUSY;
	*fd = MELY_LOAD(&claim->fd, relaxed) - 1;
	if (*fd < 0 || was != 0) {
		/* B and C of NOTE(dumpsig): the parent's eventfd stays open */
		*fd = melyint_fd_high(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
		if (*fd < 0)
			return -errno;
		MELY_STORE(&claim->fd, *fd + 1, relaxed);
	}
	memset(&action, 0, sizeof action);
	action.sa_handler = asked;
	action.sa_flags = SA_RESTART;
	sigemptyset(&action.sa_mask);
	/* release: pairs with the acquire in asked */
	MELY_STORE(&claim->pid, (int)getpid(), release);
	if (sigaction(signo, &action, &old) != 0) {
		MELY_STORE(&claim->pid, 0, relaxed);
		return -errno;
	}
	/* In the child of a fork, asked is the parent's. */
	if (old.sa_handler != asked)
		claim->old = old;
	return 0;
}

int
melyint_dumpsig_claim(int signo, int *fd)
{
	int error;

	if (signo < 1 || signo >= SIGNALS || signo == SIGKILL || signo == SIGSTOP)
		return -EINVAL;
	pthread_mutex_lock(&claims_lock);
	error = claim_locked(signo, fd);
	pthread_mutex_unlock(&claims_lock);
	return error;
}

void
melyint_dumpsig_release(int signo)
{
	struct sigaction old;

	pthread_mutex_lock(&claims_lock);
	/* The program may have installed another handler since. */
	if (sigaction(signo, NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
	    old.sa_handler == asked)
		(void)sigaction(signo, &claims[signo].old, NULL);
	MELY_STORE(&claims[signo].pid, 0, relaxed); /* a late handler may still write */
	pthread_mutex_unlock(&claims_lock);
}

void
melyint_dumpsig_lock(void)
{
	pthread_mutex_lock(&claims_lock);
}

void
melyint_dumpsig_unlock(void)
{
	pthread_mutex_unlock(&claims_lock);
}

void
melyint_dumpsig_here(struct melyint_live *live)
{
	static MELY_TLS int unblocked; /* signal of this thread; 0: none */
	sigset_t one;

	if (live->signo == 0 || live->signo == unblocked)
		return;
	unblocked = live->signo;
	sigemptyset(&one);
	sigaddset(&one, live->signo);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}
