/* SPDX-License-Identifier: MIT */
/*
 * table.c: the table of colors by id. Any thread; a thread holds no core's lock when it takes the
 * table's mutex.
 *
 * Dense ids live in chunks of 1,024 colors: the first DENSE_ALWAYS ids, and others below
 * DENSE_LIMIT while the existing chunks are at least a quarter used. Every other id has a separate
 * entry in a hash table, which gets new buckets as it grows. The first use of an id decides which
 * of the two holds it. Chunks, and the slabs that entries are cut from, are blocks of pages, so
 * that an idle dense color costs its 64 bytes and nothing else.
 *
 * NOTE(colortab)
 *   A. Readers walk chunk pointers and hash chains with acquire loads; writers, under the table's
 *      mutex, publish complete colors with release stores. Memory that a reader may still reach is
 *      not changed or freed before a grace period has passed.
 *   B. A core is a reader from the look-up until its turn ends at the latest. Any other thread
 *      counts itself in table->readers from enter to leave.
 *   C. To give colors back, the trim holds the table's mutex and the lock of a color's owner. It
 *      marks a color DEAD that is idle and not HELD, then unlinks it. What keeps the address of a
 *      color for longer than its handler runs holds it (melyint_color_hold). A poster that
 *      looked the color up before finds the mark under the same owner's lock and looks the id up
 *      again (sched/post.c). So the old object takes no more events, and the id can be made again
 *      at once. Posts in outboxes cannot look again. So no post goes into an outbox from a grace
 *      period before the trim marks anything until one after it, and no outbox holds a post to a
 *      color that is DEAD.
 *   D. The trim (trim.c) frees the memory after a grace period: core/grace.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/mutex.h"
#include "base/pages.h"
#include "color/slab.h"
#include "color/table.h"
#include "color/table_private.h"

enum {
	CHUNK = MELYINT_DENSE_CHUNK,
	DENSE_ALWAYS = 16384,
	DENSE_LIMIT = MELYINT_DENSE_LIMIT,
	DIRECTORY = MELYINT_DENSE_DIRECTORY,
	DENSITY = 4           /* at least 1 of 4 */
};

/* A color exists when its owner is set. */
_Static_assert(CHUNK * sizeof(struct mely_color) == MELYINT_BLOCK, "a chunk is a block");

/* ---- buckets --------------------------------------------------------------------------------- */

static struct melyint_buckets *
buckets_new(size_t count, struct melyint_buckets *older)
{
	struct melyint_buckets *b = calloc(1, sizeof *b + count * sizeof b->chain[0]);

	MELY_DEBUG_ASSERT((count & (count - 1)) == 0); /* hash masks with it */
	if (b != NULL) {
		b->count = count;
		b->older = older;
	}
	return b;
}

void
melyint_buckets_free(struct melyint_buckets *b)
{
	while (b != NULL) {
		struct melyint_buckets *older = b->older;

		free(b);
		b = older;
	}
}

/* ---- making and freeing the table ------------------------------------------------------------ */

int
melyint_colortab_new(struct mely_runtime *rt, struct melyint_colortab **table)
{
	struct melyint_colortab *t = aligned_alloc(MELY_CACHE_LINE, sizeof *t);
	struct melyint_buckets *b = buckets_new(MELYINT_BUCKETS_MIN, NULL);

	if (t != NULL)
		memset(t, 0, sizeof *t);
	if (t == NULL || b == NULL)
		goto no_memory;
	t->rt = rt;
	t->dense.directory = calloc(DIRECTORY, sizeof t->dense.directory[0]);
	t->used = calloc(DIRECTORY, sizeof t->used[0]);
	if (t->dense.directory == NULL || t->used == NULL)
		goto no_memory;
	melyint_mutex_init(&t->lock);
	melyint_slabs_init(&t->slabs, &t->lock);
	/* relaxed: no other thread knows the table yet */
	MELY_STORE(&t->buckets, b, relaxed);
	*table = t;
	return 0;
no_memory:
	if (t != NULL) {
		free(t->dense.directory);
		free(t->used);
	}
	free(b);
	free(t);
	return -ENOMEM;
}

void
melyint_colortab_renew(struct melyint_colortab *t)
{
	MELY_STORE(&t->readers, 0, relaxed); /* one thread */
}

