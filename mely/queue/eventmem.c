/* SPDX-License-Identifier: MIT */
/*
 * eventmem.c: blocks of events. A block with room is in the list of its shard, those in use first;
 * a full one is in none. An event finds its block by its address. Threads take turns with the
 * shards, so that several of them seldom wait for one lock; an event goes back to its own shard.
 *
 * A few events that stay in the pools of cores may be all that is used of their blocks. So a block
 * has a list of free events for each of its pages, and a trim gives back the pages that are empty.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/lock.h"
#include "base/pages.h"
#include "queue/eventmem.h"

#ifdef MELYINT_EVENTS_WATCHED

uint32_t
melyint_events_new(struct mely_event **to, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		to[i] = aligned_alloc(MELY_CACHE_LINE, MELY_CACHE_LINE);
		if (to[i] == NULL)
			break;
	}
	return i;
}

void
melyint_events_free(struct mely_event *const *events, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		free(events[i]);
}

size_t
melyint_events_trim(void)
{
	return 0;
}

uint64_t
melyint_events_freed(void)
{
	return 0;
}

void
melyint_events_lock(void)
{
}

void
melyint_events_unlock(void)
{
}

#else

enum {
	SHARDS = 8,
	PAGE = 4096,
	PAGES = MELYINT_BLOCK / PAGE,
	PAGE_LINES = PAGE / MELY_CACHE_LINE,
	HEAD_LINES = 5,     /* of the first page */
	LINES = PAGES * PAGE_LINES - HEAD_LINES,
	EMPTY_MAX = 4,      /* blocks that a shard keeps for reuse */
	TRIM_AT_ONCE = 32 * PAGE,
	MAGIC = 0x65766d62  /* "evmb" */
};

union line {
	union line *free; /* the next one of its page */
	_Alignas(MELY_CACHE_LINE) char bytes[MELY_CACHE_LINE];
};

/* Under the lock of its shard. */
struct block {
	_Alignas(MELY_CACHE_LINE) struct block *next; /* of its shard; circular */
	struct block *prev;
	struct shard *shard; /* constant */
	uint32_t magic;
	uint32_t used;
	uint16_t roomy;      /* pages with room */
	struct {
		union line *free;
		uint8_t used;
		uint8_t cut; /* lines that were used since the page was last given back */
	} page[PAGES];
};
_Static_assert(sizeof(struct block) <= HEAD_LINES * MELY_CACHE_LINE, "the head has its lines");

struct shard {
	_Alignas(MELY_CACHE_LINE) struct melyint_lock lock;
	struct block *roomy; /* under the lock */
	uint32_t empty;      /* of these; under the lock */
	_Atomic uint64_t freed; /* calls that freed some of its events; written under the lock */
};

static struct shard shards[SHARDS];

/* The shard that this thread takes events from. */
static struct shard *
own_shard(void)
{
	static _Atomic uint32_t threads;
	static MELY_TLS struct shard *own;

	if (own == NULL)
		own = &shards[MELY_ADD(&threads, 1, relaxed) % SHARDS]; /* any one will do */
	return own;
}

static void
assert_block(const struct block *block)
{
	MELY_ASSERT(block->magic == MAGIC);
	MELY_DEBUG_ASSERT(melyint_lock_held(&block->shard->lock));
	MELY_DEBUG_ASSERT(block->used <= LINES && (block->roomy == 0) == (block->used == LINES));
}

static uint32_t
lines_of(unsigned page)
{
	return page == 0 ? PAGE_LINES - HEAD_LINES : PAGE_LINES;
}

static void
assert_page(const struct block *block, unsigned page)
{
	MELY_DEBUG_ASSERT(block->page[page].used <= block->page[page].cut &&
	    block->page[page].cut <= lines_of(page));
	MELY_DEBUG_ASSERT((block->page[page].free == NULL) ==
	    (block->page[page].used == block->page[page].cut));
	MELY_DEBUG_ASSERT((block->roomy >> page & 1) ==
	    (block->page[page].used < lines_of(page)));
}

