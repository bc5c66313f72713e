/* SPDX-License-Identifier: MIT */
/*
 * log.c: the rings of the cores, and the thread that writes them.
 *
 * NOTE(log): a core writes records into its ring, and the thread takes them out.
 *   a. The core writes a record behind head, and then head (release).
 *   b. The thread reads the time, and then all heads (acquire). It takes the records before these
 *      that are older than that time, the oldest of all rings first, and then writes tail
 *      (release), after which the core may use the room again (acquire).
 * A connection whose earlier line is on another core has moved since, so that line was there
 * before the time of the later one: a round of step b that has the later one has the earlier, too.
 *
 * The file may be a pipe that no process reads: the thread waits for it with poll, and for a
 * moment only, so that it also sees the end, or that the file has been renamed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mely/mely.h>

#include "base/assertion.h"
#include "base/local.h"
#include "base/notice.h"
#include "ops/log.h"

/* Room for records that wait; a record that begins in it may end in the tail of the ring. */
#define RING_SIZE ((uint64_t)1 << 20)
#define RECORD_MAX (sizeof(struct record) + SWS_LOG_LINE_MAX)
#define OUT_SIZE ((size_t)1 << 16)
/* The thread is woken when a ring has this many bytes more. */
#define WAKE_BYTES (RING_SIZE / 4)
#define WAIT_MS 250
/* How long the end waits for a file that takes nothing. */
#define LAST_NS UINT64_C(1000000000)
/* A pipe that poll calls ready has room for this. */
#define PIPE_BYTES 4096

struct record {
	uint64_t ns;
	uint32_t size;              /* of this and the line, in units of records */
	uint32_t len;               /* of the line */
};

struct sws_log_ring {
	/* Written by the core. */
	_Alignas(64) _Atomic(uint64_t) head;
	_Atomic(uint64_t) dropped;
	struct sws_log *log;
	uint64_t woken_at;          /* head at the last wake-up */
	char *bytes;
	/* Written by the thread. */
	_Alignas(64) _Atomic(uint64_t) tail;
	uint64_t seen;              /* head, when it began this round */
};

struct sws_log {
	char *path;
	enum sws_log_format format;
	int rings_count;
	int wake;                   /* an eventfd */
	bool started;
	pthread_t thread;
	_Atomic(bool) ending, reopening;
	_Atomic(uint64_t) lost;     /* lines that no file took */
	_Atomic(uint64_t) written;
	struct sws_log_ring *rings;
	/* The thread's. */
	int fd;                     /* -1: none now */
	bool regular;
	bool torn;                  /* the last line in the file has no end */
	uint64_t retry_ns;          /* when to try to open it again */
	uint64_t told;              /* lost lines that have been reported */
	uint64_t until_ns;          /* at the end: when to give up */
	size_t used;
	char out[OUT_SIZE];
};

/* ---- a core -------------------------------------------------------------------------------- */

struct sws_log_ring *
sws_log_ring(struct sws_log *log, int core)
{
	SWS_ASSERT(core >= 0 && core < log->rings_count);
	return &log->rings[core];
}

static void
wake(const struct sws_log *log)
{
	uint64_t one = 1;
	ssize_t n = write(log->wake, &one, sizeof one);

	/* Its counter is full only if the thread is awake anyway. */
	SWS_ASSERT(n == (ssize_t)sizeof one || errno == EAGAIN);
}

/* Where the record after one of this size begins: none begins in the tail of the ring. */
static uint64_t
after(uint64_t at, uint64_t size)
{
	return at % RING_SIZE + size >= RING_SIZE ? (at / RING_SIZE + 1) * RING_SIZE : at + size;
}

void
sws_log_add(struct sws_log_ring *ring, const struct sws_log_entry *entry, uint64_t now_ns)
{
	/* relaxed: this core writes it. */
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	/* acquire: NOTE(log), step b. */
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
	struct record *record = (void *)(ring->bytes + head % RING_SIZE);

	SWS_LOCAL_TAKE(ring);
	SWS_ASSERT(head - tail <= RING_SIZE);
	if (RING_SIZE - (head - tail) < RECORD_MAX) {
		/* relaxed: a count. */
		atomic_store_explicit(&ring->dropped, atomic_load_explicit(&ring->dropped,
		    memory_order_relaxed) + 1, memory_order_relaxed);
		return;
	}
	record->ns = now_ns;
	record->len = (uint32_t)sws_log_format(ring->log->format, entry, (char *)(record + 1));
	record->size = (uint32_t)((sizeof *record + record->len + sizeof *record - 1)
	    / sizeof *record * sizeof *record);
	head = after(head, record->size);
	/* release: NOTE(log), step a. */
	atomic_store_explicit(&ring->head, head, memory_order_release);
	if (head - ring->woken_at >= WAKE_BYTES) {
		ring->woken_at = head;
		wake(ring->log);
	}
	SWS_LOCAL_GIVE(ring);
}

/* ---- the file ------------------------------------------------------------------------------ */

static uint64_t
lines_in(const char *text, size_t len)
{
	uint64_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += text[i] == '\n';
	return n;
}

