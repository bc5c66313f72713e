/* SPDX-License-Identifier: MIT */
/*
 * write.c: the file of a trace: records and names as they lie in memory. mely-gantt(1) makes sense
 * of it. The format is in docs/internals/trace.md, and mely-gantt/raw.c reads it.
 *
 * All of it is safe in a signal handler, because a signal handler writes the trace of a process
 * that dies: no allocation, no lock, no formatting.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/descriptor.h"
#include "base/clock.h"
#include "core/core.h"
#include "core/handlers.h"
#include "look/trace/tracer.h"

/* ---- the format ------------------------------------------------------------------------------ */

#define MAGIC "melytrc"

enum {
	VERSION = 1,
	BYTE_ORDER_MARK = 0x01020304
};

struct head {
	char magic[8];
	uint32_t byte_order;
	uint32_t version;
	uint32_t rings;         /* of the cores, then the shared one */
	uint32_t sample;        /* one batch in N was traced */
	uint64_t pid;
	uint64_t start_ticks, start_ns;
	uint64_t end_ticks, end_ns;
	char end[16];           /* why the trace ended; texts are padded with zeros */
	char producer[32];
	char program[80];
};

enum part_kind {
	PART_END = 0,           /* nothing; a file without it is incomplete */
	PART_RECORDS,           /* of one ring, oldest first; a ring has any number of parts */
	PART_LOST,              /* uint64_t for each ring: records that were overwritten */
	PART_HANDLERS,          /* struct handler_name */
	PART_COLORS             /* struct melyint_trace_name */
};

/* Stands before each part. */
struct part {
	uint32_t kind;
	uint32_t ring;          /* of PART_RECORDS */
	uint64_t bytes;         /* that follow */
};

struct handler_name {
	uint32_t number;
	char name[MELYINT_HANDLER_NAME];
};

_Static_assert(sizeof(struct head) == 192 && sizeof(struct part) == 16 &&
    sizeof(struct handler_name) == 84 && sizeof(struct melyint_trace_name) == 64,
    "these sizes are part of the format: a change takes a new version");

/* ---- writing --------------------------------------------------------------------------------- */

enum {
	RECORDS_AT_ONCE = 2048,
	HANDLERS_AT_ONCE = 256
};

struct melyint_trace_copy {
	int fd;
	int error;              /* the first one, negative; nothing is written after it */
	struct head head;
	union {
		struct melyint_record records[RECORDS_AT_ONCE];
		struct handler_name handlers[HANDLERS_AT_ONCE];
	} as;
	struct {
		uint64_t end;       /* head of the ring when the trace ended */
		uint64_t lost;
	} rings[];
};

size_t
melyint_trace_copy_size(int rings)
{
	return sizeof(struct melyint_trace_copy) +
	    (size_t)rings * sizeof(((struct melyint_trace_copy *)NULL)->rings[0]);
}

static void
put(struct melyint_trace_copy *copy, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size > 0 && copy->error == 0) {
		ssize_t n = write(copy->fd, at, size);

		if (n > 0) {
			at += n;
			size -= (size_t)n;
		} else if (n == 0) {
			copy->error = -EIO;
		} else if (errno != EINTR) {
			copy->error = -errno;
		}
	}
}

static void
put_part(struct melyint_trace_copy *copy, enum part_kind kind, int ring, const void *bytes,
    size_t size)
{
	struct part part = {.kind = kind, .ring = (uint32_t)ring, .bytes = size};

	put(copy, &part, sizeof part);
	put(copy, bytes, size);
}

/* Cut if it does not fit, and padded with zeros. */
static void
set_text(char *to, size_t size, const char *text)
{
	size_t length = strnlen(text, size - 1);

	memset(to, 0, size);
	memcpy(to, text, length);
}

/* What the rings hold from now on is not of this trace. */
static void
end_trace(struct melyint_trace_copy *copy, const struct melyint_tracer *tracer, const char *end)
{
	struct head *head = &copy->head;
	int i;

	for (i = 0; i < tracer->rings_count; i++)
		copy->rings[i].end = melyint_ring_head(&tracer->rings[i]);
	memcpy(head->magic, MAGIC, sizeof head->magic);
	head->byte_order = BYTE_ORDER_MARK;
	head->version = VERSION;
	head->rings = (uint32_t)tracer->rings_count;
	head->sample = tracer->sample;
	head->pid = (uint64_t)tracer->pid;
	head->start_ticks = tracer->start_ticks;
	head->start_ns = tracer->start_ns;
	/* The length of the trace gives the rate of the ticks, better than a short measurement. */
	head->end_ticks = melyint_ticks();
	head->end_ns = melyint_now_ns();
	set_text(head->end, sizeof head->end, end);
	set_text(head->producer, sizeof head->producer, "mely " MELY_VERSION_STRING);
	set_text(head->program, sizeof head->program, program_invocation_short_name);
}

