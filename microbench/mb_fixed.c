/* SPDX-License-Identifier: MIT */
/*
 * mb_fixed.c: the time that a fixed amount of work takes, from its first post to the end of the
 * color that is last. Any thread, see mb.h.
 */
#include "mb.h"

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

struct mb_fixed {
	atomic_int left; /* colors that have not run their share */
	double begin_s, end_s;
	sem_t ended;
};

struct mb_fixed *
mb_fixed_new(int colors)
{
	struct mb_fixed *fixed = calloc(1, sizeof(*fixed));

	if (fixed == NULL || sem_init(&fixed->ended, 0, 0) != 0)
		mb_fail("fixed work", errno);
	atomic_init(&fixed->left, colors);
	return fixed;
}

void
mb_fixed_begin(struct mb_fixed *fixed)
{
	fixed->begin_s = mb_now_s();
}

void
mb_fixed_done(struct mb_fixed *fixed)
{
	/* Relaxed: a number; what the measuring thread reads is ordered by the semaphore. */
	if (atomic_fetch_sub_explicit(&fixed->left, 1, memory_order_relaxed) != 1)
		return;
	fixed->end_s = mb_now_s();
	if (sem_post(&fixed->ended) != 0)
		mb_fail("sem_post", errno);
}

void
mb_fixed_measure(struct mb_fixed *fixed, uint64_t events, struct mb_sample *out)
{
	while (sem_wait(&fixed->ended) != 0 && errno == EINTR)
		;
	out->events = (double)events;
	out->value = (double)events / (fixed->end_s - fixed->begin_s);
}

void
mb_fixed_free(struct mb_fixed *fixed)
{
	sem_destroy(&fixed->ended);
	free(fixed);
}
