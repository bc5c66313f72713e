/* SPDX-License-Identifier: MIT */
/*
 * shim_thread.c: threads, mutexes, condition variables and the clock of the simulated library. The
 * shim keeps its own data in the memory of the library's mutex (zero: free, as in a static mutex).
 */
#include "shim.h"

#include "order.h"

struct mutex {
	uint32_t owner;         /* its number + 1; 0: free */
	uint32_t waiting;
};

_Static_assert(sizeof(struct mutex) <= sizeof(pthread_mutex_t), "a mutex fits in a mutex");

int
sim_pthread_create(pthread_t *thread, void *(*fn)(void *arg), void *arg)
{
	int id;

	sim_call("pthread_create");
	id = sim_thread_new(fn, arg);
	if (id < 0)
		return EAGAIN;
	*thread = (pthread_t)id;
	return 0;
}

int
sim_pthread_join(pthread_t thread)
{
	sim_call("pthread_join");
	sim_thread_join((int)thread);
	return 0;
}

void
sim_mutex_init(pthread_mutex_t *mutex)
{
	memset(mutex, 0, sizeof *mutex);
}

int
sim_mutex_trylock(pthread_mutex_t *mutex)
{
	struct mutex *m = (struct mutex *)(void *)mutex;

	if (sim_self == NULL)
		return 0;
	if (m->owner != 0)
		return EBUSY;
	sim_settle();
	m->owner = (uint32_t)sim_self->id + 1;
	sim_order_acquire(sim_self->id, m);
	return 0;
}

int
sim_mutex_lock(pthread_mutex_t *mutex)
{
	struct mutex *m = (struct mutex *)(void *)mutex;

	sim_call("mutex");
	while (sim_mutex_trylock(mutex) != 0) {
		if (m->owner == (uint32_t)sim_self->id + 1)
			sim_fail("a mutex is locked by the thread that holds it");
		m->waiting++;
		(void)sim_block(m, SIM_NEVER);
		m->waiting--;
	}
	return 0;
}

int
sim_mutex_unlock(pthread_mutex_t *mutex)
{
	struct mutex *m = (struct mutex *)(void *)mutex;

	if (sim_self == NULL)
		return 0;
	if (m->owner != (uint32_t)sim_self->id + 1)
		sim_fail("a mutex is unlocked by a thread that does not hold it");
	sim_settle();
	sim_order_release(sim_self->id, m);
	m->owner = 0;
	if (m->waiting > 0)
		sim_wake(m, false);
	sim_call("mutex");
	return 0;
}

int
sim_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until)
{
	uint64_t deadline_ps = SIM_NEVER;
	struct mutex *m = (struct mutex *)(void *)mutex;
	bool woken;

	if (until != NULL)
		deadline_ps = ((uint64_t)until->tv_sec * 1000000000u +
		    (uint64_t)until->tv_nsec) * 1000u;
	/* Unlock and wait in one step: no interleaving point lies between them. */
	sim_settle();
	sim_order_release(sim_self->id, m);
	m->owner = 0;
	if (m->waiting > 0)
		sim_wake(m, false);
	woken = sim_block(cond, deadline_ps);
	sim_mutex_lock(mutex);
	return woken ? 0 : ETIMEDOUT;
}

int
sim_cond_wake(pthread_cond_t *cond, bool all)
{
	sim_wake(cond, all);
	sim_call("cond");
	return 0;
}

static uint64_t
ps_of(const struct timespec *spell)
{
	return ((uint64_t)spell->tv_sec * 1000000000u + (uint64_t)spell->tv_nsec) * 1000u;
}

int
sim_nanosleep(const struct timespec *spell)
{
	(void)sim_block(NULL, sim_now_ps() + ps_of(spell));
	return 0;
}

int
sim_clock_gettime(struct timespec *now)
{
	uint64_t ns = sim_now_ps() / 1000;

	now->tv_sec = (time_t)(ns / 1000000000u);
	now->tv_nsec = (long)(ns % 1000000000u);
	return 0;
}

/* ---- the machine ----------------------------------------------------------------------------- */

int sim_processors = 4;

int
sim_getaffinity(size_t size, cpu_set_t *mask)
{
	int i;

	CPU_ZERO_S(size, mask);
	for (i = 0; i < sim_processors; i++)
		CPU_SET_S((size_t)i, size, mask);
	return 0;
}

int
sim_setaffinity(const cpu_set_t *mask)
{
	(void)mask;
	return 0;
}

void
sim_abort(void)
{
	sim_fail("%s", sim_said());
}
