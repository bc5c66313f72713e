/* SPDX-License-Identifier: MIT */
/*
 * tracer.h: the records of a trace: one ring for each core, one for all other threads, and the
 * names of colors. observe.c fills them, write.c writes them to a file.
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

/* Part of the file format (docs/internals/trace.md): a new meaning takes a new number. */
enum melyint_trace_kind {
	MELYINT_TRACE_NONE = 0,
	MELYINT_TRACE_RUN,      /* an event begins. what: the event; color; number: the handler */
	MELYINT_TRACE_BATCH,    /* a batch has ended. number: color-queues that wait */
	MELYINT_TRACE_OWN_POST, /* to the running color. what: the event. Has no time. */
	MELYINT_TRACE_POST,     /* what: the event */
	MELYINT_TRACE_STEAL,    /* what: when it ended; color; other: victim; number: balance */
	MELYINT_TRACE_POLL,     /* begins */
	MELYINT_TRACE_POLLED,   /* ends. number: descriptors found */
	MELYINT_TRACE_SLEEP,    /* begins */
	MELYINT_TRACE_AWAKE,    /* ends */
	MELYINT_TRACE_WAKE,     /* other: the core that is woken */
	MELYINT_TRACE_GAP       /* records after it were overwritten while others were copied */
};

/* Flags of a record and of a name. */
enum { MELYINT_TRACE_OBJECT = 1 }; /* color is the address of a color object, not an id */

/* As in the ring and in the file. */
struct melyint_record {
	uint64_t ticks;
	uint64_t what;
	uint64_t color;
	uint64_t rest;          /* melyint_trace_rest */
};

enum {
	MELYINT_RECORD_WORDS = 4,
	MELYINT_TRACE_NAME = 40, /* bytes of a color's name, with the 0 at its end */
	MELYINT_TRACE_NAMES = 8192
};

_Static_assert(sizeof(struct melyint_record) == MELYINT_RECORD_WORDS * sizeof(uint64_t),
    "a record is copied word by word");

/* How the temporary file is created: never over a file or link that exists. */
#define MELYINT_TRACE_MAKE (O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)

/* NOTE(ring) is in ring.c. */
struct melyint_ring {
	/* the writer */
	_Alignas(MELY_CACHE_LINE) _Atomic uint64_t head; /* records written */
	_Atomic uint64_t *words; /* of mask + 1 records; constant */
	uint64_t mask;           /* constant */
	_Atomic uint64_t *stamps;/* number + 1 of each record; only in the shared ring; constant */
	/* under the trace lock */
	uint64_t from;           /* head when the trace began */
};

/* The name that a color has from some time on. "": it has lost its name. As in the file. */
struct melyint_trace_name {
	uint64_t color;
	uint64_t ticks;
	uint32_t flags;          /* MELYINT_TRACE_OBJECT */
	char name[MELYINT_TRACE_NAME];
};

enum { MELYINT_TRACER_MAGIC = 0x7261c3 };

struct melyint_tracer {
	uint32_t magic;          /* constant */
	struct mely_runtime *rt; /* constant */
	_Atomic bool on;         /* written under the trace lock */
	_Atomic bool writing;    /* the file is being written; any thread */
	uint32_t sample;         /* one batch in N is traced; constant */
	pid_t pid;               /* the process that started the trace; under the trace lock */
	uint64_t start_ticks;    /* written before on */
	uint64_t start_ns;
	char path[PATH_MAX];     /* written before on */
	char temporary[PATH_MAX];/* path.PID.tmp, which only that process writes; or path, if it
	                          * is not a regular file */
	int rings_count;         /* the cores, and one for other threads; constant */
	struct melyint_ring *rings;

	/* written under names_lock; read without it like a ring */
	_Alignas(MELY_CACHE_LINE) pthread_mutex_t names_lock;
	_Atomic uint64_t names_count;
	struct melyint_trace_name *names;

	char *stacks;            /* of the cores, for the handler of fatal signals */
	struct melyint_trace_copy *copy; /* of write.c; for the thread that has set writing */
	size_t map_size;         /* of this struct and all that it points to */
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
	/* release: pairs with the acquire in melyint_ring_head */
	MELY_STORE(&ring->head, head + 1, release);
	MELY_FENCE(release); /* pairs with the fence in ring.c:copy_owned */
}

/* Write a record to the shared ring: C of NOTE(ring). Any thread. */
void melyint_ring_put_shared(struct melyint_ring *ring, uint64_t ticks, uint64_t what,
    uint64_t color, uint64_t rest);

/* The number of records written so far, whose words a copy may read. Any thread. */
uint64_t melyint_ring_head(const struct melyint_ring *ring);

/* Copy the records numbered first up to, but without, end, which is at most the size of the ring
 * away and not beyond its head. Those that have been overwritten are left out. Returns the number
 * of records copied. Any thread, also in a signal handler. */
uint64_t melyint_ring_copy(const struct melyint_ring *ring, uint64_t first, uint64_t end,
    struct melyint_record *to);

MELY_INLINE uint64_t
melyint_trace_rest(enum melyint_trace_kind kind, uint32_t number, unsigned other, unsigned flags)
{
	return (uint64_t)kind << 56 | (uint64_t)(flags & 0xff) << 48 |
	    (uint64_t)(other & 0xffff) << 32 | number;
}

/* ---- the life of a trace --------------------------------------------------------------------- */

/* When a runtime is made: start the trace that config.trace names. Reports errors. */
void melyint_trace_begin(struct mely_runtime *rt);
/* Before a runtime is freed: write the trace that is on, free the tracer. */
void melyint_trace_end(struct mely_runtime *rt);
/* The process exits and the cores are parked: write the trace. */
void melyint_trace_exit(struct mely_runtime *rt);
/* In the child of a fork: the trace stays the parent's. */
void melyint_trace_fork(struct mely_runtime *rt);

/* ---- the file: write.c ----------------------------------------------------------------------- */

/* Bytes of struct melyint_trace_copy for that number of rings. */
size_t melyint_trace_copy_size(int rings);

/* Write the file of a trace. end: why it ends, "stop", "exit" ... Safe in a signal handler. 0 or
 * -errno. Only the thread that has set tracer->writing. */
int melyint_trace_write(struct melyint_tracer *tracer, const char *end);

/* ---- fatal signals: fatal.c ------------------------------------------------------------------ */

enum { MELYINT_FATAL_STACK = 1 << 16 };

/* A trace begins, or has ended. Under the trace lock. */
void melyint_fatal_watch(struct melyint_tracer *tracer);
void melyint_fatal_unwatch(struct melyint_tracer *tracer);
/* In the child of a fork: forget the parent's traces. */
void melyint_fatal_fork(void);
/* Give the calling thread, which is a core, an alternate stack for the signal handler, because its
 * own may be full; tracer NULL: take it away. */
void melyint_fatal_stack(const struct melyint_tracer *tracer, int core);

#endif
