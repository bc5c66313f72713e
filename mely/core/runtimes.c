/* SPDX-License-Identifier: MIT */
/*
 * runtimes.c: the list of all runtimes of the process.
 */
#include "core/runtimes.h"

#include "base/assert.h"

static pthread_mutex_t lock MELY_LASTING = PTHREAD_MUTEX_INITIALIZER;
static struct mely_runtime *first MELY_LASTING; /* under lock */

struct mely_runtime *
melyint_runtimes_lock(void)
{
	pthread_mutex_lock(&lock);
	return first;
}

void
melyint_runtimes_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void
melyint_runtimes_add(struct mely_runtime *rt)
{
	pthread_mutex_lock(&lock);
	rt->life.next = first;
	first = rt;
	pthread_mutex_unlock(&lock);
}

void
melyint_runtimes_remove(struct mely_runtime *rt)
{
	struct mely_runtime **link;

	pthread_mutex_lock(&lock);
	for (link = &first; *link != rt; link = &(*link)->life.next)
		MELY_ASSERT(*link != NULL);
	*link = rt->life.next;
	pthread_mutex_unlock(&lock);
}

void
melyint_runtimes_each(void (*fn)(struct mely_runtime *rt))
{
	struct mely_runtime *rt;

	for (rt = melyint_runtimes_lock(); rt != NULL; rt = rt->life.next)
		fn(rt);
	melyint_runtimes_unlock();
}
