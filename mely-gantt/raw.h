/* SPDX-License-Identifier: MIT */
/*
 * raw.h: a trace as the library writes it (docs/internals/trace.md): records of each core, and the
 * names of handlers and colors. The file is not trusted: what raw.c accepts has times, rows and
 * texts within the limits stated here.
 *
 * One thread; nothing global.
 */
#ifndef GANTT_RAW_H
#define GANTT_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum gantt_raw_kind {
	RAW_NONE = 0,   /**< also any kind that this program does not know */
	RAW_RUN,        /**< an event begins. what: its address; color; number: the handler */
	RAW_BATCH,      /**< a batch has ended. number: color-queues that wait */
	RAW_OWN_POST,   /**< to the running color. what: the event; no time of its own */
	RAW_POST,       /**< what: the event */
	RAW_STEAL,      /**< what: when it ended; color; other: victim; number: balance */
	RAW_POLL,       /**< begins */
	RAW_POLLED,     /**< ends. number: descriptors found */
	RAW_SLEEP,      /**< begins */
	RAW_AWAKE,      /**< ends */
	RAW_WAKE,       /**< other: the core that is woken */
	RAW_GAP,        /**< records after it were overwritten */
	RAW_KINDS
};

/** gantt_raw_record.flags: color is the address of a color object, not an id. */
#define RAW_OBJECT 1

struct gantt_raw_record {
	uint64_t ticks;
	uint64_t what;
	uint64_t color;
	uint32_t number;
	uint16_t other;
	uint8_t flags;
	uint8_t kind;
};

/** A core; the last row is that of the threads that are not cores. */
struct gantt_raw_row {
	struct gantt_raw_record *record; /**< in the order of time, slices one after another */
	size_t count;
	size_t room;
	uint64_t lost;          /**< records that were overwritten */
};

/** The name that a color has from some time on. */
struct gantt_raw_name {
	uint64_t color;
	uint64_t ticks;
	unsigned flags;
	char *name;             /**< valid UTF-8; "": it has lost its name */
};

struct gantt_raw {
	uint32_t sample;        /**< one batch in N was traced; at least 1 */
	int64_t pid;            /**< below 2^31 */
	uint64_t start_ns;
	uint64_t length_ns;     /**< at most RAW_LENGTH_MAX */
	uint64_t start_ticks;
	uint64_t end_ticks;     /**< not before start_ticks */
	char *end, *producer, *program; /**< valid UTF-8 */
	struct gantt_raw_row *row;
	size_t rows;            /**< 2 to RAW_ROWS_MAX */
	char **handler;         /**< by number; NULL: no name */
	size_t handlers;
	struct gantt_raw_name *name; /**< in the order of flags, color and time */
	size_t names;
	size_t names_room;
};

#define RAW_LENGTH_MAX UINT64_C(900000000000000000)
#define RAW_ROWS_MAX 4097
#define RAW_HANDLERS_MAX 65536

/** What is wrong with a file, and where. */
struct gantt_raw_fault {
	uint64_t at;            /**< bytes read */
	char what[160];
};

/** Whether a file that begins with this byte is meant as a raw trace. JSON never does. */
bool gantt_raw_begins(int byte);

/** Read all of in. False: fault says why. Free raw in any case. */
bool gantt_raw_read(FILE *in, struct gantt_raw *raw, struct gantt_raw_fault *fault);
void gantt_raw_free(struct gantt_raw *raw);

/** Time since the trace began, from 0 to length_ns. */
uint64_t gantt_raw_ns(const struct gantt_raw *raw, uint64_t ticks);

/** Whether a record of that kind begins a slice, and whether it ends the slice before it. */
bool gantt_raw_begins_slice(unsigned kind);
bool gantt_raw_ends_slice(unsigned kind);

/** The index of the first record behind i that ends a slice; count: none does. */
size_t gantt_raw_slice_end(const struct gantt_raw_row *row, size_t i);

/** The name of a handler; never NULL. */
const char *gantt_raw_handler(const struct gantt_raw *raw, uint32_t number);

/** The name of the color of a record at its time; NULL: it had none. */
const char *gantt_raw_color(const struct gantt_raw *raw, const struct gantt_raw_record *record);

#endif
