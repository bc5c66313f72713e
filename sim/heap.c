/* SPDX-License-Identifier: MIT */
/* heap.c: a binary heap; see heap.h. */
#include "heap.h"

static struct {
	struct sim_thread *at[SIM_THREADS_MAX];
	int count;
} heap;

void
sim_heap_begin(void)
{
	heap.count = 0;
}

uint64_t
sim_heap_key(const struct sim_thread *thread)
{
	switch (thread->state) {
	case SIM_RUNNABLE:
		return thread->time_ps;
	case SIM_BLOCKED:
		return thread->deadline_ps > thread->time_ps || thread->deadline_ps == SIM_NEVER ?
		    thread->deadline_ps : thread->time_ps;
	default:
		return SIM_NEVER;
	}
}

static bool
before(const struct sim_thread *a, const struct sim_thread *b)
{
	uint64_t ka = sim_heap_key(a), kb = sim_heap_key(b);

	return ka != kb ? ka < kb : a->id < b->id;
}

static void
put(struct sim_thread *thread, int place)
{
	heap.at[place] = thread;
	thread->place = place;
}

static void
up(struct sim_thread *thread, int place)
{
	while (place > 0 && before(thread, heap.at[(place - 1) / 2])) {
		put(heap.at[(place - 1) / 2], place);
		place = (place - 1) / 2;
	}
	put(thread, place);
}

static void
down(struct sim_thread *thread, int place)
{
	for (;;) {
		int child = 2 * place + 1;

		if (child + 1 < heap.count && before(heap.at[child + 1], heap.at[child]))
			child++;
		if (child >= heap.count || !before(heap.at[child], thread))
			break;
		put(heap.at[child], place);
		place = child;
	}
	put(thread, place);
}

void
sim_heap_add(struct sim_thread *thread)
{
	up(thread, heap.count++);
}

void
sim_heap_changed(struct sim_thread *thread)
{
	int place = thread->place;

	if (place > 0 && before(thread, heap.at[(place - 1) / 2]))
		up(thread, place);
	else
		down(thread, place);
}

struct sim_thread *
sim_heap_first(void)
{
	return heap.count > 0 ? heap.at[0] : NULL;
}

uint64_t
sim_heap_second_key(void)
{
	uint64_t a = heap.count > 1 ? sim_heap_key(heap.at[1]) : SIM_NEVER;
	uint64_t b = heap.count > 2 ? sim_heap_key(heap.at[2]) : SIM_NEVER;

	return a < b ? a : b;
}
