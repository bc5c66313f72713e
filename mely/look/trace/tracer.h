/* SPDX-License-Identifier: MIT */
/*
 * tracer.h: the records of a trace: a ring for each core, one for the threads that are no core, and
 * the names that colors had. Filled by observe.c, read by look/trace/write.c.
 *
 * NOTE(ring)
 *   A. A ring has one writer, its core, which overwrites the oldest record: the words of the record
 *      first, then head, which counts records (release). A fence keeps the words of the next record
 *      behind that.
 *   B. Anybody reads it at any time, mostly when the trace is over, or when the process dies: head
 *      (acquire), then a copy of the words, then a fence and head again. What lies so far behind
 *      the second head that it may have been overwritten is thrown away, and so is the one that
 *      was just being written. Nobody waits for anybody.
 *   C. The ring of the outside has many writers. A writer takes a number from head, fills the
 *      record of that number, and stores the number beside it last (release); it takes the old one
 *      away first. The reader takes only records that had the right number before and after it.
 *      Two writers are in one record only when the ring went round while one of them was in it;
 *      then the record may be made of both, which is a wrong arrow at worst.
 *   D. Rings live as long as their runtime. A trace that begins notes the heads, and what is behind
 *      is of an older one. So a core that has not yet seen that a trace is over may go on writing.
 */
#ifndef MELYINT_LOOK_TRACE_TRACER_H
#define MELYINT_LOOK_TRACE_TRACER_H

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sys/types.h>
#include <mely/trace.h>

#include "base/atomic.h"
#include "base/compiler.h"

struct mely_color;
struct mely_runtime;
struct melyint_core;

enum melyint_trace_kind {
	MELYINT_TRACE_NONE = 0,
	MELYINT_TRACE_RUN,      /* what: the event; color; number: the handler */
	MELYINT_TRACE_BATCH,    /* a batch is over. number: color-queues waiting */
	MELYINT_TRACE_OWN_POST, /* to the running color. what: the event. No time of its own. */
	MELYINT_TRACE_POST,     /* what: the event */
	MELYINT_TRACE_STEAL,    /* what: when it ended; color; other: victim; number: balance */
	MELYINT_TRACE_POLL,     /* begins */
	MELYINT_TRACE_POLLED,   /* ends. number: found */
	MELYINT_TRACE_SLEEP,    /* begins */
	MELYINT_TRACE_AWAKE,    /* ends */
	MELYINT_TRACE_WAKE      /* other: the core that is woken */
};

/* melyint_record.flags */
enum { MELYINT_TRACE_OBJECT = 1 }; /* color is the address of a color object, else an id */

/* As the reader sees it. In the ring: four words, the last one made of what is behind color. */
struct melyint_record {
	uint64_t ticks;
	uint64_t what;
	uint64_t color;
	uint32_t number;
	uint16_t other;
	uint8_t flags;
	uint8_t kind;
};

enum {
	MELYINT_RECORD_WORDS = 4,
	MELYINT_TRACE_NAME = 40, /* bytes of a color's name, with its end */
	MELYINT_TRACE_NAMES = 8192
};

/* How the file is opened while it is written: never what somebody else has put there. */
#define MELYINT_TRACE_MAKE (O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)

struct melyint_ring {
	/* the writer */
	_Alignas(MELY_CACHE_LINE) _Atomic uint64_t head; /* records written */
	_Atomic uint64_t *words; /* of mask + 1 records; constant */
	uint64_t mask;           /* constant */
	_Atomic uint64_t *stamps;/* number + 1 of each record; of the outside's ring; constant */
	uint64_t from;           /* head when the trace began; under the trace lock */
};

/* What a color was called from some time on. "": it has lost its name. */
struct melyint_trace_name {
	uint64_t color;
	uint64_t ticks;
	uint32_t flags;          /* MELYINT_TRACE_OBJECT */
	char name[MELYINT_TRACE_NAME];
};

struct melyint_tracer {
	struct mely_runtime *rt; /* constant */
	_Atomic bool on;         /* written under the trace lock */
	_Atomic bool writing;    /* the file is being written; anyone */
	uint32_t sample;         /* one batch in so many; constant */
	pid_t pid;               /* whose trace it is; under the trace lock */
	uint64_t start_ticks;    /* written before on */
	uint64_t start_ns;
	char path[PATH_MAX];     /* written before on */
	char temporary[PATH_MAX];/* path.PID.tmp, PID that of `pid`: only such a one writes it; or
	                          * path, where that is no ordinary file */
	int rings_count;         /* cores, and the outside; constant */
	struct melyint_ring *rings;