static uint64_t
dropped_by_cores(const struct sws_log *log)
{
	uint64_t n = 0;

	/* relaxed: counts. */
	for (int i = 0; i < log->rings_count; i++)
		n += atomic_load_explicit(&log->rings[i].dropped, memory_order_relaxed);
	return n;
}

uint64_t
sws_log_dropped(const struct sws_log *log)
{
	/* relaxed: a count. */
	return dropped_by_cores(log) + atomic_load_explicit(&log->lost, memory_order_relaxed);
}

uint64_t
sws_log_written(const struct sws_log *log)
{
	/* relaxed: a count. */
	return atomic_load_explicit(&log->written, memory_order_relaxed);
}

static void
report(struct sws_log *log, const char *why)
{
	char text[512];
	uint64_t lost = sws_log_dropped(log);

	snprintf(text, sizeof text, "%.300s: %s (%llu lines lost so far)", log->path, why,
	    (unsigned long long)lost);
	sws_notice_text(SWS_NOTICE_LOG, text);
	log->told = lost;
}

/* A descriptor of the file, or a negative errno. */
static int
open_file(const char *path)
{
	int fd;

	if (sws_log_is_stdout(path))
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	else
		fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		    0640);
	return fd < 0 ? -errno : fd;
}

/* From now on the lines go here. */
static void
use_file(struct sws_log *log, int fd)
{
	struct stat st;

	SWS_ASSERT(fd >= 0);
	if (log->fd >= 0)
		close(log->fd);
	log->fd = fd;
	log->regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	log->torn = false;
}

static void
open_again(struct sws_log *log)
{
	int fd = open_file(log->path);

	log->retry_ns = mely_now_ns() + LAST_NS;
	if (fd >= 0)
		use_file(log, fd);
	else
		report(log, strerror(-fd));
}

/* The file takes no more: what is left of the text is lost. */
static void
give_up(struct sws_log *log, const char *rest, size_t len, int error)
{
	/* relaxed: a count with one writer. */
	atomic_store_explicit(&log->lost, atomic_load_explicit(&log->lost, memory_order_relaxed)
	    + lines_in(rest, len), memory_order_relaxed);
	report(log, strerror(error));
	if (error == EPIPE && log->fd >= 0) {
		close(log->fd);
		log->fd = -1;
		log->retry_ns = mely_now_ns() + LAST_NS;
	}
}

/* May what is left be written now? False: no, and nothing is left to wait for. */
static bool
wait_for_file(struct sws_log *log, bool *again)
{
	struct pollfd p = {log->fd, POLLOUT, 0};
	/* acquire pairs with sws_log_close. */
	bool ending = atomic_load_explicit(&log->ending, memory_order_acquire), late;

	*again = false;
	if (log->regular)
		return true;
	if (ending && log->until_ns == 0)
		log->until_ns = mely_now_ns() + LAST_NS;
	late = ending && mely_now_ns() >= log->until_ns;
	if (poll(&p, 1, late ? 0 : WAIT_MS) > 0)
		return true;
	*again = true;
	return !late;
}

/* A new file gets whole lines: go back to where the one that was begun begins. */
static size_t
begin_of_line(const char *text, size_t at)
{
	while (at > 0 && text[at - 1] != '\n')
		at--;
	return at;
}

/* Write all that is in `out`. */
static void
write_out(struct sws_log *log)
{
	size_t at = 0, most;
	bool again;
	ssize_t n;

	if (log->fd < 0 && mely_now_ns() >= log->retry_ns)
		open_again(log);
	while (at < log->used) {
		/* acquire pairs with sws_log_reopen. */
		if (atomic_exchange_explicit(&log->reopening, false, memory_order_acquire)) {
			int before = log->fd;

			open_again(log);
			if (log->fd != before)
				at = begin_of_line(log->out, at);
		}
		if (log->fd < 0 || !wait_for_file(log, &again)) {
			give_up(log, log->out + at, log->used - at, EPIPE);
			break;
		}
		if (again)
			continue;
		if (log->torn && at == 0 && write(log->fd, "\n", 1) == 1)
			log->torn = false;
		most = log->regular || log->used - at < PIPE_BYTES ? log->used - at : PIPE_BYTES;
		n = write(log->fd, log->out + at, most);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0) {
			int error = errno;

			log->torn = at != begin_of_line(log->out, at);
			give_up(log, log->out + at, log->used - at, error);
			break;
		}
		/* relaxed: a count with one writer. */
		atomic_store_explicit(&log->written, atomic_load_explicit(&log->written,
		    memory_order_relaxed) + lines_in(log->out + at, (size_t)n),
		    memory_order_relaxed);
		at += (size_t)n;
	}
	log->used = 0;
}

/* ---- the thread ---------------------------------------------------------------------------- */

static const struct record *
first_record(const struct sws_log_ring *ring, uint64_t tail)
{
	return (const void *)(ring->bytes + tail % RING_SIZE);
}