/* The time of the last of n records that has one; before them it was latest. */
static uint64_t
latest_of(const struct melyint_record *records, uint64_t n, uint64_t latest)
{
	while (n > 0 && records[n - 1].ticks == 0)
		n--;
	return n > 0 ? records[n - 1].ticks : latest;
}

/* The core goes on while its ring is copied, so records may be missing before the next ones. */
static void
put_gap(struct melyint_trace_copy *copy, int index, uint64_t latest)
{
	struct melyint_record gap = {
		.ticks = latest, .rest = melyint_trace_rest(MELYINT_TRACE_GAP, 0, 0, 0)
	};

	put_part(copy, PART_RECORDS, index, &gap, sizeof gap);
}

static void
put_ring(struct melyint_trace_copy *copy, const struct melyint_ring *ring, int index)
{
	uint64_t end = copy->rings[index].end, at = ring->from, copied = 0, latest = 0;

	MELY_ASSERT(at <= end);
	if (end - at > ring->mask + 1)
		at = end - (ring->mask + 1);
	while (at < end && copy->error == 0) {
		uint64_t next = end - at < RECORDS_AT_ONCE ? end : at + RECORDS_AT_ONCE;
		uint64_t n = melyint_ring_copy(ring, at, next, copy->as.records);

		/* A shared ring has posts only: they stand alone. */
		if (n < next - at && copied > 0 && ring->stamps == NULL)
			put_gap(copy, index, latest);
		latest = latest_of(copy->as.records, n, latest);
		put_part(copy, PART_RECORDS, index, copy->as.records,
		    (size_t)n * sizeof copy->as.records[0]);
		copied += n;
		at = next;
	}
	copy->rings[index].lost = end - ring->from - copied;
}

static void
put_lost(struct melyint_trace_copy *copy, int rings)
{
	struct part part = {.kind = PART_LOST, .bytes = (uint64_t)rings * sizeof(uint64_t)};
	int i;

	put(copy, &part, sizeof part);
	for (i = 0; i < rings; i++)
		put(copy, &copy->rings[i].lost, sizeof copy->rings[i].lost);
}

static void
put_handlers(struct melyint_trace_copy *copy)
{
	uint32_t end = melyint_handlers_end(), number;
	size_t n = 0;

	for (number = 1; number <= end; number++) {
		uint32_t which = number < end ? number : MELYINT_HANDLER_OTHER;
		/* Not melyint_handler_name: E of NOTE(handlers) */
		const char *name = melyint_handler_name_known(which);

		if (name != NULL) {
			copy->as.handlers[n].number = which;
			set_text(copy->as.handlers[n].name, sizeof copy->as.handlers[n].name, name);
			n++;
		}
		if (n == HANDLERS_AT_ONCE || number == end) {
			put_part(copy, PART_HANDLERS, 0, copy->as.handlers,
			    n * sizeof copy->as.handlers[0]);
			n = 0;
		}
	}
}

static void
put_all(struct melyint_trace_copy *copy, const struct melyint_tracer *tracer)
{
	uint64_t names;
	int i;

	put(copy, &copy->head, sizeof copy->head);
	for (i = 0; i < tracer->rings_count; i++)
		put_ring(copy, &tracer->rings[i], i);
	put_lost(copy, tracer->rings_count);
	put_handlers(copy);
	/* acquire: pairs with the release in trace.c:note_name */
	names = MELY_LOAD(&tracer->names_count, acquire);
	put_part(copy, PART_COLORS, 0, tracer->names, (size_t)names * sizeof tracer->names[0]);
	put_part(copy, PART_END, 0, NULL, 0);
}

int
melyint_trace_write(struct melyint_tracer *tracer, const char *end)
{
	struct melyint_trace_copy *copy = tracer->copy;
	bool renamed = strcmp(tracer->path, tracer->temporary) != 0;

	MELY_ASSERT(tracer->magic == MELYINT_TRACER_MAGIC);
	copy->error = 0;
	copy->fd = melyint_fd_high(renamed ? open(tracer->temporary, MELYINT_TRACE_MAKE, 0666) :
	    open(tracer->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
	if (copy->fd < 0)
		return -errno;
	end_trace(copy, tracer, end);
	put_all(copy, tracer);
	if (close(copy->fd) < 0 && copy->error == 0)
		copy->error = -errno;
	if (!renamed) /* a device or a pipe: leave it in place */
		return copy->error;
	if (copy->error == 0 && rename(tracer->temporary, tracer->path) < 0)
		copy->error = -errno;
	if (copy->error != 0)
		(void)unlink(tracer->temporary); /* half a file is of no use */
	return copy->error;
}