	/* written under names_lock; read without it as a ring */
	_Alignas(MELY_CACHE_LINE) pthread_mutex_t names_lock;
	_Atomic uint64_t names_count;
	struct melyint_trace_name *names;

	char *stacks;            /* of the cores, for the handler of fatal signals */

	/* the writer's: copies, and room to sort */
	struct melyint_scratch *scratch;
	void *map;               /* all of the above */
	size_t map_size;
};

/* Write a record: A of NOTE(ring). The ring's core only. rest: melyint_trace_rest. */
MELY_INLINE void
melyint_ring_put(struct melyint_ring *ring, uint64_t ticks, uint64_t what, uint64_t color,
    uint64_t rest)
{
	uint64_t head = MELY_LOAD(&ring->head, relaxed); /* ours */
	_Atomic uint64_t *at = &ring->words[(head & ring->mask) * MELYINT_RECORD_WORDS];

	/* relaxed, all: published by head */
	MELY_STORE(&at[0], ticks, relaxed);
	MELY_STORE(&at[1], what, relaxed);
	MELY_STORE(&at[2], color, relaxed);
	MELY_STORE(&at[3], rest, relaxed);
	/* release: pairs with the acquire in melyint_ring_copy */
	MELY_STORE(&ring->head, head + 1, release);
#ifndef MELYINT_TSAN
	MELY_FENCE(release); /* pairs with the fence in melyint_ring_copy */
#endif
}

/* The same into the ring of the outside, by any thread: C of NOTE(ring). */
void melyint_ring_put_shared(struct melyint_ring *ring, uint64_t ticks, uint64_t what,
    uint64_t color, uint64_t rest);

/* Copy what the ring has of the trace. Any thread, and in a signal handler. Returns the number of
 * records; *lost: those overwritten. to has room for all of the ring. */
uint64_t melyint_ring_copy(const struct melyint_ring *ring, struct melyint_record *to,
    uint64_t *lost);

MELY_INLINE uint64_t
melyint_trace_rest(enum melyint_trace_kind kind, uint32_t number, unsigned other, unsigned flags)
{
	return (uint64_t)kind << 56 | (uint64_t)(flags & 0xff) << 48 |
	    (uint64_t)(other & 0xffff) << 32 | number;
}

/* ---- the life of a trace --------------------------------------------------------------------- */

/* When a runtime is made: start what config.trace asks for. Says what went wrong. */
void melyint_trace_begin(struct mely_runtime *rt);
/* Before a runtime is freed: write the trace that is on, give all back. */
void melyint_trace_end(struct mely_runtime *rt);
/* The process exits, the cores are parked. */
void melyint_trace_exit(struct mely_runtime *rt);
/* In the child of a fork: it is the parent's trace. */
void melyint_trace_fork(struct mely_runtime *rt);
/* The name of a color has changed; name may be NULL. Any thread. */
void melyint_trace_named(struct mely_runtime *rt, const struct mely_color *color,
    const char *name);
/* The same, of a color and into a tracer that is not on yet. */
void melyint_trace_note_name(struct melyint_tracer *tracer, const struct mely_color *color,
    const char *name);

/* ---- the file: look/trace/write.c ----------------------------------------------------------------- */

/* Bytes of scratch for rings of so many records each, so many rings. */
size_t melyint_scratch_size(int rings, uint64_t records);
struct melyint_scratch *melyint_scratch_init(void *memory, int rings, uint64_t records);

/* Write the file of a trace: why is "stop", "exit" ... Calls nothing that a signal handler may not
 * call. 0 or -errno. One call at a time for each tracer. */
int melyint_trace_write(struct melyint_tracer *tracer, const char *why);

/* The name of a handler by its number. Any thread, and in a signal handler. */
const char *melyint_trace_handler_name(uint32_t number);

/* ---- dying: look/trace/fatal.c -------------------------------------------------------------------- */

enum { MELYINT_FATAL_STACK = 1 << 16 };

/* A trace is on, or is no more. Under the trace lock. */
void melyint_fatal_watch(struct melyint_tracer *tracer);
void melyint_fatal_unwatch(struct melyint_tracer *tracer);
/* In the child of a fork: none of the traces is ours. */
void melyint_fatal_fork(void);
/* Give the calling thread, which is a core, a stack for the handler, in case that its own is full;
 * tracer NULL: take it away. */
void melyint_fatal_stack(const struct melyint_tracer *tracer, int core);

#endif