/* The first line of a page for events. */
static union line *
page_lines(struct block *block, unsigned page)
{
	union line *first = (union line *)block + page * PAGE_LINES;

	return page == 0 ? first + HEAD_LINES : first;
}

static void
link_block(struct shard *shard, struct block *block, bool first)
{
	if (shard->roomy == NULL) {
		shard->roomy = block->next = block->prev = block;
		return;
	}
	block->next = shard->roomy;
	block->prev = shard->roomy->prev;
	block->prev->next = block->next->prev = block;
	if (first)
		shard->roomy = block;
}

static void
unlink_block(struct shard *shard, struct block *block)
{
	MELY_DEBUG_ASSERT(block->next->prev == block && block->prev->next == block);
	if (shard->roomy == block)
		shard->roomy = block->next != block ? block->next : NULL;
	block->next->prev = block->prev;
	block->prev->next = block->next;
}

/* Under the lock: an event of a block with room. */
static struct mely_event *
take(struct shard *shard, struct block *block)
{
	unsigned page = (unsigned)__builtin_ctz(block->roomy | 1u << PAGES);
	union line *line;

	assert_block(block);
	MELY_DEBUG_ASSERT(page < PAGES); /* full blocks are in no list */
	assert_page(block, page);
	line = block->page[page].free;
	if (line != NULL)
		block->page[page].free = line->free;
	else
		line = page_lines(block, page) + block->page[page].cut++;
	if (++block->page[page].used == lines_of(page))
		block->roomy &= (uint16_t)~(1u << page);
	assert_page(block, page);
	if (block->used++ == 0)
		shard->empty--;
	if (block->used == LINES)
		unlink_block(shard, block);
	return (struct mely_event *)line;
}

/* Under the lock, which this drops while it gets memory. False: there is none. */
static bool
grow(struct shard *shard)
{
	struct block *block;

	melyint_lock_drop(&shard->lock);
	block = melyint_block_new();
	melyint_lock_take(&shard->lock);
	if (block == NULL)
		return false;
	block->shard = shard;
	block->magic = MAGIC;
	block->roomy = UINT16_MAX;
	shard->empty++;
	link_block(shard, block, false);
	return true;
}

uint32_t
melyint_events_new(struct mely_event **to, uint32_t n)
{
	struct shard *shard = own_shard();
	uint32_t i = 0;

	melyint_lock_take(&shard->lock);
	while (i < n && (shard->roomy != NULL || grow(shard)))
		if (shard->roomy != NULL) /* while the lock was dropped, others took from it */
			to[i++] = take(shard, shard->roomy);
	melyint_lock_drop(&shard->lock);
	return i;
}

/* Under the lock. Returns the block when its last event is free and the shard has enough such. */
static struct block *
give(struct mely_event *ev)
{
	union line *line = (union line *)ev;
	struct block *block = (struct block *)((uintptr_t)ev & ~(uintptr_t)(MELYINT_BLOCK - 1));
	unsigned page = (unsigned)(((uintptr_t)ev & (MELYINT_BLOCK - 1)) / PAGE);
	struct shard *shard = block->shard;

	assert_block(block);
	assert_page(block, page);
	MELY_DEBUG_ASSERT(line >= page_lines(block, page) &&
	    line < page_lines(block, page) + block->page[page].cut);
	line->free = block->page[page].free;
	block->page[page].free = line;
	block->page[page].used--;
	block->roomy |= (uint16_t)(1u << page);
	assert_page(block, page);
	if (block->used-- == LINES)
		link_block(shard, block, true);
	if (block->used > 0)
		return NULL;
	unlink_block(shard, block);
	if (shard->empty >= EMPTY_MAX) /* more, when several threads have grown it at once */
		return block;
	shard->empty++;
	link_block(shard, block, false);
	return NULL;
}