/* Take out the oldest record of all rings that is older than `before`. False: there is none. */
static bool
take_oldest(struct sws_log *log, uint64_t before)
{
	struct sws_log_ring *oldest = NULL;
	const struct record *record = NULL;
	uint64_t at = 0;

	for (int i = 0; i < log->rings_count; i++) {
		struct sws_log_ring *ring = &log->rings[i];
		/* relaxed: this thread writes it. */
		uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

		if (tail == ring->seen || first_record(ring, tail)->ns >= before)
			continue;
		if (record == NULL || first_record(ring, tail)->ns < record->ns) {
			oldest = ring;
			record = first_record(ring, tail);
			at = tail;
		}
	}
	if (record == NULL)
		return false;
	if (log->used + record->len > OUT_SIZE)
		write_out(log);
	memcpy(log->out + log->used, record + 1, record->len);
	log->used += record->len;
	/* release: NOTE(log), step b. */
	atomic_store_explicit(&oldest->tail, after(at, record->size), memory_order_release);
	return true;
}

static void
write_all(struct sws_log *log, bool last)
{
	uint64_t before = last ? UINT64_MAX : mely_now_ns();

	/* acquire: NOTE(log), step b. */
	for (int i = 0; i < log->rings_count; i++)
		log->rings[i].seen = atomic_load_explicit(&log->rings[i].head,
		    memory_order_acquire);
	while (take_oldest(log, before))
		;
	if (log->used > 0)
		write_out(log);
}

static void *
run(void *arg)
{
	struct sws_log *log = arg;
	struct pollfd p = {log->wake, POLLIN, 0};
	bool ending = false;
	uint64_t count;

	while (!ending) {
		if (poll(&p, 1, WAIT_MS) > 0 && read(log->wake, &count, sizeof count) < 0)
			SWS_ASSERT(errno == EAGAIN);
		/* acquire pairs with sws_log_close: the cores have written their last lines. */
		ending = atomic_load_explicit(&log->ending, memory_order_acquire);
		/* acquire pairs with sws_log_reopen. */
		if (atomic_exchange_explicit(&log->reopening, false, memory_order_acquire))
			open_again(log);
		write_all(log, ending);
		if (dropped_by_cores(log) + atomic_load_explicit(&log->lost,
		    memory_order_relaxed) > log->told)
			report(log, "it takes lines too slowly");
	}
	return NULL;
}

/* ---- begin and end ------------------------------------------------------------------------- */

static void
free_log(struct sws_log *log)
{
	for (int i = 0; log->rings != NULL && i < log->rings_count; i++)
		free(log->rings[i].bytes);
	free(log->rings);
	free(log->path);
	if (log->fd >= 0)
		close(log->fd);
	if (log->wake >= 0)
		close(log->wake);
	free(log);
}

static bool
make_rings(struct sws_log *log)
{
	size_t size = (size_t)log->rings_count * sizeof log->rings[0];

	log->rings = aligned_alloc(64, size);
	if (log->rings == NULL)
		return false;
	memset(log->rings, 0, size);
	for (int i = 0; i < log->rings_count; i++) {
		log->rings[i].log = log;
		log->rings[i].bytes = malloc(RING_SIZE + RECORD_MAX);
		if (log->rings[i].bytes == NULL)
			return false;
	}
	return true;
}

struct sws_log *
sws_log_open(const char *path, enum sws_log_format format, int cores)
{
	struct sws_log *log = calloc(1, sizeof *log);
	int fd;

	SWS_ASSERT(!sws_log_is_off(path) && cores > 0);
	if (log == NULL) {
		fputs("sws: no memory\n", stderr);
		return NULL;
	}
	log->path = strdup(path);
	log->format = format;
	log->rings_count = cores;
	log->fd = -1;
	log->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (log->path == NULL || log->wake < 0 || !make_rings(log)) {
		fputs("sws: no memory for the access log\n", stderr);
		free_log(log);
		return NULL;
	}
	fd = open_file(path);
	/* ENXIO: a FIFO without a reader, which may come later. */
	if (fd < 0 && fd != -ENXIO) {
		fprintf(stderr, "sws: cannot open the access log %s: %s\n", path, strerror(-fd));
		free_log(log);
		return NULL;
	}
	if (fd >= 0)
		use_file(log, fd);
	return log;
}

int
sws_log_start(struct sws_log *log)
{
	sigset_t all, before;
	int status;

	sigfillset(&all);
	/* Signals are for the threads of the runtime. */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	status = pthread_create(&log->thread, NULL, run, log);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	log->started = status == 0;
	return -status;
}

void
sws_log_reopen(struct sws_log *log)
{
	/* release pairs with the exchanges of the thread. */
	atomic_store_explicit(&log->reopening, true, memory_order_release);
	wake(log);
}

void
sws_log_close(struct sws_log *log)
{
	if (log == NULL)
		return;
	if (log->started) {
		/* release pairs with the thread, which then takes all lines. */
		atomic_store_explicit(&log->ending, true, memory_order_release);
		wake(log);
		pthread_join(log->thread, NULL);
	}
	free_log(log);
}