void
melyint_colortab_free(struct melyint_colortab *t)
{
	struct melyint_buckets *b;
	size_t i;

	if (t == NULL)
		return;
	/* Threads of the parent of a fork never leave. */
	MELY_DEBUG_ASSERT(MELY_PEEK(&t->readers) == 0 ||
	    MELY_PEEK(&t->rt->phase) == MELYINT_FORKED);
	melyint_mutex_take(&t->lock); /* for the slabs */
	/* relaxed, all: no other thread knows the table any more */
	for (i = 0; i < DIRECTORY && t->chunks > 0; i++) {
		uintptr_t entry = MELY_LOAD(&t->dense.directory[i], relaxed);
		struct mely_color *chunk = melyint_dense_chunk(entry);

		if (chunk != NULL) {
			t->chunks--;
			melyint_block_free(chunk);
		}
	}
	MELY_DEBUG_ASSERT(t->chunks == 0); /* the directory had all */
	free(t->dense.directory);
	free(t->used);
	b = MELY_LOAD(&t->buckets, relaxed);
	for (i = 0; i < b->count; i++) {
		struct melyint_entry *e = MELY_LOAD(&b->chain[i], relaxed);

		while (e != NULL) {
			struct melyint_entry *next = MELY_LOAD(&e->next, relaxed);

			melyint_entry_free(&t->slabs, e);
			t->scattered--;
			e = next;
		}
	}
	MELY_DEBUG_ASSERT(t->scattered == 0); /* the chains had all */
	melyint_slabs_fini(&t->slabs);
	melyint_mutex_drop(&t->lock);
	melyint_buckets_free(b);
	melyint_mutex_fini(&t->lock);
	free(t);
}

/* ---- looking up ------------------------------------------------------------------------------ */

static struct mely_color *
find_scattered(struct melyint_colortab *t, uint32_t id)
{
	/* acquire, all: A of NOTE(colortab) */
	struct melyint_buckets *b = MELY_LOAD(&t->buckets, acquire);
	size_t h = melyint_colortab_hash(id, b->count);
	struct melyint_entry *e = MELY_LOAD(&b->chain[h], acquire);

	while (e != NULL && e->color._id != id)
		e = MELY_LOAD(&e->next, acquire);
	/* A freed entry has no owner: the grace period of a trim was too short. */
	MELY_DEBUG_ASSERT(e == NULL || MELY_PEEK(&e->color._owner) != NULL);
	return e != NULL ? &e->color : NULL;
}

static struct mely_color *
find(struct melyint_colortab *t, uint32_t id)
{
	struct mely_color *color = melyint_dense_find(&t->dense, id);

	MELY_DEBUG_ASSERT(color == NULL ||
	    (color->_id == id && MELY_PEEK(&color->_owner)->rt == t->rt));
	/* An id below DENSE_LIMIT may be scattered, too. */
	return MELY_LIKELY(color != NULL) ? color : find_scattered(t, id);
}

/* ---- making ---------------------------------------------------------------------------------- */

static struct melyint_core *
home_of(struct mely_runtime *rt, uint32_t id)
{
	return &rt->cores[id % (uint32_t)rt->cores_count];
}

/* The chunk for an id; NULL when the id belongs into the hash table. Under the lock. */
static struct mely_color *
obtain_chunk(struct melyint_colortab *t, uint32_t id)
{
	struct mely_color *chunk;

	melyint_assert_colortab_locked(t);
	if (id >= DENSE_LIMIT)
		return NULL;
	/* relaxed: under the lock */
	chunk = melyint_dense_chunk(MELY_LOAD(&t->dense.directory[id / CHUNK], relaxed));
	if (chunk != NULL)
		return chunk;
	if (id >= DENSE_ALWAYS && t->chunks * CHUNK > t->colors * DENSITY + DENSE_ALWAYS)
		return NULL;
	chunk = melyint_block_new();
	if (chunk == NULL)
		return NULL;
	MELY_DEBUG_ASSERT(((uintptr_t)chunk & MELYINT_DENSE_FULL) == 0); /* room for the mark */
	t->chunks++;
	t->used[id / CHUNK] = 0;
	/* release: A of NOTE(colortab) */
	MELY_STORE(&t->dense.directory[id / CHUNK], (uintptr_t)chunk, release);
	return chunk;
}

/* Replace the buckets. Under the lock. Readers of the old buckets still find whole chains: entries
 * are only pushed at the front of new chains, which share the tails. */
void
melyint_colortab_resize(struct melyint_colortab *t, size_t count)
{
	struct melyint_buckets *old = MELY_LOAD(&t->buckets, relaxed); /* under the lock */
	struct melyint_buckets *b = buckets_new(count, old);
	size_t i, moved = 0;

	melyint_assert_colortab_locked(t);
	if (b == NULL)
		return; /* the chains only get longer */
	for (i = 0; i < old->count; i++) {
		struct melyint_entry *e = MELY_LOAD(&old->chain[i], relaxed);

		while (e != NULL) {
			struct melyint_entry *next = MELY_LOAD(&e->next, relaxed);
			size_t h = melyint_colortab_hash(e->color._id, b->count);

			/* A redirected entry can lead a reader of the old chain into a new one,
			 * which may lack its id: the reader then searches again under the lock. */
			MELY_STORE(&e->next, MELY_LOAD(&b->chain[h], relaxed), release);
			MELY_STORE(&b->chain[h], e, relaxed);
			e = next;
			moved++;
		}
	}
	MELY_DEBUG_ASSERT(moved == t->scattered); /* no color was lost */
	/* release: A of NOTE(colortab) */
	MELY_STORE(&t->buckets, b, release);
}

