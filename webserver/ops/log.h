/* SPDX-License-Identifier: MIT */
/*
 * log.h: the access log: a ring of lines for each core, and a thread that writes them to a file.
 * A core never waits: a line that finds no room is dropped and counted. The thread writes at least
 * four times a second, and the lines of one connection in their order.
 */
#ifndef SWS_OPS_LOG_H
#define SWS_OPS_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ops/log_line.h"

struct sws_log;
struct sws_log_ring;

/** Is this what says that there is no file of that name: "off", or "-" for standard output? */
static inline bool
sws_log_is_off(const char *path)
{
	return path == NULL || strcmp(path, "off") == 0;
}

static inline bool
sws_log_is_stdout(const char *path)
{
	return strcmp(path, "-") == 0;
}

/**
 * Open the log at a path for this many cores. NULL after one line
 * on stderr. The caller is the only thread.
 */
struct sws_log *sws_log_open(const char *path, enum sws_log_format format, int cores);
/** Start the thread. 0 or a negative errno. */
int sws_log_start(struct sws_log *log);
/** Write what is left, as far as the file takes it within a second, and free all. NULL: nothing. */
void sws_log_close(struct sws_log *log);

/** Open the path again: the file has been renamed. Any thread. */
void sws_log_reopen(struct sws_log *log);

struct sws_log_ring *sws_log_ring(struct sws_log *log, int core);

/** Add a line, in the order of now_ns: mely_now_ns() in this handler. On the core of the ring. */
void sws_log_add(struct sws_log_ring *ring, const struct sws_log_entry *entry, uint64_t now_ns);

/** Lines that were dropped, and lines that were written. Any thread. */
uint64_t sws_log_dropped(const struct sws_log *log);
uint64_t sws_log_written(const struct sws_log *log);

#endif
