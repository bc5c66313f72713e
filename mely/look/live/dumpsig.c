/* SPDX-License-Identifier: MIT */
/*
 * dumpsig.c: NOTE(dumpsig) in dumpsig.h.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/atomic.h"
#include "look/live/dumpsig.h"

enum { SIGNALS = 65 };

struct claim {
	_Atomic int fd;    /* eventfd + 1, so that 0 is none; written under claims_lock */
	_Atomic int pid;   /* of the process that claimed it; 0: nobody; as above */
	struct sigaction old; /* that was there before it was claimed; under claims_lock */
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
		/* A full counter has a dump to come already. */
		if (write(fd, &one, sizeof one) < 0)
			errno = error;
	}
	errno = error;
}

/* Is the signal as the system left it? */
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
		/* B and C of NOTE(dumpsig): what the parent left is shared with it, and stays */
		*fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
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
	/* In the child of a fork it is the parent's that was there. */
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
	/* The program may have put a handler of its own there meanwhile. */
	if (sigaction(signo, NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
	    old.sa_handler == asked)
		(void)sigaction(signo, &claims[signo].old, NULL);
	MELY_STORE(&claims[signo].pid, 0, relaxed); /* a handler that comes too late may write */
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
	static MELY_TLS int unblocked; /* the signal that this thread has; 0: none */
	sigset_t one;

	if (live->signo == 0 || live->signo == unblocked)
		return;
	unblocked = live->signo;
	sigemptyset(&one);
	sigaddset(&one, live->signo);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}