static struct mely_color *
make_scattered(struct melyint_colortab *t, uint32_t id)
{
	struct melyint_buckets *b = MELY_LOAD(&t->buckets, relaxed); /* under the lock */
	struct melyint_entry *e = melyint_entry_new(&t->slabs);
	size_t h;

	melyint_assert_colortab_locked(t);
	if (e == NULL)
		return NULL;
	melyint_color_setup(&e->color, home_of(t->rt, id), id, 0);
	/* More than that: there was no memory for the last attempts. */
	if (t->scattered >= b->count) {
		melyint_colortab_resize(t, b->count * 2);
		b = MELY_LOAD(&t->buckets, relaxed);
	}
	MELY_DEBUG_ASSERT(melyint_colortab_peek(b, id) == NULL); /* one color for an id */
	t->scattered++;
	h = melyint_colortab_hash(id, b->count);
	MELY_STORE(&e->next, MELY_LOAD(&b->chain[h], relaxed), relaxed);
	/* release: A of NOTE(colortab) */
	MELY_STORE(&b->chain[h], e, release);
	return &e->color;
}

static struct mely_color *
make_dense(struct melyint_colortab *t, struct mely_color *chunk, uint32_t id)
{
	struct mely_color *color = &chunk[id % CHUNK];

	melyint_assert_colortab_locked(t);
	/* Its owner, stored last, makes it exist. */
	MELY_DEBUG_ASSERT(MELY_PEEK(&color->_owner) == NULL && t->used[id / CHUNK] < CHUNK);
	melyint_color_setup(color, home_of(t->rt, id), id, 0);
	t->colors++;
	if (++t->used[id / CHUNK] == CHUNK) {
		/* release: A of NOTE(colortab) */
		MELY_STORE(&t->dense.directory[id / CHUNK], (uintptr_t)chunk | MELYINT_DENSE_FULL,
		    release);
		melyint_assert_chunk(t, id / CHUNK);
	}
	return color;
}

static MELY_NOINLINE struct mely_color *
make_slow(struct melyint_colortab *t, uint32_t id)
{
	struct mely_color *color, *chunk;

	melyint_colortab_take(t);
	color = find(t, id);
	if (color == NULL) {
		chunk = obtain_chunk(t, id);
		color = chunk != NULL ? make_dense(t, chunk, id) : make_scattered(t, id);
	}
	melyint_mutex_drop(&t->lock);
	MELY_DEBUG_ASSERT(color == NULL || color->_id == id);
	return color;
}

int
melyint_colortab_enter(struct mely_runtime *rt, struct melyint_core *self, uint32_t id,
    struct mely_color **color)
{
	struct melyint_colortab *t = rt->colors;

	MELY_DEBUG_ASSERT(self == melyint_self); /* its turns, or t->readers, keep the color */
	/* acquire: pairs with the release stores of the life cycle */
	if (MELY_UNLIKELY(MELY_LOAD(&rt->phase, acquire) == MELYINT_FORKED))
		return -ECHILD;
	if (self == NULL || self->rt != rt) {
		/* acq_rel: pairs with the trim's exchange on the same word; a reader that
		 * comes after it sees what was unlinked before it */
		MELY_ADD(&t->readers, 1, acq_rel);
	}
	*color = find(t, id);
	if (MELY_UNLIKELY(*color == NULL))
		*color = make_slow(t, id);
	if (*color != NULL)
		return 0;
	melyint_colortab_leave(rt, self);
	return -ENOMEM;
}

void
melyint_colortab_leave(struct mely_runtime *rt, struct melyint_core *self)
{
	if (self == NULL || self->rt != rt) {
		MELY_DEBUG_ASSERT(MELY_PEEK(&rt->colors->readers) > 0); /* this thread counts */
		/* release: what this thread did with the color comes before a trim that sees 0 */
		MELY_SUB(&rt->colors->readers, 1, release);
	}
}

bool
melyint_colortab_settle(struct mely_runtime *rt)
{
	melyint_colortab_take(rt->colors);
	melyint_mutex_drop(&rt->colors->lock);
	return true;
}

size_t
melyint_colortab_bytes(const struct melyint_colortab *t)
{
	struct melyint_colortab *table = (struct melyint_colortab *)(uintptr_t)t;
	size_t bytes;

	melyint_colortab_take(table);
	/* relaxed: under the lock */
	bytes = t->chunks * MELYINT_BLOCK + t->scattered * sizeof(struct melyint_entry) +
	    MELY_LOAD(&table->buckets, relaxed)->count * sizeof(void *);
	melyint_mutex_drop(&table->lock);
	return bytes;
}

void
melyint_colortab_lock(struct melyint_colortab *t)
{
	melyint_colortab_take(t);
}

void
melyint_colortab_unlock(struct melyint_colortab *t)
{
	melyint_mutex_drop(&t->lock);
}
