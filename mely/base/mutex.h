/* SPDX-License-Identifier: MIT */
/*
 * mutex.h: a mutex for data that threads use rarely or hold for long. In developer builds it has a
 * witness, as the lock of lock.h: the thread that holds it.
 */
#ifndef MELYINT_BASE_MUTEX_H
#define MELYINT_BASE_MUTEX_H

#include <pthread.h>

#include "base/lock.h"

struct melyint_mutex {
	pthread_mutex_t mutex;
#ifdef MELY_DEVELOPER
	_Atomic uintptr_t holder; /* 0: none; written by the holder */
#endif
};

/* Does the calling thread hold the mutex? For assertions. Release builds always say yes. */
MELY_INLINE bool
melyint_mutex_held(const struct melyint_mutex *m)
{
#ifdef MELY_DEVELOPER
	return MELY_PEEK(&m->holder) == melyint_lock_self();
#else
	(void)m;
	return true;
#endif
}

MELY_INLINE void
melyint_mutex_set_holder(struct melyint_mutex *m, bool holds)
{
#ifdef MELY_DEVELOPER
	MELY_POKE(&m->holder, holds ? melyint_lock_self() : 0);
#else
	(void)m;
	(void)holds;
#endif
}

MELY_INLINE void
melyint_mutex_init(struct melyint_mutex *m)
{
	pthread_mutex_init(&m->mutex, NULL);
	melyint_mutex_set_holder(m, false);
}

MELY_INLINE void
melyint_mutex_fini(struct melyint_mutex *m)
{
	pthread_mutex_destroy(&m->mutex);
}

MELY_INLINE void
melyint_mutex_take(struct melyint_mutex *m)
{
	MELY_DEBUG_ASSERT(!melyint_mutex_held(m)); /* not recursive */
	pthread_mutex_lock(&m->mutex);
	melyint_mutex_set_holder(m, true);
}

MELY_INLINE void
melyint_mutex_drop(struct melyint_mutex *m)
{
	MELY_DEBUG_ASSERT(melyint_mutex_held(m));
	melyint_mutex_set_holder(m, false);
	pthread_mutex_unlock(&m->mutex);
}

#endif