static size_t
free_blocks(struct block *blocks)
{
	size_t bytes = 0;

	while (blocks != NULL) {
		struct block *next = blocks->next;

		blocks->magic = 0;
		melyint_block_free(blocks);
		bytes += MELYINT_BLOCK;
		blocks = next;
	}
	return bytes;
}

void
melyint_events_free(struct mely_event *const *events, uint32_t n)
{
	struct shard *locked = NULL;
	struct block *empty = NULL;
	uint32_t i;

	for (i = 0; i < n; i++) {
		/* constant while one of its events is in use */
		struct shard *shard = ((struct block *)((uintptr_t)events[i] &
		    ~(uintptr_t)(MELYINT_BLOCK - 1)))->shard;
		struct block *block;

		if (shard != locked) {
			if (locked != NULL)
				melyint_lock_drop(&locked->lock);
			melyint_lock_take(&shard->lock);
			MELY_COUNT(&shard->freed, 1);
			locked = shard;
		}
		block = give(events[i]);
		if (block != NULL) {
			block->next = empty;
			empty = block;
		}
	}
	if (locked != NULL)
		melyint_lock_drop(&locked->lock);
	(void)free_blocks(empty);
}

uint64_t
melyint_events_freed(void)
{
	uint64_t freed = 0;
	int i;

	for (i = 0; i < SHARDS; i++)
		freed += MELY_LOAD(&shards[i].freed, relaxed); /* a count */
	return freed;
}

/* Under the lock: give back empty pages of a block, but not the first, which has its head. */
static size_t
trim_block(struct block *block)
{
	size_t bytes = 0;
	unsigned page;

	assert_block(block);
	for (page = 1; page < PAGES; page++) {
		if (block->page[page].used > 0 || block->page[page].cut == 0 ||
		    madvise(page_lines(block, page), PAGE, MADV_DONTNEED) != 0)
			continue;
		block->page[page].free = NULL;
		block->page[page].cut = 0;
		bytes += PAGE;
	}
	return bytes;
}

/* Give empty pages of a shard back, a few blocks at a time: other threads wait for the lock. */
static size_t
trim_shard(struct shard *shard)
{
	size_t bytes = 0, some;
	struct block *block;

	/* A page of the system may be larger, and hold events that are in use. */
	if (sysconf(_SC_PAGESIZE) != PAGE)
		return 0;
	do {
		some = 0;
		melyint_lock_take(&shard->lock);
		block = shard->roomy;
		while (block != NULL && some < TRIM_AT_ONCE) {
			some += trim_block(block);
			block = block->next != shard->roomy ? block->next : NULL;
		}
		melyint_lock_drop(&shard->lock);
		bytes += some;
	} while (some >= TRIM_AT_ONCE);
	return bytes;
}

size_t
melyint_events_trim(void)
{
	struct block *empty = NULL;
	size_t bytes = 0;
	int i;

	for (i = 0; i < SHARDS; i++) {
		struct shard *shard = &shards[i];
		struct block *block;

		melyint_lock_take(&shard->lock);
		/* The empty ones are the last. */
		while (shard->roomy != NULL && shard->roomy->prev->used == 0) {
			block = shard->roomy->prev;
			unlink_block(shard, block);
			shard->empty--;
			block->next = empty;
			empty = block;
		}
		MELY_DEBUG_ASSERT(shard->empty == 0);
		melyint_lock_drop(&shard->lock);
		bytes += trim_shard(shard);
	}
	return bytes + free_blocks(empty);
}

void
melyint_events_lock(void)
{
	int i;

	for (i = 0; i < SHARDS; i++)
		melyint_lock_take(&shards[i].lock);
}

void
melyint_events_unlock(void)
{
	int i;

	for (i = SHARDS - 1; i >= 0; i--)
		melyint_lock_drop(&shards[i].lock);
}

#endif
