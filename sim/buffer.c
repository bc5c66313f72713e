/* SPDX-License-Identifier: MIT */
/* buffer.c: see buffer.h. */
#include "buffer.h"

#include <string.h>

#include "engine.h"
#include "order.h"

enum { STORES = 16 };

extern char __start_sim_tls[], __stop_sim_tls[];

struct store {
	void *p;
	uint64_t value;         /* the thread runs: what the others see; else: what it stored */
	uint8_t size;
	bool changes;           /* of a read-modify-write: C of NOTE(buffers) */
	bool releases;
};

struct buffer {
	uint32_t first, count;
	struct store ring[STORES];
	struct sim_clock clocks[STORES]; /* of the releases */
};

static struct buffer buffers[SIM_CLOCKS];
static bool buffered;           /* this run */
static uint32_t waiting;        /* stores, in all buffers */
static uint64_t compared;       /* what the word had, between sim_buffer_access and _cas */

void
sim_buffer_begin(bool on)
{
	int i;

	for (i = 0; i < SIM_CLOCKS; i++)
		buffers[i].first = buffers[i].count = 0;
	waiting = 0;
	buffered = on;
}

bool
sim_buffer_empty(void)
{
	return waiting == 0;
}

bool
sim_buffer_orders(int thread)
{
	const struct buffer *b = &buffers[thread < SIM_CLOCKS ? thread : 0];

	return thread < SIM_CLOCKS && b->count > 0 && b->ring[b->first].changes &&
	    b->ring[b->first].releases;
}

/* ---- words ----------------------------------------------------------------------------------- */

static uint64_t
word_at(const void *p, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, p, size);
	return value;
}

static void
exchange(struct store *s)
{
	uint64_t now = 0;

	/* Each thread that stops or goes on does this: the usual sizes are fast. */
	if (s->size == sizeof(uint64_t)) {
		memcpy(&now, s->p, sizeof(uint64_t));
		memcpy(s->p, &s->value, sizeof(uint64_t));
	} else if (s->size == sizeof(uint32_t)) {
		memcpy(&now, s->p, sizeof(uint32_t));
		memcpy(s->p, &s->value, sizeof(uint32_t));
	} else {
		now = word_at(s->p, s->size);
		memcpy(s->p, &s->value, s->size);
	}
	s->value = now;
}

static struct store *
store_at(struct buffer *b, uint32_t i)
{
	return &b->ring[(b->first + i) % STORES];
}

void
sim_buffer_leave(int thread)
{
	struct buffer *b;
	uint32_t i;

	if (thread >= SIM_CLOCKS)
		return;
	b = &buffers[thread];
	for (i = b->count; i > 0; i--)
		exchange(store_at(b, i - 1));
}

void
sim_buffer_enter(int thread)
{
	struct buffer *b;
	uint32_t i;

	if (thread >= SIM_CLOCKS)
		return;
	b = &buffers[thread];
	for (i = 0; i < b->count; i++)
		exchange(store_at(b, i));
}

/* ---- arrival: no thread's stores are in memory before their time ----------------------------- */

static void
arrive(struct buffer *b)
{
	struct store *s = store_at(b, 0);

	memcpy(s->p, &s->value, s->size);
	sim_order_arrive(s->p, s->releases ? &b->clocks[b->first] : NULL, s->changes);
	b->first = (b->first + 1) % STORES;
	b->count--;
	waiting--;
}

/* C of NOTE(buffers): someone changes the word. The store of a read-modify-write is always the
 * oldest, and only one waits for a word. */
static void
find_change(const void *p)
{
	int i;

	for (i = 0; i < SIM_CLOCKS; i++) {
		struct buffer *b = &buffers[i];

		if (b->count > 0 && b->ring[b->first].changes && b->ring[b->first].p == p) {
			arrive(b);
			return;
		}
	}
}

static void
arrive_some(struct buffer *b, uint32_t n)
{
	for (; n > 0; n--) {
		if (!store_at(b, 0)->changes)
			find_change(store_at(b, 0)->p);
		arrive(b);
	}
}

void
sim_buffer_drain(struct sim_rng *rng, uint32_t share)
{
	int i;

	for (i = 0; i < SIM_CLOCKS && waiting > 0; i++) {
		if (buffers[i].count > 0 && (sim_rng_next(rng) & 0xffff) < share)
			arrive_some(&buffers[i], 1 + sim_rng_below(rng, buffers[i].count));
	}
}

void
sim_buffer_drain_all(void)
{
	int i;

	for (i = 0; i < SIM_CLOCKS && waiting > 0; i++)
		arrive_some(&buffers[i], buffers[i].count);
}

static void
flush(int thread)
{
	if (thread >= SIM_CLOCKS || buffers[thread].count == 0)
		return;
	sim_buffer_leave(thread);
	arrive_some(&buffers[thread], buffers[thread].count);
}

void
sim_settle(void)
{
	if (buffered && sim_self != NULL)
		flush(sim_self->id);
}

/* ---- accesses -------------------------------------------------------------------------------- */

/* The running thread has changed p, or will before it does anything else. */
static void
add(int thread, const struct sim_site *site, void *p, uint64_t before)
{
	struct buffer *b = &buffers[thread];
	struct store *s;

	if (b->count == STORES) {
		sim_buffer_leave(thread);
		arrive_some(b, 1);
		sim_buffer_enter(thread);
	}
	s = store_at(b, b->count++);
	waiting++;
	s->p = p;
	s->value = before;
	s->size = site->size;
	s->changes = site->kind == SIM_RMW || site->kind == SIM_CAS;
	s->releases = (site->order & SIM_release) != 0;
	if (s->releases)
		sim_order_leave(thread, &b->clocks[s - b->ring]);
}

/* Can the store wait? Variables of a thread move when it stops (engine.c). */
static bool
can_wait(int thread, const struct sim_site *site, const void *p)
{
	return thread < SIM_CLOCKS && site->order != SIM_seq_cst &&
	    site->size <= sizeof(uint64_t) &&
	    ((const char *)p < __start_sim_tls || (const char *)p >= __stop_sim_tls);
}

/* A read-modify-write, which takes place next or (compare and exchange) just has. */
static void
change(int thread, const struct sim_site *site, void *p, uint64_t before)
{
	if (!can_wait(thread, site, p)) {
		if (site->kind == SIM_CAS)
			sim_order_cas(thread, site, p, true);
		else
			sim_order_access(thread, site, p);
		return;
	}
	if (site->order & SIM_acquire)
		sim_order_acquire(thread, p);
	add(thread, site, p, before);
}

void
sim_buffer_access(int thread, const struct sim_site *site, const void *at)
{
	void *p = (void *)(uintptr_t)at;

	switch (site->kind) {
	case SIM_FENCE:
		if (site->order == SIM_seq_cst)
			flush(thread);
		break;
	case SIM_STORE:
	case SIM_COUNT:
		if (can_wait(thread, site, p)) {
			add(thread, site, p, word_at(p, site->size));
			break;
		}
		flush(thread);
		find_change(p);
		sim_order_access(thread, site, p);
		break;
	case SIM_RMW:
		flush(thread);
		find_change(p);
		change(thread, site, p, word_at(p, site->size));
		break;
	case SIM_CAS:
		flush(thread);
		find_change(p);
		compared = word_at(p, site->size);
		break;
	default:
		sim_order_access(thread, site, p);
		break;
	}
}

void
sim_buffer_cas(int thread, const struct sim_site *site, const void *p, bool done)
{
	if (done)
		change(thread, site, (void *)(uintptr_t)p, compared);
}
